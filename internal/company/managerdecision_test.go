package company_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "company/internal/company"
)

// earlier is what managers decided on a subtask, one a line, with the runs that came of it.
func (l *line) earlier(id SubtaskID) string {
	var out []string
	for _, d := range l.task().EarlierDecisions(l.task().Subtask(id)) {
		text := fmt.Sprintf("%s (%s): %s", d.Run, d.Why, d.Text)
		for _, r := range d.Runs {
			text += fmt.Sprintf("; %s %s %s", r.ID, r.Status, r.Error+r.Summary)
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

// SUB-16: what a manager decided on a stuck subtask stays with its run, with the reason, and the runs
// of workers until the next decision came of it.
func TestEarlierDecisions(t *testing.T) {
	t.Parallel()
	l := stuckLine(t, Settings{EscalateTo: []string{"big"}})
	if got := l.earlier(lineSub); got != "" {
		t.Fatalf("before the first: %s", got)
	}
	guide := func(run RunID, g Guide) {
		t.Helper()
		g.Subtask = lineSub
		l.end(run, RunEnded{Status: RunSuccess}, func(e *EndRun) { e.Guide = &g })
	}
	guide("t1-plan.2", Guide{Text: "lower case", MoreTurns: 5})
	l.end(l.work(), RunEnded{Status: RunPartial, Progress: true, Head: l.oid(), Summary: "half of it"}, nil)
	run := l.work()
	const first = "t1-plan.2 (the worker asks for help: upper or lower case?): lower case; t1-01.2 partial half of it"
	if got := l.earlier(lineSub); got != first {
		t.Errorf("while a run goes on: %s", got)
	}
	l.end(run, RunEnded{Status: RunError, Escalate: true, Error: "and digits?"}, nil)
	l.claim("t1-plan.3")
	guide("t1-plan.3", Guide{Text: "no digits", GiveUp: true})
	const second = first + "; t1-01.3 error and digits?\nt1-plan.3 (the worker asks for help: and digits?): no digits"
	if got := l.earlier(lineSub); got != second {
		t.Error(got)
	}
	var d []ManagerDecision
	for _, e := range l.task().EarlierDecisions(l.sub()) {
		d = append(d, e.ManagerDecision)
	}
	if len(d) != 2 || d[0].MoreTurns != 5 || d[0].GaveUp || d[0].Behind != 1 || !d[1].GaveUp || d[1].Behind != 3 {
		t.Errorf("%+v", d)
	}
}

// A part of a split subtask has the decisions up to the split, and none of those on the first part
// behind it; the runs of the part came of the split.
func TestEarlierDecisionsOfAPart(t *testing.T) {
	t.Parallel()
	l := stuckLine(t, Settings{})
	l.end("t1-plan.2", RunEnded{Status: RunSuccess},
		func(e *EndRun) { e.Guide = &Guide{Subtask: lineSub, Text: "lower case"} })
	l.end(l.work(), RunEnded{Status: RunError, Escalate: true, Error: "too large"}, nil)
	l.claim("t1-plan.3")
	l.end("t1-plan.3", RunEnded{Status: RunSuccess}, func(e *EndRun) {
		e.Guide = &Guide{Subtask: lineSub, Text: "two things",
			Parts: []PlannedSubtask{okSubtask("first", "x/a/**"), okSubtask("second", "x/b/**")}}
	})
	const before = "t1-plan.2 (the worker asks for help: upper or lower case?): lower case; t1-01.2 error too large\n" +
		"t1-plan.3 (the worker asks for help: too large): two things"
	if got := l.earlier(lineSub); got != before {
		t.Error(got)
	}
	l.end(l.work(), RunEnded{Status: RunError, Escalate: true, Error: "lost"}, nil)
	l.must(Company, Offer{Run: "t1-02.1"})
	l.fence = l.s.Seq + 1
	l.must("w1", l.claimOf("t1-02.1", "w1"))
	l.end("t1-02.1", RunEnded{Status: RunPartial, Summary: "no end"}, nil)
	if got := l.earlier(lineSub); got != before+"; t1-01.3 error lost" {
		t.Error(got)
	}
	part := l.task().Subtasks[1]
	if got := l.earlier(part.ID); got != before+"; t1-02.1 partial no end" {
		t.Error(got)
	}
	if d := l.task().EarlierDecisions(part); len(d) != 2 || d[1].Parts != 2 ||
		!slices.Equal(d[1].Added, []SubtaskID{part.ID}) {
		t.Errorf("%+v", d)
	}
}

// A first decision may be the split. Of older tasks no decision is on record: their parts have none.
func TestEarlierDecisionsOfASplitAlone(t *testing.T) {
	t.Parallel()
	l := stuckLine(t, Settings{})
	if err := l.split(okSubtask("first", "x/a/**"), okSubtask("second", "x/b/**")); err != nil {
		t.Fatal(err)
	}
	l.end(l.work(), RunEnded{Status: RunError, Escalate: true, Error: "lost"}, nil)
	l.must(Company, Offer{Run: "t1-02.1"})
	l.fence = l.s.Seq + 1
	l.must("w1", l.claimOf("t1-02.1", "w1"))
	l.end("t1-02.1", RunEnded{Status: RunPartial, Summary: "no end"}, nil)
	const split = "t1-plan.2 (the worker asks for help: upper or lower case?): two things in one"
	if first, second := l.earlier(lineSub), l.earlier("t1-02"); first != split+"; t1-01.2 error lost" ||
		second != split+"; t1-02.1 partial no end" {
		t.Errorf("%q, %q", first, second)
	}
	old := Task{ID: lineTask, Subtasks: []*Subtask{{ID: lineSub}, {ID: "t1-02", SplitFrom: lineSub, Started: 1}}}
	if got := old.EarlierDecisions(old.Subtasks[1]); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
