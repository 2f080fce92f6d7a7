package gates

import (
	"testing"
	"time"
)

// Runs behind a deadline are not begun.
func TestNoRunBehindTheDeadline(t *testing.T) {
	if _, reason, err := (&Runner{}).runTestsUntil(t.Context(), Job{}, 0, 1, time.Time{}); err != nil || reason == "" {
		t.Errorf("%q, %v", reason, err)
	}
}
