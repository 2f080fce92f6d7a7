package budget_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"company/internal/adapters"
	"company/internal/agent/budget"
	"company/internal/company"
)

func amount(micro, tokens int64) company.Amount {
	return company.Amount{MicroUSD: micro, Tokens: tokens}
}

// fakeCap hands out allowances the way the orchestrator does: what fits of most,
// EBudget when least does not.
type fakeCap struct {
	limit company.Amount

	mu      sync.Mutex
	granted company.Amount
	asked   int
}

func (c *fakeCap) reserve(_ context.Context, least, most company.Amount) (company.Amount, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	for _, want := range []company.Amount{most, least} {
		if c.granted.Add(want).Within(c.limit) {
			c.granted = c.granted.Add(want)
			return want, nil
		}
	}
	return company.Amount{}, company.E(company.EBudget, "the cap leaves no room")
}

func (c *fakeCap) totalGranted() company.Amount {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.granted
}

// Feature: budget, Property 1: Allowances Stay Under the Cap
//
// TestAllowanceInvariants: at every moment spent + reserved ≤ granted, and what
// was granted to many allowances stays under one cap (WRK-12).
func TestAllowanceInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := amount(rapid.SampledFrom([]int64{company.NoCap, 0, 500, 5000}).Draw(t, "usd"),
			rapid.SampledFrom([]int64{company.NoCap, 2000, 20000}).Draw(t, "tokens"))
		bank := &fakeCap{limit: limit}
		allowances := make([]*budget.Allowance, rapid.IntRange(1, 4).Draw(t, "allowances"))
		for i := range allowances {
			allowances[i] = budget.NewAllowance(company.Amount{}, company.Amount{}, bank.reserve)
		}
		type held struct {
			allowance *budget.Allowance
			worst     company.Amount
		}
		var open []held
		sent := 0
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				var all company.Amount
				for _, p := range allowances {
					b := p.Balance()
					if !b.Spent.Add(b.Reserved).Within(b.Granted) {
						t.Fatalf("spent and reserved pass what was granted: %+v", b)
					}
					all = all.Add(b.Granted)
				}
				if all != bank.totalGranted() || !all.Within(limit) {
					t.Fatalf("allowances hold %+v, the bank gave %+v of %+v", all, bank.totalGranted(), limit)
				}
			},
			"draw": func(t *rapid.T) {
				p := rapid.SampledFrom(allowances).Draw(t, "allowance")
				worst := amount(rapid.Int64Range(0, 300).Draw(t, "micro"), rapid.Int64Range(1, 900).Draw(t, "tokens"))
				before := p.Balance()
				if err := p.Reserve(t.Context(), worst); err != nil {
					if company.CodeOf(err) != company.EBudget || p.Balance() != before {
						t.Fatalf("draw: %v, balance %+v was %+v", err, p.Balance(), before)
					}
					return
				}
				sent++
				open = append(open, held{p, worst})
			},
			"settle": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("nothing is held")
				}
				i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
				h := open[i]
				open = append(open[:i], open[i+1:]...)
				actual := h.worst // no answer
				if rapid.Bool().Draw(t, "answered") {
					actual = amount(rapid.Int64Range(0, h.worst.MicroUSD).Draw(t, "micro"),
						rapid.Int64Range(0, h.worst.Tokens).Draw(t, "tokens"))
				}
				h.allowance.Settle(h.worst, actual)
			},
		})
	})
}

