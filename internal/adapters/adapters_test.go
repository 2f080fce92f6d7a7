package adapters_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"company/internal/adapters"
	"company/internal/company"
)

// fake answers each call with the next of its outcomes, the last one for ever.
type fake struct {
	name     string
	outcomes []any // error or adapters.Response
	calls    int
	at       []time.Time
	asked    []adapters.Request
	price    adapters.Price
	closed   int
}

func (f *fake) Chat(_ context.Context, req adapters.Request, onEvent func(adapters.Event)) (adapters.Response, error) {
	f.at, f.asked = append(f.at, time.Now()), append(f.asked, req)
	outcome := f.outcomes[min(f.calls, len(f.outcomes)-1)]
	f.calls++
	if onEvent != nil {
		onEvent(adapters.Event{Text: "text"})
	}
	if err, ok := outcome.(error); ok {
		return adapters.Response{}, err
	}
	return outcome.(adapters.Response), nil
}

func (f *fake) Info() adapters.Info {
	return adapters.Info{Model: f.name, MaxOutput: 100 + len(f.name), ContextTokens: 1000 * len(f.name), Price: f.price}
}

func (f *fake) Close() error { f.closed++; return nil }

func failure(kind adapters.Kind) error { return &adapters.Error{Kind: kind} }

var good = adapters.Response{Message: adapters.Message{Role: adapters.Assistant, Content: "ok"},
	Finish: adapters.FinishStop}

// TestRetry: ADP-2. Time is synctest's, so nothing waits.
func TestRetry(t *testing.T) {
	limited := &adapters.Error{Kind: adapters.Overloaded, Status: 429, RetryAfter: 40 * time.Second}
	tests := []struct {
		name     string
		outcomes []any
		calls    int
		kind     adapters.Kind
		least    time.Duration // waited in all
		most     time.Duration
	}{
		{"good at once", []any{good}, 1, "", 0, 0},
		{"unreachable: 1, 2, 4 s and no more", []any{failure(adapters.Unreachable)}, 4, adapters.Unreachable, 7 * time.Second,
			7 * time.Second},
		{"no such host", []any{failure(adapters.UnknownHost)}, 1, adapters.UnknownHost, 0, 0},
		{"back after two", []any{failure(adapters.Unreachable), failure(adapters.Unreachable), good}, 3, "", 3 * time.Second,
			3 * time.Second},
		{"overloaded: back-off with jitter", []any{failure(adapters.Overloaded), failure(adapters.Overloaded), good}, 3, "",
			3 * time.Second, 6 * time.Second},
		{"Retry-After is a lower bound", []any{limited, good}, 2, "", 40 * time.Second, 42 * time.Second},
		{"Retry-After beyond the limit", []any{&adapters.Error{Kind: adapters.Overloaded, RetryAfter: time.Hour}}, 1,
			adapters.Overloaded, 0, 0},
		{"Retry-After of centuries", []any{&adapters.Error{Kind: adapters.Overloaded, RetryAfter: math.MaxInt64}}, 1,
			adapters.Overloaded, 0, 0},
		{"resampled twice", []any{failure(adapters.MalformedReply)}, 3, adapters.MalformedReply, 0, 0},
		{"each kind has its own count",
			[]any{failure(adapters.MalformedReply), failure(adapters.Unreachable), failure(adapters.MalformedReply), good}, 4,
			"", time.Second, time.Second},
		{"auth", []any{failure(adapters.Auth)}, 1, adapters.Auth, 0, 0},
		{"quota", []any{failure(adapters.Quota)}, 1, adapters.Quota, 0, 0},
		{"bad request", []any{failure(adapters.BadRequest)}, 1, adapters.BadRequest, 0, 0},
		{"too long", []any{failure(adapters.TooLong)}, 1, adapters.TooLong, 0, 0},
		{"a reply without an end", []any{&adapters.Error{Kind: adapters.TimedOut, Endless: true}}, 1,
			adapters.TimedOut, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{name: "m", outcomes: tt.outcomes}
				start := time.Now()
				var waits time.Duration
				_, err := adapters.Retry(f, adapters.DefaultPolicy(), adapters.WallClock{}).Chat(
					t.Context(), adapters.Request{}, func(e adapters.Event) {
						waits += e.Waiting
						if e.Waiting > 0 && e.Asked != (tt.name == "Retry-After is a lower bound") {
							t.Errorf("the server asked for the wait: %v", e.Asked)
						}
						if e.Attempt != f.calls {
							t.Errorf("event of attempt %d in attempt %d", e.Attempt, f.calls)
						}
					})
				waited := time.Since(start)
				if f.calls != tt.calls || adapters.KindOf(err) != tt.kind {
					t.Errorf("%d calls, err %v; want %d, %q", f.calls, err, tt.calls, tt.kind)
				}
				if waited < tt.least || waited > tt.most || waits != waited {
					t.Errorf("waited %s (told %s), want %s to %s", waited, waits, tt.least, tt.most)
				}
			})
		})
	}
}

