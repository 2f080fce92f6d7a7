package relay

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/adapters/anthropic"
	"company/internal/adapters/openai"
	"company/internal/adapters/scripted"
	"company/internal/adapters/scriptedtest"
	"company/internal/agent"
	"company/internal/agent/agenttest"
	"company/internal/agent/budget"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/lib/secret"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

const canary = "sk-canary-0123456789"

// opener opens the profile m.
type opener struct{ models *adapters.Models }

func (o opener) OpenModel(meter func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return o.models.Open("m", meter)
}

// bench is a relay between a client and a scripted server.
type bench struct {
	*Relay
	server  *scripted.Server
	journal *agenttest.Journal
	url     string
	events  []agent.Event
	refused []string
}

// open starts the server, with the wire of adapter, and the relay.
func open(t *testing.T, adapter string, brain scripted.BrainFunc, change func(*Config)) *bench {
	t.Helper()
	b := &bench{journal: &agenttest.Journal{}}
	var err error
	if b.server, err = scripted.NewServer(brain, scriptedtest.OtherWires()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.server.Close() })
	base := b.server.URL()
	if adapter == "anthropic" {
		base = strings.TrimSuffix(base, "/v1")
	}
	b.openTo(t, adapter, base, change)
	return b
}

// openTo starts the relay to a server.
func (b *bench) openTo(t *testing.T, adapter, base string, change func(*Config)) {
	t.Helper()
	policy := adapters.DefaultPolicy()
	policy.First, policy.Longest = time.Millisecond, time.Millisecond
	policy.Unreachable = []time.Duration{time.Millisecond}
	models := adapters.NewModels(adapters.Registry{"openai": openai.Factory, "anthropic": anthropic.Factory},
		[]adapters.Profile{{Name: "m", Adapter: adapter, Model: "big", BaseURL: base, Key: secret.New(canary),
			KeyEnv:    "KEY",
			MaxOutput: 500, Price: adapters.Price{Known: true, InputMicro: 1_000_000, OutMicro: 1_000_000}}},
		adapters.Deps{Policy: policy})
	t.Cleanup(func() { _ = models.Close() })
	log, err := agent.BeginProgram(t.Context(), agent.Job{Journal: b.journal, Run: "t1-01.1",
		OnEvent: func(e agent.Event) { b.events = append(b.events, e) }}, "p", company.BriefModel{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Models: opener{models}, Log: log, MaxTurns: 10, Hold: time.Hour, Halt: func() error { return nil },
		Allowance: budget.NewAllowance(company.Amount{MicroUSD: 1e9, Tokens: 1e9}, company.Amount{}, nil),
		OnRefused: func(what string) { b.refused = append(b.refused, what) }}
	if change != nil {
		change(&cfg)
	}
	if b.Relay, err = New(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(b.Relay)
	b.url = front.URL
	t.Cleanup(func() {
		b.Close()
		front.Close()
		b.checkMoney(t)
	})
}

// checkMoney compares the sums of the journal with those of the allowance.
func (b *bench) checkMoney(t *testing.T) {
	t.Helper()
	past, err := agent.LookBack(context.Background(), b.journal)
	balance := b.cfg.Allowance.Balance()
	if err != nil || past.Spent != balance.Spent || balance.Reserved != (company.Amount{}) {
		t.Errorf("the journal has %s, the allowance %+v, %v", past.Spent, balance, err)
	}
}

func (b *bench) post(t *testing.T, path, body string, header ...string) (int, string) {
	t.Helper()
	status, text, err := b.tryPost(t.Context(), path, body, header...)
	if err != nil {
		t.Fatal(err)
	}
	return status, text
}

func (b *bench) tryPost(ctx context.Context, path, body string, header ...string) (int, string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, b.url+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text), err
}

const (
	chatURL      = "/v1/chat/completions"
	responsesURL = "/v1/responses"
	messagesURL  = "/v1/messages"
	hello        = `{"model":"x","messages":[{"role":"user","content":"hello"}],"stream":true}`
	withTool     = `{"model":"x","messages":[{"role":"user","content":"hello"}],` +
		`"tools":[{"type":"function","function":{"name":"f","parameters":{}}}]}`
)

func says(text string) scripted.BrainFunc {
	return func(scripted.Exchange) scripted.Reply { return scripted.Reply{Text: text} }
}

// TestRequestsArePassedOn: a request goes to the profile's model with its key and its limit, the reply comes back as
// the server wrote it, and its cost is in the journal.
func TestRequestsArePassedOn(t *testing.T) {
	for path, adapter := range map[string]string{chatURL: "openai", responsesURL: "openai", messagesURL: "anthropic"} {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprint(path, stream), func(t *testing.T) {
				b := open(t, adapter, says("good morning"), nil)
				body := strings.Replace(hello, `"stream":true`, fmt.Sprintf(`"stream":%t,"max_tokens":9000`, stream), 1)
				if path == responsesURL {
					body = strings.NewReplacer("messages", "input", "max_tokens", "max_output_tokens").Replace(body)
				}
				status, reply := b.post(t, path, body, "Authorization", "Bearer none", "X-Api-Key", "none")
				if status != http.StatusOK || !strings.Contains(reply, "good morning") ||
					strings.Contains(reply, "data: ") != stream {
					t.Fatalf("%d %s", status, reply)
				}
				sent := string(b.server.Requests()[0].Body)
				if !strings.Contains(sent, `"model":"big"`) || !strings.Contains(sent, `_tokens":500`) {
					t.Errorf("sent %s", sent)
				}
				balance := b.cfg.Allowance.Balance()
				past, err := agent.LookBack(t.Context(), b.journal)
				if err != nil || balance.Spent == (company.Amount{}) || past.Turns != 0 || len(past.ByModel) != 1 ||
					past.ByModel[0].Model != "big" {
					t.Errorf("%+v, %+v, %v", balance, past, err)
				}
				if text := fmt.Sprint(b.journal.Records()); strings.Contains(text, canary) || strings.Contains(reply,
					canary) {
					t.Error("the key is in the journal or in the reply")
				}
			})
		}
	}
}

