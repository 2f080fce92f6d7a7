package adapters

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var textTools = []Tool{
	{Name: "read_file", Description: "Read a file.", Schema: json.RawMessage(`{"type": "object",  "properties": {"path": {"type": "string"}}}`)},
	{Name: "finish", Description: "End.", Schema: json.RawMessage(`{"type":"object"}`)},
}

func textRequest(more ...Message) Request {
	return Request{Tools: textTools, MaxTokens: 100, Messages: append([]Message{{Role: System, Content: "You work."}, {Role: User, Content: "Do it."}}, more...)}
}

func TestAsText(t *testing.T) {
	call := Message{Role: Assistant, Content: "I look.", ToolCalls: []ToolCall{{ID: "c1", Name: "read_file", Arguments: `{"path":"a"}`}}}
	req := textRequest(call,
		Message{Role: ToolRole, ToolCallID: "c1", ToolName: "read_file", Content: "package a"},
		Message{Role: User, Content: "[reminder] go on"},
		Message{Role: Assistant, Content: "I think."},
		Message{Role: User, Content: "[reminder] no call"})
	got := asText(req)
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
	for i, want := range []string{"- read_file: Read a file.\n  {\"type\":\"object\",\"properties\"", "Do it.", "I look.\n\n```tool\n{\"tool\":\"read_file\",\"arguments\":{\"path\":\"a\"}}\n```",
		"[result of read_file]\npackage a\n\n[reminder] go on", "I think.", "[reminder] no call\n\n[format] End your reply"} {
		if !strings.Contains(got.Messages[i].Content, want) {
			t.Errorf("message %d is %q, want %q in it", i, got.Messages[i].Content, want)
		}
	}
	if !strings.HasPrefix(got.Messages[0].Content, "You work.\n\n") || len(req.Messages) != 7 || req.Messages[5].Content != "I think." {
		t.Errorf("the request itself was changed, or its system prompt lost: %q", got.Messages[0].Content[:40])
	}
	bare := Request{Messages: []Message{{Role: User, Content: "hi"}}}
	if got := asText(bare); len(got.Messages) != 1 {
		t.Errorf("a request without tools became %+v", got)
	}
}

// What grows at its end is text that grows at its end: servers keep prefixes.
// And a call that was written is a call that is read: the same name, the same
// arguments, whatever the arguments hold (ADP-1).
func TestTextProtocolHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SampledFrom([]string{"x", "```", "\n```\n", "```tool\n", `"}`, "{", "\\", "[result of finish]\n", "é", "\x00", "</s>"})
		said := func(name string) string { return strings.Join(rapid.SliceOfN(words, 0, 6).Draw(t, name), "") }
		args, err := json.Marshal(map[string]string{"path": said("path"), "tool": said("tool")})
		if err != nil {
			t.Fatal(err)
		}
		text := withCalls(Message{Content: "I do it.", ToolCalls: []ToolCall{{Name: "read_file", Arguments: string(args)}}})
		resp := fromText(Response{Message: Message{Content: text + "\n[result of read_file]\nmade up\n```tool\n{\"tool\":\"finish\",\"arguments\":{}}\n```"}}, textRequest())
		if len(resp.Message.ToolCalls) != 1 || resp.Message.ToolCalls[0].Name != "read_file" || resp.Message.ToolCalls[0].Arguments != string(args) || resp.Message.Content != "I do it." {
			t.Fatalf("%q came back as %+v", text, resp.Message)
		}
		resp.Message.Role = Assistant
		short := textRequest(Message{Role: Assistant, Content: said("reply")})
		long := short
		long.Messages = append(long.Messages[:len(long.Messages):len(long.Messages)], Message{Role: User, Content: said("note")}, resp.Message,
			Message{Role: ToolRole, ToolCallID: "text_2", ToolName: "read_file", Content: said("result")})
		a, b := asText(short), asText(long)
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

