package scriptedtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"company/internal/adapters"
	"company/internal/adapters/scripted"
)

// anthropic is the protocol of the messages API.
var anthropic = scripted.Protocol{
	ContentType: "text/event-stream",
	Read:        readAnthropic,
	Whole:       func(a scripted.Answer) any { return toAnthropic(a, true) },
	Events:      anthropicEvents,
	Fail: func(w http.ResponseWriter, status int, kind, message string) {
		fault := map[string]string{"type": kind, "message": message}
		scripted.WriteJSON(w, status, map[string]any{"type": "error", "error": fault})
	},
}

type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   json.RawMessage `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Cache     json.RawMessage `json:"cache_control,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"`
	Source    *anthropicImage `json:"source,omitempty"`
}

// anthropicBlocks may be written as one text.
type anthropicBlocks []anthropicBlock

// UnmarshalJSON implements json.Unmarshaler.
func (b *anthropicBlocks) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		*b = anthropicBlocks{{Type: "text"}}
		return json.Unmarshal(data, &(*b)[0].Text)
	}
	return json.Unmarshal(data, (*[]anthropicBlock)(b))
}

// anthropicImage is the source of an image.
type anthropicImage struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

type anthropicRequest struct {
	Model     string `json:"model"`
	MaxTokens int    `json:"max_tokens"`
	System    anthropicBlocks
	Messages  []struct {
		Role    string          `json:"role"`
		Content anthropicBlocks `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
		Cache       json.RawMessage `json:"cache_control"`
		Streaming   json.RawMessage `json:"eager_input_streaming"`
	} `json:"tools"`
	Temperature *float64 `json:"temperature"`
	Stream      bool     `json:"stream"`

	// These change nothing here.
	ToolChoice json.RawMessage `json:"tool_choice"`
	Thinking   json.RawMessage `json:"thinking"`
	Output     json.RawMessage `json:"output_config"`
	Context    json.RawMessage `json:"context_management"`
	Metadata   json.RawMessage `json:"metadata"`
}

// readAnthropic parses a request, and refuses requests that the API refuses.
func readAnthropic(body []byte) (scripted.Exchange, error) {
	var req anthropicRequest
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&req); err != nil {
		return scripted.Exchange{}, err
	}
	switch {
	case req.Model == "" || req.MaxTokens <= 0:
		return scripted.Exchange{}, errors.New("model and max_tokens: Field required")
	case len(req.Messages) == 0 || req.Messages[0].Role != adapters.User:
		return scripted.Exchange{}, errors.New("messages: first message must use the user role")
	case bytes.Count(body, []byte(`"cache_control"`)) > 4:
		return scripted.Exchange{}, errors.New("a maximum of 4 blocks with cache_control may be provided")
	}
	exchange := scripted.Exchange{Model: req.Model, Stream: req.Stream, MaxTokens: req.MaxTokens}
	var system []string
	for _, b := range req.System {
		system = append(system, b.Text)
	}
	if len(system) > 0 {
		exchange.Messages = append(exchange.Messages,
			adapters.Message{Role: adapters.System, Content: strings.Join(system, "\n")})
	}
	var open []adapters.ToolCall // calls of the previous message
	for i, m := range req.Messages {
		if i > 0 && m.Role == req.Messages[i-1].Role {
			return scripted.Exchange{}, fmt.Errorf("messages.%d: roles must alternate", i)
		}
		out, err := readBlocks(m.Role, m.Content, open)
		if err != nil {
			return scripted.Exchange{}, fmt.Errorf("messages.%d: %w", i, err)
		}
		exchange.Messages = append(exchange.Messages, out...)
		open = nil
		if m.Role == adapters.Assistant {
			exchange.Turn++
			open = out[0].ToolCalls
		}
	}
	if len(open) > 0 {
		return scripted.Exchange{}, errors.New("messages: the last tool_use blocks have no tool_result")
	}
	for _, t := range req.Tools {
		exchange.Tools = append(exchange.Tools,
			adapters.Tool{Name: t.Name, Description: t.Description, Schema: t.InputSchema})
	}
	exchange.Header, exchange.HasHeader = adapters.FindHeader(exchange.Messages)
	return exchange, nil
}

