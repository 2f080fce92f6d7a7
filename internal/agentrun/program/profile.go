package program

import (
	"maps"
	"slices"
	"time"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/company"
	"company/internal/container/image"
)

// Profile is a program that the company knows.
type Profile struct {
	Name    string
	Install image.Program // zero if it cannot be installed, so that the config names it
	Hold    time.Duration // that a request waits silently; 0 means the default

	asksModel bool // it does nothing without a request
	// state lists the folders of the home folder that hold its conversations. A copy of them continues elsewhere, also
	// of a program that was killed. Empty means that it is started again from its brief.
	state []string

	launch    func(setup) (launch, error)
	newReader func() reader
}

// setup is what a program is started for.
type setup struct {
	base    string        // URL of its model; empty without one
	model   adapters.Info // that answers there
	prompt  string        // the ticket, and the rules of a worker; words that go on with session
	session string        // its own conversation to continue; empty for a new one
	ticket  agent.ProgramTicket
	run     company.RunID
}

// launch is how a program is started.
type launch struct {
	args  []string // behind its path and the arguments of the config
	env   map[string]string
	stdin []byte
}

// profiles holds the known programs by name.
var profiles = map[string]Profile{claude.Name: claude, codex.Name: codex, opencode.Name: opencode,
	stdioJSON.Name: stdioJSON}

// Find returns the profile of a program. ok is false for an unknown name.
func Find(name string) (p Profile, ok bool) {
	p, ok = profiles[name]
	return p, ok
}

// Installs lists the programs that the image of a task needs, by the agents that it is bound to.
func Installs(bindings company.Bindings) []image.Program {
	var out []image.Program
	for _, name := range slices.Sorted(maps.Keys(bindings.Models)) {
		bound := bindings.Models[name]
		known := profiles[bound.Model]
		if bindings.IsProgram(name) && len(bound.Bin) == 0 && known.Install.Name != "" &&
			!slices.ContainsFunc(out, func(p image.Program) bool { return p.Name == known.Install.Name }) {
			out = append(out, known.Install)
		}
	}
	return out
}
