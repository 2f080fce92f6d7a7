package adapters

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// oneReply is a model that always gives the same reply.
type oneReply struct {
	Model
	reply Response
}

func (m oneReply) Info() Info { return Info{Model: "m"} }
func (m oneReply) Chat(context.Context, Request, func(Event)) (Response, error) {
	return m.reply, nil
}

// WRK-6: a call that stands in the text of a reply is a call.
func TestCallsInTextAreRecognised(t *testing.T) {
	tools := []Tool{{Name: "read_file", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "run_command"}}
	const aGo = `read_file {"path":"a.go"}`
	for name, tc := range map[string]struct {
		text   string
		before string // what stays of the text
		want   string // the calls, as "name arguments"
	}{
		"a fence of JSON":          {"I look.\n```json\n{\"name\": \"read_file\", \"arguments\": {\"path\":\"a.go\"}}\n```\n", "I look.", aGo},
		"a fence of ours":          {"```tool\n{\"tool\":\"read_file\",\"arguments\":{\"path\":\"a.go\"}}\n```", "", aGo},
		"a fence without a tag":    {"```\n{\"tool\":\"read_file\",\"args\":{\"path\":\"a.go\"}}\n```", "", aGo},
		"a tag":                    {"Well.\n<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\":\"a.go\"}}\n</tool_call>", "Well.", aGo},
		"a tag that is not closed": {"<tool_call>{\"name\":\"read_file\",\"arguments\":{\"path\":\"a.go\"}}", "", aGo},
		"two tags":                 {"<tool_call>{\"name\":\"read_file\",\"arguments\":{\"path\":\"a.go\"}}</tool_call>\n<tool_call>{\"name\":\"read_file\",\"arguments\":{\"path\":\"b.go\"}}</tool_call>", "", aGo + `, read_file {"path":"b.go"}`},
		"a result that it made up": {"<tool_call>{\"name\":\"read_file\",\"arguments\":{\"path\":\"a.go\"}}</tool_call>\nThe file is empty.\n<tool_call>{\"name\":\"run_command\",\"arguments\":{}}</tool_call>", "", aGo},
		"arguments in a string":    {"<tool_call>{\"name\":\"read_file\",\"arguments\":\"{\\\"path\\\":\\\"a.go\\\"}\"}</tool_call>", "", aGo},
		"a tag with a function":    {"<tool_call>\n<function=read_file>\n<parameter=path>\na.go\n</parameter>\n</function>\n</tool_call>", "", aGo},
		"a function alone":         {"So:\n<function=run_command>\n<parameter=command>\nls\ncat a\n</parameter>\n<parameter=timeout_s>\n5\n</parameter>\n</function>", "So:", `run_command {"command":"ls\ncat a","timeout_s":"5"}`},
		"invoke":                   {"<function_calls>\n<invoke name=\"read_file\">\n<parameter name=\"path\">a.go</parameter>\n</invoke>\n</function_calls>", "", aGo},
		"Mistral's mark":           {"[TOOL_CALLS] [{\"name\": \"read_file\", \"arguments\": {\"path\":\"a.go\"}}]", "", aGo},
		"Llama's mark":             {"<|python_tag|>{\"name\": \"read_file\", \"parameters\": {\"path\":\"a.go\"}}", "", aGo},
		"nothing but JSON":         {" {\"name\":\"read_file\",\"arguments\":{\"path\":\"a.go\"}} ", "", aGo},
		"the frame of a wire":      {"{\"tool_calls\":[{\"id\":\"x\",\"type\":\"function\",\"function\":{\"name\":\"read_file\",\"arguments\":\"{\\\"path\\\":\\\"a.go\\\"}\"}}]}", "", aGo},
		"after thinking":           {"<think>\n<tool_call>{\"name\":\"run_command\",\"arguments\":{}}</tool_call>\n</think>\n<tool_call>{\"name\":\"read_file\",\"arguments\":{\"path\":\"a.go\"}}</tool_call>", "<think>\n<tool_call>{\"name\":\"run_command\",\"arguments\":{}}</tool_call>\n</think>", aGo},
		"broken JSON in a tag":     {"<tool_call>{\"name\":\"read_file\",\"arguments\":{\"path\":\"a.go\"</tool_call>", "", `read_file {"path":"a.go"`},
		"an unknown tool in a tag": {"<tool_call>{\"name\":\"rm\",\"arguments\":{}}</tool_call>", "", `rm {}`},

		"code of another kind":       {"```go\n{\"name\":\"read_file\",\"arguments\":{}}\n```", "", ""},
		"JSON that is no call":       {"```json\n{\"name\":\"left-pad\",\"version\":\"1.0.0\"}\n```", "", ""},
		"a call of what is not here": {"```json\n{\"name\":\"rm\",\"arguments\":{}}\n```", "", ""},
		"words":                      {"I call read_file now.", "", ""},
		"a thought":                  {"<think><tool_call>{\"name\":\"read_file\",\"arguments\":{}}</tool_call></think>Done.", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := WithToolMode(oneReply{reply: Response{Finish: FinishStop, Message: Message{Role: Assistant, Content: tc.text}}}, ToolsYes, nil)
			resp, err := m.Chat(t.Context(), Request{Tools: tools, Messages: []Message{{Role: User, Content: "go"}}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			ids := map[string]bool{}
			for _, c := range resp.Message.ToolCalls {
				got = append(got, c.Name+" "+c.Arguments)
				ids[c.ID] = true
			}
			before := tc.before
			if tc.want == "" {
				before = tc.text
			}
			if strings.Join(got, ", ") != tc.want || resp.Message.Content != before || len(ids) != len(got) {
				t.Errorf("calls %q, ids %v, text %q;\nwant  %q, text %q", got, ids, resp.Message.Content, tc.want, before)
			}
		})
	}
}

// A reply that called tools, that was cut, or that was refused is left as it is.
func TestOtherRepliesAreNotReadForCalls(t *testing.T) {
	const text = `<tool_call>{"name":"read_file","arguments":{}}</tool_call>`
	for name, reply := range map[string]Response{
		"with a call": {Finish: FinishStop, Message: Message{Content: text, ToolCalls: []ToolCall{{ID: "1", Name: "x"}}}},
		"cut":         {Finish: FinishLength, Message: Message{Content: text}},
		"refused":     {Finish: FinishFilter, Message: Message{Content: text}},
	} {
		got := readTextCalls(reply, Request{Tools: []Tool{{Name: "read_file"}}})
		if got.Message.Content != text || len(got.Message.ToolCalls) != len(reply.Message.ToolCalls) {
			t.Errorf("%s: %+v", name, got.Message)
		}
	}
	if got := readTextCalls(Response{Finish: FinishStop, Message: Message{Content: text}}, Request{}); len(got.Message.ToolCalls) > 0 {
		t.Error("a conversation without tools has calls")
	}
}

// FuzzTextCalls: whatever a model writes is read in bounded time and never a panic, and
// calls have names.
func FuzzTextCalls(f *testing.F) {
	f.Add("<tool_call>{\"name\":\"a\"}")
	f.Add("```json\n[{\"name\":\"read_file\",\"arguments\":{}}]\n```")
	f.Add(strings.Repeat("[TOOL_CALLS]{", 100))
	f.Add("<function=a><parameter=b>c</parameter></function><invoke name=\"b\">")
	f.Fuzz(func(t *testing.T, text string) {
		got := readTextCalls(Response{Finish: FinishStop, Message: Message{Content: text}}, Request{Tools: []Tool{{Name: "read_file"}}})
		for _, c := range got.Message.ToolCalls {
			if c.Name == "" || c.ID == "" {
				t.Errorf("%q has the call %+v", text, c)
			}
		}
	})
}
