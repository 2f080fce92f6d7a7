package company_test

import (
	"testing"
	"time"

	. "company/internal/company"
)

// WRK-10: a task that nothing can move ends, and says so. The rules never lead there
// (TestRandomHistoriesHoldInvariants), so the state is bent here. A task that waits for a time or a person, or is
// paused, is no such task.
func TestDeadlockIsTold(t *testing.T) {
	t.Parallel()
	lost := func(l *line) { l.sub().Status, l.sub().Current = SubtaskRunning, "" } // in nobody's hands
	for name, c := range map[string]struct {
		bend func(*line)
		ends bool
	}{
		"lost":          {lost, true},
		"at work":       {func(*line) {}, false},
		"paused":        {func(l *line) { lost(l); l.task().Paused = true }, false},
		"a paused part": {func(l *line) { lost(l); l.sub().Paused = true }, false},
		"to be asked": {func(l *line) {
			l.sub().Status, l.sub().Reason, l.sub().Blocks = SubtaskBlocked, "x", 1
		}, false},
		"a person asked": {func(l *line) {
			lost(l)
			l.s.Approvals["a9"] = &Approval{ID: "a9", Task: lineTask, Kind: AskBlocked}
		}, false},
		"a retry to come": {func(l *line) {
			later := Failure{Attempt: 1, NotBefore: l.now.Add(time.Hour)}
			l.task().Failures = map[string]Failure{"run " + string(lineSub): later}
		}, false},
		"a failed end": {func(l *line) {
			lost(l)
			l.task().Failures = map[string]Failure{"deadlock": {Attempt: 1, NotBefore: l.now.Add(time.Hour)}}
		}, false},
	} {
		l := newLine(t, Settings{})
		l.plan()
		c.bend(l)
		due := false
		for _, effect := range Due(l.s, l.now, 1) {
			_, is := effect.Command.(EndDeadlock)
			due = due || is
		}
		if due != c.ends {
			t.Errorf("%s: the end is due: %v", name, due)
		}
		if name == "a failed end" {
			continue // only its time has not come
		}
		evs, err := Decide(l.s, Meta{Now: l.now, Actor: Company}, EndDeadlock{lineTask})
		if err != nil || len(evs) > 0 != c.ends {
			t.Errorf("%s: %+v, %v", name, evs, err)
		}
		for _, event := range evs {
			event.Seq = l.s.Seq + 1
			if err := Apply(l.s, event); err != nil {
				t.Fatal(err)
			}
			if task := l.task(); task.Status != StatusFailed || l.sub().Status != SubtaskFailed {
				t.Errorf("%s: %s, %s", name, task.Status, l.sub().Status)
			}
		}
	}
}
