package ecosystem

import "company/internal/company"

// Proposal is a command that a file of a repository names. Package checkfinder decides whether it is a check.
type Proposal struct {
	Command string // as a user types it: make test, npm run lint
	Dir     string // the folder that it runs in; "" is the root
	File    string // the file that names it
	Line    int
	// Runs holds the commands behind the name as written in the file: the recipe of a target or the text of a script.
	Runs []string
}

// Proposer is an ecosystem with files that name commands, such as targets, scripts or environments.
type Proposer interface {
	Ecosystem
	Propose(t *Tree) []Proposal
}

// Narrower is an ecosystem that can make a test gate do less. The project must provide a way, such as a flag, a
// marker or a target.
type Narrower interface {
	Ecosystem
	// Narrow returns the smaller command and the reason for it. It returns false if the project provides no way or the
	// gate uses another runner.
	Narrow(t *Tree, g company.GateCommand) (command, why string, ok bool)
}
