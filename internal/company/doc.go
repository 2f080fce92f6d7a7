// Package company is the domain: tasks, subtasks, runs, merges, pull requests
// and approvals, and the rules by which they move. It owns the state machine of
// the whole program.
//
// Its one loop is
//
//	events, err := Decide(state, meta, command)   // refuse, or say what happens
//	Apply(state, event)                           // the only code that changes State
//	effects := Due(state, now)                    // what must now be under way
//
// Due is a function of the whole state. A caller that asks again and again keeps an Agenda,
// which is Due brought up to date by what each event changes.
//
// An effect's outcome comes back as a command. After a crash the state is
// folded from the ledger and Due says what must be under way: restart, resume
// and the ordinary path are the same code.
//
// It promises to be deterministic: no I/O, no clock, no randomness; time
// comes in as an argument. It imports the standard library only. It does not
// know Docker, git, NATS or HTTP, and never believes an agent: what counts as
// done are facts that the company checked itself and brings in as commands.
package company
