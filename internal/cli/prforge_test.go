package cli

import (
	"errors"
	"strings"
	"testing"

	"company/internal/company"
)

// Two projects whose forges number alike: the number alone is refused, the
// task names the pull request.
func TestPullRequestsOfOneNumber(t *testing.T) {
	pr := func(task company.TaskID, number int) *company.Task {
		return &company.Task{ID: task, PR: &company.PullRequest{Number: number, State: company.PROpen}}
	}
	s := &company.State{LastTask: 3, Tasks: map[company.TaskID]*company.Task{"t1": pr("t1", 7), "t2": pr("t2", 7), "t3": pr("t3", 8)}}
	var refusal *company.Error
	if _, err := findPR(s, "7"); company.CodeOf(err) != company.EUsage || !errors.As(err, &refusal) || !strings.Contains(refusal.Hint, "t1 or t2") {
		t.Errorf("%v", err)
	}
	for arg, want := range map[string]company.TaskID{"t1": "t1", "t2": "t2", "#8": "t3", "8": "t3"} {
		if got, err := findPR(s, arg); err != nil || got.ID != want {
			t.Errorf("%s: %v", arg, err)
		}
	}
	for _, arg := range []string{"t9", "0", "x", "-1"} {
		if _, err := findPR(s, arg); company.CodeOf(err) != company.EUsage {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

// What opens a pull request by hand is a command that a shell takes as it is.
func TestOpenByHand(t *testing.T) {
	pr := &company.PullRequest{Title: "it's $(here)", Branch: "develop-t1-abcd", Base: "main"}
	got := openBy("git@github.com:acme/app.git", "/x y/7.md", pr)
	for _, want := range []string{"gh pr create --repo acme/app --base main --head develop-t1-abcd", `--body-file '/x y/7.md'`, "https://github.com/acme/app/compare/main...develop-t1-abcd?expand=1"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if strings.Contains(got, "title it's") || openBy("/srv/app.git", "x", pr) != "" || openBy("git@example.com:a/b", "x", pr) != "" {
		t.Error(got)
	}
}
