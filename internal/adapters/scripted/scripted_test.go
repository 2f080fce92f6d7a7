package scripted_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/adapters/adaptertest"
	"company/internal/adapters/openai"
	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/secret"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

const script = `
rules:
  - role: manager
    steps:
      - tool: submit_plan
        args:
          waves:
            - subtasks:
                - {title: "greet from <<task>>", acceptance_criteria: [it greets], write_set: ["greet*.go"], effort: 2}
  - role: worker
    title: (?i)greet
    run: 2
    brief: 'finding: (?P<file>\S+):\d+'
    steps:
      - {tool: read_file, args: {path: <<file>>}}
  - role: worker
    title: (?i)greet
    capture:
      pkg: {tool: read_file, match: 'package (\w+)'}
    steps:
      - {tool: read_file, args: {path: a.go}}
      - text: two at once in <<run>>, run <<n>>
        calls:
          - {tool: write_file, args: {path: a.go, content: "package <<pkg>>\n"}}
          - {tool: git_status}
      - {tool: read_file, raw: '{path: broken'}
      - {text: done, usage: {input: 11, cached: 3, output: 2}}
  - role: reviewer
    steps:
      - {text: late, fault: {status: 429, headers: {Retry-After: "3"}, times: 2}}
  - role: merger
    steps:
      - {text: "half of this is lost", fault: {cut: true}}
`

// header of a first message.
func header(role company.Role, run company.RunID, title string) string {
	task, sub, _, _, _ := run.Split()
	return adapters.Header{Role: role, Task: task, Subtask: sub, Run: run, Title: title}.String()
}

func ask(brief string) adapters.Request {
	return adapters.Request{Messages: []adapters.Message{{Role: adapters.System, Content: "You are a worker."},
		{Role: adapters.User, Content: brief}}}
}

// answered adds a reply and an answer for each of its calls.
func answered(req adapters.Request, m adapters.Message, results ...string) adapters.Request {
	req.Messages = append(append([]adapters.Message(nil), req.Messages...), m)
	for i, c := range m.ToolCalls {
		req.Messages = append(req.Messages,
			adapters.Message{Role: adapters.ToolRole, ToolCallID: c.ID, ToolName: c.Name, Content: results[i]})
	}
	return req
}

func openScript(t *testing.T, text string) adapters.Model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := scripted.Factory(adapters.Profile{Name: "s", Adapter: "scripted", Model: "any", Script: path},
		adapters.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := adapters.Close(m); err != nil {
			t.Error(err)
		}
	})
	return m
}

