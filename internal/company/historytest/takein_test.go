package historytest_test

import (
	"testing"

	. "company/internal/company"
)

func pushed(n int, delivered OID) *PushTakenIn {
	return &PushTakenIn{Subtask: NewSubtaskID("t1", n), BranchChange: BranchChange{Kind: BranchAhead,
		Delivered: delivered, Now: headOf(n), Commits: 1, People: 1}}
}

// takeIn has a task that is about to be delivered take in what others pushed, and judges the whole again.
func (s *story) takeIn(n int, expected OID) *story {
	s.task(pushed(n, expected)).gate(n, mergeOf(n-1)).review(n, mergeOf(n-1)).merge(n, mergeOf(n-1))
	s.task(&GateFinished{Head: mergeOf(n), Result: verdict(treeOf(n))})
	id := NewRunID("t1", "", Reviewer, n)
	return s.claim(id).end(id).runOf(id, &ReviewRecorded{Head: mergeOf(n), Verdict: Approve})
}

// A follow-up takes in what others pushed on top of what it expects, instead of a push. It does so once until the
// president has the delivery tried again.
func TestTakenIn(t *testing.T) {
	t.Parallel()
	once := func() *story { return followBy(reviewed().merge(1, base).judge(1).takeIn(2, base).deliver(2)) }
	twice := func(key string, also ...string) func() *story {
		return func() *story {
			s := reviewed().merge(1, base).judge(1).takeIn(2, base).task(ask(key, AskTrouble))
			s.task(&ApprovalAnswered{ID: "a1", Option: OptApprove, Also: also})
			return followBy(s.takeIn(3, headOf(2)).deliver(3))
		}
	}
	again, alike := twice("trouble t1 deliver x"), twice("trouble t1 prepare x", "deliver")
	reopened := func() *story {
		s := reviewed().merge(1, base).judge(1).takeIn(2, base)
		s.task(&TaskCancelled{}).task(&TaskReopened{})
		return followBy(s.takeIn(3, headOf(2)).deliver(3))
	}
	requireKept(t, map[string]func() *story{
		"once": once, "again": again, "again with another": alike, "again after a retry": reopened,
	})
	taken := func(change func(*PushTakenIn)) func(s *story) {
		return func(s *story) { change(the[PushTakenIn](s, 0)) }
	}
	second := func(s *story) { s.lines = s.lines[:find[PushTakenIn](s, 1)+1] }
	answer := func(option string) func(s *story) {
		return func(s *story) { the[ApprovalAnswered](s, 0).Option = option; second(s) }
	}
	unasked := "t2 takes in commits of others again, and nobody was asked"
	checkBroken(t, []broken{
		{"by a follow-up", once, func(s *story) { the[TaskSubmitted](s, 1).Follows = "" },
			"t2 takes in commits of others, and follows no pull request"},
		{"once", again, func(s *story) { drop[ApprovalOpened](s, 0); drop[ApprovalAnswered](s, 0); second(s) }, unasked},
		{"again with leave", again, answer(OptReject), unasked},
		{"again with leave for the push", again, func(s *story) {
			the[ApprovalOpened](s, 0).Key = "trouble t2 prepare x"
			second(s)
		}, unasked},
		{"again with leave for that too", alike, answer(OptReject), unasked},
		{"instead of a push", func() *story { return followBy(until[TaskCompleted](delivered(), 0)) },
			func(s *story) { s.add("t2", "", "", pushed(2, base)) }, "t2 takes in commits of others after its delivery"},
		{"when all is judged", once, func(s *story) { drop[GateFinished](s, 3) }, "where nothing was to be pushed"},
		{"when all is green", once, func(s *story) { the[GateFinished](s, 3).Result.Tree = oid("other") },
			"where nothing was to be pushed"},
		{"with leave for protected paths", once, taken(func(d *PushTakenIn) {
			d.Changes = []Change{{Path: ".github/workflows/ci.yml", Action: "modified"}}
		}), "protected paths would change without the president"},
		{"commits on top", once, taken(func(d *PushTakenIn) { d.BranchChange.Kind = BranchRewritten }),
			"t2 takes in a branch that "},
		{"on top of the base", once, taken(func(d *PushTakenIn) { d.Delivered = oid("other") }),
			"t2 takes in a branch that "},
		{"on top of those before", again, func(s *story) { the[PushTakenIn](s, 1).Delivered = base },
			"t2 takes in a branch that "},
		{"some commits", once, taken(func(d *PushTakenIn) { d.Commits = 0 }), "the branch of t2 cannot stand so"},
		{"merged before the delivery", once, func(s *story) {
			i := find[PushTakenIn](s, 0)
			pr := *the[PROpened](s, 1)
			pr.Head = mergeOf(1)
			s.lines = append(s.lines[:i+1], line{"t2", "", "", &pr})
		}, "t2 is delivered without t2-02, which takes in commits of others"},
	})
}
