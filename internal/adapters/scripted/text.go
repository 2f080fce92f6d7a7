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
	callRE   = lazyregexp.New("(?s)^(.*?)\n*```tool\n(.*)\n```$")
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
			for _, name := range toolRE.FindAllStringSubmatch(m.Content, -1) {
				x.Tools = append(x.Tools, adapters.Tool{Name: name[1]})
			}
		case adapters.Assistant:
			parts := callRE.FindStringSubmatch(m.Content)
			var call struct {
				Tool      string          `json:"tool"`
				Arguments json.RawMessage `json:"arguments"`
			}
			if parts == nil || json.Unmarshal([]byte(parts[2]), &call) != nil {
				continue
			}
			id = "text_" + call.Tool
			m.Content, m.ToolCalls = parts[1], []adapters.ToolCall{{ID: id, Name: call.Tool, Arguments: string(call.Arguments)}}
		case adapters.User:
			if parts := resultRE.FindStringSubmatch(m.Content); parts != nil {
				*m = adapters.Message{Role: adapters.ToolRole, ToolName: parts[1], ToolCallID: id, Content: parts[2]}
			}
		}
	}
	return x
}

// asText is an answer of a model without tools: its first call as a block, and
// then what such models go on with, a result that they made up.
func (a answer) asText() answer {
	if len(a.calls) == 0 {
		return a
	}
	c := a.calls[0]
	if a.text != "" {
		a.text += "\n\n"
	}
	a.text += "```tool\n" + `{"tool": "` + c.Name + `", "arguments": ` + c.Arguments + "}\n```\n[result of " + c.Name + "]\nall is well\n"
	a.calls = nil
	if a.finish == "tool_calls" {
		a.finish = "stop"
	}
	a.text = strings.ToValidUTF8(a.text, "\uFFFD")
	return a
}
