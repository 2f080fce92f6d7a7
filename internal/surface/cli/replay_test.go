package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	requireRefusal(t, o.Run(t.Context(), execute, "replay", "t1-01"), company.EUsage, "invalid task id")
	for range 2 {
		requireRefusal(t, o.Run(t.Context(), execute, "replay", string(id)), company.EInvalid, "has not ended")
		requireRefusal(t, o.Run(t.Context(), execute, "replay", "t9"), company.ENotFound, "there is no task t9")
		o.Close()
	}
}

// A record file and a task exclude each other, and a file that is no record has no effect.
func TestReplayOfAFileRefuses(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Executing("the first", 1)
	o.Close()
	file := filepath.Join(t.TempDir(), "t1.record")
	requireRefusal(t, o.Run(t.Context(), execute, "replay"), company.EUsage, "missing task")
	requireRefusal(t, o.Run(t.Context(), execute, "replay", string(id), "--record", file), company.EUsage,
		"--record takes no task and no --save")
	requireRefusal(t, o.Run(t.Context(), execute, "replay", "--record", file), company.EUsage, "cannot open the record")
	requireRefusal(t, o.Run(t.Context(), execute, "replay", string(id), "--save", file), company.EInvalid,
		"has not ended")
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := os.WriteFile(file, []byte("company record 99\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	requireRefusal(t, o.Run(t.Context(), execute, "replay", "--record", file), company.EInvalid, "newer version")
}
