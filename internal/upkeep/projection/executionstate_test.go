package projection

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"company/internal/company"
	"company/internal/office/officetest"
	"company/internal/present/view"
)

func drawState(t *rapid.T) ExecutionState {
	pair := rapid.SampledFrom([]ExecutionState{
		{Status: ExecutionRunning, TaskStatus: company.StatusPending},
		{Status: ExecutionRunning, TaskStatus: company.StatusExecuting},
		{Status: ExecutionPaused, TaskStatus: company.StatusReviewing},
		{Status: ExecutionInterrupted, TaskStatus: company.StatusExecuting},
		{Status: ExecutionPaused, TaskStatus: company.StatusDecomposing},
		{Status: ExecutionCompleted, TaskStatus: company.StatusCompleted},
		{Status: ExecutionFailed, TaskStatus: company.StatusFailed},
		{Status: ExecutionFailed, TaskStatus: company.StatusCancelled},
	}).Draw(t, "status")
	id := company.TaskID(fmt.Sprintf("t%d", rapid.IntRange(1, 999).Draw(t, "task")))
	run := rapid.Custom(func(t *rapid.T) company.RunID {
		return company.RunID(
			fmt.Sprintf("%s-%02d.%d", id, rapid.IntRange(1, 99).Draw(t, "sub"), rapid.IntRange(1, 9).Draw(t, "n")))
	})
	name := rapid.String()
	oid := rapid.Map(rapid.StringMatching(`[0-9a-f]{40}`), func(s string) company.OID { return company.OID(s) })
	st := ExecutionState{
		SchemaVersion: stateVersion, TaskID: id, RunID: string(id), Status: pair.Status, TaskStatus: pair.TaskStatus,
		Phase:         rapid.SampledFrom(company.Phases).Draw(t, "phase"),
		Workers:       rapid.MapOf(name, run).Draw(t, "workers"),
		Conversations: map[company.RunID]string{}, Artifacts: map[string]company.Change{},
		Branches: rapid.MapOf(name, rapid.OneOf(oid, rapid.Just(company.OID("")))).Draw(t, "branches"),
		LastUpdated: time.Unix(rapid.Int64Range(0, 1<<34).Draw(t, "seconds"),
			rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC(),
	}
	for _, r := range rapid.SliceOfN(run, 0, 3).Draw(t, "ended") {
		st.Conversations[r] = "runs/" + string(r) + "/transcript.ndjson"
	}
	for _, file := range rapid.SliceOfN(name, 0, 3).Draw(t, "files") {
		st.Artifacts[file] = company.Change{Path: file,
			Action: rapid.SampledFrom([]string{"created", "modified", "deleted"}).Draw(t, "action")}
	}
	return st
}

// PRC-15, REC-3. A stop is shown in the state of each open task, and so is its end; a run that nobody holds is
// interrupted.
func TestStopInterrupts(t *testing.T) {
	off := officetest.Open(t)
	state := submitted("t1")
	p := openProjector(t, off, state, history{})
	for stopped, want := range map[bool]ExecutionStatus{true: ExecutionInterrupted, false: ExecutionRunning} {
		state.Office.Stopped = stopped
		kind := kindOfficeResumed
		if stopped {
			kind = kindOfficeStopped
		}
		p.MarkChanged(company.Event{Kind: kind}, nil)
		p.FlushPending(t.Context())
		text, err := off.TasksFolder.ReadFile("t1.json", maxStateBytes)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseExecutionState(text); err != nil || got.Status != want {
			t.Errorf("stopped %v: %s, %v", stopped, got.Status, err)
		}
	}
	state.Office.Epoch = 2
	run := &company.Run{ID: "t1-01.1", Fence: 3, Held: true}
	state.Tasks["t1"].Runs = map[company.RunID]*company.Run{run.ID: run}
	for _, c := range []struct {
		held, stopped bool
		want          string
	}{{true, false, "running"}, {true, true, "interrupted"}, {false, false, "interrupted"}} {
		run.Held, state.Office.Stopped = c.held, c.stopped
		if got := (view.Source{State: state}).Run(state.Tasks["t1"], run); got.Status != c.want {
			t.Errorf("%+v: %s", c, got.Status)
		}
	}
}

// Feature: agent-execution-engine, Property 22: State Persistence Round-Trip
//
// STA-3. What was saved loads again as it was, and is saved as it stood.
func TestExecutionStateRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := drawState(t)
		text, err := st.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseExecutionState(text)
		if err != nil || !reflect.DeepEqual(got, st) {
			t.Fatalf("%+v, %v\nwas %+v", got, err, st)
		}
		again, err := got.Encode()
		if err != nil || !bytes.Equal(again, text) {
			t.Fatalf("%s, %v\nwas %s", again, err, text)
		}
		if cut := rapid.IntRange(0, len(text)-2).Draw(t, "cut"); cut >= 0 {
			if _, err := ParseExecutionState(text[:cut]); err == nil {
				t.Fatalf("a part of it is read: %s", text[:cut])
			}
		}
	})
}

