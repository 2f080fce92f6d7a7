package ecosystem

import "company/internal/company"

// Proposal is a command that a file of a repository gives a name to. Whether it
// is a check is for package proposal.
type Proposal struct {
	Command string // as people type it: make test, npm run lint
	Dir     string // the folder that it runs in; "" is the root
	File    string // that names it
	Line    int
	// Runs are the commands that it comes to, as its file has them: the recipe of
	// a target, the text of a script.
	Runs []string
}

// Proposer is an ecosystem with files that name commands: targets, scripts,
// environments.
type Proposer interface {
	Ecosystem
	Propose(t *Tree) []Proposal
}

// Narrower is an ecosystem that knows how a test gate of its runner does less, where
// the project has a way to it: a flag that its tests ask for, a marker, a target.
type Narrower interface {
	Ecosystem
	// Narrow is the command that does less, and why it does; not ok: the project
	// shows no way, or the gate is no runner of this ecosystem.
	Narrow(t *Tree, g company.GateCommand) (command, why string, ok bool)
}
