package company_test

import (
	"strings"
	"testing"

	. "company/internal/company"
)

// SUB-6: the settings say after how many failures of each kind a ticket goes to the manager.
func TestEscalationConditions(t *testing.T) {
	t.Parallel()
	fails := map[string]func(l *line){
		"its runs failed": func(l *line) {
			l.end(l.work(), RunEnded{Status: RunError, Code: EModel, Error: "broken"}, nil)
		},
		"the gates stay red": func(l *line) {
			l.success(l.work())
			l.gate(false)
		},
		"the reviewer still requests changes": func(l *line) {
			l.success(l.work())
			l.gate(true)
			l.review(RequestChanges, Finding{Severity: Blocking, File: "a.go", Line: 3, What: "no test"})
		},
		"the worker ran out of turns": func(l *line) {
			l.end(l.work(), RunEnded{Status: RunPartial, Progress: true, Head: l.oid()}, nil)
		},
	}
	for why, fail := range fails {
		for _, n := range []int{1, 3} {
			l := newLine(t, Settings{RunRetries: n, GateRetries: n, ReviewRounds: n, Continuations: n})
			l.plan()
			for range n {
				fail(l)
				if l.sub().Escalation != "" || l.sub().Status != SubtaskPending {
					t.Fatalf("%s: after fewer than %d: %+v", why, n+1, l.sub())
				}
			}
			if fail(l); !strings.Contains(l.sub().Escalation, why) {
				t.Errorf("%s: after %d the manager is not asked: %q", why, n+1, l.sub().Escalation)
			}
		}
	}
}

// GIT-6: a worker's clone that failed three times goes to the manager.
func TestFailedClonesGoToTheManager(t *testing.T) {
	t.Parallel()
	l := newLine(t, Settings{})
	l.plan()
	clone := RunEnded{Status: RunError, Code: EInternal, Error: "set up the workspace of t1-01.1: git clone: broken pipe"}
	for tries := 1; tries <= 3; tries++ {
		if l.sub().Escalation != "" {
			t.Fatalf("the manager is asked before the clone failed %d times", tries)
		}
		l.end(l.work(), clone, nil)
	}
	if !strings.Contains(l.sub().Escalation, "git clone: broken pipe") {
		t.Errorf("the manager is told %q", l.sub().Escalation)
	}
}
