package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/agent/budget"
	"company/internal/company"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// scripted is a model in this process: reply decides from the request alone,
// as a real one does.
type scripted struct {
	info  adapters.Info
	reply func(call int, req adapters.Request) (adapters.Response, error)

	mu       sync.Mutex
	requests []adapters.Request
}

var _ adapters.Model = (*scripted)(nil)

func (s *scripted) Info() adapters.Info { return s.info }

func (s *scripted) Chat(ctx context.Context, req adapters.Request, _ func(adapters.Event)) (adapters.Response, error) {
	s.mu.Lock()
	s.requests = append(s.requests, req)
	n := len(s.requests)
	s.mu.Unlock()
	return s.reply(n, req)
}

func (s *scripted) last() adapters.Request { return s.requests[len(s.requests)-1] }

// replies is a model that says one thing after the other, by how many of its
// replies the conversation holds; the last one for ever.
func replies(script ...adapters.Response) *scripted {
	return &scripted{
		info: adapters.Info{Adapter: "test", Model: "m", MaxOutput: 1000,
			Price: adapters.Price{Known: true, InputMicro: 1e6, OutMicro: 1e6}},
		reply: func(_ int, req adapters.Request) (adapters.Response, error) {
			n := 0
			for _, m := range req.Messages {
				if m.Role == adapters.Assistant {
					n++
				}
			}
			return script[min(n, len(script)-1)], nil
		},
	}
}

func says(text string) adapters.Response {
	return adapters.Response{Message: adapters.Message{Role: adapters.Assistant, Content: text},
		Finish: adapters.FinishStop}
}

// calls is a reply with tool calls, each "name {args}".
func calls(specs ...string) adapters.Response {
	r := says("")
	for i, s := range specs {
		name, args, _ := strings.Cut(s, " ")
		r.Message.ToolCalls = append(r.Message.ToolCalls,
			adapters.ToolCall{ID: fmt.Sprintf("c%d", i), Name: name, Arguments: args})
	}
	r.Usage = adapters.Usage{InputTokens: 10, OutputTokens: 5}
	return r
}

var finish = calls(`finish {"summary":"done"}`)

// journal is a Journal in memory that stops working after crashAt records.
type journal struct {
	mu      sync.Mutex
	kinds   []string
	records []json.RawMessage
	crashAt int // 0: never

	waiting      []json.RawMessage
	waitingKinds []string
}

var errCrash = errors.New("the process died")

func (j *journal) Append(ctx context.Context, kind string, data any) (int, error) {
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	b, err := json.Marshal(data)
	if err != nil {
		return 0, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.crashAt > 0 && len(j.records) >= j.crashAt {
		return 0, errCrash
	}
	j.kinds, j.records = append(append(j.kinds, j.waitingKinds...), kind), append(append(j.records, j.waiting...), b)
	j.waitingKinds, j.waiting = nil, nil
	return len(j.records), nil
}

func (j *journal) AppendLater(ctx context.Context, kind string, data any) error {
	b, err := json.Marshal(data)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.waitingKinds, j.waiting = append(j.waitingKinds, kind), append(j.waiting, b)
	return nil
}

func (j *journal) Flush(ctx context.Context) error { return j.flushBy(ctx, j.Append) }

// loseWaiting is what the end of a process does to records that wait.
func (j *journal) loseWaiting() { j.waitingKinds, j.waiting = nil, nil }

// flushBy appends what waits.
func (j *journal) flushBy(ctx context.Context, add func(context.Context, string, any) (int, error)) error {
	j.mu.Lock()
	n := len(j.waiting)
	if n == 0 {
		j.mu.Unlock()
		return nil
	}
	kind, last := j.waitingKinds[n-1], j.waiting[n-1]
	j.waitingKinds, j.waiting = j.waitingKinds[:n-1], j.waiting[:n-1]
	j.mu.Unlock()
	if _, err := add(ctx, kind, last); err != nil {
		return errors.Join(err, j.AppendLater(ctx, kind, last))
	}
	return nil
}

func (j *journal) Read(_ context.Context, fn func(int, string, json.RawMessage) error) error {
	for i := range j.records {
		if err := fn(i+1, j.kinds[i], j.records[i]); err != nil {
			return err
		}
	}
	return nil
}

func (j *journal) prefix(n int) *journal {
	return &journal{kinds: append([]string(nil), j.kinds[:n]...),
		records: append([]json.RawMessage(nil), j.records[:n]...)}
}

func (j *journal) count(kind string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for _, k := range j.kinds {
		if k == kind {
			n++
		}
	}
	return n
}

type blobs struct {
	mu sync.Mutex
	m  map[company.Hash][]byte
}

func (b *blobs) PutBlob(_ context.Context, data []byte) (company.Hash, error) {
	sum := sha256.Sum256(data)
	h := company.Hash(hex.EncodeToString(sum[:]))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.m[h] = append([]byte(nil), data...)
	return h, nil
}

func (b *blobs) GetBlob(_ context.Context, h company.Hash) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	data, ok := b.m[h]
	if !ok {
		return nil, fmt.Errorf("no blob %s", h)
	}
	return data, nil
}

// noCap is an allowance that only counts.
func noCap(spent company.Amount) *budget.Allowance {
	return budget.NewAllowance(company.Amount{MicroUSD: company.NoCap, Tokens: company.NoCap}, spent, nil)
}

// bench is a run with real bookkeeping and toy tools: read gives what write
// put, poll is a process, fail breaks the runtime.
type bench struct {
	model     *scripted
	journal   *journal
	blobs     *blobs
	allowance *budget.Allowance
	cfg       config
	mu        sync.Mutex
	ran       []string // "name args" of every call that ran
	events    []Event
}