// The key goes to the server and nothing else of the program's header does.
func TestHeaderOfAProgram(t *testing.T) {
	var got []http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header)
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(server.Close)
	b := &bench{journal: &agenttest.Journal{}}
	b.openTo(t, "anthropic", server.URL, nil)
	b.post(t, messagesURL, hello, "X-Api-Key", "none", "Cookie", "a=b", "X-Evil", "1", "Anthropic-Beta",
		"context-1m-2025-08-07, interleaved-thinking-2025-05-14")
	h := got[0]
	if h.Get("X-Api-Key") != canary || h.Get("Cookie") != "" || h.Get("X-Evil") != "" ||
		h.Get("Anthropic-Beta") != "interleaved-thinking-2025-05-14" || h.Get("Anthropic-Version") == "" {
		t.Errorf("%v", h)
	}
}

// Replies to requests with tools are turns, and their number is limited.
func TestTurnsOfAProgram(t *testing.T) {
	b := open(t, "openai", says("ok"), func(c *Config) { c.MaxTurns = 2 })
	for range 2 {
		if status, text := b.post(t, chatURL, withTool); status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
	}
	if status, _ := b.post(t, chatURL, hello); status != http.StatusOK { // no tools, no turn
		t.Errorf("%d", status)
	}
	status, text := b.post(t, chatURL, withTool)
	if status != http.StatusBadRequest || !strings.Contains(text, "out of turns") || !errors.Is(b.State().Ended,
		ErrTurns) {
		t.Errorf("%d %s, %v", status, text, b.State().Ended)
	}
	if status, _ := b.post(t, chatURL, hello); status != http.StatusBadRequest {
		t.Errorf("%d after the end", status)
	}
	if past, err := agent.LookBack(t.Context(), b.journal); err != nil || past.Turns != 2 {
		t.Errorf("%+v, %+v, %v", past, b.State(), err)
	}
}

