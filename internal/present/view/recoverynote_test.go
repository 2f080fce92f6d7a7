package view_test

import (
	"slices"
	"testing"

	"company/internal/company"
	"company/internal/present/view"
)

// Tasks that recovery: ask has paused are named with the command that goes on; without such
// tasks there is no note.
func TestRecoveryNote(t *testing.T) {
	if said := view.RecoveryNotes(nil); len(said) > 0 {
		t.Fatalf("of nothing: %s", said)
	}
	want := []string{"recovery: ask: t1, t4 is unfinished and paused; continue with: company resume"}
	if said := view.RecoveryNotes([]company.TaskID{"t1", "t4"}); !slices.Equal(said, want) {
		t.Fatal(said)
	}
}
