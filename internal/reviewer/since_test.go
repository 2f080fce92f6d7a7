package reviewer

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitopstest"
)

// A line that was added since the last review stands in the next reviewer's prompt once: in the whole diff. What was
// changed or taken away since stands beside it, and so does what the whole diff lacks.
func TestSecondReviewHasEachLineOnce(t *testing.T) {
	t.Parallel()
	p := gitopstest.New(t, map[string]string{"a.go": "package a\n\n// Kept is kept.\nvar Kept int\n"})
	reviewed := p.Commit("ticket", map[string]string{"a.go": "package a\n\nvar X = 1\n", "b.go": "package a\n\nvar B = 1\n"})
	head := p.Commit("ticket", map[string]string{"a.go": "package a\n\n// Kept is kept.\nvar Kept int\n\nvar X = 1\n",
		"b.go": "package a\n\nvar B = 2\n", "c_test.go": "package a\n\nfunc TestX() {}\n"})
	since, err := p.Mirror.Diff(t.Context(), reviewed, head, maxSince)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := p.Mirror.Diff(t.Context(), p.Base, head, maxPatch)
	if err != nil {
		t.Fatal(err)
	}
	sub := &company.Subtask{ID: "t1-01", Head: head}
	task := &company.Task{ID: "t1", Prepared: &company.TaskPrepared{}, Subtasks: []*company.Subtask{sub}}
	x := subject{From: p.Base, Head: head, diff: whole, Whole: true, Round: &lastRound{Head: reviewed, Since: since}}
	got := prompts.Render("round", newFirstMessage(task, sub, x))
	for _, want := range []string{"c_test.go: lines that are new and in the whole diff: 1-3\n", "-var B = 1\n+var B = 2\n",
		"+// Kept is kept.\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "func TestX") || strings.Contains(got, "diff --git a/c_test.go") {
		t.Errorf("the new test stands twice:\n%s", got)
	}
	brief := reviewBrief(task, sub, x)
	if strings.Count(brief, "func TestX") != 1 {
		t.Errorf("%s", brief)
	}
}

// Only lines that are new are named, and a change of mode or name stands beside them.
func TestNewLinesAreNamedAlone(t *testing.T) {
	t.Parallel()
	const hunk = "--- a/a.sh\n+++ b/a.sh\n@@ -1,4 +1,7 @@\n a\n+one\n b\n c\n d\n+two\n+three\n"
	const named = "a.sh: lines that are new and in the whole diff: 2, 6-7\n"
	for heading, kept := range map[string]bool{
		"index 1..2 100644\n":                                   false,
		"old mode 100644\nnew mode 100755\nindex 1..2\n":        true,
		"similarity index 90%\nrename from a\nrename to a.sh\n": true,
	} {
		heading = "diff --git a/a.sh b/a.sh\n" + heading
		want := named
		if kept {
			want += heading + "--- a/a.sh\n+++ b/a.sh\n"
		}
		if got := withoutShown(heading+hunk, heading+hunk); got != want {
			t.Errorf("%s, not\n%s", got, want)
		}
	}
}
