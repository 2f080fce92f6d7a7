package projection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"company/internal/agentrun/runfiles"
	"company/internal/company"
	"company/internal/office"
	"company/internal/office/officetest"
)

// history is a record with the events of a task.
type history struct {
	blobs
	events []company.Event
	err    error
	read   func() // is called when the events are read
}

func (h history) ReadTask(_ context.Context, _ company.TaskID, _ uint64, fn func(company.Event) error) error {
	if h.read != nil {
		h.read()
	}
	for _, e := range h.events {
		if err := fn(e); err != nil {
			return err
		}
	}
	return h.err
}

// happen is an event of the ticket.
func happen(t *testing.T, run company.RunID, d company.Data) company.Event {
	t.Helper()
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return company.Event{Task: "t1", Subtask: "t1-01", Run: run, Kind: d.Kind(), Data: text}
}

// gate is a verdict on a head; the tree tells it from others.
func gate(head, tree company.OID, green bool) *company.GateFinished {
	return &company.GateFinished{Head: head, Result: company.GateResult{Tree: tree, Passed: green}}
}

// judged is the task after a verdict on its run, which has this status by it.
func judged(s *company.State, d *company.GateFinished, status company.RunStatus) *company.Task {
	t := *s.Tasks["t1"]
	r := *t.Runs[restoredRun]
	r.Status = status
	t.Runs = map[company.RunID]*company.Run{r.ID: &r}
	t.Subtasks = []*company.Subtask{{ID: "t1-01", Started: 1, Gate: d}}
	return &t
}

// wentOn is a task whose ticket has a later run, and no verdict any more.
func wentOn(t *company.Task) *company.Task {
	c := *t
	next := company.NewRunID("t1", "t1-01", company.Worker, 2)
	c.Runs = map[company.RunID]*company.Run{restoredRun: t.Runs[restoredRun],
		next: {ID: next, Role: company.Worker, Subtask: "t1-01"}}
	c.Subtasks = []*company.Subtask{{ID: "t1-01", Started: 2}}
	return &c
}

func requireVerdict(t *testing.T, off *office.Office, status company.RunStatus, tree company.OID) {
	t.Helper()
	text, err := off.RunsFolder.ReadFile(string(restoredRun)+"/"+runfiles.ResultFile, 0)
	if err != nil {
		t.Fatal(err)
	}
	var res runfiles.ExecutionResult
	if err := json.Unmarshal(text, &res); err != nil {
		t.Fatal(err)
	}
	switch {
	case res.Status != status:
		t.Errorf("the run's status is %s, want %s", res.Status, status)
	case tree == "" && res.QualityGates != nil:
		t.Errorf("the run has the verdict %+v", res.QualityGates)
	case tree != "" && (res.QualityGates == nil || res.QualityGates.Tree != tree):
		t.Errorf("the run has the verdict %+v, want that on %s", res.QualityGates, tree)
	}
}

// change is an event of the ticket, after which the task is as it is here.
func change(p *Projector, tasks ...*company.Task) {
	for _, task := range tasks {
		p.MarkChanged(company.Event{Task: "t1", Subtask: "t1-01"}, task)
	}
}

// A verdict comes into the result of the run that it is about, however fast the ticket goes
// on: a busy disk once left a red run a success for ever. (ART-1)
func TestVerdictOfARunThatIsPast(t *testing.T) {
	off := officetest.Open(t)
	s, record, want := endedRun(t, time.Now(), time.Now(), false)
	p := openProjector(t, off, s, record)
	p.FlushPending(t.Context())
	p.RunFiles().Put(restoredRun, runfiles.ResultFile, []byte(want[runfiles.ResultFile]))
	green := judged(s, gate("1", "a", true), company.RunSuccess)
	red := judged(s, gate("1", "b", false), company.RunQualityFailed)
	change(p, green, red, wentOn(red))
	p.FlushPending(t.Context())
	requireVerdict(t, off, company.RunQualityFailed, "b")
}

