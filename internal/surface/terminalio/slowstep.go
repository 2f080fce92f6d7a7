package terminalio

import (
	"time"

	"company/internal/lib/safetext"
)

// progressDelay is how long a step may take before a line announces it.
const progressDelay = 60 * time.Millisecond

// NameSlowStep prints the name of a step once the step takes a while. Call done to end the step.
func (con *Console) NameSlowStep(program, what string) (done func()) {
	if con.Output != "text" {
		return func() {}
	}
	said := make(chan struct{})
	timer := time.AfterFunc(progressDelay, func() {
		defer close(said)
		con.PrintNote("%s  %s ...", program, safetext.EscapeLine(what, 200))
	})
	return func() {
		if !timer.Stop() {
			<-said
		}
	}
}
