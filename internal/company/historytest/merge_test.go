package historytest_test

import (
	"testing"

	. "company/internal/company"
)

// A merge is of one approved, green head onto the head that stands.
func TestMerges(t *testing.T) {
	t.Parallel()
	intent := func(change func(*MergeIntentRecorded)) func(s *story) {
		return func(s *story) { change(the[MergeIntentRecorded](s, 0)) }
	}
	checkBroken(t, []broken{
		{"one at a time", func() *story { return approvedPair().intend(1, base) }, func(s *story) { s.intend(2, base) },
			"two merges at once"},
		{"once", func() *story { return reviewed().merge(1, base) },
			func(s *story) {
				s.ticket(1, &MergeIntentRecorded{Subtask: "t1-01", Onto: mergeOf(1)})
			}, "t1-01 would be merged twice"},
		{"of its ticket", func() *story { return approvedPair().intend(1, base) },
			intent(func(d *MergeIntentRecorded) { d.Subtask = "t1-02" }), "a merge onto "},
		{"onto the head", intended, intent(func(d *MergeIntentRecorded) { d.Onto = oid("other") }),
			"and the head is " + base.Short()},
		{"of a green tree", intended, intent(func(d *MergeIntentRecorded) { d.Tree = oid("other") }),
			"a merge of a tree on which no gates passed"},
		{"of an approved head", intended, intent(func(d *MergeIntentRecorded) { d.Head = oid("other") }),
			"a merge of a head that nobody approved"},
		{"intended", func() *story { return reviewed().merge(1, base) }, func(s *story) { drop[MergeIntentRecorded](s, 0) },
			"a merge that was not intended"},
		{"of the intended ticket", func() *story { return approvedPair().merge(1, base) },
			func(s *story) { lineOf[MergeRecorded](s, 0).sub = "t1-02" }, "a merge that was not intended"},
		{"with its own commit", func() *story { return approvedPair().merge(1, base).merge(2, mergeOf(1)) },
			func(s *story) { the[MergeRecorded](s, 1).Commit = mergeOf(1) }, "one merge commit for two subtasks"},
	})
	red := func() *story {
		s := intended()
		g := the[MergeGated](s, 0)
		g.Result.Tree, the[MergeIntentRecorded](s, 0).Tree = oid("merged tree"), oid("merged tree")
		return s
	}
	checkBroken(t, []broken{
		{"of a tree that was judged", red, func(s *story) { the[MergeGated](s, 0).Result.Tree = oid("other") },
			"a merge of a tree on which no gates passed"},
		{"of a tree that passed", red, func(s *story) { the[MergeGated](s, 0).Result.Passed = false },
			"a merge of a tree on which no gates passed"},
		{"of a tree that was proven", red, func(s *story) { the[MergeGated](s, 0).Result.GateHash = "others" },
			"proves nothing"},
	})
}

// What needs the president's approval is not merged without it.
func TestMergesWithLeave(t *testing.T) {
	t.Parallel()
	// changing has a ticket with these changes, and a question about its merge.
	changing := func(kind ApprovalKind, set func(*Settings), changes ...Change) func() *story {
		return func() *story {
			s := planned().work(1, changes...).gate(1, base).review(1, base)
			set(&the[TaskSubmitted](s, 0).Settings)
			s.ticket(1, ask(string(kind)+" t1-01 "+string(headOf(1)), kind)).ticket(1, yes())
			return s.intend(1, base)
		}
	}
	no := func(s *story) { the[ApprovalAnswered](s, 0).Option = OptReject }
	ci := Change{Path: ".github/workflows/ci.yml", Action: "created"}
	own := Change{Path: "deploy/x", Action: "modified"}
	vendored := Change{Path: "vendor/x/x.go", Action: "modified"}
	test := Change{Path: "a/a_test.go", Action: "modified"}
	code := Change{Path: "a/a.go", Action: "modified"}
	nothing := func(*Settings) {}
	keepTests := func(s *Settings) { s.ProtectTests = true }
	wrong := "protected paths would change without the president"
	checkBroken(t, []broken{
		{"protected", changing(AskProtected, nothing, code, ci), no, wrong},
		{"protected by the config", changing(AskProtected, func(s *Settings) { s.Protected = []string{"deploy/**"} }, own),
			no, wrong},
		{"code of others", changing(AskProtected, nothing, vendored), no, wrong},
		{"protected is more than a merge", changing(AskProtected, nothing, ci),
			func(s *story) { the[ApprovalOpened](s, 0).Key = "merge t1-01 " + string(headOf(1)) }, wrong},
		{"protected at this head", changing(AskProtected, nothing, ci),
			func(s *story) { the[ApprovalOpened](s, 0).Key = "protected t1-01 " + string(base) }, wrong},
		{"tests", changing(AskProtected, keepTests, test), no, "the test a/a_test.go would change without the president"},
		{"any merge", changing(AskMerge, func(s *Settings) { s.Merge = Ask }), no, "a merge without the president's approval"},
		{"any merge that is protected", changing(AskProtected, func(s *Settings) { s.Merge = Ask }), no,
			"a merge without the president's approval"},
	})
	refused := func(set func(*Settings), changes ...Change) func() *story {
		return with(changing(AskProtected, set, changes...),
			func(s *story) { drop[ApprovalAnswered](s, 0); drop[ApprovalOpened](s, 0) })
	}
	created := func(path string) Change { return Change{Path: path, Action: "created"} }
	requireKept(t, map[string]func() *story{
		"others' code that is new": refused(nothing, created(vendored.Path)),
		"a new test":               refused(keepTests, created(test.Path)),
		"no test":                  refused(keepTests, code),
		"a test that is not kept":  refused(nothing, test),
	})
	// A test that the same task has added may change again.
	grown := func() *story {
		s := waves().work(1, created(test.Path)).gate(1, base).review(1, base).merge(1, base)
		keepTests(&the[TaskSubmitted](s, 0).Settings)
		return s.work(2, test).gate(2, mergeOf(1)).review(2, mergeOf(1)).merge(2, mergeOf(1))
	}
	requireKept(t, map[string]func() *story{"a test that grew already": func() *story {
		s := prepared().plan(oneWave("a"), oneWave("a"), oneWave("a")).work(1, created(test.Path)).gate(1, base).review(
			1, base).merge(1, base)
		keepTests(&the[TaskSubmitted](s, 0).Settings)
		s.work(2, test).gate(2, mergeOf(1)).review(2, mergeOf(1)).merge(2, mergeOf(1))
		return s.work(3, test).gate(3, mergeOf(2)).review(3, mergeOf(2)).merge(3, mergeOf(2))
	}})
	checkBroken(t, []broken{
		{"tests of before", grown, func(s *story) { the[RunEnded](s, 1).Changes[0] = code },
			"the test a/a_test.go would change"},
		{"tests of another path", grown, func(s *story) { the[RunEnded](s, 1).Changes[0].Path = "b/b_test.go" },
			"the test a/a_test.go would change"},
	})
}
