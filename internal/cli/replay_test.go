package cli

import (
	"testing"

	"company/internal/company"
	"company/test/heldoffice"
)

// A task that has not ended and one that does not exist: a replay says so, and makes
// nothing, with a process at work in the office as without one.
func TestReplayRefuses(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Executing("the first", 1)
	o.Serve()
	requireRefusal(t, o.Run(t.Context(), execute, "replay", "t1-01"), company.EUsage, "is no task")
	for range 2 {
		requireRefusal(t, o.Run(t.Context(), execute, "replay", string(id)), company.EInvalid, "has not come to its end")
		requireRefusal(t, o.Run(t.Context(), execute, "replay", "t9"), company.ENotFound, "there is no task t9")
		o.Close()
	}
}