// What is in a result stays, but for a verdict by which the run has another status, and for one
// that the president did not believe.
func TestVerdictsOneAfterTheOther(t *testing.T) {
	const success, failed = company.RunSuccess, company.RunQualityFailed
	merger := gate("2", "g", false) // of what a merger has made of the run's head
	for name, c := range map[string]struct {
		gates  []*company.GateFinished
		status []company.RunStatus
		want   company.OID
	}{
		"green, then red at the merge": {[]*company.GateFinished{gate("1", "a", true), gate("1", "b", false)},
			[]company.RunStatus{success, failed}, "b"},
		"green twice": {[]*company.GateFinished{gate("1", "a", true), gate("1", "b", true)},
			[]company.RunStatus{success, success}, "a"},
		"red twice": {[]*company.GateFinished{gate("1", "a", false), gate("1", "b", false)},
			[]company.RunStatus{failed, failed}, "a"},
		"unreadable, then accepted": {[]*company.GateFinished{gate("1", "a", false), gate("1", "b", true)},
			[]company.RunStatus{success, success}, "b"},
		"green, then held since no test shows it": {[]*company.GateFinished{gate("1", "a", true), gate("1", "b", true)},
			[]company.RunStatus{success, failed}, "b"},
		"green, and no test shows it": {[]*company.GateFinished{gate("1", "a", true), gate("1", "b", true)},
			[]company.RunStatus{failed, failed}, "a"},
		"an earlier state comes late": {[]*company.GateFinished{gate("1", "a", false), gate("1", "b", true)},
			[]company.RunStatus{failed, success}, "a"},
		"red with what a merger has made": {[]*company.GateFinished{gate("1", "a", true), merger},
			[]company.RunStatus{success, failed}, "g"},
		"green with what a merger has made": {[]*company.GateFinished{gate("1", "a", true), gate("2", "g", true)},
			[]company.RunStatus{success, success}, "a"},
		"another head's, of a run not judged": {[]*company.GateFinished{gate("2", "g", true)},
			[]company.RunStatus{success}, ""},
	} {
		for _, flush := range []bool{true, false} {
			if !flush && name == "an earlier state comes late" {
				continue // states come in order; only a file may be ahead of the ledger's reader
			}
			off := officetest.Open(t)
			s, record, want := endedRun(t, time.Now(), time.Now(), false)
			leaveFile(t, off, runfiles.ResultFile, want[runfiles.ResultFile])
			leaveFile(t, off, runfiles.TranscriptFile, want[runfiles.TranscriptFile])
			p := openProjector(t, off, s, record)
			for i, g := range c.gates {
				if change(p, judged(s, g, c.status[i])); flush {
					p.FlushPending(t.Context())
				}
			}
			change(p, wentOn(s.Tasks["t1"]))
			p.FlushPending(t.Context())
			status := c.status[len(c.status)-1]
			if name == "an earlier state comes late" {
				status = failed
			}
			requireVerdict(t, off, status, c.want)
		}
	}
}

