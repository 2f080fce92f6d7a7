package projection

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/delivery/report"
	"company/internal/office/officetest"
)

// kept is a decider that keeps what is recorded.
type kept struct {
	fixedState
	commands *[]company.Command
}

func (k kept) Do(_ context.Context, _ string, c company.Command) ([]company.Event, error) {
	*k.commands = append(*k.commands, c)
	return nil, nil
}

// submitted is a state with tasks that are open.
func submitted(ids ...company.TaskID) *company.State {
	state := company.NewState()
	for _, id := range ids {
		state.Tasks[id] = &company.Task{ID: id, Status: company.StatusPending, Submitted: time.Unix(9, 0),
			Updated: time.Unix(9, 0), Project: company.Project{ID: "p", Path: "/p"}, Instruction: "say hello"}
		state.Open = append(state.Open, id)
	}
	return state
}

func readLog(t *testing.T, dir string, id company.TaskID) (log report.TaskLog) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, id.LogID()+".json"))
	if err != nil || json.Unmarshal(text, &log) != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return log
}

func readIndex(t *testing.T, dir string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, indexFile))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// LOG-2, LOG-4, ART-6. A task is in the index when it is submitted, and has a log from then on; at its end it has a
// report, too.
func TestTaskDocuments(t *testing.T) {
	off := officetest.Open(t)
	state := submitted("t1")
	p := openProjector(t, off, state, history{events: []company.Event{{Seq: 1, Task: "t1", Kind: "task.submitted"}}})
	p.markOutdated(state)
	p.FlushPending(t.Context())
	if log := readLog(t, off.TaskLogs, "t1"); log.Status != report.LogQueued || log.VerificationRoot != "/p" {
		t.Errorf("%+v", log)
	}
	if got := readIndex(t, off.TaskLogs); len(got) != 1 ||
		got[0] != `{"external_task_id":"t1","log_id":"task-001"}` {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(off.Reports, "t1.report.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an open task has a report: %v", err)
	}

	failed := *state.Tasks["t1"]
	failed.Status, failed.Reason, failed.Ended = company.StatusFailed, "No gates.", time.Unix(12, 0)
	state.Tasks["t1"], state.Open = &failed, nil
	p.MarkChanged(company.Event{Task: "t1"}, &failed)
	p.FlushPending(t.Context())
	if log := readLog(t, off.TaskLogs, "t1"); log.Status != report.LogError || log.ErrorReason == "" ||
		len(log.Events) != 1 {
		t.Errorf("%+v", log)
	}
	for _, name := range []string{"t1.report.json", "t1.report.md"} {
		text, err := os.ReadFile(filepath.Join(off.Reports, name))
		if err != nil || !strings.Contains(string(text), "say hello") || !strings.Contains(string(text), "ERROR") {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}

// LOG-4. Each task has one line in the index, whatever became of the file.
func TestIndexOfTaskLogs(t *testing.T) {
	off := officetest.Open(t)
	state := submitted("t1", "t2")
	state.Past = map[company.TaskID]*company.PastTask{"t3": {ID: "t3"}}
	p := openProjector(t, off, state, history{})
	index := filepath.Join(off.TaskLogs, indexFile)
	want := []string{`{"external_task_id":"t1","log_id":"task-001"}`, `{"external_task_id":"t2","log_id":"task-002"}`,
		`{"external_task_id":"t3","log_id":"task-003"}`}
	for name, spoil := range map[string]func() error{
		"nothing":    func() error { return nil },
		"removed":    func() error { return os.Remove(index) },
		"cut":        func() error { return os.WriteFile(index, []byte(want[0]+"\n{\"ext"), 0o600) },
		"duplicates": func() error { return os.WriteFile(index, []byte(want[0]+"\n"+want[0]+"\n"), 0o600) },
	} {
		if err := spoil(); err != nil && name != "nothing" && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for _, id := range state.Open {
			if err := p.registerLog(id); err != nil {
				t.Fatal(err)
			}
		}
		if got := readIndex(t, off.TaskLogs); !slices.Equal(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	state.Tasks["t4"] = &company.Task{ID: "t4"}
	if err := errors.Join(p.registerLog("t4"), p.registerLog("t4")); err != nil {
		t.Fatal(err)
	}
	want = append(want, `{"external_task_id":"t4","log_id":"task-004"}`)
	if got := readIndex(t, off.TaskLogs); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// LOG-2. A log that cannot be written is recorded, and the core ends the task. A report that cannot be written stops
// the delivery.
func TestUnwrittenTaskLog(t *testing.T) {
	off := officetest.Open(t)
	state := submitted("t1")
	for _, file := range []string{filepath.Join(off.TaskLogs, "task-001.json"),
		filepath.Join(off.Reports, "t1.report.md")} {
		if err := os.MkdirAll(filepath.Join(file, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var commands []company.Command
	p := openProjector(t, off, state, history{})
	p.decider = kept{fixedState{state}, &commands}
	p.markOutdated(state)
	p.FlushPending(t.Context())
	told := slices.ContainsFunc(commands, func(c company.Command) bool {
		write, ok := c.(company.RecordFileWrite)
		return ok && write.Task == "t1" && write.File == "logs/task-001.json" && write.Why != ""
	})
	if !told {
		t.Errorf("nobody is told: %+v", commands)
	}
	err := p.WriteReport(t.Context(), "t1")
	if err == nil || !strings.Contains(err.Error(), "write the report of t1") ||
		!strings.Contains(err.Error(), "write the log of t1") {
		t.Errorf("%v", err)
	}
}
