package adapters_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/company"
	"company/internal/lib/healthcheck"
	"company/internal/lib/secret"
)

// toolless answers requests without tools, in text; it refuses others.
type toolless struct {
	fake
	refusal error
}

func (m *toolless) Chat(
	ctx context.Context, req adapters.Request, onEvent func(adapters.Event),
) (adapters.Response, error) {
	if len(req.Tools) > 0 {
		m.asked = append(m.asked, req)
		return adapters.Response{}, m.refusal
	}
	resp, err := m.fake.Chat(ctx, req, onEvent)
	if resp.Message.Content == inText.Message.Content {
		resp.Message.Content = strings.ReplaceAll(resp.Message.Content, "FENCE", fenceOf(req))
	}
	return resp, err
}

// fenceOf reads the name of a call's fence out of a request, as a model does.
func fenceOf(req adapters.Request) string {
	_, rest, _ := strings.Cut(req.Messages[0].Content, "has the name ")
	name, _, _ := strings.Cut(rest, ".")
	return name
}

// teller knows what its model can, or fails to find out.
type teller struct {
	toolless
	can   bool
	err   error
	asked int
}

func (m *teller) Tools(context.Context) (bool, error) { m.asked++; return m.can, m.err }

var (
	noTools = &adapters.Error{Kind: adapters.BadRequest, Status: 400, Message: "llama3 does not support tools"}
	inText  = adapters.Response{Message: adapters.Message{Role: adapters.Assistant,
		Content: "```FENCE\n{\"tool\":\"t\",\"arguments\":{}}\n```"}, Finish: adapters.FinishStop}
)

func toolRequest() adapters.Request {
	return adapters.Request{Messages: []adapters.Message{{Role: adapters.User, Content: "go"}},
		Tools: []adapters.Tool{{Name: "t", Schema: []byte(`{}`)}}}
}

func newToolless() *toolless {
	return &toolless{fake: fake{name: "llama3", outcomes: []any{inText}}, refusal: noTools}
}

// A server's refusal of tools is met once; from then on the model is given
// them in text, and the event says so.
func TestToolsAreLearnt(t *testing.T) {
	inner := newToolless()
	m := adapters.WithToolMode(inner, adapters.ToolsAuto, nil)
	var told []string
	for range 2 {
		resp, err := m.Chat(t.Context(), toolRequest(), func(e adapters.Event) { told = append(told, e.Reason) })
		if err != nil || !resp.Textual || len(resp.Message.ToolCalls) != 1 || resp.Message.ToolCalls[0].Name != "t" {
			t.Fatalf("%+v, %v", resp, err)
		}
	}
	if len(inner.asked) != 3 || slices.DeleteFunc(
		told, func(s string) bool { return s == "" })[0] != "llama3 takes no tools: it is given them in text" {
		t.Errorf("%d requests, told %q", len(inner.asked), told)
	}
	// A process that takes the run up again knows it from the journal.
	inner = newToolless()
	req := toolRequest()
	req.Textual = []string{"other", "llama3"}
	if resp, err := adapters.WithToolMode(inner, adapters.ToolsAuto, nil).Chat(t.Context(), req, nil); err != nil ||
		!resp.Textual || len(inner.asked) != 1 {
		t.Errorf("%+v, %v after %d requests", resp, err, len(inner.asked))
	}
}

func TestToolUseIsTheProfilesWord(t *testing.T) {
	inner := newToolless()
	if _, err := adapters.WithToolMode(inner, adapters.ToolsYes, nil).Chat(t.Context(), toolRequest(), nil); !errors.Is(
		err, noTools) || len(inner.asked) != 1 {
		t.Errorf("tools: yes: %v after %d requests", err, len(inner.asked))
	}
	inner = newToolless()
	if resp, err := adapters.WithToolMode(inner, adapters.ToolsNo, nil).Chat(
		t.Context(), toolRequest(), nil); err != nil || !resp.Textual || len(inner.asked) != 1 {
		t.Errorf("tools: no: %+v, %v after %d requests", resp, err, len(inner.asked))
	}
	// Other errors are not taken for it.
	inner = newToolless()
	inner.refusal = &adapters.Error{Kind: adapters.BadRequest, Status: 400, Message: "Invalid schema for function 't'"}
	if _, err := adapters.WithToolMode(inner, adapters.ToolsAuto, nil).Chat(t.Context(), toolRequest(), nil); err == nil ||
		len(inner.asked) != 1 {
		t.Errorf("a bad schema: %v after %d requests", err, len(inner.asked))
	}
	// A request without tools is sent as it is.
	plain := adapters.Request{Messages: toolRequest().Messages}
	if resp, err := adapters.WithToolMode(newToolless(), adapters.ToolsNo, nil).Chat(
		t.Context(), plain, nil); err != nil || resp.Textual || len(resp.Message.ToolCalls) != 0 {
		t.Errorf("without tools: %+v, %v", resp, err)
	}
}