// A verdict that comes before its result is written comes behind it, however long the disk stands
// still; one that a full disk did not take is written with the next event.
func TestVerdictBehindASlowDisk(t *testing.T) {
	t.Run("a disk that stands still", func(t *testing.T) {
		off := officetest.Open(t)
		s, record, want := endedRun(t, time.Now(), time.Now(), false)
		p := openProjector(t, off, s, record)
		p.FlushPending(t.Context())
		stands, entered := make(chan struct{}), make(chan struct{})
		leaveFile(t, off, runfiles.ResultFile, "{}")
		p.RunFiles().Edit(restoredRun, runfiles.ResultFile, runfiles.Edit{
			Change: func([]byte) ([]byte, error) { close(entered); <-stands; return nil, nil }, Done: func(bool, error) {},
		})
		<-entered
		p.RunFiles().Put(restoredRun, runfiles.ResultFile, []byte(want[runfiles.ResultFile]))
		red := judged(s, gate("1", "b", false), company.RunQualityFailed)
		change(p, red, wentOn(red))
		p.writeVerdict(restoredRun, p.verdicts[restoredRun]) // as FlushPending does, which would wait
		close(stands)
		if err := p.RunFiles().Await(t.Context()); err != nil {
			t.Fatal(err)
		}
		requireVerdict(t, off, company.RunQualityFailed, "b")
	})
	t.Run("a disk that is full", func(t *testing.T) {
		off := officetest.Open(t)
		s, record, want := endedRun(t, time.Now(), time.Now(), false)
		leaveFile(t, off, runfiles.ResultFile, want[runfiles.ResultFile])
		leaveFile(t, off, runfiles.TranscriptFile, want[runfiles.TranscriptFile])
		p := openProjector(t, off, s, record)
		red := judged(s, gate("1", "b", false), company.RunQualityFailed)
		p.endVerdict(restoredRun, verdict{red.Subtasks[0].Gate, company.RunQualityFailed}, true, syscall.ENOSPC)
		p.FlushPending(t.Context())
		requireVerdict(t, off, company.RunSuccess, "") // or a full disk would keep it busy
		change(p, wentOn(red))
		p.FlushPending(t.Context())
		requireVerdict(t, off, company.RunQualityFailed, "b")
		if len(p.failed) != 0 {
			t.Errorf("to be tried again: %v", p.failed)
		}
	})
	t.Run("a folder in its place", func(t *testing.T) {
		off := officetest.Open(t)
		s, record, want := endedRun(t, time.Now(), time.Now(), false)
		p := openProjector(t, off, s, record)
		p.begun = nil // the start is over
		file := off.RunsFolder.Join(string(restoredRun) + "/" + runfiles.ResultFile)
		if err := os.MkdirAll(file, 0o700); err != nil {
			t.Fatal(err)
		}
		red := judged(s, gate("1", "b", false), company.RunQualityFailed)
		change(p, red, wentOn(red))
		p.FlushPending(t.Context())
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		leaveFile(t, off, runfiles.ResultFile, want[runfiles.ResultFile])
		change(p, wentOn(red))
		p.FlushPending(t.Context())
		requireVerdict(t, off, company.RunQualityFailed, "b")
	})
	t.Run("no result", func(t *testing.T) {
		off := officetest.Open(t)
		s, record, _ := endedRun(t, time.Now(), time.Now(), false)
		p := openProjector(t, off, s, record)
		p.begun = nil // the start, which would make it again, is over
		leaveFile(t, off, runfiles.ResultFile, "[1]")
		change(p, judged(s, gate("1", "b", false), company.RunQualityFailed))
		p.FlushPending(t.Context())
		if text, err := off.RunsFolder.ReadFile(string(restoredRun)+"/"+runfiles.ResultFile, 0); err != nil ||
			string(text) != "[1]" || len(p.failed) != 0 {
			t.Errorf("the file is %q (%v), to be tried again: %v", text, err, p.failed)
		}
	})
}

// A verdict that a killed process has not written is written by the next one, from the
// ledger where the ticket has gone on; also hours after its run, and where nothing else is lost.
func TestVerdictsOfAKilledProcess(t *testing.T) {
	ended := func(run company.RunID) company.Event { return happen(t, run, &company.RunEnded{}) }
	green, red := happen(t, "", gate("1", "a", true)), happen(t, "", gate("1", "b", false))
	merged := happen(t, "", &company.MergeGated{GateFinished: *gate("1", "m", false)})
	const success, failed = company.RunSuccess, company.RunQualityFailed
	for name, c := range map[string]struct {
		status company.RunStatus
		events []company.Event
		left   company.OID // the verdict in the file
		want   company.OID
	}{
		"green":                          {success, []company.Event{ended(restoredRun), green}, "", "a"},
		"red":                            {failed, []company.Event{ended(restoredRun), red}, "", "b"},
		"red before the merge":           {failed, []company.Event{ended(restoredRun), green, merged}, "", "m"},
		"green is there, red is not":     {failed, []company.Event{ended(restoredRun), green, merged}, "a", "m"},
		"unreadable, accepted, then red": {failed, []company.Event{ended(restoredRun), red, green, merged}, "", "m"},
		"unreadable, then accepted":      {success, []company.Event{ended(restoredRun), red, green}, "", "a"},
		"green, and no test shows it":    {failed, []company.Event{ended(restoredRun), green}, "", "a"},
		"of another head": {success,
			[]company.Event{ended(restoredRun), happen(t, "", gate("2", "x", true))}, "", ""},
		"of what a merger has made of it": {failed,
			[]company.Event{ended(restoredRun), green, happen(t, "", gate("2", "g", false))}, "", "g"},
		"of a later run":         {success, []company.Event{ended(restoredRun), ended("t1-01.2"), green}, "", ""},
		"of its reviewer's time": {success, []company.Event{ended(restoredRun), ended("t1-01-review.1"), green}, "", "a"},
		"never judged":           {success, []company.Event{ended(restoredRun)}, "", ""},
		"behind data that is none": {success,
			[]company.Event{ended(restoredRun), {Task: "t1", Kind: green.Kind, Data: json.RawMessage("[]")}, green}, "", ""},
	} {
		for _, lost := range []bool{false, true} { // the files, too
			t.Run(fmt.Sprintf("%s, files lost: %t", name, lost), func(t *testing.T) {
				off := officetest.Open(t)
				now := time.Now()
				s, record, want := endedRun(t, now.Add(-2*cutWithin), now, false)
				if c.left != "" {
					var res runfiles.ExecutionResult
					if err := json.Unmarshal([]byte(want[runfiles.ResultFile]), &res); err != nil {
						t.Fatal(err)
					}
					res.QualityGates = runfiles.NewQualityGates(gate("1", c.left, true).Result)
					text, err := res.Marshal()
					if err != nil {
						t.Fatal(err)
					}
					want[runfiles.ResultFile] = string(text)
				}
				for file, text := range want {
					if !lost {
						leaveFile(t, off, file, text)
					}
				}
				s.Tasks["t1"] = wentOn(judged(s, nil, c.status))
				p := openProjector(t, off, s, history{blobs: record, events: c.events})
				p.markOutdated(s)
				p.FlushPending(t.Context())
				status := c.status
				if c.want == "" {
					status = success
				}
				requireVerdict(t, off, status, c.want)
			})
		}
	}
}

