package scripted

import (
	"encoding/json"
	"strings"

	"company/internal/adapters"
	"company/internal/lazyregexp"
)

// A model without tools reads and writes calls as text. This file understands
// the promised protocol, and reads it without the company's code.
var (
	fenceRE  = lazyregexp.New(`(?m)^The block of your next reply has the name ([a-z0-9_]+)\.`)
	resultRE = lazyregexp.New(`(?s)^\[result of ([A-Za-z0-9_-]+)\]\n(.*)$`)
	toolRE   = lazyregexp.New(`(?m)^- ([A-Za-z0-9_-]+): `)
)

// fromText makes of a conversation in text the one that a brain is asked with.
func fromText(x Exchange) Exchange {
	id := ""
	for i := range x.Messages {
		m := &x.Messages[i]
		switch m.Role {
		case adapters.System:
			if name := fenceRE.FindStringSubmatch(m.Content); name != nil {
				x.Fence = name[1]
			}
			for _, name := range toolRE.FindAllStringSubmatch(m.Content, -1) {
				x.Tools = append(x.Tools, adapters.Tool{Name: name[1]})
			}
		case adapters.Assistant:
			at := strings.LastIndex(m.Content, "```"+x.Fence+"\n")
			var call struct {
				Tool      string          `json:"tool"`
				Arguments json.RawMessage `json:"arguments"`
			}
			if at < 0 || json.NewDecoder(strings.NewReader(m.Content[at+len("```\n")+len(x.Fence):])).Decode(&call) != nil {
				continue
			}
			id = "text_" + call.Tool
			m.Content, m.ToolCalls = strings.TrimRight(m.Content[:at], "\n"), []adapters.ToolCall{{ID: id, Name: call.Tool, Arguments: string(call.Arguments)}}
		case adapters.User:
			if parts := resultRE.FindStringSubmatch(m.Content); parts != nil {
				*m = adapters.Message{Role: adapters.ToolRole, ToolName: parts[1], ToolCallID: id, Content: parts[2]}
			}
		}
	}
	return x
}

// asText is an answer of a model without tools: its first call as the block that ends it.
func (a answer) asText(fence string) answer {
	if len(a.calls) == 0 {
		return a
	}
	c := a.calls[0]
	if a.text != "" {
		a.text += "\n\n"
	}
	a.text += "```" + fence + "\n" + `{"tool": "` + c.Name + `", "arguments": ` + c.Arguments + "}\n```\n"
	a.calls = nil
	if a.finish == "tool_calls" {
		a.finish = "stop"
	}
	a.text = strings.ToValidUTF8(a.text, "\uFFFD")
	return a
}
