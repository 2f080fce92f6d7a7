package company_test

import (
	"slices"
	"strings"
	"testing"

	. "company/internal/company"
)

// passDeadline lets a held run pass its hard deadline.
func (l *line) passDeadline(run RunID) {
	l.t.Helper()
	l.now = l.task().Runs[run].Deadline
	l.must(Company, EnforceDeadlines{})
}

// requireNothingDueBut fails if other work than questions and the given runs is due, at any later time.
func (l *line) requireNothingDueBut(runs ...RunID) {
	l.t.Helper()
	for range 10 {
		for _, effect := range l.due(4) {
			if effect.Run != "" && !slices.Contains(runs, effect.Run) {
				l.t.Fatalf("%s is due: %+v", effect.Key, l.task().Failures)
			}
		}
		next := NextDue(l.s, l.now)
		if next.IsZero() || !next.After(l.now) {
			return
		}
		l.now = next
	}
}

// A worker's run that broke its time limit does not start again by itself: the manager decides, and after the limit
// of its decisions the president.
func TestBrokenTimeLimitIsNotRetried(t *testing.T) {
	t.Parallel()
	l := newLine(t, Settings{})
	l.plan()
	for n := 1; ; n++ {
		l.passDeadline(l.work())
		if l.sub().Status == SubtaskBlocked {
			break
		}
		if n > 10 {
			t.Fatal("the manager decides for ever")
		}
		if !strings.Contains(l.sub().Escalation, "time limit") || len(l.task().Failures) != 0 {
			t.Fatalf("%+v %+v", l.sub(), l.task().Failures)
		}
		manager := NewRunID(lineTask, "", Manager, n+1)
		l.requireNothingDueBut(manager)
		l.claim(manager)
		l.end(manager, RunEnded{Status: RunSuccess},
			func(e *EndRun) { e.Guide = &Guide{Subtask: lineSub, Text: "do less at a time"} })
	}
	l.requireNothingDueBut()
}

// What a run committed before it broke its time limit stays with its ticket.
func TestBrokenTimeLimitKeepsTheHead(t *testing.T) {
	t.Parallel()
	l := newLine(t, Settings{})
	l.plan()
	head := l.oid()
	l.end(l.work(), RunEnded{Status: RunError, Code: ETimeout, Error: "the run took longer than 1h", TimedOut: true,
		Head: head, Changes: []Change{{Path: "x/a.go", Action: "modified"}}}, nil)
	if l.sub().Head != head || !strings.Contains(l.sub().Escalation, "longer than 1h") {
		t.Errorf("%+v", l.sub())
	}
}

// A manager or a reviewer that broke its time limit is not retried until the president has said so.
func TestBrokenTimeLimitOfOwnAgentAsksThePresident(t *testing.T) {
	t.Parallel()
	for _, role := range []Role{Manager, Reviewer} {
		l := newLine(t, Settings{})
		run := NewRunID(lineTask, "", Manager, 1)
		if role == Reviewer {
			l.plan()
			l.success(l.work())
			l.gate(true)
			run = NewRunID(lineTask, lineSub, Reviewer, 1)
		}
		l.claim(run)
		l.passDeadline(run)
		l.requireNothingDueBut()
		open := (&story{bench: l.bench, id: lineTask}).openTroubles()
		if len(open) != 1 || !strings.Contains(open[0].Question, "deadline") {
			t.Fatalf("%s: %+v", role, open)
		}
		l.must(President, Answer{Approval: open[0].ID, Option: OptApprove})
		l.claim(run[:len(run)-1] + "2")
	}
}

// A run of an ended task that nobody puts away, since the queue has lost it, holds up a retry until its deadline and no
// longer. What it had reserved counts as spent.
func TestRetryWaitsForALostRunUntilItsDeadline(t *testing.T) {
	t.Parallel()
	l := newLine(t, Settings{})
	l.plan()
	lost := l.work()
	l.must(Company, Reserve{Run: lost, Fence: l.task().Runs[lost].Fence, One: Amount{Tokens: 7}, Many: Amount{Tokens: 7}})
	l.must(President, Cancel{Task: lineTask})
	if _, err := l.do(President, Retry{Task: lineTask}); CodeOf(err) != EStale {
		t.Fatalf("while the run may be put away: %v", err)
	}
	l.now = l.task().Runs[lost].Deadline
	l.must(President, Retry{Task: lineTask})
	if r := l.task().Runs[lost]; !r.Ended || r.Held || l.task().Spent.Tokens != 7 {
		t.Errorf("%+v, spent %s", r, l.task().Spent)
	}
	if next := l.work(); next == lost {
		t.Errorf("%s begins again", next)
	}
}
