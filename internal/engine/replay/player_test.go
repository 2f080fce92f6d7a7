package replay

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/agent"
	"company/internal/company"
)

const ofRun = company.RunID("t1-01.1")

// memory is a journal in memory.
type memory struct {
	kinds   []string
	records []json.RawMessage
}

func (m *memory) Append(_ context.Context, kind string, data any) (int, error) {
	text, err := json.Marshal(data)
	m.kinds, m.records = append(m.kinds, kind), append(m.records, text)
	return len(m.kinds), err
}

func (m *memory) AppendLater(ctx context.Context, kind string, data any) error {
	_, err := m.Append(ctx, kind, data)
	return err
}

func (m *memory) Flush(context.Context) error { return nil }

func (m *memory) Read(_ context.Context, fn func(int, string, json.RawMessage) error) error {
	for i, kind := range m.kinds {
		if err := fn(i+1, kind, m.records[i]); err != nil {
			return err
		}
	}
	return nil
}

// steps is a model that looks once, writes once and finishes.
type steps struct{}

func (steps) Info() adapters.Info { return adapters.Info{Model: "m", MaxOutput: 100} }

func (steps) Chat(_ context.Context, req adapters.Request, _ func(adapters.Event)) (adapters.Response, error) {
	call := []string{`look {}`, `write {"text":"a"}`, `finish {}`}[(len(req.Messages)-2)/2]
	name, args, _ := strings.Cut(call, " ")
	return adapters.Response{Finish: adapters.FinishStop,
		Message: adapters.Message{Role: adapters.Assistant,
			ToolCalls: []adapters.ToolCall{{ID: name, Name: name, Arguments: args}}}}, nil
}

func (s steps) OpenModel(meter func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return meter(s), nil
}

// job is a run with toy tools; written gets what it writes, with the time that a commit
// would have.
func job(seen string, written *[]string) agent.Job {
	tool := func(name string, run func(context.Context, json.RawMessage) agent.Result) agent.Tool {
		return agent.Tool{Spec: adapters.Tool{Name: name, Schema: json.RawMessage(`{"type":"object"}`)},
			Run: func(ctx context.Context, args json.RawMessage) (agent.Result, error) {
				return run(ctx, args), nil
			}}
	}
	return agent.Job{
		Run: ofRun, System: "You work.", First: "Do it.", Journal: &memory{},
		Tools: []agent.Tool{
			tool("look", func(context.Context, json.RawMessage) agent.Result { return agent.Result{Text: seen} }),
			tool("write", func(ctx context.Context, args json.RawMessage) agent.Result {
				*written = append(*written, string(args)+" "+agent.Asked(ctx).String())
				return agent.Result{Text: "ok", Changed: true}
			}),
			tool("finish", func(context.Context, json.RawMessage) agent.Result {
				return agent.Result{Text: "bye", Final: "done"}
			}),
		},
	}
}

