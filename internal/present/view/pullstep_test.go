package view

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
)

// Two projects whose forges number alike: the number alone is refused, the
// task names the pull request.
func TestAmbiguousPRNumber(t *testing.T) {
	pr := func(task company.TaskID, number int) *company.Task {
		return &company.Task{ID: task, PR: &company.PullRequest{Number: number, State: company.PROpen}}
	}
	s := &company.State{LastTask: 3,
		Tasks: map[company.TaskID]*company.Task{"t1": pr("t1", 7), "t2": pr("t2", 7), "t3": pr("t3", 8)}}
	src := Source{State: s}
	var refusal *company.Error
	if _, err := src.PullRecord("7"); company.CodeOf(err) != company.EUsage || !errors.As(err, &refusal) ||
		!strings.Contains(refusal.Hint, "t1 or t2") {
		t.Errorf("%v", err)
	}
	for arg, want := range map[string]company.TaskID{"t1": "t1", "t2": "t2", "#8": "t3", "8": "t3"} {
		if got, err := src.PullRecord(arg); err != nil || got.Task().ID != want {
			t.Errorf("%s: %v", arg, err)
		}
	}
	for _, arg := range []string{"t9", "0", "x", "-1"} {
		if _, err := src.PullRecord(arg); company.CodeOf(err) != company.EUsage {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

// Programs and people read pull requests in one order: those that are open first, and of each the
// newest first.
func TestOrderOfPullRequests(t *testing.T) {
	s := &company.State{Tasks: map[company.TaskID]*company.Task{}}
	for i, state := range []company.PRState{company.PROpen, company.PRMerged, company.PROpen, company.PRClosed} {
		id := company.NewTaskID(i + 1)
		s.Tasks[id] = &company.Task{ID: id, PR: &company.PullRequest{Number: i + 1, State: state}}
	}
	var got []int
	for _, p := range (Source{State: s}).PullRequests() {
		got = append(got, p.Number)
	}
	if want := []int{3, 1, 4, 2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A branch that people changed asks for another step.
func TestNextStepChangedBranch(t *testing.T) {
	was, now := company.OID(strings.Repeat("a", 40)), company.OID(strings.Repeat("b", 40))
	for _, c := range []struct {
		change *company.BranchChange
		url    string
		has    []string
		lacks  string
	}{
		{nil, "", []string{"company pr merge 2"}, "follows"},
		{&company.BranchChange{Kind: company.BranchAhead, Delivered: was, Now: now, Commits: 1}, "",
			[]string{"company pr merge 2", "no gate", "company submit --follows t1"}, "pr close"},
		{&company.BranchChange{Kind: company.BranchRewritten, Delivered: was, Now: now}, "",
			[]string{"company submit --follows t1", "company pr close 2", "how to merge the delivered work: company pr merge 2"},
			"no gate"},
		{&company.BranchChange{Kind: company.BranchGone, Delivered: was}, "",
			[]string{"restores the branch", "company pr close 2", "how to merge the delivered work: company pr merge 2"},
			"your own git"},
		{&company.BranchChange{Kind: company.BranchRewritten, Delivered: was, Now: now}, "https://example.com/pull/2",
			[]string{"review it at", "no gate"}, "pr close"},
	} {
		task := &company.Task{ID: "t1", BranchChange: c.change,
			PR: &company.PullRequest{Number: 2, URL: c.url, State: company.PROpen, Branch: "b", Base: "main", Head: was}}
		got := NextPullStep(task, func() string { return "" })
		for _, want := range c.has {
			if !strings.Contains(got, want) {
				t.Errorf("%+v: no %q in %s", c.change, want, got)
			}
		}
		if strings.Contains(got, c.lacks) {
			t.Errorf("%+v: %s", c.change, got)
		}
	}
}

// A pull request that ended asks for nothing.
func TestNextStepEnded(t *testing.T) {
	for state, want := range map[company.PRState]string{company.PRMerged: "it is merged",
		company.PRClosed: "it is closed"} {
		got := NextPullStep(
			&company.Task{ID: "t1", PR: &company.PullRequest{Number: 2, State: state, Branch: "b", Base: "main"}},
			func() string {
				return ""
			})
		if !strings.Contains(got, want) || strings.Contains(got, "pr merge") {
			t.Errorf("%s: %s", state, got)
		}
	}
}