func TestFromText(t *testing.T) {
	const path = `{"path":"a"}`
	for _, c := range []struct{ name, text, call, args, content string }{
		{"as told", "I look.\n```tool\n{\"tool\": \"read_file\", \"arguments\": {\"path\":\"a\"}}\n```\n", "read_file", path, "I look."},
		{"first of two", "```tool\n{\"tool\":\"read_file\",\"arguments\":" + path + "}\n```\n[result of read_file]\nx\n```tool\n{\"tool\":\"finish\",\"arguments\":{}}\n```", "read_file", path, ""},
		{"tagged json", "```json\n{\"name\":\"read_file\",\"parameters\":" + path + "}\n```", "read_file", path, ""},
		{"no tag", "```\n{\"function\":\"read_file\",\"args\":" + path + "}\n```", "read_file", path, ""},
		{"no fence", " {\"tool\":\"finish\",\"arguments\":{}} ", "finish", "{}", ""},
		{"arguments in a text", "```tool\n{\"tool\":\"read_file\",\"arguments\":\"{\\\"path\\\":\\\"a\\\"}\"}\n```", "read_file", path, ""},
		{"no arguments", "```tool\n{\"tool\":\"finish\"}\n```", "finish", "", ""},
		{"the fence is not closed", "```tool\n{\"tool\":\"finish\",\"arguments\":{}}", "finish", "{}", ""},
		{"cut", "```tool\n{\"tool\":\"read_file\",\"arguments\":{\"path\":\"a", "read_file", `{"path":"a`, ""},
		{"broken JSON", "```tool\n{\"tool\":\"read_file\",\"arguments\":{path: a}}\n```", "read_file", `{path: a}`, ""},
		{"an unknown tool is the agent's to see", "```tool\n{\"tool\":\"fly\",\"arguments\":{}}\n```", "fly", "{}", ""},
		{"other code first", "So:\n```go\nfunc f() {}\n```\nand\n```tool\n{\"tool\":\"finish\",\"arguments\":{}}\n```", "finish", "{}", "So:\n```go\nfunc f() {}\n```\nand"},
		{"CRLF", "```tool\r\n{\"tool\":\"finish\",\"arguments\":{}}\r\n```\r\n", "finish", "{}", ""},
		{"a package.json is no call", "```json\n{\"name\":\"finish\",\"version\":\"1.0.0\"}\n```", "", "", ""},
		{"code is no call", "```go\n{\"tool\":\"finish\",\"arguments\":{}}\n```", "", "", ""},
		{"JSON that names no tool", "```json\n{\"name\":\"left-pad\",\"args\":{}}\n```", "", "", ""},
		{"text", "I am done.", "", "", ""},
		{"empty", "", "", "", ""},
		{"a fence alone", "```tool\n", "", "", ""},
	} {
		got := fromText(Response{Message: Message{Role: Assistant, Content: c.text}}, textRequest()).Message
		if c.call == "" {
			if len(got.ToolCalls) != 0 || got.Content != c.text {
				t.Errorf("%s: %+v", c.name, got)
			}
			continue
		}
		if len(got.ToolCalls) != 1 || got.ToolCalls[0] != (ToolCall{ID: "text_2", Name: c.call, Arguments: c.args}) || got.Content != c.content {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	native := Response{Message: Message{Content: "```tool\n{\"tool\":\"finish\",\"arguments\":{}}\n```", ToolCalls: []ToolCall{{ID: "x", Name: "read_file"}}}}
	if got := fromText(native, textRequest()); got.Message.ToolCalls[0].ID != "x" {
		t.Errorf("a call over the wire was replaced: %+v", got)
	}
}

func FuzzFromText(f *testing.F) {
	f.Add("```tool\n{\"tool\":\"finish\",\"arguments\":{}}\n```")
	f.Add("```\n```\n```tool\n{")
	f.Fuzz(func(t *testing.T, text string) {
		got := fromText(Response{Message: Message{Role: Assistant, Content: text}}, textRequest()).Message
		if len(got.ToolCalls) > 1 || len(got.ToolCalls) == 1 && (got.ToolCalls[0].Name == "" || !strings.HasPrefix(text, got.Content)) {
			t.Fatalf("%q became %+v", text, got)
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
	if RefusesTools(&Error{Kind: Auth, Status: 403, Message: "your key does not support tools"}) || RefusesTools(nil) || RefusesTools(fmt.Errorf("does not support tools")) {
		t.Error("no refusal of a server's")
	}
}