// What the company or the server refuses is 400 with a sentence, and ends the relay unless the program can do better.
func TestRefusedRequests(t *testing.T) {
	fault := func(f scripted.Fault) scripted.BrainFunc {
		return func(scripted.Exchange) scripted.Reply { return scripted.Reply{Fault: &f} }
	}
	broke := func(context.Context, company.Amount, company.Amount) (company.Amount, error) {
		return company.Amount{}, company.E(company.EBudget, "the cap leaves no room")
	}
	for name, x := range map[string]struct {
		brain  scripted.BrainFunc
		change func(*Config)
		status int
		says   string
		code   company.Code // of the relay's end, "" if it goes on
	}{
		"halted": {brain: says("ok"), change: func(c *Config) {
			c.Halt = func() error { return company.E(company.EStopped, "the task is paused") }
		}, status: 400, says: "the task is paused", code: company.EStopped},
		"no money": {brain: says("ok"), change: func(c *Config) {
			c.Allowance = budget.NewAllowance(company.Amount{}, company.Amount{}, broke)
		}, status: 400, says: "the cap leaves no room", code: company.EBudget},
		"key": {brain: fault(scripted.Fault{Status: 401}), status: 400, says: "big gave no answer",
			code: company.EModelAuth},
		"quota": {brain: fault(scripted.Fault{Status: 429,
			Body: `{"error":{"code":"insufficient_quota","message":"used up"}}`}),
			status: 400, says: "big gave no answer", code: company.EModelAuth},
		"no such model": {brain: fault(scripted.Fault{Status: 404}), status: 400, says: "big gave no answer",
			code: company.EModel},
		"too long": {brain: fault(scripted.Fault{Status: 413, Body: `{"error":{"message":"prompt is too long"}}`}),
			status: 413,
			says:   "prompt is too long"},
		"bad request": {brain: fault(scripted.Fault{Status: 422, Body: `{"error":{"message":"role unknown"}}`}),
			status: 422,
			says:   "role unknown"},
		"redirect": {brain: fault(scripted.Fault{Status: 302,
			Headers: map[string]string{"Location": "http://evil.example"}}),
			status: 400, says: "the server redirects to"},
		"garbage":  {brain: fault(scripted.Fault{Garbage: true}), status: 200, says: "choices"},
		"500 once": {brain: fault(scripted.Fault{Status: 500, Times: 1}), status: 200},
		"429 with a key in": {brain: fault(scripted.Fault{Status: 400, Body: `{"error":{"message":"bad key ` + canary +
			`"}}`}), status: 400, says: "bad key"},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, "openai", x.brain, x.change)
			status, text, err := b.tryPost(t.Context(), chatURL, hello)
			if name == "garbage" && err == nil {
				t.Error("a reply that is not whole looks whole")
			}
			ended := b.State().Ended
			if status != x.status || !strings.Contains(text, x.says) || company.CodeOf(ended) != x.code &&
				ended != nil ||
				(ended == nil) != (x.code == "") {
				t.Errorf("%d %s, ended by %v", status, text, ended)
			}
			if strings.Contains(text, canary) {
				t.Errorf("the key is in %s", text)
			}
		})
	}
}

// A reply that breaks off is not tried again, and does not look whole.
func TestReplyIsCut(t *testing.T) {
	calls := 0
	b := open(t, "openai", func(scripted.Exchange) scripted.Reply {
		calls++
		return scripted.Reply{Text: strings.Repeat("word ", 2000), Fault: &scripted.Fault{Cut: true}}
	}, nil)
	status, text, err := b.tryPost(t.Context(), chatURL, hello)
	if status != http.StatusOK || !strings.Contains(text, "word") || err == nil || calls != 1 {
		t.Errorf("%d, %d bytes, %v, %d calls", status, len(text), err, calls)
	}
	if b.cfg.Allowance.Balance().Spent == (company.Amount{}) {
		t.Error("it cost nothing")
	}
}

// A wait that is too long for the program ends the relay. It serves again when the wait is over.
func TestLongWaits(t *testing.T) {
	var b *bench
	b = open(t, "openai", func(scripted.Exchange) scripted.Reply {
		b.cfg.Hold = time.Nanosecond // from now on: the wait for money is over
		return scripted.Reply{Text: "ok", Fault: &scripted.Fault{Status: 429,
			Headers: map[string]string{"Retry-After": "0.3"}, Times: 1}}
	}, nil)
	status, text := b.post(t, chatURL, hello)
	var waits *Waits
	if status != http.StatusBadRequest || !strings.Contains(text, "the company waits for its model's server") ||
		!errors.As(b.State().Ended, &waits) {
		t.Fatalf("%d %s, %v", status, text, b.State().Ended)
	}
	if err := b.Await(t.Context()); err != nil || b.State().Ended != nil {
		t.Fatal(err, b.State())
	}
	b.cfg.Hold = time.Hour
	if status, text := b.post(t, chatURL, hello); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}

	granted := make(chan company.Amount, 1)
	b = open(t, "openai", says("ok"), func(c *Config) {
		c.Hold = time.Nanosecond
		c.Allowance = budget.NewAllowance(company.Amount{}, company.Amount{},
			func(ctx context.Context, _, most company.Amount) (company.Amount, error) {
				select {
				case <-granted:
					return most, nil
				case <-ctx.Done():
					return company.Amount{}, context.Cause(ctx)
				}
			})
	})
	if status, text := b.post(t, chatURL, hello); status != http.StatusBadRequest ||
		!strings.Contains(text, "the company waits for room in its budget") {
		t.Errorf("%d %s", status, text)
	}
	granted <- company.Amount{}
	if err := b.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.cfg.Hold = time.Hour
	if status, text := b.post(t, chatURL, hello); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
}