// silentModel is silent for so long before each failure.
type silentModel struct {
	fake
	silence time.Duration
}

func (s *silentModel) Chat(
	ctx context.Context, req adapters.Request, onEvent func(adapters.Event),
) (adapters.Response, error) {
	time.Sleep(s.silence)
	return s.fake.Chat(ctx, req, onEvent)
}

// TestRetryAsksASilentServerAgain: once at least, and up to MaxWait, the silence included.
func TestRetryAsksASilentServerAgain(t *testing.T) {
	for _, tt := range []struct {
		name          string
		silence, wait time.Duration
		outcomes      []any
		calls         int
		kind          adapters.Kind
	}{
		{"for ever", 5 * time.Minute, 15 * time.Minute, []any{failure(adapters.TimedOut)}, 3, adapters.TimedOut},
		{"for ever, and no patience", 5 * time.Minute, 0, []any{failure(adapters.TimedOut)}, 2, adapters.TimedOut},
		{"for longer than there is patience", 15 * time.Minute, 15 * time.Minute, []any{failure(adapters.TimedOut)}, 2,
			adapters.TimedOut},
		{"once", 5 * time.Minute, 15 * time.Minute, []any{failure(adapters.TimedOut), good}, 2, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &silentModel{fake{name: "m", outcomes: tt.outcomes}, tt.silence}
				policy := adapters.DefaultPolicy()
				policy.MaxWait = tt.wait
				told := 0
				_, err := adapters.Retry(m, policy, adapters.WallClock{}).Chat(
					t.Context(), adapters.Request{}, func(e adapters.Event) {
						if e.Waiting > 0 && e.Reason != "" {
							told++
						}
					})
				if m.calls != tt.calls || adapters.KindOf(err) != tt.kind || told != tt.calls-1 {
					t.Errorf("%d calls, %d told, err %v; want %d calls", m.calls, told, err, tt.calls)
				}
			})
		})
	}
}

func TestRetryGivesUpOnAnOverloadedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{name: "m", outcomes: []any{failure(adapters.Overloaded)}}
		start := time.Now()
		_, err := adapters.Retry(f, adapters.DefaultPolicy(), adapters.WallClock{}).Chat(t.Context(), adapters.Request{}, nil)
		if took := time.Since(start); adapters.KindOf(err) != adapters.Overloaded || took > 15*time.Minute ||
			took < 14*time.Minute {
			t.Errorf("gave up after %s with %v", took, err)
		}
		for i := 2; i < len(f.at); i++ {
			if gap := f.at[i].Sub(f.at[i-1]); gap > 30*time.Second {
				t.Errorf("wait %d was %s", i, gap)
			}
		}
	})
}

func TestRetryStopsWithTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := company.E(company.EStopped, "stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(500*time.Millisecond, func() { cancel(stopped) })
		f := &fake{name: "m", outcomes: []any{failure(adapters.Unreachable)}}
		_, err := adapters.Retry(f, adapters.DefaultPolicy(), adapters.WallClock{}).Chat(ctx, adapters.Request{}, nil)
		if !errors.Is(err, stopped) || f.calls != 1 {
			t.Errorf("%d calls, err %v", f.calls, err)
		}
	})
}

