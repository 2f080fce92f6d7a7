package projection

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/office"
	"company/internal/office/officetest"
	"company/internal/runfiles"
)

// history is a record with the events of a task.
type history struct {
	blobs
	events []company.Event
	err    error
}

func (h history) ReadTask(_ context.Context, _ company.TaskID, _ uint64, fn func(company.Event) error) error {
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
	c.Runs = map[company.RunID]*company.Run{restoredRun: t.Runs[restoredRun], next: {ID: next, Role: company.Worker, Subtask: "t1-01"}}
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
	for _, task := range []*company.Task{green, red, wentOn(red)} {
		p.MarkChanged(company.Event{Task: "t1", Subtask: "t1-01"}, task)
	}
	p.FlushPending(t.Context())
	requireVerdict(t, off, company.RunQualityFailed, "b")
	p.MarkChanged(company.Event{Task: "t1", Subtask: "t1-01"}, judged(s, gate("1", "c", false), company.RunQualityFailed))
	p.FlushPending(t.Context())
	requireVerdict(t, off, company.RunQualityFailed, "b")
}

// A verdict that a killed process has not written is written by the next one, from the
// ledger where the ticket has gone on.
func TestVerdictsOfAKilledProcess(t *testing.T) {
	ended := func(run company.RunID) company.Event { return happen(t, run, &company.RunEnded{}) }
	green, red := happen(t, "", gate("1", "a", true)), happen(t, "", gate("1", "b", false))
	merged := happen(t, "", &company.MergeGated{GateFinished: *gate("1", "m", false)})
	for name, c := range map[string]struct {
		status company.RunStatus
		events []company.Event
		lost   bool // the file, too
		want   company.OID
	}{
		"green":                  {company.RunSuccess, []company.Event{ended(restoredRun), green}, false, "a"},
		"red":                    {company.RunQualityFailed, []company.Event{ended(restoredRun), red}, false, "b"},
		"and the result is lost": {company.RunQualityFailed, []company.Event{ended(restoredRun), red}, true, "b"},
		"red before the merge":   {company.RunQualityFailed, []company.Event{ended(restoredRun), green, merged}, false, "m"},
		"green again":            {company.RunSuccess, []company.Event{ended(restoredRun), green, merged}, false, "a"},
		"of another head":        {company.RunSuccess, []company.Event{ended(restoredRun), happen(t, "", gate("2", "x", true))}, false, ""},
		"of a later run":         {company.RunSuccess, []company.Event{ended(restoredRun), ended("t1-01.2"), green}, false, ""},
		"of its reviewer's time": {company.RunSuccess, []company.Event{ended(restoredRun), ended("t1-01-review.1"), green}, false, "a"},
		"never judged":           {company.RunSuccess, []company.Event{ended(restoredRun)}, false, ""},
		"data that is none":      {company.RunSuccess, []company.Event{ended(restoredRun), {Task: "t1", Subtask: "t1-01", Kind: green.Kind, Data: json.RawMessage("[]")}}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			off := officetest.Open(t)
			s, record, want := endedRun(t, time.Now(), time.Now(), false)
			if !c.lost {
				leaveFile(t, off, runfiles.ResultFile, want[runfiles.ResultFile])
			}
			s.Tasks["t1"] = wentOn(judged(s, nil, c.status))
			p := openProjector(t, off, s, history{blobs: record, events: c.events})
			p.markOutdated(s)
			p.FlushPending(t.Context())
			status := c.status
			if c.want == "" {
				status = company.RunSuccess
			}
			requireVerdict(t, off, status, c.want)
		})
	}
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
