package prbody

import (
	"strings"
	"testing"

	"company/internal/company"
)

// The pull request names commits of others that were taken in, with names that are inert.
func TestCommitsOfOthersAreNamed(t *testing.T) {
	task := newPRTask()
	if text := PRBody(task, PROptions{}); strings.Contains(text, "Commits of others") {
		t.Errorf("nothing was taken in:\n%s", text)
	}
	from, theirs := company.OID(strings.Repeat("c", 40)), company.OID(strings.Repeat("d", 40))
	taken := &company.BranchChange{Kind: company.BranchAhead, Delivered: from, Now: theirs, Commits: 2,
		By: []string{"<b>@admin</b>", "fixes #12"}, People: 3}
	task.Subtasks = append(task.Subtasks,
		&company.Subtask{ID: "t12-02", Merged: task.Head, TakenIn: taken},
		&company.Subtask{ID: "t12-03", TakenIn: taken})
	text := PRBody(task, PROptions{})
	for _, want := range []string{"## Other people's commits", "| t12-02 | took in 2 commits by ",
		" and 1 more that were pushed to the branch meanwhile", "`ccccccc..ddddddd`"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, bad := range []string{"<b>", "@admin", "#12", "| t12-03 | took"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q stands in\n%s", bad, text)
		}
	}
}
