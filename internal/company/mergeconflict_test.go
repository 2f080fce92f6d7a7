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
	if s.isDue(EffectCommand) || !s.isDue(EffectReview) {
		t.Error("the president is asked before the reviewer has summarised the conflict")
	}
	s.end(NewRunID(s.id, s.subID(2), Reviewer, 2), EndRun{Conflict: "One sorts, and the other shuffles: choose one."})
	a := s.ask(AskMergeConflict)
	for _, want := range []string{
		"\nThe reviewer's summary: One sorts, and the other shuffles: choose one.",
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
	reviewer := NewRunID(s.id, s.subID(8), Reviewer, 2) // its model is away: the president is asked all the same
	s.must(string(reviewer), EndRun{Run: reviewer, Fence: s.claim(reviewer),
		Outcome: RunEnded{Status: RunError, Code: EModelAway, Error: "no answer"}})
	q := s.ask(AskMergeConflict).Question
	if !strings.Contains(q, "it keeps conflicting with what was merged before") ||
		!strings.Contains(q, "; t1-05, part 0 4; and 2 more.") || strings.Contains(q, "t1-06") ||
		strings.Contains(q, "summary") || len(s.task().Failures) > 0 ||
		!strings.Contains(q, "Generated files were not regenerated: npm is not there.") {
		t.Errorf("%s", q)
	}
}

// A conflict has one attempt at a summary. A failure of it, and a pause, hold no question back, and the next run of the
// reviewer is a review.
func TestConflictWithoutASummary(t *testing.T) {
	t.Parallel()
	blocked := func() *story {
		s := newStory(t, Settings{Conflicts: -1}).plan(2).queued(1, "x.go")
		s.merged(1)
		s.queued(2, "x.go")
		s.must(Company, ReportConflict{Task: s.id, Subtask: s.subID(2),
			ConflictReported: ConflictReported{Head: s.sub(2).Head, Onto: s.task().Head, Paths: []string{"x.go"}}})
		s.end(NewRunID(s.id, "", Manager, 2), EndRun{Guide: &Guide{Subtask: s.subID(2), GiveUp: true, Text: "no"}})
		return s
	}
	for name, prevent := range map[string]func(*story){
		"its effect failed": func(s *story) {
			s.must(Company, ReportEffectFailure{Task: s.id, Key: "summary " + string(s.subID(2)),
				EffectFailed: EffectFailed{Code: EDocker, Error: "no space"}})
		},
		"its run was let go": func(s *story) {
			run := NewRunID(s.id, s.subID(2), Reviewer, 2)
			s.must(string(run), Release{Run: run, Fence: s.claim(run), Why: "paused"})
			s.must(President, PauseSubtask{Subtask: s.subID(2)})
		},
	} {
		s := blocked()
		prevent(s)
		a := s.ask(AskMergeConflict)
		if s.sub(2).Paused {
			s.must(President, PauseSubtask{Subtask: s.subID(2), Off: true})
		}
		if strings.Contains(a.Question, "summary") || s.isDue(EffectReview) || len(s.task().Failures) > 0 {
			t.Errorf("%s: %s\n%+v", name, a.Question, s.task().Failures)
		}
		s.must(President, Answer{Approval: a.ID, Option: OptApprove})
		s.work(2, "x.go")
		s.must(Company, s.gated(2, true))
		due := s.dueOf(2)
		if len(due) != 1 || due[0].Kind != EffectReview || s.task().Runs[due[0].Run] != nil {
			t.Errorf("%s: the review is not a new run: %+v", name, due)
		}
	}
}