// The ledger is not read for runs whose verdicts are there, are in the state, or are to come.
func TestVerdictsThatNeedNoLedger(t *testing.T) {
	for name, edit := range map[string]func(task *company.Task){
		"a run that did not end well": func(task *company.Task) { task.Runs[restoredRun].Status = company.RunPartial },
		"one without a head":          func(task *company.Task) { task.Runs[restoredRun].Head = "" },
		"one in the gates":            func(task *company.Task) { task.Subtasks[0].Status = company.SubtaskInGate },
		"one that is judged":          func(task *company.Task) { task.Subtasks[0].Gate = gate("1", "a", true) },
		"a reviewer's":                func(task *company.Task) { task.Runs[restoredRun].Role = company.Reviewer },
	} {
		off := officetest.Open(t)
		s, record, _ := endedRun(t, time.Now(), time.Now(), false)
		s.Tasks["t1"] = judged(s, nil, company.RunSuccess)
		edit(s.Tasks["t1"])
		p := openProjector(t, off, s, history{blobs: record, read: func() { t.Errorf("%s: the ledger is read", name) }})
		p.markOutdated(s)
		p.FlushPending(t.Context())
		if sub := s.Tasks["t1"].Subtasks[0]; sub.Gate != nil {
			requireVerdict(t, off, company.RunSuccess, "a")
		}
	}
}

// A reader who has a result made again gets it with its verdict soon after.
func TestResultMadeForAReader(t *testing.T) {
	off := officetest.Open(t)
	s, record, _ := endedRun(t, time.Now(), time.Now(), false)
	red := happen(t, "", gate("1", "b", false))
	s.Tasks["t1"] = wentOn(judged(s, nil, company.RunQualityFailed))
	p := openProjector(
		t, off, s, history{blobs: record, events: []company.Event{happen(t, restoredRun, &company.RunEnded{}), red}})
	p.begun = nil // the start is over
	if !p.HasRunFile(t.Context(), restoredRun, runfiles.ResultFile) {
		t.Fatal("it is not there")
	}
	p.FlushPending(t.Context())
	requireVerdict(t, off, company.RunQualityFailed, "b")
}

// A ledger that cannot be read costs the verdicts alone, and what was noted meanwhile is newer
// than the ledger's.
func TestVerdictsThatStayAway(t *testing.T) {
	off := officetest.Open(t)
	s, record, _ := endedRun(t, time.Now(), time.Now(), false)
	s.Tasks["t1"] = wentOn(judged(s, nil, company.RunQualityFailed))
	red := []company.Event{happen(t, restoredRun, &company.RunEnded{}), happen(t, "", gate("1", "b", false))}
	p := openProjector(t, off, s, history{blobs: record, events: red, err: errors.New("the disk is gone")})
	p.markOutdated(s)
	p.FlushPending(t.Context())
	requireVerdict(t, off, company.RunSuccess, "")
	p = openProjector(t, off, s, history{blobs: record, events: red})
	p.MarkChanged(company.Event{Task: "t1", Subtask: "t1-01"}, judged(s, gate("1", "n", false), company.RunQualityFailed))
	p.FlushPending(t.Context())
	requireVerdict(t, off, company.RunQualityFailed, "n")
}
