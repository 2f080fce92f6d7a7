package cli

import (
	"testing"

	"company/internal/company"
	"company/test/heldoffice"
)

// A task that has not ended, one that does not exist, and an office that another process
// holds: a replay says so, and makes nothing.
func TestReplayRefuses(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Executing("the first", 1)
	o.Serve()
	requireRefusal(t, o.Run(t.Context(), execute, "replay", "t1-01"), company.EUsage, "is no task")
	requireRefusal(t, o.Run(t.Context(), execute, "replay", string(id)), company.EConflict, "this office is at work")
	o.Close()
	requireRefusal(t, o.Run(t.Context(), execute, "replay", string(id)), company.EInvalid, "has not come to its end")
	requireRefusal(t, o.Run(t.Context(), execute, "replay", "t9"), company.ENotFound, "there is no task t9")
}
