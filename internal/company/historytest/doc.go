// Package historytest checks how a company works against the rules of the design. Checker checks each event of a ledger
// against all earlier ones. CheckInvariants checks one state. Replay folds a stored ledger and runs both.
//
// It keeps its own records from the events alone and calls neither Decide nor Apply for its checks, so that their
// mistakes show. It uses only the rules of package company about a single text or verdict (a protected path, a branch's
// name, whether a verdict allows a merge). It does not change the ledger or the state. It is for tests: its cost grows
// with the state.
package historytest
