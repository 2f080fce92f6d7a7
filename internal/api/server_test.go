package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/delivery/evidence"
	"company/internal/engine/replay"
	"company/internal/present/feed"
	"company/internal/present/view"
	"company/internal/upkeep"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// fakeOffice is an office in memory with the real core behind it.
type fakeOffice struct {
	mu    sync.Mutex
	state *company.State
	feed  []feed.Item
	late  time.Duration // of its clock, behind fakeOfficeTime
}

// advance moves the office's clock.
func (d *fakeOffice) advance(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.late += by
}

func (d *fakeOffice) clock() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fakeOfficeTime.Add(d.late)
}

// fakeOfficeTime is the time of the decider's office, far from the wall
// clock's.
var fakeOfficeTime = time.Date(2031, 5, 6, 7, 8, 9, 10, time.UTC)

func newFakeOffice(t *testing.T) *fakeOffice {
	d := &fakeOffice{state: company.NewState()}
	if _, err := d.DoID(t.Context(), "start", company.Company,
		company.StartOffice{Office: "abcd", Version: "test"}); err != nil {
		t.Fatal(err)
	}
	return d
}

func (*fakeOffice) StartWork(context.Context) ([]company.TaskID, error) { return nil, nil }
func (*fakeOffice) RequestEnd() error                                   { return nil }

func (d *fakeOffice) View() *company.State {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state.View()
}

func (d *fakeOffice) DoID(_ context.Context, id, actor string, c company.Command) ([]company.Event, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if id == "" {
		id = NewCommandID()
	}
	evs, err := company.Decide(d.state,
		company.Meta{ID: company.CommandID(actor, id), Actor: actor, Now: time.Now().UTC()}, c)
	if err != nil {
		return nil, err
	}
	for i := range evs {
		evs[i].Seq = d.state.Seq + 1
		if err := company.Apply(d.state, evs[i]); err != nil {
			return nil, err
		}
		d.feed = append(d.feed, feed.Describe(evs[i], d.state.Tasks[evs[i].Task]))
	}
	return evs, nil
}

// fakeActivity is what the fake office's agent is at.
var fakeActivity = view.Activity{Run: "t1-plan.1", Turn: 2, Text: "read_file a.go", Time: time.Unix(1, 0).UTC()}

func (d *fakeOffice) Source() view.Source {
	return view.Source{State: d.View(), Now: d.clock(), AtWork: true, Activities: []view.Activity{fakeActivity},
		Contents: fakeBlobs, Journals: fakeJournals{}, Prompts: fakePrompts{}}
}

// fakeJournals tell of the same requests for each run.
type fakeJournals struct{}

// fakePrompts has one prompt for all runs.
type fakePrompts struct{}

func (fakePrompts) PreviewPrompt(_ context.Context, a company.Assignment) (system, first string, err error) {
	return "You work.", "run=" + string(a.Claimed.ID), nil
}

func (fakeJournals) ReadRequests(_ context.Context, _ company.RunID, dearest int) ([]view.Request, error) {
	asked := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	first := view.Request{
		N: 1, Asked: asked, Answered: &asked, Model: "m", InputTokens: 10, CachedTokens: 5, OutputTokens: 2, CostMicroUSD: 7,
		Tokens: 12,
		Calls:  []view.RequestCall{{Tool: "read_file", What: "a.go"}},
	}
	if dearest > 0 {
		first.Input = []view.RequestPart{{Kind: "result", Tool: "read_file", What: "a.go", N: 1, Tokens: 10}}
	}
	return []view.Request{first, {N: 2, Asked: asked, CostMicroUSD: 3, Tokens: 9, Error: "cut"}}, nil
}

