package projection

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"company/internal/agentrun/runfiles"
	"company/internal/company"
	"company/internal/office"
	"company/internal/office/officetest"
)

// blobs is a record in memory.
type blobs map[company.Hash][]byte

func (b blobs) put(text []byte) company.Hash {
	sum := sha256.Sum256(text)
	h := company.Hash(hex.EncodeToString(sum[:]))
	b[h] = text
	return h
}

func (b blobs) GetBlob(_ context.Context, h company.Hash, _ int64) ([]byte, error) {
	if text, ok := b[h]; ok {
		return text, nil
	}
	return nil, company.E(company.ENotFound, "no blob "+string(h))
}

func (b blobs) ReadTask(context.Context, company.TaskID, uint64, func(company.Event) error) error {
	return nil
}

const restoredRun = company.RunID("t1-01.1")

// endedRun is a state with a run that ended at a time, its record, and the bytes of its
// files. Where judged its gates have passed.
func endedRun(
	t *testing.T, ended, last time.Time, judged bool,
) (s *company.State, record blobs, want map[string]string) {
	t.Helper()
	record = blobs{}
	said := []byte("{\"run\":\"it is said\"}\n")
	res := runfiles.ExecutionResult{RunID: restoredRun, TicketID: "t1-01", Status: company.RunSuccess,
		Transcript: record.put(said)}
	text, err := res.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	s = company.NewState()
	r := &company.Run{ID: restoredRun, Role: company.Worker, Subtask: "t1-01", Ended: true, EndedAt: ended,
		Status: company.RunSuccess, Head: "1", Result: record.put(text)}
	sub := &company.Subtask{ID: "t1-01", Started: 1}
	s.Time = last
	s.Tasks["t1"] = &company.Task{ID: "t1", Status: company.StatusExecuting, Updated: last,
		Runs: map[company.RunID]*company.Run{r.ID: r}, Subtasks: []*company.Subtask{sub}}
	if judged {
		sub.Gate = &company.GateFinished{Head: "1"}
		res.QualityGates = runfiles.NewQualityGates(sub.Gate.Result)
		if text, err = res.Marshal(); err != nil {
			t.Fatal(err)
		}
	}
	return s, record, map[string]string{runfiles.ResultFile: string(text), runfiles.TranscriptFile: string(said)}
}

func openProjector(t *testing.T, off *office.Office, s *company.State, record Record) *Projector {
	t.Helper()
	p := New(off)
	p.Connect(fixedState{s}, record, nil, slog.New(slog.NewTextHandler(io.Discard, nil)))
	return p
}

