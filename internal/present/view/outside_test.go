package view

import (
	"encoding/json"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/present/view/viewtest"
)

// SUB-18: show names the files that a subtask changed beyond its write set, and the open
// subtask that writes one of them, too; of many it names the first.
func TestOutsideWriteSetIsShown(t *testing.T) {
	t.Parallel()
	s, task := viewtest.TaskOf(func(_ *company.State, t *company.Task) {
		t.Subtasks[0].Planned.WriteSet = []string{"a.go"}
		t.Subtasks[0].Changes = []company.Change{{Path: "a.go", Action: "modified"}, {Path: "b.go", Action: "created"}}
		t.Subtasks[1].Status, t.Subtasks[1].Planned.WriteSet = company.SubtaskRunning, []string{"b.go"}
		for _, name := range []string{"b.go", "1", "2", "3", "4", "5\x1b[31m", "6"} {
			t.Subtasks[1].Changes = append(t.Subtasks[1].Changes, company.Change{Path: name, Action: "created"})
		}
	})
	v := Source{State: s, Now: viewtest.Time}.TaskDetail(task)
	for text, want := range map[string]string{
		v.Plan[0].Render(Style{Width: 120}): "\n  beyond: b.go (t12-02 writes it, too)\n",
		v.Plan[1].Render(Style{Width: 120}): "\n  beyond: 1, 2, 3, 4, 5\\x1b[31m, and 1 more\n",
		v.Render(Style{Width: 120}):         "beyond its write set: b.go (t12-02 writes it, too)\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if got, _ := json.Marshal(v.Plan[0].OutsideWriteSet); string(got) != `[{"path":"b.go","meets":["t12-02"]}]` {
		t.Errorf("%s", got)
	}
}