func TestAllowancesShareCap(t *testing.T) {
	bank := &fakeCap{limit: amount(company.NoCap, 100_000)}
	var wg sync.WaitGroup
	var mu sync.Mutex
	spent := int64(0)
	for range 4 {
		p := budget.NewAllowance(company.Amount{}, company.Amount{}, bank.reserve)
		for range 8 { // goroutines share an allowance
			wg.Go(func() {
				for p.Reserve(t.Context(), amount(0, 100)) == nil {
					p.Settle(amount(0, 100), amount(0, 60))
					mu.Lock()
					spent += 60
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	// The last allowance may keep what is less than a call; the rest was
	// usable.
	if got := bank.totalGranted().Tokens; got > 100_000 || spent > got || spent < 95_000 {
		t.Errorf("granted %d of 100000, spent %d", got, spent)
	}
}

func TestAllowance(t *testing.T) {
	bank := &fakeCap{limit: amount(1000, company.NoCap)}
	p := budget.NewAllowance(amount(100, 10), amount(100, 10), bank.reserve) // a run that goes on
	worst := amount(100, 10)
	if err := p.Reserve(t.Context(), worst); err != nil {
		t.Fatal(err)
	}
	if got := p.Balance(); got != (budget.Balance{Granted: amount(600, 60), Spent: amount(100, 10), Reserved: worst}) {
		t.Errorf("balance = %+v, want five calls ahead", got)
	}
	p.Settle(worst, amount(30, 3))
	for range 4 {
		if err := p.Reserve(t.Context(), worst); err != nil {
			t.Fatal(err)
		}
	}
	if bank.asked != 1 {
		t.Errorf("asked %d times for five calls", bank.asked)
	}
	// A server that counted more than the bound is charged what it counted.
	p.Settle(worst, amount(400, 40))
	if err := p.Reserve(t.Context(), worst); err != nil {
		t.Fatal(err)
	}
	if b := p.Balance(); b.Spent != amount(530, 53) || !b.Spent.Add(b.Reserved).Within(b.Granted) {
		t.Errorf("balance = %+v after an overdraft", b)
	}
}

func TestAllowanceWithoutCap(t *testing.T) {
	free := budget.NewAllowance(amount(company.NoCap, company.NoCap), company.Amount{}, nil)
	bank := &fakeCap{limit: amount(0, 5000)}
	half := budget.NewAllowance(amount(company.NoCap, 0), company.Amount{}, bank.reserve)
	worst := amount(100, 10)
	for range 6 {
		for _, p := range []*budget.Allowance{free, half} {
			if err := p.Reserve(t.Context(), worst); err != nil {
				t.Fatal(err)
			}
			p.Settle(worst, worst)
		}
	}
	if b := half.Balance(); b.Granted.MicroUSD != company.NoCap || bank.totalGranted().MicroUSD != 0 ||
		b.Spent != amount(600, 60) {
		t.Errorf("balance %+v, granted by the bank %+v", b, bank.totalGranted())
	}
}

func TestAllowanceRefusals(t *testing.T) {
	short := budget.NewAllowance(company.Amount{}, company.Amount{},
		func(context.Context, company.Amount, company.Amount) (company.Amount, error) {
			return amount(0, 1), nil
		})
	if err := short.Reserve(t.Context(), amount(0, 5)); company.CodeOf(err) != company.EInternal {
		t.Errorf("an allowance that is too small: %v", err)
	}
	if err := short.Reserve(t.Context(), amount(-1, 5)); company.CodeOf(err) != company.EInternal {
		t.Errorf("a negative worst case: %v", err)
	}
	entered := make(chan struct{})
	waiting := budget.NewAllowance(
		company.Amount{}, company.Amount{}, func(ctx context.Context, _, _ company.Amount) (company.Amount, error) {
			close(entered)
			<-ctx.Done()
			return company.Amount{}, context.Cause(ctx)
		})
	stopped := company.E(company.EStopped, "stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	errs := make(chan error, 2)
	go func() { errs <- waiting.Reserve(ctx, amount(0, 5)) }()
	<-entered
	go func() { errs <- waiting.Reserve(ctx, amount(0, 5)) }() // waits for the first
	cancel(stopped)
	for range 2 {
		select {
		case err := <-errs:
			if !errors.Is(err, stopped) {
				t.Errorf("err = %v", err)
			}
		case <-time.After(time.Minute):
			t.Fatal("a draw outlived its context")
		}
	}
}

func TestWorstCase(t *testing.T) {
	req := adapters.Request{Messages: []adapters.Message{{Role: adapters.User, Content: "hello"}}, MaxTokens: 1000}
	unpriced := budget.WorstCase(req, adapters.Info{MaxOutput: 7})
	if want := int64(adapters.InputBound(req) + 1000); unpriced != amount(0, want) {
		t.Errorf("unpriced = %+v, want %d tokens and no money", unpriced, want)
	}
	price := adapters.Price{Known: true, InputMicro: 1_000_000, CacheMicro: 2_000_000, OutMicro: 10_000_000}
	priced := budget.WorstCase(req, adapters.Info{Price: price})
	if want := int64(2*adapters.InputBound(req) + 10*1000); priced.MicroUSD != want {
		t.Errorf("worst = %d micro-USD, want %d (the dearer input price)", priced.MicroUSD, want)
	}
	req.MaxTokens = 0
	if got := budget.WorstCase(req, adapters.Info{MaxOutput: 7}).Tokens; got != int64(adapters.InputBound(req)+7) {
		t.Errorf("without max_tokens: %d", got)
	}
	req.MaxTokens = math.MaxInt
	absurd := budget.WorstCase(req,
		adapters.Info{Price: adapters.Price{Known: true, InputMicro: math.MaxInt64, OutMicro: math.MaxInt64}})
	if absurd.MicroUSD <= 0 || absurd.Tokens <= 0 || 5*absurd.MicroUSD < 0 {
		t.Errorf("absurd prices overflow: %+v", absurd)
	}
}

// Feature: budget, Property 2: Actual Cost Within the Worst Case
//
// TestActualCostWithinWorstCase: a truthful server's count never costs more than was
// held for it (WRK-12).
func TestActualCostWithinWorstCase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price := adapters.Price{Known: true, InputMicro: rapid.Int64Range(0, 1e8).Draw(t, "in"),
			CacheMicro: rapid.Int64Range(0, 1e8).Draw(t, "cached"), OutMicro: rapid.Int64Range(0, 1e9).Draw(t, "out")}
		req := adapters.Request{Messages: []adapters.Message{{Content: rapid.String().Draw(t, "text")}},
			MaxTokens: rapid.IntRange(1, 1e6).Draw(t, "max")}
		worst := budget.WorstCase(req, adapters.Info{Price: price})
		in := rapid.IntRange(0, adapters.InputBound(req)).Draw(t, "input")
		usage := adapters.Usage{InputTokens: in, CachedTokens: rapid.IntRange(0, in).Draw(t, "from cache"),
			OutputTokens: rapid.IntRange(0, req.MaxTokens).Draw(t, "output")}
		if actual := budget.ActualCost(usage, price, worst); !actual.Within(worst) {
			t.Fatalf("%+v costs %+v, held were %+v", usage, actual, worst)
		}
		usage.Estimated = true
		if budget.ActualCost(usage, price, worst) != worst {
			t.Fatal("an estimate was taken for a count")
		}
	})
}

func TestListPrice(t *testing.T) {
	for _, tt := range []struct {
		adapter, base, model string
		input                int64
		known                bool
	}{
		{"openai", "", "gpt-5", 1_250_000, true},
		{"openai", "https://api.openai.com/v1/", "gpt-5-2025-08-07", 1_250_000, true},
		{"openai", "", "gpt-4o-2024-05-13", 5_000_000, true},
		{"openai", "", "gpt-5-nano", 50_000, true},
		{"openai", "http://127.0.0.1:11434/v1", "gpt-5", 0, false},
		{"openai", "", "llama3", 0, false},
		{"anthropic", "", "claude-haiku-4-5-20251001", 1_000_000, true},
		{"anthropic", "https://api.anthropic.com", "claude-sonnet-4-6", 3_000_000, true},
		{"anthropic", "", "claude-of-tomorrow", 0, false},
		{"anthropic", "https://proxy.example.com", "claude-sonnet-4-6", 0, false},
		{"ollama", "", "gpt-5", 0, false}, // somebody's own model of that name
		{"openai", "", "claude-sonnet-4-6", 0, false},
	} {
		if got := budget.ListPrice(tt.adapter, tt.base, tt.model); got.Known != tt.known || got.InputMicro != tt.input {
			t.Errorf("ListPrice(%q, %q, %q) = %+v", tt.adapter, tt.base, tt.model, got)
		}
	}
}

// What is written to a cache costs more than what is not, so both the bill and
// the worst case must know.
func TestCacheWritePricing(t *testing.T) {
	p := budget.ListPrice("anthropic", "", "claude-sonnet-4-6")
	if got := p.Cost(
		adapters.Usage{InputTokens: 1_000_000, CachedTokens: 300_000, WrittenTokens: 200_000,
			OutputTokens: 100_000}); got != 1_500_000+90_000+750_000+1_500_000 {
		t.Errorf("cost = %d micro-USD", got)
	}
	req := adapters.Request{Messages: []adapters.Message{{Role: adapters.User, Content: "hello"}}, MaxTokens: 50}
	all := adapters.Usage{InputTokens: adapters.InputBound(req), WrittenTokens: adapters.InputBound(req), OutputTokens: 50}
	if worst := budget.WorstCase(req, adapters.Info{Price: p}); worst.MicroUSD < p.Cost(all) {
		t.Errorf("the worst case %s is under a request that is all written to the cache, %d", worst, p.Cost(all))
	}
}

// stubModel is a model that gives one outcome.
type stubModel struct {
	resp adapters.Response
	err  error
	req  adapters.Request
	sent int
}

func (a *stubModel) Chat(_ context.Context, req adapters.Request, _ func(adapters.Event)) (adapters.Response, error) {
	a.req = req
	a.sent++
	return a.resp, a.err
}

func (a *stubModel) Info() adapters.Info {
	return adapters.Info{Model: "m", MaxOutput: 50,
		Price: adapters.Price{Known: true, InputMicro: 1_000_000, OutMicro: 1_000_000}}
}

func TestMeter(t *testing.T) {
	counted := adapters.Usage{InputTokens: 10, OutputTokens: 5}
	req := adapters.Request{Messages: []adapters.Message{{Role: adapters.User, Content: "hello"}}}
	worst := budget.WorstCase(adapters.Request{Messages: req.Messages, MaxTokens: 50}, (&stubModel{}).Info())
	tokens := int64(adapters.Cut(req).InputTokens)
	read := amount(tokens, tokens) // a token of input costs a millionth of a dollar
	if 4*tokens > worst.Tokens {
		t.Errorf("%d of %d tokens for a request that nobody answered", tokens, worst.Tokens)
	}
	for _, tt := range []struct {
		name string
		a    stubModel
		want company.Amount
	}{
		{"counted", stubModel{resp: adapters.Response{Usage: counted}}, amount(15, 15)},
		{"estimated", stubModel{resp: adapters.Response{Usage: adapters.Usage{InputTokens: 1, Estimated: true}}}, worst},
		{"refused", stubModel{err: &adapters.Error{Kind: adapters.Overloaded, Status: 429}}, company.Amount{}},
		{"cut", stubModel{err: &adapters.Error{Kind: adapters.MalformedReply, Unanswered: true}}, worst},
		{"empty but counted", stubModel{err: &adapters.Error{Kind: adapters.MalformedReply, Usage: &counted}},
			amount(15, 15)},
		{"stopped by us", stubModel{err: context.Canceled}, worst},
		{"stopped by us before a byte came", stubModel{err: &adapters.Unfinished{Cause: context.Canceled}}, read},
		{"silent behind a part of its reply",
			stubModel{err: &adapters.Error{Kind: adapters.TimedOut, Unanswered: true,
				Err: &adapters.Unfinished{Cause: context.DeadlineExceeded, Received: 20}}}, read.Add(amount(20, 20))},
		{"more came than was asked for", stubModel{err: &adapters.Unfinished{Cause: context.Canceled, Received: 1 << 20}},
			read.Add(amount(50, 50))},
		{"never sent",
			stubModel{err: &adapters.Error{Kind: adapters.TimedOut, Unanswered: true,
				Err: &adapters.Unfinished{Cause: context.DeadlineExceeded, Unsent: true}}}, company.Amount{}},
		{"no byte in time",
			stubModel{err: &adapters.Error{Kind: adapters.TimedOut, Unanswered: true,
				Err: &adapters.Unfinished{Cause: context.DeadlineExceeded}}}, read},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bank := &fakeCap{limit: amount(company.NoCap, company.NoCap)}
			p := budget.NewAllowance(company.Amount{}, company.Amount{}, bank.reserve)
			var lines []string
			journal := callLog{
				open: func(_ context.Context, info adapters.Info, w company.Amount) (int, error) {
					if w != worst || tt.a.sent != 0 || info.Model != "m" {
						t.Errorf("opened with %+v after %d requests", w, tt.a.sent)
					}
					lines = append(lines, "open")
					return 7, nil
				},
				close: func(_ context.Context, n int, _ adapters.Usage, actual company.Amount) error {
					if n != 7 || actual != tt.want {
						t.Errorf("closed call %d with %+v, want %+v", n, actual, tt.want)
					}
					lines = append(lines, "close")
					return nil
				},
			}
			_, err := budget.Meter(&tt.a, p, journal).Chat(t.Context(), req, nil)
			if !errors.Is(err, tt.a.err) {
				t.Errorf("err = %v", err)
			}
			if b := p.Balance(); b.Spent != tt.want || b.Reserved != (company.Amount{}) || len(lines) != 2 ||
				tt.a.req.MaxTokens != 50 {
				t.Errorf("balance %+v, journal %v, max_tokens %d", b, lines, tt.a.req.MaxTokens)
			}
		})
	}
}

// watchedModel looks at the allowance while a call is under way.
type watchedModel struct {
	stubModel
	under func()
}

func (m *watchedModel) Chat(
	ctx context.Context, req adapters.Request, onEvent func(adapters.Event),
) (adapters.Response, error) {
	m.under()
	return m.stubModel.Chat(ctx, req, onEvent)
}

// TestSilentCallsStayUnderTheCap: a call without an answer holds its worst case while it lasts, is booked
// at less when it is over, and however many follow each other, the sum stays under the cap.
func TestSilentCallsStayUnderTheCap(t *testing.T) {
	req := adapters.Request{Messages: []adapters.Message{{Role: adapters.User, Content: strings.Repeat("read ", 1000)}}}
	worst := budget.WorstCase(adapters.Request{Messages: req.Messages, MaxTokens: 50}, (&stubModel{}).Info())
	bank := &fakeCap{limit: amount(10*worst.MicroUSD, 10*worst.Tokens)}
	p := budget.NewAllowance(company.Amount{}, company.Amount{}, bank.reserve)
	m := &watchedModel{
		stubModel: stubModel{err: &adapters.Error{Kind: adapters.TimedOut, Unanswered: true,
			Err: &adapters.Unfinished{Cause: context.DeadlineExceeded, Received: 20}}}}
	m.under = func() {
		if b := p.Balance(); b.Reserved != worst || !b.Spent.Add(b.Reserved).Within(bank.limit) {
			t.Errorf("under way with %+v, worst case %+v, cap %+v", b, worst, bank.limit)
		}
	}
	calls := 0
	for ; calls < 1000; calls++ {
		if _, err := budget.Meter(m, p, callLog{}).Chat(t.Context(), req, nil); company.CodeOf(err) == company.EBudget {
			break
		}
	}
	if b := p.Balance(); calls < 30 || calls == 1000 || !b.Spent.Within(bank.limit) || b.Reserved != (company.Amount{}) {
		t.Errorf("%d calls, %+v under a cap of %+v", calls, b, bank.limit)
	}
}

// callLog is a budget.CallLog of functions; one that is nil does nothing.
type callLog struct {
	open  func(context.Context, adapters.Info, company.Amount) (int, error)
	close func(context.Context, int, adapters.Usage, company.Amount) error
}

func (l callLog) OpenCall(
	ctx context.Context, info adapters.Info, _ adapters.Request, worst company.Amount,
) (int, error) {
	if l.open == nil {
		return 0, nil
	}
	return l.open(ctx, info, worst)
}

func (l callLog) CloseCall(ctx context.Context, n int, usage adapters.Usage, actual company.Amount) error {
	if l.close == nil {
		return nil
	}
	return l.close(ctx, n, usage, actual)
}

func TestMeterRefusesUncoveredCall(t *testing.T) {
	a := &stubModel{}
	bank := &fakeCap{limit: amount(0, 0)}
	p := budget.NewAllowance(company.Amount{}, company.Amount{}, bank.reserve)
	if _, err := budget.Meter(a, p, callLog{}).Chat(t.Context(), adapters.Request{}, nil); company.CodeOf(
		err) != company.EBudget || a.sent != 0 {
		t.Errorf("err %v, %d requests", err, a.sent)
	}
	stale := company.E(company.EStale, "a higher fence")
	p = budget.NewAllowance(amount(1e9, 1e9), company.Amount{}, bank.reserve)
	noOpen := callLog{open: func(context.Context, adapters.Info, company.Amount) (int, error) { return 0, stale }}
	if _, err := budget.Meter(a, p, noOpen).Chat(t.Context(), adapters.Request{}, nil); !errors.Is(err, stale) ||
		a.sent != 0 || p.Balance().Reserved != (company.Amount{}) {
		t.Errorf("err %v, %d requests, balance %+v", err, a.sent, p.Balance())
	}
	a.err = &adapters.Error{Kind: adapters.MalformedReply, Unanswered: true}
	noClose := callLog{close: func(context.Context, int, adapters.Usage, company.Amount) error { return stale }}
	_, err := adapters.Retry(budget.Meter(a, p, noClose), adapters.DefaultPolicy(), adapters.WallClock{}).Chat(
		t.Context(), adapters.Request{}, nil)
	if !errors.Is(err, stale) || a.sent != 1 {
		t.Errorf("err %v, %d requests: a lost journal is not tried again", err, a.sent)
	}
}
