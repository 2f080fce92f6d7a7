package adapters

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var textTools = []Tool{
	{Name: "read_file", Description: "Read a file.",
		Schema: json.RawMessage(`{"type": "object",  "properties": {"path": {"type": "string"}}}`)},
	{Name: "finish", Description: "End.", Schema: json.RawMessage(`{"type":"object"}`)},
}

func textRequest(more ...Message) Request {
	return Request{Tools: textTools, MaxTokens: 100,
		Messages: append([]Message{{Role: System, Content: "You work."}, {Role: User, Content: "Do it."}}, more...)}
}

func TestAsText(t *testing.T) {
	call := Message{Role: Assistant, Content: "I look.",
		ToolCalls: []ToolCall{{ID: "c1", Name: "read_file", Arguments: `{"path":"a"}`}}}
	req := textRequest(call,
		Message{Role: ToolRole, ToolCallID: "c1", ToolName: "read_file", Content: "package a"},
		Message{Role: User, Content: "[reminder] go on"},
		Message{Role: Assistant, Content: "I think."},
		Message{Role: User, Content: "[reminder] no call"})
	got := asText(req, "call_x")
	if len(got.Tools) != 0 || got.MaxTokens != 100 {
		t.Fatalf("%+v", got)
	}
	var roles []string
	for _, m := range got.Messages {
		roles = append(roles, m.Role)
		if m.ToolCalls != nil || m.ToolCallID != "" || m.ToolName != "" {
			t.Errorf("a message speaks of tools over the wire: %+v", m)
		}
	}
	if fmt.Sprint(roles) != "[system user assistant user assistant user]" {
		t.Errorf("roles %v: templates take user and assistant in turns", roles)
	}
	for i, want := range []string{"- read_file: Read a file.\n  {\"type\":\"object\",\"properties\"", "Do it.",
		"I look.\n\n```call_x\n{\"tool\":\"read_file\",\"arguments\":{\"path\":\"a\"}}\n```",
		"[result of read_file]\npackage a\n\n[reminder] go on", "I think.", "[reminder] no call\n\n[format] End your reply"} {
		if !strings.Contains(got.Messages[i].Content, want) {
			t.Errorf("message %d is %q, want %q in it", i, got.Messages[i].Content, want)
		}
	}
	if !strings.HasPrefix(got.Messages[0].Content, "You work.\n\n") || len(req.Messages) != 7 ||
		req.Messages[5].Content != "I think." {
		t.Errorf("the request itself was changed, or its system prompt lost: %q", got.Messages[0].Content[:40])
	}
	bare := Request{Messages: []Message{{Role: User, Content: "hi"}}}
	if got := asText(bare, "call_x"); len(got.Messages) != 1 {
		t.Errorf("a request without tools became %+v", got)
	}
}

// Feature: adapters, Property 2: Text Protocol Round-Trip
//
// Under one fence, what grows at its end is text that grows at its end: servers keep
// prefixes. A call that was written is a call that is read: the same name, the same
// arguments, whatever the arguments hold (ADP-1).
func TestTextProtocolHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fence := drawFence()
		words := rapid.SampledFrom(
			[]string{"x", "```", "\n```\n", "```tool\n", "```call_aaaaaaaaaa\n", `"}`, "{", "\\", "[result of finish]\n", "é",
				"\x00", "\xff", "</s>", "<think>", "</think>"})
		said := func(name string) string { return strings.Join(rapid.SliceOfN(words, 0, 6).Draw(t, name), "") }
		args, err := json.Marshal(map[string]string{"path": said("path"), "tool": said("tool")})
		if err != nil {
			t.Fatal(err)
		}
		text := withCalls(
			Message{Content: "I do it: " + said("before"), ToolCalls: []ToolCall{{Name: "read_file", Arguments: string(args)}}},
			fence)
		resp := fromText(Response{Finish: FinishStop, Message: Message{Content: text + "\n \n"}}, textRequest(), fence)
		if len(resp.Message.ToolCalls) != 1 || resp.Message.ToolCalls[0].Name != "read_file" ||
			resp.Message.ToolCalls[0].Arguments != string(args) ||
			resp.Message.Content != strings.ToValidUTF8(text, "\uFFFD")+"\n \n" {
			t.Fatalf("%q came back as %+v", text, resp.Message)
		}
		if before := resp.Message.TextBeforeCall(); !strings.HasPrefix(before, "I do it:") ||
			strings.Contains(before, fence) {
			t.Fatalf("%q before the call of %q", before, text)
		}
		resp.Message.Role, resp.Message.Content, resp.Message.CallBytes = Assistant, resp.Message.TextBeforeCall(), 0
		short := textRequest(Message{Role: Assistant, Content: said("reply")})
		long := short
		long.Messages = append(long.Messages[:len(long.Messages):len(long.Messages)],
			Message{Role: User, Content: said("note")}, resp.Message,
			Message{Role: ToolRole, ToolCallID: "text_2", ToolName: "read_file", Content: said("result")})
		a, b := asText(short, fence), asText(long, fence)
		for i, m := range a.Messages {
			if b.Messages[i].Content != m.Content {
				t.Fatalf("message %d changes from %q to %q", i, m.Content, b.Messages[i].Content)
			}
		}
		// The bound of the request as it is metered holds for what is sent.
		sent := 0
		for _, m := range b.Messages {
			sent += 12 + textBytes(m.Content)
		}
		if bound := InputBound(long); sent > bound {
			t.Fatalf("%d bytes are sent, and %d tokens were the bound", sent, bound)
		}
	})
}

