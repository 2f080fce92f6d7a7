package prbody

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/company"
)

// Files that no filter has passed are named, by the last ticket that changed them.
func TestPRBodyBypassed(t *testing.T) {
	t.Parallel()
	task := newPRTask()
	if text := PRBody(task, PROptions{}); strings.Contains(text, "filter") {
		t.Errorf("nothing bypasses a filter, and yet\n%s", text)
	}
	task.Subtasks[0].Changes = []company.Change{
		{Path: "a.go", Action: "modified"}, {Path: "secrets/@admin.yml", Action: "created", Bypassed: "filter=git-crypt"},
		{Path: "gone.bin", Action: "created", Bypassed: "filter=lfs"},
	}
	task.Subtasks = append(task.Subtasks, &company.Subtask{ID: "t12-02", Merged: task.Head,
		Changes: []company.Change{{Path: "gone.bin", Action: "deleted"}}})
	text := PRBody(task, PROptions{})
	for _, want := range []string{"1 file is stored as written, not as .gitattributes", "## Files that no filter",
		"- `secrets/@admin.yml`: `filter=git-crypt`, this filter seals files"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "`gone.bin`:") {
		t.Errorf("a removed file is named\n%s", text)
	}
	for i := range 100 {
		task.Subtasks[0].Changes = append(task.Subtasks[0].Changes,
			company.Change{Path: fmt.Sprintf("%d.bin", i), Action: "created", Bypassed: "filter=lfs"})
	}
	if text = PRBody(task, PROptions{}); !strings.Contains(text, "101 files are stored as written") ||
		!strings.Contains(text, "- 89 more files") {
		t.Errorf("not counted\n%s", text)
	}
}
