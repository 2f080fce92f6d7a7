package adapters

import (
	"encoding/json"
	"fmt"
	"strings"

	"company/internal/lazyregexp"
)

// Calls that a model wrote into its text although it was given tools over the wire:
// many servers hand them on unread. Each form is one that a family of models was
// trained on.

var (
	// callMarkRE is where such a call may begin.
	callMarkRE = lazyregexp.New("<(?:tool_call|function_call|tool_use)>|<function=[A-Za-z0-9_-]{1,64}>|<invoke name=\"[A-Za-z0-9_-]{1,64}\">|\\[TOOL_CALLS\\]|<\\|python_tag\\|>|(?m:^[ \t]*```+)")
	xmlNameRE  = lazyregexp.New(`^<(?:function=|invoke name=")([A-Za-z0-9_-]+)"?>`)
	xmlValueRE = lazyregexp.New(`(?s)<parameter(?:=| name=")([A-Za-z0-9_-]{1,64})"?>\n?(.*?)\n?</parameter>`)
)

// Bounds of one reply: places that are read as calls in vain, and calls that are found.
const (
	maxMarks     = 64
	maxTextCalls = 256
)

// readTextCalls finds the calls in a reply that called no tool. Text stays in the reply
// up to the first call; what follows the last of those that stand together is dropped,
// since models go on with a result that they made up.
func readTextCalls(resp Response, req Request) Response {
	if resp.Finish != FinishStop || len(resp.Message.ToolCalls) > 0 || len(req.Tools) == 0 {
		return resp
	}
	text := resp.Message.Content
	from := 0
	if at := strings.LastIndex(text, "</think>"); at >= 0 {
		from = at // what a model thinks aloud is no call
	}
	for tries := 0; tries < maxMarks && from < len(text); tries++ {
		at := callMarkRE.FindStringIndex(text[from:])
		if at == nil {
			break
		}
		start := from + at[0]
		calls, used := readMarkedCalls(text[start:], req.Tools)
		from = start + used
		if len(calls) == 0 {
			continue
		}
		for len(calls) < maxTextCalls {
			rest := strings.TrimLeft(text[from:], " \t\r\n")
			if next := callMarkRE.FindStringIndex(rest); next == nil || next[0] != 0 {
				break
			}
			more, used := readMarkedCalls(rest, req.Tools)
			if len(more) == 0 {
				break
			}
			calls, from = append(calls, more...), len(text)-len(rest)+used
		}
		return withTextCalls(resp, text[:start], calls, req)
	}
	if bare := strings.TrimSpace(text); strings.HasPrefix(bare, "{") || strings.HasPrefix(bare, "[") {
		if calls, _ := readJSONCalls(bare, "json", req.Tools); len(calls) > 0 {
			return withTextCalls(resp, "", calls, req)
		}
	}
	return resp
}

func withTextCalls(resp Response, before string, calls []ToolCall, req Request) Response {
	for i := range calls {
		calls[i].ID = fmt.Sprintf("text_%d_%d", len(req.Messages), i)
	}
	before = strings.TrimSuffix(strings.TrimRight(before, " \t\r\n"), "<function_calls>")
	resp.Message.Content = strings.TrimRight(before, " \t\r\n")
	resp.Message.ToolCalls = calls
	return resp
}

// readMarkedCalls reads the calls at the start of a text, which is a mark, and how many
// bytes they take: at least the mark's own.
func readMarkedCalls(text string, tools []Tool) (calls []ToolCall, used int) {
	mark := text[:callMarkRE.FindStringIndex(text)[1]]
	body := text[len(mark):]
	switch {
	case strings.HasSuffix(mark, "```"):
		tag, rest, _ := strings.Cut(body, "\n")
		end := shutRE.FindStringIndex(rest)
		used = len(text)
		if end != nil {
			used = len(mark) + len(tag) + 1 + end[1]
			rest = rest[:end[0]]
		}
		calls, _ = readJSONCalls(strings.TrimSpace(rest), strings.ToLower(strings.TrimSpace(tag)), tools)
		return calls, used
	case strings.HasPrefix(mark, "<function=") || strings.HasPrefix(mark, "<invoke"):
		return readXMLCall(text)
	case strings.HasPrefix(mark, "["), strings.HasPrefix(mark, "<|"):
		blanks := len(body) - len(strings.TrimLeft(body, " \t\r\n"))
		calls, size := readJSONCalls(body[blanks:], "tool_call", tools)
		return calls, len(mark) + blanks + size
	}
	inner, _, closed := strings.Cut(body, "</"+mark[1:])
	used = len(mark) + len(inner)
	if closed {
		used += len(mark) + 1
	}
	if inner = strings.TrimSpace(inner); xmlNameRE.MatchString(inner) {
		calls, _ = readXMLCall(inner)
		return calls, used
	}
	calls, _ = readJSONCalls(inner, "tool_call", tools)
	return calls, used
}

// readXMLCall reads <function=NAME> or <invoke name="NAME"> with its parameters. Their
// values are texts, which the agent turns into what a schema asks for.
func readXMLCall(text string) (calls []ToolCall, used int) {
	at := xmlNameRE.FindStringSubmatchIndex(text)
	end := "</function>"
	if strings.HasPrefix(text, "<invoke") {
		end = "</invoke>"
	}
	body, _, closed := strings.Cut(text[at[1]:], end)
	used = at[1] + len(body)
	if closed {
		used += len(end)
	}
	values := map[string]string{}
	for _, m := range xmlValueRE.FindAllStringSubmatch(body, -1) {
		values[m[1]] = m[2]
	}
	arguments, err := json.Marshal(values)
	if err != nil || len(values) == 0 && strings.Contains(body, "<parameter") {
		arguments = []byte(body) // which the agent refuses, with the schema
	}
	return []ToolCall{{Name: text[at[2]:at[3]], Arguments: string(arguments)}}, used
}

// readJSONCalls reads an object or a list of objects at the start of a text, each a
// call, and how many bytes they take.
func readJSONCalls(text, tag string, tools []Tool) (calls []ToolCall, used int) {
	d := json.NewDecoder(strings.NewReader(text))
	var list []json.RawMessage
	var one json.RawMessage
	if err := d.Decode(&one); err != nil {
		if call, ok := readCall(text, tag, tools); ok {
			return []ToolCall{call}, len(text)
		}
		return nil, 0
	}
	used = int(d.InputOffset())
	if json.Unmarshal(one, &list) != nil {
		list = []json.RawMessage{one}
	}
	for _, raw := range expandCalls(list) {
		call, ok := readCall(string(raw), tag, tools)
		if !ok {
			return nil, used
		}
		calls = append(calls, call)
	}
	return calls, used
}

// expandCalls takes calls out of the frames of OpenAI's wire.
func expandCalls(list []json.RawMessage) []json.RawMessage {
	if len(list) == 1 {
		var wire struct {
			ToolCalls []json.RawMessage `json:"tool_calls"`
		}
		if json.Unmarshal(list[0], &wire) == nil && len(wire.ToolCalls) > 0 {
			list = wire.ToolCalls
		}
	}
	out := make([]json.RawMessage, len(list))
	for i, raw := range list {
		var wire struct {
			Function json.RawMessage `json:"function"`
		}
		out[i] = raw
		if json.Unmarshal(raw, &wire) == nil && strings.HasPrefix(string(wire.Function), "{") {
			out[i] = wire.Function
		}
	}
	return out
}