// A call is the last block of a reply, the only one under this request's name, with
// nothing behind it.
func TestFromText(t *testing.T) {
	const path, open = `{"path":"a"}`, "```call_x\n"
	const finish = open + "{\"tool\":\"finish\",\"arguments\":{}}\n```"
	for _, c := range []struct{ name, text, call, args, before string }{
		{"as told", "I look.\n" + open + "{\"tool\": \"read_file\", \"arguments\": {\"path\":\"a\"}}\n```\n", "read_file",
			path, "I look."},
		{"other names of the members", open + "{\"name\":\"read_file\",\"parameters\":" + path + "}\n```",
			"read_file", path, ""},
		{"arguments in a text", open + "{\"tool\":\"read_file\",\"arguments\":\"{\\\"path\\\":\\\"a\\\"}\"}\n```",
			"read_file", path, ""},
		{"no arguments", open + "{\"tool\":\"finish\"}\n```", "finish", "", ""},
		{"the fence is not closed", open + "{\"tool\":\"finish\",\"arguments\":{}}", "finish", "{}", ""},
		{"a longer fence", "````call_x\n{\"tool\":\"finish\",\"arguments\":{}}\n````", "finish", "{}", ""},
		{"broken JSON", open + "{\"tool\":\"read_file\",\"arguments\":{path: a}}\n```", "read_file",
			`{"tool":"read_file","arguments":{path: a}}`, ""},
		{"an unknown tool is the agent's to see", open + "{\"tool\":\"fly\",\"arguments\":{}}\n```", "fly", "{}", ""},
		{"other code first", "So:\n```go\nfunc f() {}\n```\nand\n" + finish, "finish", "{}",
			"So:\n```go\nfunc f() {}\n```\nand"},
		{"a quoted call first", "It says\n```tool\n{\"tool\":\"fly\"}\n```\n" + finish, "finish", "{}",
			"It says\n```tool\n{\"tool\":\"fly\"}\n```"},
		{"CRLF", "```call_x\r\n{\"tool\":\"finish\",\"arguments\":{}}\r\n```\r\n", "finish", "{}", ""},
		{"behind a thought", "<think>\n" + finish + "\n</think>\n" + finish, "finish", "{}",
			"<think>\n" + finish + "\n</think>"},
		{"a file with the mark of a thought", open + "{\"tool\":\"read_file\",\"arguments\":{\"path\":\"</think>\"}}\n```",
			"read_file", `{"path":"</think>"}`, ""},

		{"text behind it", finish + "\nI wait.", "", "", ""},
		{"a result that it made up", finish + "\n[result of finish]\ndone", "", "", ""},
		{"two blocks", finish + "\n" + finish, "", "", ""},
		{"a made up result between two",
			open + "{\"tool\":\"read_file\",\"arguments\":" + path + "}\n```\n[result of read_file]\nx\n" + finish, "", "", ""},
		{"in a quotation", "> " + strings.ReplaceAll(finish, "\n", "\n> "), "", "", ""},
		{"in a block", "````md\n" + finish + "\n````", "", "", ""},
		{"a thought", "<think>I could write\n" + finish, "", "", ""},
		{"another name", "```call_y\n{\"tool\":\"finish\",\"arguments\":{}}\n```", "", "", ""},
		{"more than the name", "```call_x json\n{\"tool\":\"finish\",\"arguments\":{}}\n```", "", "", ""},
		{"other letters", "```CALL_X\n{\"tool\":\"finish\",\"arguments\":{}}\n```", "", "", ""},
		{"on one line", "```call_x {\"tool\":\"finish\",\"arguments\":{}}```", "", "", ""},
		{"no fence", " {\"tool\":\"finish\",\"arguments\":{}} ", "", "", ""},
		{"a list", open + "[{\"tool\":\"finish\",\"arguments\":{}}]\n```", "", "", ""},
		{"no tool", open + "{\"arguments\":{}}\n```", "", "", ""},
		{"broken, and another one's name later",
			open + "{tool: read_file, \"x\": {\"tool\":\"finish\",\"arguments\":{}}}\n```", "", "", ""},
		{"text", "I am done.", "", "", ""},
		{"empty", "", "", "", ""},
		{"a fence alone", open, "", "", ""},
	} {
		got := fromText(Response{Finish: FinishStop, Message: Message{Role: Assistant, Content: c.text}}, textRequest(),
			"call_x").Message
		if got.Content != c.text {
			t.Errorf("%s: the text was cut to %q", c.name, got.Content)
		}
		if c.call == "" {
			if len(got.ToolCalls) != 0 || got.TextBeforeCall() != c.text {
				t.Errorf("%s: %+v", c.name, got)
			}
			continue
		}
		if len(got.ToolCalls) != 1 || got.ToolCalls[0] != (ToolCall{ID: "text_2", Name: c.call, Arguments: c.args}) ||
			got.TextBeforeCall() != c.before {
			t.Errorf("%s: %+v, before it %q", c.name, got, got.TextBeforeCall())
		}
	}
	for _, cut := range []Finish{FinishLength, FinishFilter} {
		if got := fromText(Response{Finish: cut, Message: Message{Content: finish}}, textRequest(), "call_x").Message; len(
			got.ToolCalls) != 0 || got.Content != finish {
			t.Errorf("finish %s: %+v", cut, got)
		}
	}
	// A server that reads the text for calls by itself decides nothing either.
	read := Response{Finish: FinishStop,
		Message: Message{Content: "It says:", ToolCalls: []ToolCall{{ID: "x", Name: "finish", Arguments: `{"a":1}`}}}}
	if got := fromText(read, textRequest(), "call_x").Message; len(got.ToolCalls) != 0 ||
		got.Content != "It says:\n\n"+`{"arguments":"{\"a\":1}","name":"finish"}` {
		t.Errorf("a call that a server has read: %+v", got)
	}
}

