package console

import (
	"time"

	"company/internal/safetext"
)

// progressDelay is how long a step may take before a line says that it is going on.
const progressDelay = 60 * time.Millisecond

// NameSlowStep names a step of a program, once it takes a while. The function that it
// returns ends the step.
func (con *Console) NameSlowStep(program, what string) (done func()) {
	if con.Output != "text" {
		return func() {}
	}
	said := make(chan struct{})
	t := time.AfterFunc(progressDelay, func() {
		defer close(said)
		con.PrintNote("%s  %s ...", program, safetext.EscapeLine(what, 200))
	})
	return func() {
		if !t.Stop() {
			<-said
		}
	}
}
