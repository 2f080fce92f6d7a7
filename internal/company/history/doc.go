// Package history watches a company work, and says where it breaks what the
// design promises. Checker sees a ledger event by event and holds each of them
// against all that went before; CheckInvariants looks at one state; Replay folds
// a stored ledger under both.
//
// It keeps its own books from the events alone: a mistake of Decide or Apply
// must show here, so it asks neither of them. Of package company's rules it asks
// those about one text or one verdict (a protected path, a branch's name, whether
// a verdict allows a merge), and no other. It does no work and mends nothing. It
// is for tests: the cost grows with the state.
package history