// TestScript walks a conversation through a script: ADP-1.
func TestScript(t *testing.T) {
	m := openScript(t, script)
	if m.Info().Adapter != "scripted" || m.Info().Model != "any" {
		t.Errorf("info = %+v", m.Info())
	}

	plan := adaptertest.Chat(t, m, ask(header(company.Manager, "t7-plan.1", "greet people")))
	const wantPlan = `{"waves":[{"subtasks":[{"acceptance_criteria":["it greets"],"effort":2,"title":"greet from t7","write_set":["greet*.go"]}]}]}`
	if c := plan.Message.ToolCalls; len(c) != 1 || c[0].Name != "submit_plan" || c[0].Arguments != wantPlan {
		t.Errorf("plan = %+v", c)
	}

	req := ask(header(company.Worker, "t7-01.1", "Greet people") + "\nDo it.")
	first := adaptertest.Chat(t, m, req)
	again := adaptertest.Chat(t, m, req)
	again.FirstByte = first.FirstByte // a measurement
	if a, b := mustJSON(t, first), mustJSON(t, again); a != b {
		t.Errorf("the same request got two replies:\n%s\n%s", a, b)
	}
	req = answered(req, first.Message, "1: package old\n2: package greet")
	second := adaptertest.Chat(t, m, req)
	if c := second.Message.ToolCalls; len(c) != 2 || c[0].Arguments != `{"content":"package old\n","path":"a.go"}` ||
		c[1].Name != "git_status" || c[1].Arguments != "{}" || second.Message.Content != "two at once in t7-01.1, run 1" {
		t.Errorf("second = %+v", second.Message)
	}
	req = answered(req, second.Message, "written", "")
	third := adaptertest.Chat(t, m, req)
	if c := third.Message.ToolCalls; len(c) != 1 || c[0].Arguments != `{path: broken` {
		t.Errorf("third = %+v", third.Message)
	}
	req = answered(req, third.Message, "not JSON")
	fourth := adaptertest.Chat(t, m, req)
	if fourth.Message.Content != "done" ||
		fourth.Usage != (adapters.Usage{InputTokens: 11, CachedTokens: 3, OutputTokens: 2}) {
		t.Errorf("fourth = %+v", fourth)
	}

	second2 := adaptertest.Chat(t, m,
		ask(header(company.Worker, "t7-01.2", "Greet people")+"\nfinding: b/c.go:12 is wrong"))
	if c := second2.Message.ToolCalls; len(c) != 1 || c[0].Arguments != `{"path":"b/c.go"}` {
		t.Errorf("the second run, with a finding = %+v", c)
	}

	for name, tt := range map[string]struct {
		req  adapters.Request
		says string
	}{
		"past the end": {answered(req, fourth.Message), "4 steps"},
		"no rule":      {ask(header(company.Worker, "t7-02.1", "paint")), "no rule for worker of t7-02.1"},
		"no header":    {ask("hello"), "#company header"},
		"no capture":   {answered(ask(header(company.Worker, "t7-01.1", "greet")), first.Message, "nothing"), "capture pkg"},
	} {
		_, err := m.Chat(t.Context(), tt.req, nil)
		if adapters.KindOf(err) != adapters.BadRequest || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

type noWait struct{ waited time.Duration }

func (c *noWait) Now() time.Time { return time.Unix(0, 0).Add(c.waited) }
func (c *noWait) Sleep(_ context.Context, d time.Duration) error {
	c.waited += d
	return nil
}

func TestScriptedFaults(t *testing.T) {
	m := openScript(t, script)
	clock := &noWait{}
	late := adaptertest.Chat(t, adapters.Retry(m, adapters.DefaultPolicy(), clock),
		ask(header(company.Reviewer, "t7-01-review.1", "greet")))
	if late.Message.Content != "late" || clock.waited < 6*time.Second {
		t.Errorf("reply %q after %s", late.Message.Content, clock.waited)
	}
	if _, err := m.Chat(t.Context(), ask(header(company.Merger, "t7-01-merge.1", "greet")), nil); adapters.KindOf(
		err) != adapters.MalformedReply {
		t.Errorf("cut: %v", err)
	}
}

func TestFaultsOfABrain(t *testing.T) {
	faults := map[string]*scripted.Fault{
		"garbage": {Garbage: true},
		"status":  {Status: 503, Body: "<html>"},
		"hang":    {Hang: true},
	}
	m, err := scripted.Open(scripted.BrainFunc(func(x scripted.Exchange) scripted.Reply {
		return scripted.Reply{Text: "never", Fault: faults[x.Brief()], Delay: time.Millisecond}
	}), adapters.Profile{Model: "m"}, adapters.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]adapters.Kind{"garbage": adapters.MalformedReply, "status": adapters.Overloaded} {
		if _, err := m.Chat(t.Context(), ask(name), nil); adapters.KindOf(err) != kind {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A hang ends with the client, and does not keep Close.
	stopped := errors.New("stopped")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, stopped)
	defer cancel()
	if _, err := m.Chat(ctx, ask("hang"), nil); !errors.Is(err, stopped) {
		t.Errorf("hang: %v", err)
	}
	hung := make(chan error, 1)
	go func() {
		_, err := m.Chat(t.Context(), ask("hang"), nil)
		hung <- err
	}()
	if err := adapters.Close(m); err != nil {
		t.Error(err)
	}
	if err := <-hung; err == nil {
		t.Error("a hung call ended with a reply")
	}
}

// A streamed reply that is written for a while is read piece by piece, and ends with who reads it.
func TestWriting(t *testing.T) {
	writing := 50 * time.Millisecond
	m, err := scripted.Open(scripted.BrainFunc(func(scripted.Exchange) scripted.Reply {
		return scripted.Reply{Text: strings.Repeat("word ", 1000), Writing: writing}
	}), adapters.Profile{Model: "m"}, adapters.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	defer adapters.Close(m)
	begin := time.Now()
	pieces := 0
	r, err := m.Chat(t.Context(), ask("write"), func(adapters.Event) { pieces++ })
	if err != nil || len(r.Message.Content) != 5000 || pieces < 5 || time.Since(begin) < writing/2 {
		t.Errorf("%d bytes in %d pieces after %s, %v", len(r.Message.Content), pieces, time.Since(begin), err)
	}
	writing = time.Hour
	stopped := errors.New("stopped")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, stopped)
	defer cancel()
	if _, err := m.Chat(ctx, ask("write"), nil); !errors.Is(err, stopped) {
		t.Errorf("%v", err)
	}
}

func TestServer(t *testing.T) {
	var newest atomic.Pointer[scripted.Exchange]
	server, err := scripted.NewServer(scripted.BrainFunc(func(x scripted.Exchange) scripted.Reply {
		newest.Store(&x)
		return scripted.Reply{Text: strings.Repeat("words ", 100),
			Calls: []scripted.Call{{Tool: "write_file", Args: map[string]string{"content": strings.Repeat("ä", 3000)}}}}
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(server.Close(), server.Close()); err != nil {
			t.Error(err)
		}
	}()
	client, err := openai.New(adapters.Profile{Model: "m", BaseURL: server.URL()}, adapters.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := client.Available(t.Context()); err != nil {
		t.Error(err)
	}

	req := ask(header(company.Worker, "t1-01.1", "greet"))
	req.Tools = []adapters.Tool{{Name: "write_file", Description: "d", Schema: json.RawMessage(`{"type":"object"}`)}}
	whole := adaptertest.Chat(t, client, req)
	if len(whole.Message.Content) != 600 || !json.Valid([]byte(whole.Message.ToolCalls[0].Arguments)) ||
		whole.Usage.Estimated {
		t.Errorf("reply = %+v", whole)
	}
	if bound := adapters.InputBound(req); whole.Usage.InputTokens == 0 || whole.Usage.InputTokens > bound {
		t.Errorf("usage %+v passes the bound %d", whole.Usage, bound)
	}
	seen := newest.Load()
	if !seen.Offers("write_file") || seen.Offers("finish") || seen.Turn != 0 || seen.Header.Run != "t1-01.1" ||
		string(seen.Tools[0].Schema) != `{"type":"object"}` {
		t.Errorf("exchange = %+v", seen)
	}

	// max_tokens cuts the arguments, as a real server does.
	req.MaxTokens = 400
	cut := adaptertest.Chat(t, client, req)
	if cut.Finish != adapters.FinishLength || json.Valid([]byte(cut.Message.ToolCalls[0].Arguments)) ||
		cut.Usage.OutputTokens != 400 {
		t.Errorf("cut = finish %s, usage %+v", cut.Finish, cut.Usage)
	}
	req.MaxTokens = 0
	adaptertest.Chat(
		t, client,
		answered(answered(req, whole.Message, "one"),
			adapters.Message{Role: adapters.Assistant, ToolCalls: []adapters.ToolCall{{ID: "x", Name: "write_file"}}}, "two"))
	seen = newest.Load()
	if last, ok := seen.LastResult("write_file"); !ok || last != "two" || len(seen.Results("write_file")) != 2 ||
		seen.Turn != 2 {
		t.Errorf("results = %v, turn %d", seen.Results("write_file"), seen.Turn)
	}
	if _, ok := seen.LastResult("finish"); ok {
		t.Error("a tool that was not called has a result")
	}

	calls := server.Calls()
	if calls.Total != 3 || calls.ByRole[company.Worker] != 3 || calls.ByRun["t1-01.1"] != 3 {
		t.Errorf("calls = %+v", calls)
	}
	log := server.Requests()
	if len(log) != 3 || log[2].Turn != 2 || log[2].N != 3 || !bytes.Contains(log[0].Body, []byte("#company role=worker")) {
		t.Errorf("log = %+v", log)
	}
}

// TestServerIsStrict: what a real server refuses is refused here.
func TestServerIsStrict(t *testing.T) {
	server, err := scripted.NewServer(
		scripted.BrainFunc(func(scripted.Exchange) scripted.Reply { return scripted.Reply{Text: "ok"} }))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		http.DefaultClient.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}()
	post := func(body string) (int, string) {
		resp, err := http.Post(server.URL()+"/chat/completions", "application/json", strings.NewReader(body))
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
	// A plain request is answered without streaming.
	if status, text := post(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`); status != 200 ||
		!strings.Contains(text, `"content":"ok"`) || !strings.Contains(text, `"finish_reason":"stop"`) {
		t.Errorf("%d %s", status, text)
	}
	const call = `{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	for name, body := range map[string]string{
		"not JSON":          `{`,
		"no model":          `{"messages":[{"role":"user","content":"hi"}]}`,
		"no messages":       `{"model":"m","messages":[]}`,
		"empty content":     `{"model":"m","messages":[{"role":"user"}]}`,
		"unknown role":      `{"model":"m","messages":[{"role":"king","content":"hi"}]}`,
		"answer of no call": `{"model":"m","messages":[{"role":"tool","tool_call_id":"c","content":"x"}]}`,
		"call unanswered":   `{"model":"m","messages":[` + call + `]}`,
		"answer comes late": `{"model":"m","messages":[` + call +
			`,{"role":"user","content":"x"},{"role":"tool","tool_call_id":"c","content":"x"}]}`,
		"call without type":  `{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f"}}]}]}`,
		"tool without shape": `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function"}]}`,
	} {
		if status, text := post(body); status != http.StatusBadRequest || !strings.Contains(text, "invalid_request_error") {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	if n := server.Calls().Total; n != 1 {
		t.Errorf("%d calls counted", n)
	}
}

func TestBadScripts(t *testing.T) {
	for name, tt := range map[string]struct{ text, says string }{
		"empty":          {``, "no rules"},
		"unknown key":    {"rules: [{rol: worker, steps: [{text: a}]}]", "rol"},
		"unknown role":   {"rules: [{role: boss, steps: [{text: a}]}]", "boss"},
		"no steps":       {"rules: [{role: worker}]", "no steps"},
		"bad regexp":     {"rules: [{title: '(', steps: [{text: a}]}]", "title"},
		"no group":       {"rules: [{capture: {a: {match: x}}, steps: [{text: a}]}]", "group"},
		"unknown place":  {"rules: [{steps: [{tool: f, args: {a: [{b: <<typo>>}]}}]}]", "<<typo>>"},
		"silent step":    {"rules: [{steps: [{finish: stop}]}]", "it is empty"},
		"args, no tool":  {"rules: [{steps: [{text: a, args: {b: c}}]}]", "no tool"},
		"tool and calls": {"rules: [{steps: [{tool: f, calls: [{tool: g}]}]}]", "both"},
		"bad delay":      {"rules: [{steps: [{text: a, delay: soon}]}]", "soon"},
		"two faults":     {"rules: [{steps: [{fault: {cut: true, hang: true}}]}]", "fault"},
		"no fault":       {"rules: [{steps: [{fault: {status: 200}}]}]", "fault"},
	} {
		_, err := scripted.ParseScript("x.yaml", []byte(tt.text))
		if company.CodeOf(err) != company.EConfig || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, p := range map[string]adapters.Profile{
		"no script":   {Name: "s", Model: "m"},
		"no file":     {Name: "s", Model: "m", Script: filepath.Join(t.TempDir(), "none.yaml")},
		"an address":  {Name: "s", Model: "m", Script: "x", BaseURL: "http://h/v1"},
		"a key":       {Name: "s", Model: "m", Script: "x", Key: secret.New("k")},
		"a directory": {Name: "s", Model: "m", Script: t.TempDir()},
	} {
		if _, err := scripted.Factory(p, adapters.Deps{}); company.CodeOf(err) != company.EConfig {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRegistered: a profile comes through the registry with its retries.
func TestRegistered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	registry := adapters.Registry{"openai": openai.Factory, "scripted": scripted.Factory}
	models := adapters.NewModels(registry,
		[]adapters.Profile{{Name: "default", Adapter: "scripted", Model: "m", Script: path}}, adapters.Deps{})
	m, err := models.Open("default")
	if err != nil {
		t.Fatal(err)
	}
	if resp := adaptertest.Chat(t, m, ask(header(company.Manager, "t7-plan.1", "greet"))); len(
		resp.Message.ToolCalls) != 1 {
		t.Errorf("reply = %+v", resp)
	}
	if err := models.Close(); err != nil {
		t.Error(err)
	}
}
