package view

import (
	"encoding/json"
	"strings"
	"testing"

	"company/internal/company"
)

// REV-4: company show lists the findings that a later review confirmed or rejected, and its JSON
// has all, of subtasks and of the whole.
func TestJudgedFindingsAreShown(t *testing.T) {
	t.Parallel()
	r := company.ReviewState{
		Past: []company.JudgedFinding{
			{Finding: company.Finding{Severity: company.Blocking, File: "a.go", Line: 3, What: "no test"},
				Status: company.FindingConfirmed},
			{Finding: company.Finding{Severity: company.Minor, What: "a word"}, Status: company.FindingMended,
				Mended: "0123456789012345678901234567890123456789"},
			{Finding: company.Finding{Severity: company.Minor, What: "a \x1b[31mrace"}, Status: company.FindingRejected,
				Basis: "it is locked"},
		},
		Last: &company.ReviewRecorded{Verdict: company.Approve,
			Findings: []company.Finding{{Severity: company.Minor, What: "a name"}}},
	}
	sub := &company.Subtask{ID: "t1-01", Review: r}
	task := &company.Task{ID: "t1", Instruction: "do it", Subtasks: []*company.Subtask{sub}, Review: r}
	s := company.NewState()
	s.Tasks["t1"] = task
	src := Source{State: s}
	for name, v := range map[string]interface{ Render(Style) string }{"subtask": src.Subtask(task, sub),
		"task": src.TaskDetail(task)} {
		text := v.Render(Style{Width: 100})
		for _, want := range []string{"confirmed: blocking a.go:3 no test\n", "mended: minor a word\n",
			"in: 0123456\n", `rejected: minor a \x1b[31mrace`,
			"by the next review: it is locked\n", "minor a name\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, text)
			}
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Findings []company.JudgedFinding }
		if err := json.Unmarshal(raw, &got); err != nil || len(got.Findings) != 4 ||
			got.Findings[0].Status != company.FindingConfirmed || got.Findings[0].What != "no test" ||
			got.Findings[3].Status != company.FindingUnverified {
			t.Errorf("%s: %v %+v", name, err, got.Findings)
		}
	}
}