const pathSchema = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`

func newBench(t testing.TB, model *scripted) *bench {
	t.Helper()
	b := &bench{model: model, journal: &journal{}, blobs: &blobs{m: map[company.Hash][]byte{}},
		allowance: noCap(company.Amount{})}
	tool := func(name, schema string, readOnly bool, run func(args json.RawMessage) (Result, error)) Tool {
		return Tool{
			Spec: adapters.Tool{Name: name, Description: name, Schema: json.RawMessage(schema)}, ReadOnly: readOnly,
			Run: func(_ context.Context, args json.RawMessage) (Result, error) {
				b.mu.Lock()
				b.ran = append(b.ran, name+" "+string(args))
				b.mu.Unlock()
				return run(args)
			},
		}
	}
	tick := 0
	b.cfg = config{model: model, Loop: Loop{Models: bare{model}}}
	b.cfg.Job = Job{
		Journal: b.journal, Blobs: b.blobs, Allowance: b.allowance, Run: "t1-01.1", Agent: "worker-1",
		System: "You are a worker.", First: "role: worker\nticket: t1-01\nrun: t1-01.1\n\nDo it.",
		OnEvent: func(e Event) { b.events = append(b.events, e) },
		Now: func() time.Time {
			b.mu.Lock()
			defer b.mu.Unlock()
			tick++
			return time.Date(2030, 1, 1, 0, 0, tick, 0, time.UTC)
		},
		Tools: []Tool{
			tool("read", pathSchema, true, func(args json.RawMessage) (Result, error) {
				return Result{Text: "content of " + canonicalJSON(string(args))}, nil
			}),
			tool("write", pathSchema, false, func(args json.RawMessage) (Result, error) {
				return Result{Text: "wrote " + string(args), Changed: true}, nil
			}),
			tool("poll", `{"type":"object"}`, true, func(json.RawMessage) (Result, error) {
				return Result{Text: "still running", NoLoop: true}, nil
			}),
			tool("fail", `{"type":"object"}`, false, func(json.RawMessage) (Result, error) {
				return Result{}, errors.New("the container is gone")
			}),
			tool("finish", `{"type":"object","properties":{"summary":{"type":"string"}},"required":["summary"]}`, false,
				func(args json.RawMessage) (Result, error) {
					return Result{Text: "ok", Final: args}, nil
				}),
			tool("escalate", `{"type":"object"}`, false, func(json.RawMessage) (Result, error) {
				return Result{Text: "ok", Final: Escalation{Reason: "cannot"}}, nil
			}),
		},
	}
	return b
}

// bare is a model that is metered and nothing else.
type bare struct{ adapters.Model }

func (m bare) OpenModel(meter func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return meter(m.Model), nil
}

// drive is Drive by a new process, behind which a session ends the journal.
func (c config) drive(ctx context.Context) (Outcome, error) {
	if j, ok := c.Journal.(interface{ loseWaiting() }); ok {
		j.loseWaiting()
	}
	out, err := c.Loop.Drive(ctx, c.Job)
	if err == nil {
		err = c.Journal.Flush(ctx)
	}
	return out, err
}

func (b *bench) run(t tb) (Outcome, error) {
	t.Helper()
	// replies of 10 MB, under the race detector on a busy machine
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	return b.cfg.drive(ctx)
}

func (b *bench) mustRun(t tb) Outcome {
	t.Helper()
	out, err := b.run(t)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	return out
}

// answers are the tool results of a conversation in order.
func answers(msgs []adapters.Message) []string {
	var out []string
	for _, m := range msgs {
		if m.Role == adapters.ToolRole {
			out = append(out, m.Content)
		}
	}
	return out
}

func newest(req adapters.Request) string { return req.Messages[len(req.Messages)-1].Content }

// tb is what *testing.T and *rapid.T share.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

// requireSane fails on a request that a server may refuse.
func requireSane(t tb, req adapters.Request) {
	t.Helper()
	waiting, ids := map[string]bool{}, map[string]bool{}
	for i, m := range req.Messages {
		if m.Role != adapters.ToolRole && len(waiting) > 0 {
			t.Fatalf("message %d (%s) stands between calls and their results", i, m.Role)
		}
		if m.Role != adapters.Assistant && m.Content == "" {
			t.Fatalf("message %d (%s) is empty", i, m.Role)
		}
		if i > 0 && m.Role == adapters.System || i > 0 && m.Role == adapters.User && req.Messages[i-1].Role == adapters.User {
			t.Fatalf("message %d (%s) after %s", i, m.Role, req.Messages[i-1].Role)
		}
		for _, c := range m.ToolCalls {
			if ids[c.ID] || c.ID == "" || c.Name == "" || adapters.WireName(c.ID) != c.ID || adapters.WireName(c.Name) != c.Name {
				t.Fatalf("call id %q, name %q cannot be sent", c.ID, c.Name)
			}
			if !isObject(c.Arguments) {
				t.Fatalf("arguments %q are not an object", c.Arguments)
			}
			ids[c.ID], waiting[c.ID] = true, true
		}
		if m.Role == adapters.ToolRole {
			if !waiting[m.ToolCallID] {
				t.Fatalf("message %d answers %q, which waits for nothing", i, m.ToolCallID)
			}
			delete(waiting, m.ToolCallID)
		}
	}
	if len(waiting) > 0 {
		t.Fatalf("calls without a result: %v", waiting)
	}
}
