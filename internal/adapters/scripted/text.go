package scripted

import (
	"encoding/json"
	"strings"

	"company/internal/adapters"
	"company/internal/lib/lazyregexp"
)

// A model without tool support reads and writes calls as text. This file implements that protocol independently
// of the company's code.
var (
	fenceRE  = lazyregexp.New(`(?m)^The block of your next reply has the name ([a-z0-9_]+)\.`)
	resultRE = lazyregexp.New(`(?s)^\[result of ([A-Za-z0-9_-]+)\]\n(.*)$`)
	toolRE   = lazyregexp.New(`(?m)^- ([A-Za-z0-9_-]+): `)
)

// fromText converts a conversation in the text protocol into the form for a brain.
func fromText(exchange Exchange) Exchange {
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
func (a answer) asText(fence string) answer {
	if len(a.calls) == 0 {
		return a
	}
	toolCall := a.calls[0]
	if a.text != "" {
		a.text += "\n\n"
	}
	a.text += "```" + fence + "\n" + `{"tool": "` + toolCall.Name + `", "arguments": ` + toolCall.Arguments + "}\n```\n"
	a.calls = nil
	if a.finish == "tool_calls" {
		a.finish = "stop"
	}
	a.text = strings.ToValidUTF8(a.text, "\uFFFD")
	return a
}