// leaveFile writes a file of the run as an earlier process, or a power cut, left it.
func leaveFile(t *testing.T, off *office.Office, name, text string) {
	t.Helper()
	file := off.RunsFolder.Join(string(restoredRun) + "/" + name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func checkRunFiles(t *testing.T, off *office.Office, want map[string]string) {
	t.Helper()
	entries, err := off.RunsFolder.List(string(restoredRun))
	if err != nil && len(want) > 0 {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range entries {
		text, err := off.RunsFolder.ReadFile(string(restoredRun)+"/"+e.Name(), 0)
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name()] = string(text)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the run has the files\n%v\nwant\n%v", got, want)
	}
}

// What a kill or a power cut has taken of the files of a run is made again from the record,
// with the verdict, by the next process that works or decides. (ART-1, LOG-1)
func TestRunFilesAreMadeAgain(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, x := range map[string]struct {
		left   map[string]string
		ended  time.Time
		judged bool
	}{
		"none was written": {left: nil, ended: now},
		"none, long ago":   {left: nil, ended: now.Add(-48 * time.Hour)},
		"and judged":       {left: nil, ended: now, judged: true},
		"empty ones, long ago": {left: map[string]string{"result.json": "", "transcript.ndjson": ""},
			ended: now.Add(-48 * time.Hour), judged: true},
		"cut ones": {left: map[string]string{"result.json": "{\n  \"run_id\": \"t1-01.1\",",
			"transcript.ndjson": "{\"run\":\"it"}, ended: now, judged: true},
		"a begun one": {left: map[string]string{".result.json.0123456789abcdef": "{",
			".transcript.ndjson.0123456789abcdef": "{"}, ended: now},
		"the result of another":   {left: map[string]string{"result.json": "{}"}, ended: now},
		"one without the verdict": {left: map[string]string{"result.json": "as it was"}, ended: now, judged: true},
		"all that there should be": {left: map[string]string{"result.json": "as it was", "transcript.ndjson": "as it was"},
			ended: now},
	} {
		t.Run(name, func(t *testing.T) {
			off := officetest.Open(t)
			s, record, want := endedRun(t, x.ended, now, x.judged)
			first := string(record[s.Tasks["t1"].Runs[restoredRun].Result])
			for file, text := range x.left {
				if text == "as it was" {
					if text = want[file]; file == runfiles.ResultFile {
						text = first
					}
				}
				leaveFile(t, off, file, text)
			}
			p := openProjector(t, off, s, record)
			p.MarkChanged(company.Event{}, s.Tasks["t1"])
			p.FlushPending(t.Context()) // as a process does that decided something
			p.FlushPending(t.Context())
			checkRunFiles(t, off, want)
			var res runfiles.ExecutionResult
			if err := json.Unmarshal([]byte(want[runfiles.ResultFile]), &res); err != nil ||
				(res.QualityGates != nil) != x.judged {
				t.Errorf("%+v, %v", res, err)
			}
			if st := p.stateOf(s.Tasks["t1"]); st.Conversations[restoredRun] == "" {
				t.Error("the state of the task does not name the transcript")
			}
		})
	}
}

// A process that works makes them again at its start, before anything is decided.
func TestRunFilesAreMadeAgainAtTheStart(t *testing.T) {
	off := officetest.Open(t)
	s, record, want := endedRun(t, time.Now(), time.Now(), true)
	p := openProjector(t, off, s, record)
	ctx, cancel := context.WithCancel(t.Context())
	times := 0
	p.Run(ctx, Hooks{Written: func() {
		if times++; times == 2 {
			cancel()
		}
	}, Idle: func() {}})
	checkRunFiles(t, off, want)
}

// What a cleanup has removed stays away, a run without an end has no files, and a record
// that lacks the blobs ends nothing.
func TestRunFilesThatStayAway(t *testing.T) {
	now := time.Now()
	for name, change := range map[string]func(s *company.State, record blobs){
		"cleaned up": func(s *company.State, _ blobs) {
			s.Tasks["t1"].Status, s.Tasks["t1"].Ended, s.Office.Cleaned = company.StatusCompleted, now.Add(-time.Hour), now
		},
		"not ended": func(s *company.State, _ blobs) { s.Tasks["t1"].Runs[restoredRun].Ended = false },
		"no result": func(s *company.State, _ blobs) { s.Tasks["t1"].Runs[restoredRun].Result = "" },
		"no blobs":  func(_ *company.State, record blobs) { clear(record) },
	} {
		t.Run(name, func(t *testing.T) {
			off := officetest.Open(t)
			s, record, _ := endedRun(t, now, now, false)
			change(s, record)
			p := openProjector(t, off, s, record)
			p.MarkChanged(company.Event{}, s.Tasks["t1"])
			p.FlushPending(t.Context())
			if p.HasRunFile(t.Context(), restoredRun, runfiles.ResultFile) {
				t.Error("it is there")
			}
			checkRunFiles(t, off, nil)
		})
	}
}

// A reader finds a file that is still to be written, and one that was never written; of
// other files only those that are there.
func TestReaderFindsRunFiles(t *testing.T) {
	off := officetest.Open(t)
	s, record, want := endedRun(t, time.Now(), time.Now(), false)
	p := openProjector(t, off, s, record)
	p.RunFiles().Put(restoredRun, runfiles.ResultFile, []byte(want[runfiles.ResultFile]))
	for file, there := range map[string]bool{runfiles.ResultFile: true, runfiles.TranscriptFile: true, "git.log": false} {
		if got := p.HasRunFile(t.Context(), restoredRun, file); got != there {
			t.Errorf("%s: %t", file, got)
		}
	}
	checkRunFiles(t, off, want)
	for _, id := range []company.RunID{"t1-01.2", "t2-01.1", "", ".."} {
		if p.HasRunFile(t.Context(), id, runfiles.ResultFile) {
			t.Errorf("%q has a result", id)
		}
	}
}

// A folder in the place of a file is left alone, and keeps the others from nothing.
func TestRunFileWithAFolderInItsPlace(t *testing.T) {
	off := officetest.Open(t)
	s, record, want := endedRun(t, time.Now(), time.Now(), false)
	if err := off.RunsFolder.Mkdir(string(restoredRun) + "/result.json/x"); err != nil {
		t.Fatal(err)
	}
	p := openProjector(t, off, s, record)
	p.MarkChanged(company.Event{}, s.Tasks["t1"])
	p.FlushPending(t.Context())
	if text, err := off.RunsFolder.ReadFile(string(restoredRun)+"/"+runfiles.TranscriptFile, 0); err != nil ||
		string(text) != want[runfiles.TranscriptFile] {
		t.Errorf("%q, %v", text, err)
	}
	if info, err := off.RunsFolder.Lstat(string(restoredRun) + "/result.json/x"); err != nil || !info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
}