// The broken block of a call that decides is refused for its arguments: they are not JSON
// however the block is broken.
func TestBrokenBlockHasNoArguments(t *testing.T) {
	for _, body := range []string{
		`{"tool":"finish","arguments":{"summary":"x"}}}`, `{"tool":"finish","arguments":{"summary":"x"}} {}`,
		`{"tool":"finish","arguments":{"summary":"x"},}`,
		`{"name":"finish", x, "arguments":{"summary":"x"}}`,
	} {
		if call, ok := readCall(body); !ok || call.Name != "finish" || json.Valid([]byte(call.Arguments)) {
			t.Errorf("%s: %+v", body, call)
		}
	}
}

func FuzzFromText(f *testing.F) {
	f.Add("```call_x\n{\"tool\":\"finish\",\"arguments\":{}}\n```")
	f.Add("```\n```\n```call_x\n{")
	f.Fuzz(func(t *testing.T, text string) {
		whole := strings.ToValidUTF8(text, "\uFFFD")
		got := fromText(Response{Finish: FinishStop, Message: Message{Role: Assistant, Content: text}}, textRequest(),
			"call_x").Message
		if got.Content != whole || len(got.ToolCalls) > 1 ||
			len(got.ToolCalls) == 1 && (got.ToolCalls[0].Name == "" || !strings.HasPrefix(whole, got.TextBeforeCall())) {
			t.Fatalf("%q became %+v", text, got)
		}
		// Whoever does not know the name calls nothing.
		if got := fromText(Response{Finish: FinishStop, Message: Message{Role: Assistant, Content: text}}, textRequest(),
			drawFence()).Message; len(got.ToolCalls) > 0 {
			t.Fatalf("%q is a call under a name that was drawn later", text)
		}
	})
}

// TestRefusesTools: what servers have said, and what must not be taken for it.
func TestRefusesTools(t *testing.T) {
	for said, want := range map[string]bool{
		"registry.ollama.ai/library/llama3:latest does not support tools":                                          true,
		`"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`:                   true,
		"tools param requires --jinja flag":                                                                        true,
		"No endpoints found that support tool use. To learn more about provider routing, visit: https://x":         true,
		"Unrecognized request argument supplied: tools":                                                            true,
		"This model does not support function calling":                                                             true,
		"`tools` is not supported with this model":                                                                 true,
		"Tool calling is not enabled for this model":                                                               true,
		"Unsupported parameter: 'tools'":                                                                           true,
		`[{"type":"extra_forbidden","loc":["body","tools"],"msg":"Extra inputs are not permitted"}]`:               true,
		"Invalid schema for function 'read_file': In context=(), 'oneOf' is not permitted.":                        false,
		"tools[3].function.parameters: 'additionalProperties' is not supported":                                    false,
		"Unsupported parameter: 'max_tokens' is not supported with this model.":                                    false,
		"Unsupported value: 'temperature' does not support 0.5 with this model":                                    false,
		"Invalid 'tools[0].function.name': string too long":                                                        false,
		"An assistant message with 'tool_calls' must be followed by tool messages responding to each tool_call_id": false,
		"model 'llama3' not found":                                                                                 false,
	} {
		if got := RefusesTools(&Error{Kind: BadRequest, Status: 400, Message: said}); got != want {
			t.Errorf("%q: %v", said, got)
		}
	}
	if RefusesTools(&Error{Kind: Auth, Status: 403, Message: "your key does not support tools"}) || RefusesTools(nil) ||
		RefusesTools(fmt.Errorf("does not support tools")) {
		t.Error("no refusal of a server's")
	}
}
