package company

import (
	"errors"
	"fmt"
	"testing"
)

// ERR-1: what people and programs get of an error has its class, its number, the phase of its run and its cause.
func TestShownError(t *testing.T) {
	fault := E(ETimeout, "a command took too long").Wrap(fmt.Errorf("wait: %w", errors.New("killed")))
	fault.RunID = "t1-01-review.1"
	shown := fault.ForDisplay()
	if shown.Class != Recoverable || shown.Number != 4002 || shown.Phase != "review" || shown.Cause != "wait: killed" {
		t.Errorf("%+v", shown)
	}
	if fault.Phase != "" || fault.Class != "" {
		t.Errorf("the error itself was changed: %+v", fault)
	}
	if plain := E(EInvalid, "no").ForDisplay(); plain.Number != 0 || plain.Phase != "" || plain.Cause != "" ||
		plain.Class != HumanRequired {
		t.Errorf("%+v", plain)
	}
	for id, want := range map[RunID]string{"t1-plan.1": "plan", "t1-01.2": "execute", "t1-01-merge.1": "merge", "x": ""} {
		if got := id.Phase(); got != want {
			t.Errorf("%s works in %q, want %q", id, got, want)
		}
	}
}
