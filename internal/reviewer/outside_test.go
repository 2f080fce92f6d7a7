package reviewer

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/agent/agenttest"
	"company/internal/company"
)

// The reviewer of a whole task reads what its merged tickets changed beyond their write sets, in
// bounds of a ticket and of all (SUB-18).
func TestOutsideOfTicketsIsBounded(t *testing.T) {
	task := agenttest.NewTask()
	for n := range 5 {
		s := &company.Subtask{ID: company.NewSubtaskID(task.ID, n+2), Status: company.SubtaskCompleted,
			Planned: company.PlannedSubtask{WriteSet: []string{"docs/**"}}}
		for i := range 40 {
			s.Changes = append(s.Changes, company.Change{Path: fmt.Sprintf("%d/%d.go", n, i), Action: "modified"})
		}
		task.Subtasks = append(task.Subtasks, s)
	}
	task.Subtasks[5].Status = company.SubtaskFailed
	task.Subtasks[1].Changes = append(task.Subtasks[1].Changes, company.Change{Path: "docs/a.md", Action: "created"})
	got := reviewBrief(task, nil, subject{})
	for _, want := range []string{"\nt1-02 (write set docs/**):\n  0/0.go\n", "  0/29.go\nt1-03",
		"  3/9.go\nand 60 files more\n</outside_write_set>\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	if strings.Contains(got, "t1-06 (write") || strings.Contains(got, "docs/a.md") || strings.Count(got, ".go\n") != mostOutside {
		t.Errorf("%s", got)
	}
}

// A vendored tree may have thousands of files of gates: a brief has room for some.
func TestBriefListsSomeGateFiles(t *testing.T) {
	task := agenttest.NewTask()
	sub := &company.Subtask{ID: company.NewSubtaskID(task.ID, 2), Status: company.SubtaskCompleted}
	for i := range 15_000 {
		sub.Changes = append(sub.Changes, company.Change{Path: fmt.Sprintf("vendor/%05d/Makefile", i), Action: "created"})
	}
	task.Subtasks = []*company.Subtask{sub}
	if got := listGateFiles(task); len(got) != maxGateFiles+1 || got[maxGateFiles] != "and 14900 more" ||
		got[0] != "vendor/00000/Makefile" {
		t.Errorf("%d lines: %v ... %v", len(got), got[0], got[len(got)-1])
	}
}
