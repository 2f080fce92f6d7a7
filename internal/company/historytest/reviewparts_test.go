package historytest_test

import (
	"slices"
	"testing"

	. "company/internal/company"
)

// inParts is a task of two parts, each done by a ticket of its own, whose reviews are the review of the whole. A ticket
// for each list has these changes.
func inParts(plan Wave, changes ...[]Change) *story {
	s := prepared()
	the[TaskSubmitted](s, 0).Instruction = "- Mend the parser.\n- Mend the printer."
	s.plan(plan)
	for n, list := range changes {
		s.work(n+1, list...).gate(n+1, base).review(n+1, base)
	}
	onto := base
	for n := range changes {
		s.merge(n+1, onto)
		onto = mergeOf(n + 1)
	}
	s.task(&GateFinished{Head: onto, Result: verdict(treeOf(len(changes)))})
	return s.deliver(len(changes))
}

// planParts plans a ticket for each list of parts.
func planParts(does ...[]int) Wave {
	sets := []string{"a/**", "b/**", "c/**"}
	plan := oneWave(sets[:len(does)]...)
	for i := range does {
		plan.Subtasks[i].Does = does[i]
	}
	return plan
}

func changed(action string, paths ...string) (list []Change) {
	for _, path := range paths {
		list = append(list, Change{Path: path, Action: action})
	}
	return list
}

// inTurn has the second ticket worked on when the first one is merged.
func inTurn(s *story) {
	begin, merging, merged := find[RunOffered](s, 1), find[MergeGated](s, 0), find[MergeRecorded](s, 0)+1
	s.lines = slices.Concat(s.lines[:begin], s.lines[merging:merged], s.lines[begin:merging], s.lines[merged:])
}

// The reviews of all tickets are that of the whole where each does a part of the instruction, none comes after another,
// and no two change what can meet.
func TestReviewInParts(t *testing.T) {
	t.Parallel()
	with2 := func(one, other []Change) func() *story {
		return func() *story { return inParts(planParts([]int{1}, []int{2}), one, other) }
	}
	right := with2(changed("modified", "a/x.go"), changed("modified", "b/y.go"))
	requireKept(t, map[string]func() *story{
		"two folders": right,
		"several changes of a ticket in a folder": with2(
			changed("modified", "a/x.go", "a/y.go", "a/x.go"), changed("created", "b/x.go", "b/y.go")),
		"new files in a folder": with2(changed("created", "docs/x.md"), changed("created", "docs/y.md")),
		"two parts of a ticket": func() *story {
			return inParts(planParts([]int{1, 2}, []int{1}), changed("modified", "a/x.go"), changed("modified", "b/y.go"))
		},
		"three tickets": func() *story {
			return inParts(planParts([]int{1}, []int{2}, []int{2}), nil, nil, nil)
		},
	})
	change := func(one, other []Change) func(s *story) {
		return func(s *story) {
			the[RunEnded](s, 1).Changes = one
			the[RunEnded](s, 3).Changes = other
		}
	}
	subtasks := func(change func([]PlannedSubtask)) func(s *story) {
		return func(s *story) { change(the[PlanAccepted](s, 0).Plan.Waves[0].Subtasks) }
	}
	submit := func(change func(*TaskSubmitted)) func(s *story) {
		return func(s *story) { change(the[TaskSubmitted](s, 0)) }
	}
	nobody := "a pull request that nobody reviewed"
	checkBroken(t, []broken{
		{"an instruction of parts", right, submit(func(d *TaskSubmitted) { d.Instruction = "Do it." }), nobody},
		{"of the president's", right, submit(func(d *TaskSubmitted) { d.Issue = &IssueRef{Number: 12} }), nobody},
		{"of a task of its own", right, submit(func(d *TaskSubmitted) { d.Follows = "t9" }), nobody},
		{"of several tickets", func() *story {
			s := inParts(planParts([]int{1, 2}), nil)
			s.lines = s.lines[:find[DeliveryIntended](s, 0)]
			id := RunID("t1-review.1")
			return s.claim(id).end(id).runOf(id, &ReviewRecorded{Head: mergeOf(1), Verdict: Approve}).deliver(1)
		}, func(s *story) { drop[ReviewRecorded](s, 1) }, nobody},
		{"of all tickets", right, func(s *story) {
			s.lines = s.lines[:find[MergeGated](s, 1)]
			s.task(&GateFinished{Head: mergeOf(1), Result: verdict(treeOf(1))}).task(
				&PROpened{PullRequest: PullRequest{Head: mergeOf(1)}})
		}, nobody},
		{"of one wave", right, func(s *story) {
			plan := &the[PlanAccepted](s, 0).Plan
			one := plan.Waves[0].Subtasks
			plan.Waves = []Wave{{Subtasks: one[:1]}, {Subtasks: one[1:]}}
			inTurn(s)
		}, nobody},
		{"each does a part", right, subtasks(func(l []PlannedSubtask) { l[0].Does, l[1].Does = []int{1, 2}, nil }), nobody},
		{"each part is done", right, subtasks(func(l []PlannedSubtask) { l[1].Does = []int{1} }), nobody},
		{"none comes after another", func() *story {
			s := right()
			inTurn(s)
			return s
		}, subtasks(func(l []PlannedSubtask) { l[1].After = []string{"t1-01"} }), nobody},
		{"no file of two", right, change(changed("created", "docs/x.md"), changed("created", "docs/x.md")), nobody},
		{"no new files of a package", right, change(changed("created", "a/x.go"), changed("created", "a/y.go")), nobody},
		{"no old file beside a new one", right, change(changed("modified", "docs/x.md"), changed("created", "docs/y.md")),
			nobody},
		{"no new file beside an old one", right, change(changed("created", "docs/x.md"), changed("modified", "docs/y.md")),
			nobody},
	})
}
