package historytest_test

import (
	"testing"

	. "company/internal/company"
)

// A conflict is summarised by a reviewer whose run has ended, and at the head that was handed in.
func TestConflictSummaries(t *testing.T) {
	t.Parallel()
	reviewer := NewRunID("t1", NewSubtaskID("t1", 1), Reviewer, 1)
	summary := func(run RunID, head int) func() *story {
		return with(reviewed, func(s *story) { s.runOf(run, &ConflictSummarized{Head: headOf(head), Onto: base}) })
	}
	requireKept(t, map[string]func() *story{"a reviewer's": summary(reviewer, 1)})
	for name, broken := range map[string]func() *story{
		"of another head": summary(reviewer, 2),
		"a worker's":      summary(worker(1), 1),
	} {
		_, _, err := broken().watch()
		t.Run(name, func(t *testing.T) { requireBroken(t, err, "summarises a conflict of another head") })
	}
}
