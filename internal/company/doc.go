// Package company is the domain core: tasks, subtasks, runs, merges, pull requests and approvals, and the rules by
// which they change. It owns the state machine of the whole program.
//
// The main loop is
//
//	events, err := Decide(state, meta, command)   // refuse, or return what happens
//	Apply(state, event)                           // the only code that changes State
//	effects := Due(state, now)                    // the work that must now be under way
//
// Due is a function of the whole state. Callers that poll should keep an Agenda: it updates the result of Due with the
// changes of each event.
//
// The outcome of an effect comes back as a command. After a crash, the state is folded from the ledger and Due lists
// the effects that must be under way. Restart, resume and normal operation therefore use the same code.
//
// The package is deterministic: it does no I/O and uses no clock and no randomness. Times are passed in as arguments.
// It imports only the standard library and its own folders glob and jcs. It does not know Docker, git, NATS or HTTP. It
// never trusts an agent's claim: work counts as done only by facts that the company checked itself and passed in as
// commands.
package company
