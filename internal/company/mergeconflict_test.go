package company_test

import (
	"strings"
	"testing"

	. "company/internal/company"
)

// REV-2: a conflict that neither the merger nor the manager resolves is a question of its own kind,
// with the files and both sides. Any other ticket that is blocked is asked about as before.
func TestUnresolvedConflictIsAsked(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(2).queued(1, "w0/p0/a.go", "x.go").queued(2, "w0/p1/b.go", "x.go")
	onto := s.merged(1)
	s.must(Company,
		ReportConflict{Task: s.id, Subtask: s.subID(2),
			ConflictReported: ConflictReported{Head: s.sub(2).Head, Onto: onto, Paths: []string{"x.go"}}})
	merger := NewRunID(s.id, s.subID(2), Merger, 1)
	s.must(string(merger),
		EndRun{Run: merger, Fence: s.claim(merger),
			Outcome: RunEnded{Status: RunError, Escalate: true, Error: "one sorts, the other shuffles"}})
	s.end(NewRunID(s.id, "", Manager, 2),
		EndRun{Guide: &Guide{Subtask: s.subID(2), GiveUp: true, Text: "they exclude each other"}})
	a := s.ask(AskMergeConflict)
	for _, want := range []string{
		"t1-02 is blocked: the merger could not resolve its conflict: one sorts, the other shuffles; the manager gives up: " +
			"they exclude each other.",
		"Both sides change: x.go.", "This side: t1-02 at " + s.sub(2).Head.Short() + ", part 0 1.",
		"The other side: the integration branch at " + onto.Short() + ", with t1-01, part 0 0.",
	} {
		if !strings.Contains(a.Question, want) {
			t.Errorf("no %q in\n%s", want, a.Question)
		}
	}
	s.must(President, Answer{Approval: a.ID, Option: OptApprove, Text: "sort"})
	s.work(2, "x.go") // another head: what conflicted is past
	if s.sub(2).Unresolved != nil {
		t.Errorf("a conflict of an older head is kept: %+v", s.sub(2).Unresolved)
	}
	s.checkSubStatus(2, SubtaskInGate)
}

// A question about a conflict of many tickets names some, and counts the others.
func TestConflictOfManyTickets(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{Conflicts: -1}).plan(8)
	for n := 1; n <= 7; n++ {
		s.queued(n, "x.go")
		s.merged(n)
	}
	s.queued(8, "x.go")
	s.must(Company,
		ReportConflict{Task: s.id, Subtask: s.subID(8),
			ConflictReported: ConflictReported{Head: s.sub(8).Head, Onto: s.task().Head, Paths: []string{"x.go"},
				Why: "npm is not there"}})
	s.end(NewRunID(s.id, "", Manager, 2), EndRun{Guide: &Guide{Subtask: s.subID(8), GiveUp: true, Text: "no"}})
	q := s.ask(AskMergeConflict).Question
	if !strings.Contains(q, "it keeps conflicting with what was merged before") ||
		!strings.Contains(q, "; t1-05, part 0 4; and 2 more.") || strings.Contains(q, "t1-06") ||
		!strings.Contains(q, "Files among them are not made anew by their own program: npm is not there.") {
		t.Errorf("%s", q)
	}
}
