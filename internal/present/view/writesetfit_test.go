package view

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/present/view/viewtest"
)

// SUB-18: show holds the planned write sets against the files that were changed, for each
// subtask and for the task; a repair, which may write all, says nothing of the plan.
func TestWriteSetFitIsShown(t *testing.T) {
	t.Parallel()
	s, task := viewtest.TaskOf(func(_ *company.State, t *company.Task) {
		t.Subtasks[0].Planned.WriteSet = []string{"a.go", "docs/**"}
		t.Subtasks[0].Changes = []company.Change{{Path: "a.go", Action: "modified"}, {Path: "b.go", Action: "created"}}
		t.Subtasks[1].Planned.WriteSet = []string{"c/**"}
		t.Subtasks[1].Changes = []company.Change{{Path: "c/x.go", Action: "created"}}
		t.Subtasks = append(t.Subtasks,
			&company.Subtask{ID: "t12-03", Planned: company.PlannedSubtask{WriteSet: []string{"**"}},
				Changes: t.Subtasks[0].Changes},
			&company.Subtask{ID: "t12-04", Planned: company.PlannedSubtask{WriteSet: []string{"d.go"}}})
	})
	src := Source{State: s, Now: viewtest.Time}
	v := src.TaskDetail(task)
	if fit := v.WriteSetFit; fit == nil || *fit != (company.Fit{Planned: 3, Used: 2, Changed: 3, Covered: 2}) {
		t.Errorf("%+v", fit)
	}
	if text := v.Render(Style{Width: 120}); !strings.Contains(
		text, "  write sets: 2 of 3 globs used, 2 of 3 changed files planned\n") {
		t.Errorf("%s", text)
	}
	if text := v.Plan[0].Render(Style{Width: 120}); !strings.Contains(
		text, "  fit:    1 of 2 globs used, 1 of 2 changed files planned\n") {
		t.Errorf("%s", text)
	}
	over, err := src.Planning()
	if err != nil || len(over.Tasks) != 1 || over.Tasks[0].Task != task.ID || *over.Total.Precision != 2.0/3 ||
		*over.Total.Recall != 2.0/3 {
		t.Errorf("%+v, %v", over, err)
	}
	if text := over.RenderText(); !strings.Contains(text, "67 %       2 of 3      67 %    2 of 3") ||
		!strings.Contains(text, "of 1 task\n") {
		t.Errorf("%s", text)
	}
	if none, err := (Source{State: company.NewState()}).Planning(); err != nil || len(none.Tasks) > 0 ||
		none.RenderText() != "No plan was worked on yet.\n" {
		t.Errorf("%+v, %v", none, err)
	}
	if v.Plan[2].WriteSetFit != nil || v.Plan[3].WriteSetFit != nil ||
		strings.Contains(v.Plan[3].Render(Style{Width: 120}), "fit:") {
		t.Errorf("%+v %+v", v.Plan[2].WriteSetFit, v.Plan[3].WriteSetFit)
	}
}

// SUB-18: plans of archived tasks are measured as before; an archive that is lost is an error.
func TestPlanningOfArchivedTasks(t *testing.T) {
	s := foldUnarchived(t, 2)
	before, err := Source{State: s, Now: s.Time}.Planning()
	if err != nil {
		t.Fatal(err)
	}
	held := archiveEnded(t, s, s.Time)
	src := Source{State: s, Now: s.Time, Archives: held}
	after, err := src.Planning()
	if err != nil || !reflect.DeepEqual(before, after) ||
		!slices.ContainsFunc(after.Tasks, func(p PlannedTask) bool { return s.Past[p.Task] != nil }) {
		t.Errorf("%d archived\n%+v\n%+v, %v", len(s.Past), before, after, err)
	}
	held.by = nil
	if _, err := src.Planning(); err == nil {
		t.Error("measured without the archives")
	}
}

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
