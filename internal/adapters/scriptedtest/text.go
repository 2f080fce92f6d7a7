package scriptedtest

import (
	"encoding/json"
	"errors"
	"strings"

	"company/internal/adapters"
	"company/internal/adapters/scripted"
	"company/internal/lib/lazyregexp"
)

// WithoutTools returns an option for a model without tool support. The server refuses tools with a 400, and
// writes the brain's calls as text. Its brain is asked as if there were tools.
func WithoutTools() scripted.Option {
	return func(s *scripted.Server) {
		s.Handle("POST /api/show", showModel("completion"))
		s.Rewrite(func(x scripted.Exchange) (scripted.Exchange, error) {
			if len(x.Tools) > 0 {
				return x, errors.New(x.Model + " does not support tools")
			}
			return fromText(x), nil
		}, func(x scripted.Exchange, a scripted.Answer) scripted.Answer { return asText(a, x.Fence) })
	}
}

// A model without tool support reads and writes calls as text. This file implements that protocol independently
// of the company's code.
var (
	fenceRE  = lazyregexp.New(`(?m)^The block of your next reply has the name ([a-z0-9_]+)\.`)
	resultRE = lazyregexp.New(`(?s)^\[result of ([A-Za-z0-9_-]+)\]\n(.*)$`)
	toolRE   = lazyregexp.New(`(?m)^- ([A-Za-z0-9_-]+): `)
)

// fromText converts a conversation in the text protocol into the form for a brain.
func fromText(exchange scripted.Exchange) scripted.Exchange {
	id := ""
	for i := range exchange.Messages {
		message := &exchange.Messages[i]
		switch message.Role {
		case adapters.System:
			if name := fenceRE.FindStringSubmatch(message.Content); name != nil {
				exchange.Fence = name[1]
			}
			for _, name := range toolRE.FindAllStringSubmatch(message.Content, -1) {
				exchange.Tools = append(exchange.Tools, adapters.Tool{Name: name[1]})
			}
		case adapters.Assistant:
			index := strings.LastIndex(message.Content, "```"+exchange.Fence+"\n")
			var call struct {
				Tool      string          `json:"tool"`
				Arguments json.RawMessage `json:"arguments"`
			}
			if index < 0 || json.NewDecoder(strings.NewReader(message.Content[index+len("```\n")+len(exchange.Fence):])).Decode(
				&call) != nil {
				continue
			}
			id = "text_" + call.Tool
			message.Content, message.ToolCalls = strings.TrimRight(message.Content[:index], "\n"),
				[]adapters.ToolCall{{ID: id, Name: call.Tool, Arguments: string(call.Arguments)}}
		case adapters.User:
			if parts := resultRE.FindStringSubmatch(message.Content); parts != nil {
				*message = adapters.Message{Role: adapters.ToolRole, ToolName: parts[1], ToolCallID: id, Content: parts[2]}
			}
		}
	}
	return exchange
}

// asText returns an answer of a model without tool support, with its first call as the block at its end.
func asText(a scripted.Answer, fence string) scripted.Answer {
	if len(a.Calls) == 0 {
		return a
	}
	toolCall := a.Calls[0]
	if a.Text != "" {
		a.Text += "\n\n"
	}
	a.Text += "```" + fence + "\n" + `{"tool": "` + toolCall.Name + `", "arguments": ` + toolCall.Arguments + "}\n```\n"
	a.Calls = nil
	if a.Finish == "tool_calls" {
		a.Finish = "stop"
	}
	a.Text = strings.ToValidUTF8(a.Text, "\uFFFD")
	return a
}