// TestFallback: ADP-3.
func TestFallback(t *testing.T) {
	filtered := good
	filtered.Finish = adapters.FinishFilter
	for _, tt := range []struct {
		name  string
		first any
		next  bool
	}{
		{"unreachable", failure(adapters.Unreachable), true},
		{"no such host", failure(adapters.UnknownHost), true},
		{"overloaded", failure(adapters.Overloaded), true},
		{"timed out", failure(adapters.TimedOut), true},
		{"garbage", failure(adapters.MalformedReply), true},
		{"auth", failure(adapters.Auth), true},
		{"quota", failure(adapters.Quota), true},
		{"no such model", &adapters.Error{Kind: adapters.BadRequest, Status: 404}, true},
		{"filtered", filtered, true},
		{"bad request", &adapters.Error{Kind: adapters.BadRequest, Status: 400}, false},
		{"too long", failure(adapters.TooLong), false},
		{"not a model's error", company.E(company.EBudget, "cap"), false},
		{"good", good, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := &fake{name: "a", outcomes: []any{tt.first}}, &fake{name: "bb", outcomes: []any{good}}
			told := ""
			_, err := adapters.Fallback(a, b).Chat(t.Context(), adapters.Request{}, func(e adapters.Event) { told += e.Reason })
			if (b.calls == 1) != tt.next || (told != "") != tt.next || tt.next && err != nil {
				t.Errorf("next called %d times, told %q, err %v", b.calls, told, err)
			}
		})
	}
	a, b := &fake{name: "a", outcomes: []any{failure(adapters.Unreachable)}},
		&fake{name: "bb", outcomes: []any{failure(adapters.Auth)}}
	_, err := adapters.Fallback(a, b).Chat(t.Context(), adapters.Request{}, nil)
	if adapters.KindOf(err) != adapters.Auth || !strings.Contains(err.Error(), "unreachable") {
		t.Errorf("all failed: %v", err)
	}
	if a.asked[0].MaxTokens != 101 || b.asked[0].MaxTokens != 101 {
		t.Errorf("max_tokens %d and %d, want the smaller model's for both", a.asked[0].MaxTokens, b.asked[0].MaxTokens)
	}
}

func TestFallbackInfoIsSafe(t *testing.T) {
	a := &fake{name: "a", price: adapters.Price{Known: true, InputMicro: 5, OutMicro: 1}}
	b := &fake{name: "bb", price: adapters.Price{Known: true, InputMicro: 1, OutMicro: 9}}
	got := adapters.Fallback(a, b, &fake{name: "free"}).Info()
	want := adapters.Info{Model: "a", ContextTokens: 1000, MaxOutput: 101,
		Price: adapters.Price{Known: true, InputMicro: 5, WriteMicro: 5, OutMicro: 9}}
	if got != want {
		t.Errorf("info = %+v, want %+v", got, want)
	}
}