// The server's word on what its model can is asked for once, and a server that
// cannot be asked is an error that is tried again.
func TestToolsAreAskedFor(t *testing.T) {
	inner := &teller{toolless: *newToolless(), err: failure(adapters.Unreachable)}
	m := adapters.WithToolMode(inner, adapters.ToolsAuto, nil)
	if _, err := m.Chat(t.Context(), toolRequest(), nil); adapters.KindOf(err) != adapters.Unreachable ||
		len(inner.toolless.asked) != 0 {
		t.Errorf("%v", err)
	}
	inner.err = nil
	for range 2 {
		if resp, err := m.Chat(t.Context(), toolRequest(), nil); err != nil || !resp.Textual {
			t.Errorf("%+v, %v", resp, err)
		}
	}
	if inner.asked != 2 || len(inner.toolless.asked) != 2 {
		t.Errorf("asked %d times, %d requests", inner.asked, len(inner.toolless.asked))
	}
}

func TestTemperature(t *testing.T) {
	half, one := 0.5, 1.0
	inner := newToolless()
	m := adapters.WithToolMode(inner, adapters.ToolsAuto, &half)
	req := adapters.Request{Messages: toolRequest().Messages}
	_, err1 := m.Chat(t.Context(), req, nil)
	req.Temperature = &one
	_, err2 := m.Chat(t.Context(), req, nil)
	if err1 != nil || err2 != nil || *inner.asked[0].Temperature != 0.5 || *inner.asked[1].Temperature != 1 {
		t.Errorf("%v, %v, %+v", err1, err2, inner.asked)
	}
}

// prepared counts.
type prepared struct {
	fake
	times int
}

func (p *prepared) Prepare(context.Context) error { p.times++; return failure(adapters.Unreachable) }

// Each model behind the wrappers is prepared; one that cannot be is not an error.
func TestPrepare(t *testing.T) {
	a, b := &prepared{fake: fake{name: "a"}}, &prepared{fake: fake{name: "b"}}
	wrap := func(m adapters.Model) adapters.Model {
		return adapters.Retry(adapters.WithToolMode(m, adapters.ToolsAuto, nil), adapters.DefaultPolicy(),
			adapters.WallClock{})
	}
	adapters.Prepare(t.Context(), adapters.Fallback(wrap(a), wrap(b), wrap(&fake{name: "c"})))
	if a.times != 1 || b.times != 1 {
		t.Errorf("prepared %d and %d times", a.times, b.times)
	}
}

// served is a model whose server can be asked.
type served struct {
	fake
	address string
	list    adapters.Listing
	err     error
	asked   *int
}

func (s *served) Available(context.Context) (adapters.Listing, error) {
	*s.asked++
	return s.list, s.err
}
func (s *served) Address() string { return s.address }

