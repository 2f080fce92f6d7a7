package view

import (
	"fmt"
	"testing"

	"company/internal/company"
)

// An overview looks for the files of the runs that it shows, and not for those of all that
// ever ran: an office may have thousands of them.
func TestOverviewLooksForFewFiles(t *testing.T) {
	s := company.NewState()
	task := &company.Task{ID: "t1", Status: company.StatusExecuting, Runs: map[company.RunID]*company.Run{}}
	for n := range 100 {
		id := company.RunID(fmt.Sprintf("t1-01.%d", n+1))
		task.Runs[id] = &company.Run{ID: id, Role: company.Worker, Subtask: "t1-01", Ended: n > 0, Held: n == 0}
	}
	s.Tasks["t1"], s.Open = task, []company.TaskID{"t1"}
	looks := 0
	src := Source{State: s, AtWork: true,
		Folders: Folders{Has: func(_, name string) bool { looks++; return name == "t1-01.1/result.json" }}}
	v, err := src.Overview(false)
	if err != nil || len(v.Running) != 1 || len(v.Running[0].Files) != 1 {
		t.Fatalf("%+v, %v", v.Running, err)
	}
	if looks > 3 {
		t.Errorf("it looked for %d files of 100 runs, of which one is under way", looks)
	}
	looks = 0
	if d := src.TaskDetail(task); looks > 3*100 || len(d.Runs) != 0 {
		t.Errorf("a task's detail looked for %d files of 100 runs, and has %d runs beside its plan", looks, len(d.Runs))
	}
}