// TestModels: ADP-1 (one registry line), opening, chains, closing.
func TestModels(t *testing.T) {
	made := map[string]*fake{}
	registry := adapters.Registry{"fake": func(p adapters.Profile, _ adapters.Deps) (adapters.Model, error) {
		if made[p.Name] != nil {
			t.Errorf("%s opened twice", p.Name)
		}
		made[p.Name] = &fake{name: p.Model, outcomes: []any{failure(adapters.Auth)}, price: p.Price}
		return made[p.Name], nil
	}}
	deps := adapters.Deps{Prices: func(_, _, model string) adapters.Price {
		return adapters.Price{Known: true, InputMicro: int64(len(model))}
	}}
	models := adapters.NewModels(registry, []adapters.Profile{
		{Name: "strong", Adapter: "fake", Model: "mmm", Fallback: []string{"default", "strong"}},
		{Name: "default", Adapter: "fake", Model: "m", Price: adapters.Price{Known: true}},
		{Name: "unused", Adapter: "nowhere", Model: "m"},
		{Name: "lost", Adapter: "fake", Model: "m", Fallback: []string{"gone"}},
		{Name: "nameless", Adapter: "fake"},
	}, deps)

	wrapped := 0
	m, err := models.Open("strong", func(m adapters.Model) adapters.Model { wrapped++; return m })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := models.Open("strong"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Chat(t.Context(), adapters.Request{}, nil); adapters.KindOf(err) != adapters.Auth {
		t.Errorf("err = %v", err)
	}
	if wrapped != 2 || len(made) != 2 || made["strong"].calls != 1 || made["default"].calls != 1 {
		t.Errorf("wrapped %d, made %d, calls %d and %d", wrapped, len(made), made["strong"].calls, made["default"].calls)
	}
	if made["strong"].price.InputMicro != 3 || made["default"].price.InputMicro != 0 {
		t.Errorf("list price %+v, own price %+v", made["strong"].price, made["default"].price)
	}
	for name, says := range map[string]string{"unused": `unknown adapter "nowhere"`, "lost": `unknown model profile "gone"`,
		"nameless": "has no model"} {
		if _, err := models.Open(name); company.CodeOf(err) != company.EConfig || !strings.Contains(err.Error(), says) {
			t.Errorf("Open(%s): %v", name, err)
		}
	}
	if err := errors.Join(models.Close(), models.Close()); err != nil || made["strong"].closed != 1 {
		t.Errorf("close: %v, closed %d times", err, made["strong"].closed)
	}
	if _, err := models.Open("default"); company.CodeOf(err) != company.EStopped {
		t.Errorf("open after close: %v", err)
	}
}

func TestHeader(t *testing.T) {
	h := adapters.Header{Role: company.Worker, Task: "t12", Subtask: "t12-03", Run: "t12-03.2",
		Title: "add a\nrate limiter"}
	const want = "#company role=worker task=t12 subtask=t12-03 run=t12-03.2\n#title add a rate limiter\n"
	if h.String() != want {
		t.Errorf("header = %q", h.String())
	}
	got, ok := adapters.ParseHeader(h.String() + "\nDo it.")
	h.Title = "add a rate limiter"
	if !ok || got != h {
		t.Errorf("parsed %+v, %v", got, ok)
	}
	whole := adapters.Header{Role: company.Manager, Task: "t1", Run: "t1-plan.1"}
	if got, ok := adapters.ParseHeader(whole.String()); !ok || got != whole {
		t.Errorf("parsed %+v, %v", got, ok)
	}
	for _, bad := range []string{"", "hello", "#company role=worker task=t1 run=t1-01.1\n",
		"#company role=worker task=x run=t1-01.1\n#title a\n", "#company role=worker task=t1\n#title a\n", " " + want} {
		if got, ok := adapters.ParseHeader(bad); ok {
			t.Errorf("%q parsed as %+v", bad, got)
		}
	}
	if _, ok := adapters.FindHeader(
		[]adapters.Message{{Role: adapters.System, Content: "be good"}, {Role: adapters.User, Content: want}}); !ok {
		t.Error("the header of the first user message was not found")
	}
}

func TestExplain(t *testing.T) {
	for kind, code := range map[adapters.Kind]company.Code{
		adapters.Unreachable: company.EModelAway, adapters.Overloaded: company.EModelAway, adapters.TimedOut: company.EModel,
		adapters.MalformedReply: company.EModel,
		adapters.BadRequest:     company.EModel, adapters.TooLong: company.EModel, adapters.Auth: company.EModelAuth,
		adapters.Quota: company.EModelAuth,
	} {
		err := adapters.Explain(&adapters.Error{Kind: kind, Message: "no"}, adapters.Info{Model: "m"})
		var told *company.Error
		if !errors.As(err, &told) || told.Code != code || told.Why == "" || told.Hint == "" || adapters.KindOf(err) != kind {
			t.Errorf("%s: %#v", kind, err)
		}
	}
	// The fix names the variable of the key, and the place that sets the address.
	info := adapters.Info{Model: "m", KeyEnv: "MY_KEY", SetIn: "/home/a/config.yaml:3"}
	for kind, want := range map[adapters.Kind]string{
		adapters.Auth: "export MY_KEY=…", adapters.Unreachable: "address is right (/home/a/config.yaml:3)",
		adapters.UnknownHost: "address (/home/a/config.yaml:3)", adapters.BadRequest: "base_url (/home/a/config.yaml:3)",
	} {
		err := adapters.Explain(&adapters.Error{Kind: kind, Message: "no"}, info)
		if told := (*company.Error)(nil); !errors.As(err, &told) || !strings.Contains(told.Hint, want) {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if err := errors.New("else"); !errors.Is(adapters.Explain(err, adapters.Info{}), err) {
		t.Error("a foreign error was changed")
	}
}

// Feature: adapters, Property 1: Input Bound
//
// TestInputBound: no text makes more bytes on the wire than the bound counts,
// whatever is in it (WRK-12).
func TestInputBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := string(rapid.SliceOf(rapid.Byte()).Draw(t, "content"))
		args := rapid.OneOf(rapid.String(), rapid.Just(`{"a":1}`), rapid.Just("")).Draw(t, "arguments")
		call := adapters.ToolCall{ID: "c", Name: "n", Arguments: args}
		req := adapters.Request{Messages: []adapters.Message{{Role: adapters.User, Content: content},
			{Role: adapters.Assistant, ToolCalls: []adapters.ToolCall{call}}}}
		var sent string
		encoded, err := json.Marshal(content)
		if err != nil || json.Unmarshal(encoded, &sent) != nil {
			t.Fatal(err)
		}
		if !json.Valid([]byte(call.WireArguments())) {
			t.Fatalf("%q travels as %q", args, call.WireArguments())
		}
		if got, least := adapters.InputBound(req), len(sent)+len(call.WireArguments()); got < least {
			t.Fatalf("bound %d, %d bytes travel", got, least)
		}
	})
}