// TestCheck: ADP-7, ADP-8: what doctor says of a profile.
func TestCheck(t *testing.T) {
	asked := 0
	const here, away = "http://127.0.0.1:1", "https://example.com"
	has := adapters.Listing{Text: "has it", State: adapters.Listed}
	others := adapters.Listing{Text: "lists others", State: adapters.Unlisted, Fix: "name one"}
	none := adapters.Listing{Text: "has no list", State: adapters.NoList}
	refused := &adapters.Error{Kind: adapters.BadRequest, Status: 404, Message: "no such model; it has: a, b"}
	plain, keyed := adapters.Profile{Adapter: "x", Model: "m"},
		adapters.Profile{Adapter: "x", Model: "m", Key: secret.New("canary-key"), KeyEnv: "K"}
	for _, c := range []struct {
		name, address string
		profile       adapters.Profile
		list          adapters.Listing
		err           error // of the list
		reply         any
		reach         adapters.Reach
		mark          string
		found, fix    string
		asked, calls  int
	}{
		{"here", here, plain, has, nil, good, adapters.ReachLocal, "+", "x m, at http://127.0.0.1:1, has it", "", 1, 0},
		{"elsewhere", away, keyed, has, nil, good, adapters.ReachLocal, "+",
			"x m, K SET, at https://example.com, not asked", "", 0, 0},
		{"asked for a reply", away, keyed, has, nil, good, adapters.ReachReplies, "+", "has it, and replies", "", 1, 1},
		{"no quota", away, keyed, has, nil, failure(adapters.Quota), adapters.ReachReplies, "x", "quota", "billing", 1, 1},
		{"overloaded", away, keyed, has, nil, failure(adapters.Overloaded), adapters.ReachReplies, "!", "overloaded",
			"doctor --online", 1, 1},
		{"no key", away, adapters.Profile{Adapter: "x", Model: "m", KeyEnv: "K"}, has, nil, good, adapters.ReachReplies, "x",
			"K is NOT SET", "export K=...", 0, 0},
		{"no adapter", "", adapters.Profile{Adapter: "y", Model: "m"}, has, nil, good, adapters.ReachReplies, "x",
			`unknown adapter "y"`, "adapters are: x", 0, 0},
		{"no model", "http://localhost:1", plain, adapters.Listing{},
			&adapters.Error{Kind: adapters.BadRequest, Status: 404, Message: "not found", Fix: "ollama pull m"}, good,
			adapters.ReachLocal, "x", "not found", "ollama pull m", 1, 0},
		{"no server", "http://[::1]:1", plain, adapters.Listing{}, failure(adapters.Unreachable), good, adapters.ReachLocal,
			"x", "unreachable", "its address", 1, 0},
		{"not listed, and refused", here, plain, others, nil, refused, adapters.ReachLocal, "x", "it has: a, b",
			"model's name", 1, 1},
		{"not listed, and refused in another way", here, plain, others, nil,
			&adapters.Error{Kind: adapters.BadRequest, Status: 400, Message: "invalid model name"}, adapters.ReachLocal, "x",
			"invalid model name", "model's name", 1, 1},
		{"not listed, and replies", here, plain, others, nil, good, adapters.ReachLocal, "+",
			"lists others, and replies", "", 1, 1},
		{"not listed, and busy", here, plain, others, nil, failure(adapters.Overloaded), adapters.ReachLocal, "!",
			"overloaded", "name one", 1, 1},
		{"not listed, and the limit is too small", here, plain, others, nil,
			&adapters.Error{Kind: adapters.BadRequest, Status: 400, Message: "max_tokens is too small"}, adapters.ReachLocal,
			"!", "too small", "name one", 1, 1},
		{"no list, and replies", here, plain, none, nil, good, adapters.ReachLocal, "+",
			"has no list, and replies", "", 1, 1},
		{"no list, and busy", here, plain, none, nil, failure(adapters.Overloaded), adapters.ReachLocal, "+",
			"has no list", "", 1, 1},
		{"no list, since it is another server", here, plain, none, nil, refused, adapters.ReachLocal, "x", "it has: a, b",
			"base_url", 1, 1},
		{"a list that cannot be read", here, plain, adapters.Listing{}, failure(adapters.MalformedReply), good,
			adapters.ReachLocal, "+", "cannot be read, and replies", "", 1, 1},
		{"a page in place of a list", here, plain, adapters.Listing{},
			&adapters.Error{Kind: adapters.MalformedReply, Message: "a page"}, refused, adapters.ReachLocal, "x",
			"a page", "", 1, 1},
	} {
		asked = 0
		var m *served
		registry := adapters.Registry{"x": func(p adapters.Profile, _ adapters.Deps) (adapters.Model, error) {
			m = &served{fake: fake{name: p.Model, outcomes: []any{c.reply}}, address: c.address, list: c.list, err: c.err,
				asked: &asked}
			return m, nil
		}}
		r := registry.Check(t.Context(), c.profile, adapters.Deps{}, c.reach)
		calls := 0
		if m != nil {
			calls = m.calls
		}
		if mark := (healthcheck.Finding{Result: r}).Mark(); mark != c.mark || asked != c.asked || calls != c.calls {
			t.Errorf("%s: %s, listed %d times and called %d times: %+v", c.name, mark, asked, calls, r)
		}
		if !strings.Contains(r.Found, c.found) || !strings.Contains(r.Fix, c.fix) ||
			strings.Contains(r.Found+r.Fix, "canary") {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

// TestKeyNotSet: ADP-7: with a key that is NOT SET the model is not called.
func TestKeyNotSet(t *testing.T) {
	opened := false
	r := adapters.Registry{"x": func(adapters.Profile, adapters.Deps) (adapters.Model, error) {
		opened = true
		return &fake{}, nil
	}}
	_, err := r.Open(adapters.Profile{Name: "strong", Adapter: "x", Model: "m", BaseURL: "http://h/v1", KeyEnv: "MY_KEY"},
		adapters.Deps{})
	if company.CodeOf(err) != company.EModelAuth || !strings.Contains(err.Error(), "MY_KEY is NOT SET") || opened {
		t.Errorf("%v, opened %v", err, opened)
	}
}