// readBlocks converts the blocks of one message. An assistant message becomes one message. A user message
// becomes one for each result and one for the text.
func readBlocks(role string, blocks []anthropicBlock, open []adapters.ToolCall) ([]adapters.Message, error) {
	said := adapters.Message{Role: role}
	var out []adapters.Message
	if len(blocks) == 0 {
		return nil, errors.New("content: missing")
	}
	for i, block := range blocks {
		switch {
		case block.Type == "text" && strings.TrimSpace(block.Text) != "":
			if said.Content != "" {
				said.Content += "\n"
			}
			said.Content += block.Text
		case block.Type == "image" && role == adapters.User && block.Source != nil && block.Source.Type == "base64" &&
			len(block.Source.Data) > 0:
			said.Images = append(said.Images, scripted.ImageOf(block.Source.MediaType, block.Source.Data))
		case block.Type == "thinking" && role == adapters.Assistant && block.Signature != "" && block.Thinking != nil:
		case block.Type == "redacted_thinking" && role == adapters.Assistant && block.Data != "":
		case block.Type == "tool_use" && role == adapters.Assistant && block.ID != "" && block.Name != "" &&
			bytes.HasPrefix(block.Input, []byte("{")):
			said.ToolCalls = append(said.ToolCalls,
				adapters.ToolCall{ID: block.ID, Name: block.Name, Arguments: string(block.Input)})
		case block.Type == "tool_result" && role == adapters.User && i < len(open) && open[i].ID == block.ToolUseID:
			var parts anthropicBlocks
			if err := json.Unmarshal(block.Content, &parts); err != nil || len(parts) != 1 || parts[0].Text == "" {
				return nil, fmt.Errorf("content.%d: a result without text", i)
			}
			out = append(
				out, adapters.Message{Role: adapters.ToolRole, ToolCallID: block.ToolUseID, ToolName: open[i].Name,
					Content: parts[0].Text})
		default:
			return nil, fmt.Errorf("content.%d: a %s block is not allowed here, or is empty", i, block.Type)
		}
	}
	if len(out) != len(open) {
		return nil, errors.New("`tool_use` ids were found without `tool_result` blocks immediately after")
	}
	if role == adapters.Assistant || said.Content != "" {
		out = append(out, said)
	}
	return out, nil
}

// stopReason returns the wire's reason for the answer's end.
func stopReason(a scripted.Answer) string {
	switch a.Finish {
	case "length":
		return "max_tokens"
	case "tool_calls":
		return "tool_use"
	case "content_filter":
		return "refusal"
	}
	return "end_turn"
}

// toAnthropic returns the answer as a message: complete, or as the beginning of a stream.
func toAnthropic(a scripted.Answer, whole bool) any {
	m := map[string]any{
		"id": a.ID, "type": "message", "role": "assistant", "model": a.Model, "content": []any{}, "stop_reason": nil,
		"stop_sequence": nil,
		"usage": map[string]int{"input_tokens": a.Usage.InputTokens - a.Usage.CachedTokens,
			"cache_read_input_tokens": a.Usage.CachedTokens, "cache_creation_input_tokens": 0, "output_tokens": 1},
	}
	if whole {
		var content []any
		if a.Text != "" {
			content = append(content, map[string]any{"type": "text", "text": a.Text})
		}
		for _, toolCall := range a.Calls {
			content = append(
				content, map[string]any{"type": "tool_use", "id": toolCall.ID, "name": toolCall.Name,
					"input": json.RawMessage(toolCall.WireArguments())})
		}
		m["content"], m["stop_reason"] = content, stopReason(a)
	}
	return m
}

// anthropicEvents returns the answer as a stream. Like real models, it thinks before it calls. The client must
// send the thinking back.
func anthropicEvents(a scripted.Answer) []string {
	begun := map[string]any{"type": "message_start", "message": toAnthropic(a, false)}
	out := []string{scripted.FormatEvent("message_start", begun),
		scripted.FormatEvent("ping", map[string]string{"type": "ping"})}
	index := 0
	block := func(start any, deltas ...any) {
		out = append(
			out, scripted.FormatEvent("content_block_start",
				map[string]any{"type": "content_block_start", "index": index, "content_block": start}))
		for _, d := range deltas {
			out = append(
				out, scripted.FormatEvent("content_block_delta", map[string]any{"type": "content_block_delta", "index": index, "delta": d}))
		}
		end := map[string]any{"type": "content_block_stop", "index": index}
		out = append(out, scripted.FormatEvent("content_block_stop", end))
		index++
	}
	if len(a.Calls) > 0 {
		block(map[string]string{"type": "thinking", "thinking": "", "signature": ""},
			map[string]string{"type": "thinking_delta", "thinking": "It takes " + a.Calls[0].Name + "."},
			map[string]string{"type": "signature_delta", "signature": "signed-" + a.ID})
	}
	if a.Text != "" {
		var deltas []any
		for _, piece := range scripted.SplitText(a.Text) {
			deltas = append(deltas, map[string]string{"type": "text_delta", "text": piece})
		}
		block(map[string]string{"type": "text", "text": ""}, deltas...)
	}
	for _, toolCall := range a.Calls {
		var deltas []any
		for _, piece := range scripted.SplitText(toolCall.Arguments) {
			deltas = append(deltas, map[string]string{"type": "input_json_delta", "partial_json": piece})
		}
		block(map[string]any{"type": "tool_use", "id": toolCall.ID, "name": toolCall.Name, "input": map[string]any{}},
			deltas...)
	}
	out = append(
		out, scripted.FormatEvent("message_delta",
			map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": stopReason(a), "stop_sequence": nil},
				"usage": map[string]int{"output_tokens": a.Usage.OutputTokens}}))
	return append(out, scripted.FormatEvent("message_stop", map[string]string{"type": "message_stop"}))
}
