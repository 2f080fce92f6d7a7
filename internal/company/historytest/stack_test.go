package historytest_test

import (
	"slices"
	"testing"

	. "company/internal/company"
	"company/internal/company/historytest"
)

// member is a ticket of a stack.
func member(n int) StackMember {
	return StackMember{Subtask: NewSubtaskID("t1", n), Head: headOf(n), Tree: oid(treeOf(n))}
}

// approvedTrio has three approved tickets of one wave, which may be merged at once.
func approvedTrio() *story {
	s := prepared().plan(oneWave("a/**", "b/**", "c/**"))
	the[TaskSubmitted](s, 0).Settings.MergeStack = 3
	for n := 1; n <= 3; n++ {
		s.work(n)
	}
	for n := 1; n <= 3; n++ {
		s.gate(n, base).review(n, base)
	}
	return s
}

const stackTree = "tree of all three"

// stack is about to merge three tickets at once.
func stack() *story {
	members := []StackMember{member(1), member(2), member(3)}
	members[2].Tree = oid(stackTree)
	return approvedTrio().task(&StackIntended{Onto: base, Members: members, Result: verdict(stackTree)})
}

// stacked has merged them.
func stacked() *story {
	s := stack()
	for n := 1; n <= 3; n++ {
		s.ticket(n, &MergeRecorded{Commit: mergeOf(n)})
	}
	return s
}

// redStack is a red one; then two of its members are merged, and the third.
func redStack() *story {
	red := verdict(stackTree)
	red.Passed, red.Checks[1] = false, GateCheck{Name: "test", Command: "run test", ExitCode: 1}
	members := []StackMember{member(1), member(2), member(3)}
	members[2].Tree = oid(stackTree)
	s := approvedTrio().task(&StackRed{Onto: base, Members: members, Result: red})
	s.task(&StackIntended{Onto: base, Members: slices.Clone(members[:2]), Result: verdict(treeOf(2))})
	return s.ticket(1, &MergeRecorded{Commit: mergeOf(1)}).ticket(2, &MergeRecorded{Commit: mergeOf(2)}).merge(
		3, mergeOf(2)).whole(3)
}

func TestRightStacks(t *testing.T) {
	t.Parallel()
	requireKept(t, map[string]func() *story{
		"of three": stack, "merged": stacked, "red": redStack,
		"delivered": func() *story {
			s := stacked().task(&GateFinished{Head: mergeOf(3), Result: verdict(stackTree)})
			s.claim("t1-review.1").end("t1-review.1").runOf("t1-review.1", &ReviewRecorded{Head: mergeOf(3), Verdict: Approve})
			return s.deliver(3)
		},
		"less than all": func() *story {
			s := stack()
			d := the[StackIntended](s, 0)
			d.Members = []StackMember{d.Members[0], d.Members[2]}
			return s.ticket(1, &MergeRecorded{Commit: mergeOf(1)}).ticket(3, &MergeRecorded{Commit: mergeOf(3)}).merge(
				2, mergeOf(3))
		},
		"cancelled": func() *story { return stack().task(&TaskCancelled{}) },
		"beside one that is paused": func() *story {
			s := stack()
			d := the[StackIntended](s, 0)
			d.Members, d.Result = d.Members[:2], verdict(treeOf(2))
			return s.ticket(3, &SubtaskPaused{Paused: true})
		},
		"one beside one that is paused": func() *story {
			return approvedTrio().intend(1, base).ticket(3, &SubtaskPaused{Paused: true})
		},
	})
}