// Clients that hang up leave no cost open, and the journal has what the allowance has. A request for a whole reply costs
// the worst case, because the server may have written it.
func TestClientsHangUp(t *testing.T) {
	for name, body := range map[string]string{"whole": strings.Replace(hello, `"stream":true`, `"stream":false`, 1), "stream": hello} {
		b := open(t, "openai", func(scripted.Exchange) scripted.Reply {
			return scripted.Reply{Fault: &scripted.Fault{Hang: true}}
		}, nil)
		ctx, hangUp := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		for range maxRequests {
			clients.Go(func() { _, _, _ = b.tryPost(ctx, chatURL, body) })
		}
		hosttest.Eventually(t, "8 requests", func() (any, bool) { return nil, b.server.Calls().Total == maxRequests })
		hangUp()
		clients.Wait()
		hosttest.Eventually(t, "no open request", func() (any, bool) { return b.State(), b.State().Open == 0 })
		spent := b.cfg.Allowance.Balance().Spent.Tokens
		if isWorst := spent > maxRequests*500; spent == 0 || isWorst != (name == "whole") {
			t.Errorf("%s: %d tokens", name, spent)
		}
		if b.State().Ended != nil {
			t.Errorf("%s: ended by %v", name, b.State().Ended)
		}
	}
}