// recordRun has the run done, and gives its record.
func recordRun(t *testing.T) (r *Record, written []string) {
	t.Helper()
	j := job("seen", &written)
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	j.Now = func() time.Time { now = now.Add(time.Hour); return now }
	if _, err := (agent.Loop{Models: steps{}}).Drive(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	rec, err := agent.ReadRecording(t.Context(), nil, func(fn func(string, json.RawMessage) error) error {
		return j.Journal.Read(t.Context(), func(_ int, kind string, data json.RawMessage) error { return fn(kind, data) })
	})
	if err != nil || len(rec.Exchanges) != 3 {
		t.Fatalf("%v %+v", err, rec)
	}
	return &Record{Task: "t1", Runs: map[company.RunID]agent.Recording{ofRun: rec},
		ends: map[company.RunID]company.RunEnded{}, steps: []step{{}}}, written
}

func replayRun(t *testing.T, r *Record, j agent.Job) (*Report, error) {
	t.Helper()
	return replayRunWith(t, r, j, func(*Director) {})
}

func replayRunWith(t *testing.T, r *Record, j agent.Job, set func(*Director)) (*Report, error) {
	t.Helper()
	d := NewDirector(r, nil, func(string) {})
	set(d)
	_, err := d.Driver().Drive(t.Context(), j)
	return d.Report(), err
}

// TestPlayerGivesTheRecordedReplies: a run does the same from its record, at the recorded
// times. The result of a tool that is another is a warning, and nothing else.
func TestPlayerGivesTheRecordedReplies(t *testing.T) {
	r, want := recordRun(t)
	for _, seen := range []string{"seen", "another view"} {
		var written []string
		report, err := replayRun(t, r, job(seen, &written))
		if err != nil || report.Divergence != nil || strings.Join(written, "|") != strings.Join(want, "|") {
			t.Fatalf("%v %+v\n%q, want %q", err, report, written, want)
		}
		if warned := len(report.Warnings); warned != map[bool]int{true: 0, false: 1}[seen == "seen"] {
			t.Errorf("%s: %+v", seen, report.Warnings)
		}
	}
}

// TestPlayerFindsTheDivergence: a changed prompt, a changed reply, a record that ends too
// early and one that goes on are named by run, request and message.
func TestPlayerFindsTheDivergence(t *testing.T) {
	changed := func(change func(rec *agent.Recording)) *Record {
		r, _ := recordRun(t)
		rec := r.Runs[ofRun]
		change(&rec)
		r.Runs[ofRun] = rec
		return r
	}
	for _, c := range []struct {
		name             string
		record           *Record
		first            string
		request, message int
		what             string
	}{
		{"prompt", changed(func(*agent.Recording) {}), "Do it now.", 1, 2, "another message"},
		{"reply", changed(func(rec *agent.Recording) {
			rec.Exchanges[0].Answer.Message.ToolCalls = []adapters.ToolCall{
				{ID: "look", Name: "look", Arguments: `{"again":true}`}}
		}), "Do it.", 2, 3, "another message"},
		{"short record", changed(func(rec *agent.Recording) { rec.Exchanges = rec.Exchanges[:2] }), "Do it.", 3, 0,
			"once more"},
		{"long record", changed(func(rec *agent.Recording) { rec.Exchanges = append(rec.Exchanges, agent.Exchange{N: 4}) }),
			"Do it.", 4, 0, "1 more requests"},
	} {
		var written []string
		j := job("seen", &written)
		j.First = c.first
		report, err := replayRun(t, c.record, j)
		d := report.Divergence
		if err == nil || d == nil || report.Same || d.Run != ofRun || d.Request != c.request || d.Message != c.message ||
			!strings.Contains(d.What, c.what) {
			t.Errorf("%s: %v %+v", c.name, err, d)
			continue
		}
		if e := report.Err(); company.CodeOf(e) != company.EDiverged || !strings.Contains(e.Error(), "t1-01.1, request ") {
			t.Errorf("%s: %v", c.name, e)
		}
		if c.name == "prompt" && (d.Recorded != "user: Do it." || d.Replayed != "user: Do it now.") {
			t.Errorf("%q %q", d.Recorded, d.Replayed)
		}
	}
}

// TestPlayerEndsAsRecorded: a run that ended by an error ends so again.
func TestPlayerEndsAsRecorded(t *testing.T) {
	r, _ := recordRun(t)
	rec := r.Runs[ofRun]
	rec.Exchanges = rec.Exchanges[:2]
	r.Runs[ofRun] = rec
	r.ends[ofRun] = company.RunEnded{Status: company.RunError, Code: company.EModel, Error: "the server is gone"}
	var written []string
	report, err := replayRun(t, r, job("seen", &written))
	if company.CodeOf(err) != company.EModel || report.Divergence != nil {
		t.Errorf("%v %+v", err, report.Divergence)
	}
}
