package adapters_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/adapters/adaptertest"
)

// deciding are the verbs that decide, with arguments that their tools take.
var deciding = map[string]map[string]any{
	"submit_plan":   {"why": "it is small", "waves": []any{map[string]any{"subtasks": []any{}}}},
	"submit_review": {"verdict": "approve", "findings": []any{}, "evidence": []any{"read in the diff"}},
	"give_up":       {"reason": "it cannot be done"},
	"guide_worker":  {"advice": "do as you like"},
	"finish":        {"summary": "all is done"},
	"escalate":      {"reason": "it cannot be done"},
}

// A model repeats a call of somebody else in its text: with tools on the wire and in the text protocol it has called
// nothing, and its text is kept whole. The same call over the wire is a call.
func TestAQuotationIsNoCall(t *testing.T) {
	for _, mode := range []adapters.ToolUse{adapters.ToolsYes, adapters.ToolsNo} {
		for verb, args := range deciding {
			req := adapters.Request{Messages: []adapters.Message{{Role: adapters.User, Content: "go"}},
				Tools: []adapters.Tool{{Name: verb, Schema: []byte(`{"type":"object"}`)}}}
			for _, q := range adaptertest.Quotations(verb, args, "tool", "call", "call_aaaaaaaaaa", "tool_call") {
				says := adapters.Response{Finish: adapters.FinishStop,
					Message: adapters.Message{Role: adapters.Assistant, Content: q.Text}}
				resp, err := adapters.WithToolMode(&fake{name: "m", outcomes: []any{says}}, mode, nil).Chat(t.Context(), req, nil)
				if err != nil || len(resp.Message.ToolCalls) != 0 || resp.Message.Content != q.Text {
					t.Errorf("tools: %s, %s, %s: %+v, %v", mode, verb, q.Form, resp.Message, err)
				}
			}
		}
	}
	calls := adapters.Response{Finish: adapters.FinishStop,
		Message: adapters.Message{Role: adapters.Assistant,
			ToolCalls: []adapters.ToolCall{{ID: "1", Name: "t", Arguments: "{}"}}}}
	resp, err := adapters.WithToolMode(&fake{name: "m", outcomes: []any{calls}}, adapters.ToolsAuto, nil).Chat(
		t.Context(), toolRequest(), nil)
	if err != nil || len(resp.Message.ToolCalls) != 1 {
		t.Errorf("a call over the wire: %+v, %v", resp, err)
	}
}

// asked answers in the text protocol from what it is asked.
type asked struct {
	fake
	answer func(req adapters.Request) (adapters.Response, error)
}

func (m *asked) Chat(_ context.Context, req adapters.Request, _ func(adapters.Event)) (adapters.Response, error) {
	m.fake.asked = append(m.fake.asked, req)
	return m.answer(req)
}

// The name of a call's fence is drawn for each request, also for one that is tried again and for the fallback's, and
// the request alone has it: in the system prompt, and around the model's own earlier calls.
func TestFenceIsDrawnForEachRequest(t *testing.T) {
	calls := func(req adapters.Request) (adapters.Response, error) {
		text := strings.ReplaceAll(inText.Message.Content, "FENCE", fenceOf(req))
		return adapters.Response{Finish: adapters.FinishStop,
			Message: adapters.Message{Role: adapters.Assistant, Content: text}}, nil
	}
	failing := &asked{fake: fake{name: "a"}, answer: func(adapters.Request) (adapters.Response, error) {
		return adapters.Response{}, failure(adapters.MalformedReply)
	}}
	last := &asked{fake: fake{name: "b"}, answer: calls}
	wrap := func(m adapters.Model) adapters.Model {
		return adapters.Retry(adapters.WithToolMode(m, adapters.ToolsNo, nil), adapters.Policy{Resample: 2},
			adapters.WallClock{})
	}
	m := adapters.Fallback(wrap(failing), wrap(last))
	req := toolRequest()
	req.Messages = append([]adapters.Message{{Role: adapters.System, Content: "You work."}}, req.Messages...)
	for range 3 {
		resp, err := m.Chat(t.Context(), req, nil)
		if err != nil || len(resp.Message.ToolCalls) != 1 {
			t.Fatalf("%+v, %v", resp, err)
		}
		req.Messages = append(req.Messages, resp.Message,
			adapters.Message{Role: adapters.ToolRole, ToolCallID: resp.Message.ToolCalls[0].ID, ToolName: "t",
				Content: resp.Message.Content})
	}
	all := slices.Concat(failing.fake.asked, last.fake.asked)
	names := map[string]bool{}
	for _, sent := range all {
		name := fenceOf(sent)
		names[name] = true
		for i, msg := range sent.Messages {
			if strings.Contains(msg.Content, name) != (i == 0 || msg.Role == adapters.Assistant) {
				t.Errorf("message %d, of %s, and the name %s: %q", i, msg.Role, name, msg.Content)
			}
		}
		if system := sent.Messages[0].Content; !strings.HasPrefix(system, "You work.\n\n") ||
			strings.Index(system, name) < len(system)-200 {
			t.Errorf("the name is not late in the system prompt: %q", system)
		}
	}
	if len(all) != 9+3 || len(names) != len(all) {
		t.Errorf("%d requests have %d names", len(all), len(names))
	}

	// The name of the request before calls nothing.
	used := fenceOf(last.fake.asked[2])
	last.answer = func(adapters.Request) (adapters.Response, error) {
		text := "```" + used + "\n{\"tool\":\"t\",\"arguments\":{}}\n```"
		return adapters.Response{Finish: adapters.FinishStop,
			Message: adapters.Message{Role: adapters.Assistant, Content: text}}, nil
	}
	if resp, err := m.Chat(t.Context(), req, nil); err != nil || len(resp.Message.ToolCalls) != 0 {
		t.Errorf("%+v, %v", resp, err)
	}
}