func (d *fakeOffice) Follow(ctx context.Context, r feed.Range, fn func(feed.Item) error) error {
	d.mu.Lock()
	items := append([]feed.Item(nil), d.feed...)
	d.mu.Unlock()
	for _, it := range items {
		if r.Until > 0 && it.Seq > r.Until {
			return nil
		}
		if it.Seq >= r.From && (r.Task == "" || it.Task == r.Task) && r.Selects(it) {
			if err := fn(it); err != nil {
				return err
			}
		}
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

func (d *fakeOffice) StreamTranscript(
	ctx context.Context, run company.RunID, follow bool, emit func(agent.TranscriptEntry) error,
) error {
	if run != fakeActivity.Run {
		return company.E(company.ENotFound, "there is no run "+string(run))
	}
	for _, e := range []agent.TranscriptEntry{
		{Run: &agent.TranscriptRun{RunID: run, AgentID: "manager"}},
		{Message: &agent.TranscriptMessage{Role: "user", Content: strings.Repeat("a\n", 1<<20)}},
		{ToolCall: &agent.TranscriptCall{ID: "1", Name: "read_file", Result: "content of a file"}},
		{Run: &agent.TranscriptRun{RunID: run, AgentID: "manager", Messages: 1, ToolCalls: 1, TotalTokens: 7}},
	} {
		if err := emit(e); err != nil {
			return err
		}
	}
	if follow {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return nil
}

// StreamRecord gives the events of a task from the history of the office, and a journal
// with a text beside it. That of t2 is broken off in the middle.
func (d *fakeOffice) StreamRecord(_ context.Context, id company.TaskID, emit func(replay.Entry) error) error {
	if id == "t9" {
		return company.E(company.ENotFound, "there is no task t9")
	}
	for _, e := range fakeRecord {
		if err := emit(e); err != nil {
			return err
		}
	}
	if id == "t2" {
		return company.E(company.EInvalid, "t2 cannot be replayed")
	}
	return nil
}

// fakeRecord is the record of each task of the fake office.
var fakeRecord = []replay.Entry{
	{Office: "abcd",
		Event: &company.Event{Seq: 1, Task: "t1", Kind: "task.submitted", Data: json.RawMessage(`{"instruction":"a<b"}`)}},
	{Run: "t1-01.1", Blob: "b", Text: []byte(strings.Repeat("\x00long\n", 1<<18))},
	{Run: "t1-01.1", Kind: "prompt", Data: json.RawMessage(`{"system":{"blob":"b"}}`)},
}

func (d *fakeOffice) Verify(context.Context) (view.Verification, error) {
	return view.Verification{SchemaVersion: 1, Events: d.View().Seq, Damage: []view.Damage{}}, nil
}

func (d *fakeOffice) CheckEvidence(ctx context.Context, id string) (view.EvidenceCheck, error) {
	task, err := view.FindTask(d.View(), id)
	if err != nil {
		return view.EvidenceCheck{}, err
	}
	return evidence.Checker{Now: time.Now}.Check(ctx, task, nil)
}

// FindLeftovers tells what it was asked for.
func (d *fakeOffice) FindLeftovers(_ context.Context, recent, unmerged bool) (upkeep.Report, error) {
	r := upkeep.NewReport(true)
	r.Items = append(
		r.Items, upkeep.Garbage{Kind: "run", Name: fmt.Sprintf("all %t, unmerged %t", recent, unmerged), Bytes: 7})
	return r, nil
}

// A transcript comes whole, also where it is long; one that is followed is told from
// one that has come to its end, and a run that is none is the office's own error.
func TestTranscriptOverTheSocket(t *testing.T) {
	d, c, _ := serveFakeOffice(t)
	near := InProcess(d)
	defer near.Close()
	for name, c := range map[string]*Client{"over the socket": c, "in this process": near} {
		var got agent.Transcript
		collect := func(e agent.TranscriptEntry) error { got.Add(e); return nil }
		if err := c.StreamTranscript(t.Context(), fakeActivity.Run, false, collect); err != nil || len(got.Messages) != 1 ||
			len(got.Messages[0].Content) != 2<<20 || got.TotalTokens != 7 {
			t.Errorf("%s: %v, %d messages", name, err, len(got.Messages))
		}
		if err := c.StreamTranscript(t.Context(), "t1-01.9", false, collect); company.CodeOf(err) != company.ENotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	enough := errors.New("enough")
	err := c.StreamTranscript(t.Context(), fakeActivity.Run, true, func(e agent.TranscriptEntry) error {
		if e.Run != nil && e.Run.TotalTokens == 7 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Error(err)
	}
}

// serveFakeOffice puts the office on a socket of the test's own.
func serveFakeOffice(t *testing.T) (*fakeOffice, *Client, func(method, path, body string) (int, string)) {
	t.Helper()
	d := newFakeOffice(t)
	sock := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	srv := New(d, ServerInfo{Version: "test", Office: "abcd", PID: 1}, slog.New(slog.DiscardHandler), nil)
	srv.Start(l)
	dial := func(ctx context.Context) (net.Conn, error) {
		var nd net.Dialer
		return nd.DialContext(ctx, "unix", sock)
	}
	c := Dial(dial)
	raw := &http.Client{
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dial(ctx)
		}}}
	t.Cleanup(func() {
		raw.CloseIdleConnections()
		c.Close()
		srv.Stop()
	})
	return d, c, func(method, path, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://office"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := raw.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
}

// SUB-1, SUB-2: what people may send goes over the socket and comes back as
// the company decided it, once per command id.
func TestCommandsOverTheSocket(t *testing.T) {
	d, c, _ := serveFakeOffice(t)
	ctx := t.Context()
	if h, err := c.ServerInfo(ctx); err != nil || h.Office != "abcd" || h.Epoch != 1 {
		t.Fatalf("%+v %v", h, err)
	}
	submit := company.Submit{Instruction: "do it", Project: company.Project{ID: "p", Path: "/p"}}
	for range 2 { // a repeat is harmless
		done, err := c.Do(ctx, "c-1", submit)
		if err != nil || done.Task != "t1" {
			t.Fatalf("%+v %v", done, err)
		}
	}
	if _, err := c.Do(ctx, "c-2", company.Cancel{Task: "t1", Why: "no"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(ctx, "c-3", company.Cancel{Task: "t9"}); company.CodeOf(err) != company.ENotFound {
		t.Errorf("%v", err)
	}
	var e *company.Error
	if _, err := c.Do(ctx, "c-4", company.Submit{}); !errors.As(err, &e) || e.Code != company.EInvalid || e.Hint == "" {
		t.Errorf("%#v", err)
	}
	for _, cmd := range []company.Command{company.Stop{}, company.Resume{}} {
		if _, err := c.Do(ctx, "", cmd); err != nil {
			t.Errorf("%T: %v", cmd, err)
		}
	}
	w, err := Get[view.Work](ctx, c, "work?task=t1")
	if err != nil || w.Tasks[0].Status != company.StatusCancelled || !w.Tasks[0].Over || w.Seq != d.View().Seq {
		t.Fatalf("%+v %v", w, err)
	}
	// Nobody's number of workers is known to this office.
	if _, err := c.Do(ctx, "c-6", company.ScaleWorkers{By: 1}); company.CodeOf(err) != company.EConflict {
		t.Errorf("%v", err)
	}
	// Commands of the company's own parts cannot be sent from outside.
	if _, err := c.Do(ctx, "c-5", company.RecordMerge{Task: "t1"}); company.CodeOf(err) != company.EInternal {
		t.Errorf("%v", err)
	}
}

// A command of more than 1 MiB is refused.
func TestLargeCommand(t *testing.T) {
	d, c, _ := serveFakeOffice(t)
	large := company.Stop{Why: strings.Repeat("x", maxBody)}
	if _, err := c.Do(t.Context(), "", large); company.CodeOf(err) != company.EInvalid ||
		!strings.Contains(err.Error(), "larger than the limit of 1 MiB") {
		t.Errorf("over the socket: %v", err)
	}
	if d.View().Office.Stopped {
		t.Error("it was taken all the same")
	}
}

// What is wrapped around an error of the company reaches the client, and so do
// code, reason and hint.
func TestTextAroundAnError(t *testing.T) {
	refused := company.E(company.EConflict, "t1 has ended").Because("it was cancelled").Fix("company status")
	for err, detail := range map[error]string{
		refused:                               "it was cancelled",
		fmt.Errorf("pause t1: %w", refused):   "pause t1: it was cancelled",
		fmt.Errorf("%w (after 2 s)", refused): "(after 2 s): it was cancelled",
		fmt.Errorf("pause t1: %w", company.E(company.EConflict, "t1 has ended")):              "pause t1",
		fmt.Errorf("pause t1: %w", company.E(company.EConflict, "t1 has ended").Wrap(io.EOF)): "pause t1: EOF",
		errors.Join(
			refused, errors.New("the log is not closed")): "the log is not closed: it was cancelled",
		fmt.Errorf("a: %w", fmt.Errorf("b: %w", company.E(company.EConflict, "t1 has ended"))):         "a: b",
		company.E(company.EConflict, "t1 has ended").Wrap(company.E(company.EGit, "the disk is full")): "the disk is full",
	} {
		w := httptest.NewRecorder()
		writeError(w, err)
		var e *company.Error
		if !errors.As(readError(w.Result()), &e) || e.Code != company.EConflict || e.Message != "t1 has ended" ||
			e.Why != detail {
			t.Errorf("%v: %#v", err, e)
		}
	}
}

// A bad request says what is wrong and changes nothing.
func TestBadRequests(t *testing.T) {
	d, _, ask := serveFakeOffice(t)
	before := d.View().Seq
	for name, r := range map[string]struct {
		method, path, body string
		status             int
		says               string
	}{
		"method":   {"PUT", "/api/v1/commands", "{}", 405, ""},
		"path":     {"GET", "/api/v1/nothing", "", 404, ""},
		"not JSON": {"POST", "/api/v1/commands", "submit it", 400, "E_INVALID"},
		"empty":    {"POST", "/api/v1/commands", "", 400, "unknown command"},
		"trailing": {"POST", "/api/v1/commands", `{"id":"x","kind":"stop","command":{}} {}`, 400,
			"unexpected data after"},
		"unknown field": {"POST", "/api/v1/commands", `{"id":"x","kind":"stop","colour":1}`, 400, "colour"},
		"unknown command": {"POST", "/api/v1/commands", `{"id":"x","kind":"prepare","command":{}}`, 400,
			`unknown command \"prepare\"`},
		"field of another": {"POST", "/api/v1/commands", `{"id":"x","kind":"cancel","command":{"Fence":1}}`, 400, "Fence"},
		"deep": {"POST", "/api/v1/commands",
			`{"id":"x","kind":"stop","command":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, 400,
			"E_INVALID"},
		"24 MiB": {"POST", "/api/v1/commands", `{"id":"` + strings.Repeat("x", 24<<20) + `"}`, 400, "larger than the limit of 23 MiB"},
		"cursor": {"GET", "/api/v1/events?from=-1", "", 400, "event numbers"},
	} {
		t.Run(name, func(t *testing.T) {
			status, text := ask(r.method, r.path, r.body)
			if status != r.status || !strings.Contains(text, r.says) {
				t.Errorf("%d %s", status, text)
			}
			if status == 400 {
				var e Problem
				if err := json.Unmarshal([]byte(text), &e); err != nil || e.Code != company.EInvalid {
					t.Errorf("no coded error: %s", text)
				}
			}
		})
	}
	if d.View().Seq != before {
		t.Error("something was decided")
	}
}

// A follower gets every event from where it asked on, and ends with itself.
func TestFeedOverTheSocket(t *testing.T) {
	d, c, _ := serveFakeOffice(t)
	for i := range 3 {
		cmd := company.Submit{Instruction: "do it", Project: company.Project{ID: "p", Path: "/p"}}
		if _, err := d.DoID(t.Context(), string(rune('a'+i)), company.President, cmd); err != nil {
			t.Fatal(err)
		}
	}
	enough := errors.New("enough")
	var seqs []uint64
	err := c.Follow(t.Context(), feed.Range{From: 2}, func(it feed.Item) error {
		if seqs = append(seqs, it.Seq); len(seqs) == 3 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || len(seqs) != 3 || seqs[0] != 2 || seqs[2] != 4 {
		t.Fatalf("%v %v", seqs, err)
	}
	seqs = nil
	note := func(it feed.Item) error { seqs = append(seqs, it.Seq); return nil }
	if err := c.Follow(t.Context(), feed.Range{From: 2, Until: 3}, note); err != nil || len(seqs) != 2 {
		t.Errorf("up to event 3: %v %v", seqs, err)
	}
	seqs = nil
	if err := c.Follow(t.Context(), feed.Range{From: 1, Until: 3, Task: "t2"}, note); err != nil || len(seqs) != 1 ||
		seqs[0] != 3 {
		t.Errorf("of one task: %v %v", seqs, err)
	}
}

// A client tells the office's time, which the wall clock does not: as of the
// newest answer, and going on.
func TestClientOfficeTime(t *testing.T) {
	_, c, _ := serveFakeOffice(t)
	if off := time.Until(c.Now()).Abs(); off > time.Minute {
		t.Errorf("before an answer it is %s off the wall clock", off)
	}
	if _, err := c.ServerInfo(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := c.Now()
	if late := first.Sub(fakeOfficeTime); late < 0 || late > time.Minute {
		t.Errorf("it is %s, want %s", first, fakeOfficeTime)
	}
	if second := c.Now(); !second.After(first) {
		t.Errorf("%s is followed by %s", first, second)
	}
}

// A company of an older version, which has other paths, is named as that.
func TestOlderServer(t *testing.T) {
	old := &Client{
		way: connection{http: &http.Client{Transport: directTransport{http.NotFoundHandler()}}}}
	if _, err := old.ServerInfo(t.Context()); company.CodeOf(err) != company.EConflict ||
		!strings.Contains(err.Error(), "older version") {
		t.Error(err)
	}
}

// A field that an older company does not know is refused, with what helps.
func TestNewerCommand(t *testing.T) {
	_, _, ask := serveFakeOffice(t)
	status, text := ask("POST", "/api/v1/commands", `{"id":"x","kind":"stop","command":{"colour":"red"}}`)
	for _, want := range []string{`unknown field \"colour\"`, "served by company test (process 1): use that version",
		"E_INVALID"} {
		if status != 400 || !strings.Contains(text, want) {
			t.Errorf("no %q in %d %s", want, status, text)
		}
	}
}

// A follower that comes back with the id of the last event misses none, and gets
// none twice; what an office of this process answers is the same (UI-7).
func TestEventsResume(t *testing.T) {
	d, c, _ := serveFakeOffice(t)
	for i := range 3 {
		cmd := company.Submit{Instruction: "do it", Project: company.Project{ID: "p", Path: "/p"}}
		if _, err := d.DoID(t.Context(), string(rune('a'+i)), company.President, cmd); err != nil {
			t.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://office/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Last-Event-ID", "2")
	resp, err := c.way.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, len("id: 3\n"))
	if _, err := io.ReadFull(resp.Body, text); err != nil || string(text) != "id: 3\n" ||
		resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%q %v", text, err)
	}
	if got := resp.Header.Get("X-Accel-Buffering"); got != "no" {
		t.Errorf("a proxy would keep the stream back: X-Accel-Buffering %q", got)
	}
	_ = resp.Body.Close()
}

// A trial tells what a command would do, and writes nothing.
func TestTrial(t *testing.T) {
	d, c, _ := serveFakeOffice(t)
	before := d.View().Seq
	evs, err := c.Try(t.Context(), company.Submit{Instruction: "do it", Project: company.Project{ID: "p", Path: "/p"}})
	if err != nil || len(evs) == 0 || d.View().Seq != before {
		t.Errorf("%v %v, %d events of %d", evs, err, d.View().Seq, before)
	}
	if _, err := c.Try(t.Context(), company.Cancel{Task: "t9"}); company.CodeOf(err) != company.ENotFound {
		t.Error(err)
	}
}

// damagedOffice has a ledger whose second event cannot be read.
type damagedOffice struct{ *fakeOffice }

func (d damagedOffice) Follow(_ context.Context, _ feed.Range, fn func(feed.Item) error) error {
	if err := fn(d.feed[0]); err != nil {
		return err
	}
	return company.E(company.ELedger, "event 2 does not follow event 1").Because("its hash differs").Fix("take the backup")
}

// A feed that fails says why.
func TestFeedThatFails(t *testing.T) {
	c := InProcess(damagedOffice{newFakeOffice(t)})
	defer c.Close()
	seen := 0
	err := c.Follow(t.Context(), feed.Range{From: 1}, func(feed.Item) error { seen++; return nil })
	var e *company.Error
	if !errors.As(err, &e) || e.Code != company.ELedger || e.Why != "its hash differs" || e.Hint != "take the backup" ||
		seen != 1 {
		t.Errorf("%d items, then %v", seen, err)
	}
}

// The highest number of all is behind every event: a cursor there repeats nothing.
func TestHighestCursor(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://office/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Last-Event-ID", "18446744073709551615")
	if of, err := rangeOf(r); err != nil || of.From != math.MaxUint64 {
		t.Errorf("%+v, %v", of, err)
	}
}
