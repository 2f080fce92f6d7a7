package company_test

import (
	"fmt"
	"testing"

	. "company/internal/company"
)

// LOG-2. A task whose log cannot be written ends before it costs anything, each time; later, that is only recorded.
func TestTaskWithoutALog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(President, Submit{Instruction: "x", Project: Project{ID: "p", Path: "/p"}})
	unwritten := RecordFileWrite{Task: "t1", File: "logs/task-001.json", Why: "permission denied"}
	for range 2 {
		b.must(Company, unwritten)
		const reason = "Its log cannot be written: permission denied."
		if task := b.s.Tasks["t1"]; task.Status != StatusFailed || task.Reason != reason ||
			len(task.Unwritten) != 1 {
			t.Errorf("%+v", task)
		}
		b.must(President, Retry{Task: "t1"})
	}
	s := newStory(t, Settings{}).plan(1)
	s.work(1)
	s.must(Company, RecordFileWrite{Task: s.id, File: s.id.LogFile(), Why: "full"})
	s.checkStatus(StatusExecuting)
	for id, want := range map[string]string{
		"task-001": "t1", "task-012": "t12", "task-1234": "t1234", "task-12": "task-12",
		"task-0012": "task-0012", "task-x": "task-x", "t1": "t1", "task--01": "task--01"} {
		if got := TaskOfLog(id); got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
}

// A file that cannot be written is told once, until it is there; the files of
// the office are its own; both lists are bounded.
func TestUnwrittenFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(President, Submit{Instruction: "x", Project: Project{ID: "p", Path: "/p"}})
	for _, task := range []TaskID{"t1", ""} {
		list := func() []UnwrittenFile {
			if task == "" {
				return b.s.Office.Unwritten
			}
			return b.s.Tasks[task].Unwritten
		}
		note := func(file, why string, want int) {
			t.Helper()
			evs, err := b.do(Company, RecordFileWrite{Task: task, File: file, Why: why})
			if err != nil || len(evs) != want {
				t.Errorf("%s %q: %d events, %v", file, why, len(evs), err)
			}
		}
		note("tasks/t1.json", "", 0) // was never missed
		note("tasks/t1.json", "no \x1b[2Jspace", 1)
		note("tasks/t1.json", "something else", 0)
		if got := list(); len(got) != 1 || got[0].Why != `no \x1b[2Jspace` {
			t.Errorf("%+v", got)
		}
		note("tasks/t1.json", "", 1)
		if got := list(); got != nil {
			t.Errorf("%+v", got)
		}
		for i := range 3 * MaxUnwritten {
			want := 1
			if i >= MaxUnwritten {
				want = 0
			}
			note(fmt.Sprint(i), "full", want)
		}
	}
	b.must(President, Stop{})
	b.must(President, Cancel{Task: "t1"})
	b.must(Company, RecordFileWrite{Task: "t1", File: "0"})
	for _, c := range []RecordFileWrite{{File: ""}, {Run: "t1-01.1", File: "x", Why: "y"},
		{Task: "t9", File: "x", Why: "y"}, {Task: "t1", Run: "t1-01.1", File: "x", Why: "y"}} {
		if _, err := b.do(Company, c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	b.settle()
}
