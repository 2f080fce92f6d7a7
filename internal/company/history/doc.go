// Package history watches a company work, and says where it breaks what the
// design promises. Checker sees a ledger event by event and holds each of them
// against all that went before; CheckInvariants looks at one state; Replay folds
// a stored ledger under both.
//
// It keeps its own books from the events alone: a mistake of Decide or Apply
// must show here, and so it asks neither what is allowed. It does no work and
// mends nothing. It is for tests, for replays and for a start after damage; the
// cost grows with the state.
package history