// A stack is of approved heads onto the head that stands, with the leave that each
// needs, and the gates passed on the tree of all.
func TestStacks(t *testing.T) {
	t.Parallel()
	intent := func(change func(*StackIntended)) func(s *story) {
		return func(s *story) { change(the[StackIntended](s, 0)) }
	}
	notGreen := "a merge of a tree on which no gates passed"
	checkBroken(t, []broken{
		{"of two or more", stack, intent(func(d *StackIntended) { d.Members = d.Members[2:] }), "a stack of 1"},
		{"of no more than may be", stack, settings(func(s *Settings) { s.MergeStack = 2 }),
			"a stack of 3, and at most 2 are merged at once"},
		{"onto the head", stack, intent(func(d *StackIntended) { d.Onto = oid("other") }), "and the head is " + base.Short()},
		{"of the last tree", stack, intent(func(d *StackIntended) { d.Result.Tree = d.Members[1].Tree }),
			"a stack is judged by another tree than its last"},
		{"of approved heads", stack, intent(func(d *StackIntended) { d.Members[1].Head = oid("other") }),
			"a merge of a head that nobody approved"},
		{"of approved tickets", stack, func(s *story) { drop[ReviewRecorded](s, 1) },
			"a merge of a head that nobody approved"},
		{"each once", stack, intent(func(d *StackIntended) { d.Members[1] = d.Members[0] }), "t1-01 would be merged twice"},
		{"of what is not merged", redStack, func(s *story) {
			insert[GateFinished](s, 3,
				(&story{}).task(
					&StackIntended{Onto: mergeOf(3), Members: []StackMember{member(2), member(3)}, Result: verdict(treeOf(3))}))
		}, "t1-02 would be merged twice"},
		{"of a green tree", stack, intent(func(d *StackIntended) { d.Result.Passed = false }), notGreen},
		{"of a proven tree", stack, intent(func(d *StackIntended) { d.Result.GateHash = "others" }), "proves nothing"},
		{"one at a time", stack, func(s *story) { s.intend(1, base) }, "two merges at once"},
		{"not beside another", func() *story { return approvedTrio().intend(1, base) },
			func(s *story) { s.lines = append(s.lines, stack().lines[len(stack().lines)-1]) }, "two merges at once"},
		{"once", stack, func(s *story) { s.lines = append(s.lines, s.lines[len(s.lines)-1]) }, "two merges at once"},
		{"not of the paused", stack, func(s *story) {
			insert[StackIntended](s, 0, (&story{}).ticket(2, &SubtaskPaused{Paused: true}))
		}, "t1-02 is merged while it is paused"},
		{"not paused any more", stack, func(s *story) { s.ticket(3, &SubtaskPaused{Paused: true}) },
			"t1-03 is paused when it is being merged, or is"},
		{"with leave", stack, settings(func(s *Settings) { s.Merge = Ask }), "a merge without the president's approval"},
		{"with leave for each", func() *story {
			s := approvedTrio()
			the[TaskSubmitted](s, 0).Settings.Protected = []string{"deploy/**"}
			the[RunEnded](s, 2).Changes = []Change{{Path: "deploy/x", Action: "modified"}}
			s.ticket(2, ask("protected t1-02 "+string(headOf(2)), AskProtected)).ticket(2, yes())
			return s.task(the[StackIntended](stack(), 0))
		}, func(s *story) {
			the[ApprovalAnswered](s, 0).Option = OptReject
		}, "protected paths would change without the president"},
	})
	checkBroken(t, []broken{
		{"red is not green", redStack, func(s *story) { the[StackRed](s, 0).Result = verdict(stackTree) },
			"a green stack is called red"},
		{"red of approved heads", redStack, func(s *story) { the[StackRed](s, 0).Members[0].Head = oid("other") },
			"a merge of a head that nobody approved"},
		{"red does not permit a merge", redStack, func(s *story) {
			d := the[StackIntended](s, 0)
			d.Members, d.Result = the[StackRed](s, 0).Members, the[StackRed](s, 0).Result
		}, notGreen},
	})
}

// The merges of a stack are recorded in its order, at once, each with its commit.
func TestMergesOfStacks(t *testing.T) {
	t.Parallel()
	of := func(n int, change func(*line)) func(s *story) {
		return func(s *story) { change(lineOf[MergeRecorded](s, n)) }
	}
	checkBroken(t, []broken{
		{"in order", stacked, of(0, func(l *line) { l.sub = "t1-02" }), "a merge that was not intended"},
		{"intended", stacked, func(s *story) { drop[StackIntended](s, 0) }, "a merge that was not intended"},
		{"each once", stacked, func(s *story) { s.ticket(3, &MergeRecorded{Commit: oid("again")}) },
			"a merge that was not intended"},
		{"with its own commit", stacked, of(1, func(l *line) { l.what = &MergeRecorded{Commit: mergeOf(1)} }),
			"one merge commit for two subtasks"},
		{"at once", stacked, func(s *story) { insert[MergeRecorded](s, 1, (&story{}).task(&TaskPaused{Paused: true})) },
			"task.paused between the merges of one stack"},
		{"before the end", stacked, func(s *story) { until[MergeRecorded](s, 2).task(&TaskCancelled{}) },
			"task.cancelled between the merges of one stack"},
		{"not after the end", func() *story { return stack().task(&TaskCancelled{}) },
			func(s *story) { s.ticket(1, &MergeRecorded{Commit: mergeOf(1)}) }, "a merge that was not intended"},
	})
}

// A stack in a state is of the queue, onto the head; so are those that are searched.
func TestStackStates(t *testing.T) {
	t.Parallel()
	ended := func() *story { return stack().task(&TaskCancelled{}) }
	other := "the merge that t1 is about to do is not of its queue and head"
	for _, c := range []struct {
		rule  string
		right func() *story
		spoil func(t *Task)
		want  string
	}{
		{"on its head", stack, func(t *Task) { t.StackIntent.Members[1].Head = oid("other") }, other},
		{"onto the head", stack, func(t *Task) { t.StackIntent.Onto = oid("other") }, other},
		{"of a ticket", stack, func(t *Task) { t.StackIntent.Members[2].Subtask = "t1-09" }, other},
		{"of the queue", stack, func(t *Task) { t.Queue, t.Subtasks[2].Conflict = t.Queue[:2], &ConflictReported{} }, other},
		{"at a time", stack, func(t *Task) { t.StackIntent.At = t.Ended }, other},
		{"of something", stack, func(t *Task) { t.StackIntent.Members = nil }, "t1 is about to do two merges, or none"},
		{"alone", stack, func(t *Task) { t.MergeIntent = &MergeIntentRecorded{} }, "t1 is about to do two merges, or none"},
		{"suspects wait", approvedTrio, func(t *Task) { t.Suspects = []SubtaskID{"t1-09"} },
			"t1-09 is tested for a red stack and is not in the merge queue"},
		{"not after the end", ended, func(t *Task) { t.StackIntent = &StackIntended{} }, "t1 has ended and goes on"},
		{"no suspects after the end", ended, func(t *Task) { t.Suspects = []SubtaskID{"t1-01"} }, "t1 has ended and goes on"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			s := c.right().state(t)
			c.spoil(s.Tasks["t1"])
			requireBroken(t, historytest.CheckInvariants(s), c.want)
		})
	}
}
