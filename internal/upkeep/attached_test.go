package upkeep

import (
	"slices"
	"testing"

	"company/internal/company"
)

// TestFilesOfAnInstructionAreNamed: the files of an instruction are blobs of their task, so
// that no cleanup removes them while the task is kept, and doctor --deep looks for them.
func TestFilesOfAnInstructionAreNamed(t *testing.T) {
	file := company.Attachment{Name: "spec.md", Blob: "aa"}
	task := &company.Task{ID: "t1", Status: company.StatusExecuting, Attachments: []company.Attachment{file}}
	state := company.NewState()
	state.Tasks["t1"] = task
	named := retentionPolicy{state: state}.taskBlobs(task)
	if !slices.ContainsFunc(named, func(b namedBlob) bool {
		return b.hash == "aa" && b.what == "spec.md, which came with the instruction of t1"
	}) {
		t.Errorf("the task names %+v", named)
	}
}
