package company_test

import (
	"fmt"
	"testing"

	. "company/internal/company"
)

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