// A program that hangs up as soon as it has its calls has had a turn, and the tokens of the reply are counted.
func TestClientHangsUpEarly(t *testing.T) {
	b := open(t, "openai", says(strings.Repeat("word ", 4000)), nil)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+chatURL,
		strings.NewReader(strings.Replace(withTool, `{`, `{"stream":true,`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := answer.Body.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	hosttest.Eventually(t, "its end", func() (any, bool) { return b.State(), b.State().Open == 0 })
	past, err := agent.LookBack(t.Context(), b.journal)
	if err != nil || past.Turns != 1 || len(past.ByModel) != 1 || past.ByModel[0].Input == 0 {
		t.Errorf("%+v, %v", past, err)
	}
}

// A stream of the Responses API begins before the model has thought. Thoughts are billed, so a program that hangs up
// before the first part of the reply has cost the worst case.
func TestClientHangsUpBeforeTheReply(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: response.created\ndata: {\"type\":\"response.created\"}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	b := &bench{journal: &agenttest.Journal{}}
	b.openTo(t, "openai", server.URL+"/v1", nil)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+responsesURL,
		strings.NewReader(`{"input":"hello","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := answer.Body.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	hosttest.Eventually(t, "its end", func() (any, bool) { return b.State(), b.State().Open == 0 })
	if spent := b.cfg.Allowance.Balance().Spent.Tokens; spent <= 500 {
		t.Errorf("%d tokens, and a reply may have 500", spent)
	}
}

// A reply that is empty, or filtered, goes to the program as it came: it is no failure, and nobody else is asked.
func TestOddReplies(t *testing.T) {
	for name, reply := range map[string]scripted.Reply{"empty": {}, "filtered": {Text: "no", Finish: "content_filter"}} {
		b := open(t, "openai", func(scripted.Exchange) scripted.Reply { return reply }, nil)
		if status, text, err := b.tryPost(t.Context(), chatURL, withTool); status != http.StatusOK || err != nil ||
			b.server.Calls().Total != 1 {
			t.Errorf("%s: %d %s, %v, %d calls", name, status, text, err, b.server.Calls().Total)
		}
		if past, err := agent.LookBack(t.Context(), b.journal); err != nil || past.Turns != 1 {
			t.Errorf("%s: %+v, %v", name, past, err)
		}
	}
}

// A body that does not come to its end neither holds up the end of the run nor counts as waiting for the model.
func TestEndlessBody(t *testing.T) {
	b := open(t, "openai", says("ok"), nil)
	connection, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := io.WriteString(connection,
		"POST "+chatURL+" HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	hosttest.Eventually(t, "the request", func() (any, bool) { return nil, !b.State().Newest.IsZero() })
	if b.State().Open != 0 {
		t.Errorf("%+v", b.State())
	}
	b.Close()
}

// The run's clock runs while no request waits for the model.
func TestEventsOfRequests(t *testing.T) {
	b := open(t, "openai", says("ok"), nil)
	b.post(t, chatURL, `{`)
	b.post(t, messagesURL, hello)
	if len(b.events) != 0 {
		t.Errorf("%+v", b.events)
	}
	b.post(t, chatURL, strings.Replace(hello, `{`, `{"store":true,`, 1))
	b.Close()
	var kinds []string
	for _, e := range b.events {
		kinds = append(kinds, string(e.Kind))
	}
	if got := strings.Join(kinds, " "); got != "noted turn_started replied" {
		t.Error(got)
	}
}

// Close cuts what is open and settles it.
func TestCloseCuts(t *testing.T) {
	b := open(t, "openai", func(scripted.Exchange) scripted.Reply {
		return scripted.Reply{Fault: &scripted.Fault{Hang: true}}
	}, nil)
	ended := make(chan string, 1)
	go func() {
		_, text, _ := b.tryPost(t.Context(), chatURL, hello)
		ended <- text
	}()
	hosttest.Eventually(t, "a request", func() (any, bool) { return nil, b.server.Calls().Total == 1 })
	b.Close()
	if text := <-ended; !strings.Contains(text, "the run has ended") {
		t.Error(text)
	}
	if status, _ := b.post(t, chatURL, hello); status != http.StatusBadRequest {
		t.Errorf("%d", status)
	}
}

// TestOtherAddresses: what is answered here, and what is not served.
func TestOtherAddresses(t *testing.T) {
	b := open(t, "anthropic", says("ok"), nil)
	answer, err := http.Get(b.url + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || !strings.Contains(string(text), `"id":"big"`) {
		t.Errorf("%s", text)
	}
	if status, text := b.post(t, messagesURL+"/count_tokens", hello); status != http.StatusOK ||
		!strings.HasPrefix(text, `{"input_tokens":`) {
		t.Errorf("%d %s", status, text)
	}
	if status, text := b.post(t, chatURL, hello); status != http.StatusNotFound ||
		!strings.Contains(text, "big is asked at /v1/messages") {
		t.Errorf("%d %s", status, text)
	}
	for _, path := range []string{"/v1/files", "/v1/batches", "/v1/messages/batches", "/", "/v1/messages/../files"} {
		if status, text := b.post(t, path, "{}"); status != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if len(b.refused) != 5 || b.server.Calls().Total != 0 {
		t.Errorf("refused %q, %d requests", b.refused, b.server.Calls().Total)
	}
}

// Bodies are bounded, also those that are compressed.
func TestBodies(t *testing.T) {
	b := open(t, "openai", says("ok"), nil)
	packed := func(text string) string {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, _ = io.WriteString(z, text)
		_ = z.Close()
		return out.String()
	}
	if status, text := b.post(t, chatURL, packed(hello), "Content-Encoding", "gzip"); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
	for name, x := range map[string][3]string{
		"a bomb":           {packed(strings.Repeat(" ", maxBody+1)), "gzip", "more than 32 MiB"},
		"a large one":      {strings.Repeat(" ", maxBody+1), "", "cannot be read"},
		"many values":      {`{"messages":[` + strings.Repeat("1,", maxValues) + `1]}`, "", "more than 200000 values"},
		"another encoding": {hello, "zstd", "is not understood"},
		"not gzip":         {hello, "gzip", "is not gzip"},
	} {
		if status, text := b.post(t, chatURL, x[0], "Content-Encoding", x[1]); status != http.StatusBadRequest ||
			!strings.Contains(text, x[2]) {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
}

// A model whose driver cannot pass requests on is named.
func TestModelThatCannotBeRelayed(t *testing.T) {
	_, err := New(t.Context(), Config{Models: bareOpener{}})
	if company.CodeOf(err) != company.EConfig || !strings.Contains(err.Error(), "cannot be passed on to other m") {
		t.Error(err)
	}
}

type bareOpener struct{}

func (bareOpener) OpenModel(func(adapters.Model) adapters.Model) (adapters.Model, error) {
	return bare{}, nil
}

type bare struct{ adapters.Model }

func (bare) Info() adapters.Info { return adapters.Info{Adapter: "other", Model: "m"} }