// A pause is in the file, with the status that the task goes on with; each task has one
// of four words; and what the projector writes loads.
func TestExecutionStateOfTasks(t *testing.T) {
	s := company.NewState()
	want := map[company.TaskID]ExecutionStatus{}
	for id, x := range map[company.TaskID]struct {
		status company.TaskStatus
		paused bool
		word   ExecutionStatus
	}{
		"t1": {company.StatusPending, false, ExecutionRunning}, "t2": {company.StatusExecuting, true, ExecutionPaused},
		"t3": {company.StatusReviewing, false, ExecutionRunning},
		"t4": {company.StatusCompleted, false, ExecutionCompleted}, "t5": {company.StatusFailed, true, ExecutionFailed},
		"t6": {company.StatusCancelled, false, ExecutionFailed}, "t7": {company.StatusDecomposing, true, ExecutionPaused},
	} {
		s.Tasks[id] = &company.Task{ID: id, Status: x.status, Paused: x.paused,
			Updated: time.Date(2026, 3, 1, 13, 0, 0, 5, time.FixedZone("x", 3600))}
		want[id] = x.word
	}
	off := officetest.Open(t)
	p := New(off)
	p.Connect(fixedState{s}, blobs{}, nil, slog.New(slog.NewTextHandler(io.Discard, nil)))
	p.markOutdated(s)
	p.FlushPending(t.Context())
	for id, word := range want {
		text, err := off.TasksFolder.ReadFile(string(id)+".json", 0)
		if err != nil {
			t.Fatal(err)
		}
		st, err := ParseExecutionState(text)
		if err != nil || st.Status != word || st.TaskStatus != s.Tasks[id].Status ||
			!st.LastUpdated.Equal(s.Tasks[id].Updated) {
			t.Errorf("%s: %+v, %v", id, st, err)
		}
	}
}

// What is not a state of a task is refused, with a reason.
func TestExecutionStateRefused(t *testing.T) {
	const good = `{"schema_version":2,"task_id":"t1","run_id":"t1","status":"running","task_status":"executing","phase":"plan","worker_assignments":{},"conversation_histories":{},"git_branches":{},"artifacts":{},"last_updated":"2026-03-01T12:00:00Z"}`
	if _, err := ParseExecutionState([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{
		`"schema_version":2`:            `"schema_version":1`,
		`"status":"running","t`:         `"status":"going","t`,
		`"task_status":"executing"`:     `"task_status":"completed"`,
		`"task_id":"t1"`:                `"task_id":"../x"`,
		`"run_id":"t1"`:                 `"run_id":"t2"`,
		`"git_branches":{}`:             `"git_branches":{"b":"HEAD"}`,
		`"worker_assignments":{}`:       `"worker_assignments":{"w":"t1"}`,
		`"conversation_histories":{}`:   `"conversation_histories":{"t1-01.1":"/etc/passwd"}`,
		`"artifacts":{}`:                `"artifacts":null`,
		`"artifacts":{},`:               `"artifacts":{"a":{"path":"b","action":"created"}},`,
		`"phase":"plan"`:                `"phase":"plan","more":1`,
		`"2026-03-01T12:00:00Z"}`:       `"2026-03-01T12:00:00+01:00"}`,
		`"last_updated":"2026-03-01T12`: `"last_updated":"yesterday","x":"2026-03-01T12`,
		`:00:00Z"}`:                     `:00:00Z"}{}`,
	} {
		text := strings.Replace(good, from, to, 1)
		if text == good {
			t.Fatalf("%s is not there", from)
		}
		if _, err := ParseExecutionState([]byte(text)); company.CodeOf(err) != company.EInvalid {
			t.Errorf("%s: %v", to, err)
		}
	}
}
