package scriptedtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"company/internal/adapters"
	"company/internal/adapters/scripted"
)

// responses is the protocol of OpenAI's responses API.
var responses = scripted.Protocol{
	ContentType: "text/event-stream",
	Read:        readResponses,
	Whole:       func(a scripted.Answer) any { return toResponse(a, "completed", outputOf(a)) },
	Events:      responsesEvents,
	Fail: func(w http.ResponseWriter, status int, kind, message string) {
		fault := map[string]any{"type": kind, "message": message, "code": nil, "param": nil}
		scripted.WriteJSON(w, status, map[string]any{"error": fault})
	},
}

// textParts are parts of a message, or one text.
type textParts string

// UnmarshalJSON implements json.Unmarshaler.
func (p *textParts) UnmarshalJSON(data []byte) error {
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(data, &parts) != nil {
		return json.Unmarshal(data, (*string)(p))
	}
	for _, part := range parts {
		if part.Type != "input_text" && part.Type != "output_text" {
			return fmt.Errorf("content: a part of type %q", part.Type)
		}
		if *p != "" {
			*p += "\n"
		}
		*p += textParts(part.Text)
	}
	return nil
}

type responsesItem struct {
	Type      string    `json:"type"`
	Role      string    `json:"role"`
	Content   textParts `json:"content"`
	CallID    string    `json:"call_id"`
	Name      string    `json:"name"`
	Arguments string    `json:"arguments"`
	Output    textParts `json:"output"`
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Tools       []responsesTool `json:"tools"` // of a namespace
}

// readResponses parses a request, and refuses requests that the API refuses.
func readResponses(body []byte) (scripted.Exchange, error) {
	var request struct {
		Model        string          `json:"model"`
		Instructions string          `json:"instructions"`
		Input        json.RawMessage `json:"input"`
		Tools        []responsesTool `json:"tools"`
		MaxOutput    int             `json:"max_output_tokens"`
		Stream       bool            `json:"stream"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return scripted.Exchange{}, err
	}
	var items []responsesItem
	if json.Unmarshal(request.Input, &items) != nil {
		var text textParts
		if err := json.Unmarshal(request.Input, &text); err != nil {
			return scripted.Exchange{}, errors.New("input: a text or a list of items is required")
		}
		items = []responsesItem{{Type: "message", Role: adapters.User, Content: text}}
	}
	if request.Model == "" || len(items) == 0 {
		return scripted.Exchange{}, errors.New("model and input are required")
	}
	out := scripted.Exchange{Model: request.Model, Stream: request.Stream, MaxTokens: request.MaxOutput}
	if request.Instructions != "" {
		out.Messages = append(out.Messages, adapters.Message{Role: adapters.System, Content: request.Instructions})
	}
	if err := addItems(&out, items); err != nil {
		return scripted.Exchange{}, err
	}
	for _, tool := range request.Tools {
		for _, one := range append([]responsesTool{tool}, tool.Tools...) {
			if one.Type != "namespace" {
				out.Tools = append(out.Tools,
					adapters.Tool{Name: one.Name, Description: one.Description, Schema: one.Parameters})
			}
		}
	}
	out.Header, out.HasHeader = adapters.FindHeader(out.Messages)
	return out, nil
}

// addItems converts the items of a request. The words and calls of one reply become one message.
func addItems(out *scripted.Exchange, items []responsesItem) error {
	names := map[string]string{} // of the calls without an answer
	replies := false             // the last message is a reply of the model
	reply := func() *adapters.Message {
		if !replies {
			out.Messages = append(out.Messages, adapters.Message{Role: adapters.Assistant})
			out.Turn++
		}
		return &out.Messages[len(out.Messages)-1]
	}
	for i, item := range items {
		isReply := item.Role == adapters.Assistant || item.Type == "function_call" || item.Type == "reasoning"
		switch item.Type {
		case "", "message":
			if isReply {
				reply().Content += string(item.Content)
				break
			}
			role := item.Role
			if role == "developer" {
				role = adapters.System
			}
			out.Messages = append(out.Messages, adapters.Message{Role: role, Content: string(item.Content)})
		case "function_call":
			names[item.CallID] = item.Name
			message := reply()
			message.ToolCalls = append(message.ToolCalls,
				adapters.ToolCall{ID: item.CallID, Name: item.Name, Arguments: item.Arguments})
		case "function_call_output":
			name, ok := names[item.CallID]
			if !ok {
				return fmt.Errorf("input[%d]: no tool call found for the output of call_id %s", i, item.CallID)
			}
			delete(names, item.CallID)
			out.Messages = append(out.Messages, adapters.Message{Role: adapters.ToolRole, ToolCallID: item.CallID,
				ToolName: name, Content: string(item.Output)})
		case "reasoning":
			reply()
		default:
			return fmt.Errorf("input[%d]: an item of type %q", i, item.Type)
		}
		replies = isReply
	}
	if len(names) > 0 {
		return fmt.Errorf("no tool output found for %d function calls", len(names))
	}
	return nil
}

// outputOf returns the items of an answer.
func outputOf(a scripted.Answer) []map[string]any {
	var out []map[string]any
	if a.Text != "" {
		part := map[string]any{"type": "output_text", "text": a.Text, "annotations": []any{}}
		out = append(out, map[string]any{"type": "message", "id": "msg_" + a.ID, "role": "assistant",
			"status": "completed", "content": []any{part}})
	}
	for _, c := range a.Calls {
		out = append(out, map[string]any{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Name,
			"arguments": c.WireArguments(), "status": "completed"})
	}
	return out
}

// toResponse returns the response object of an answer.
func toResponse(a scripted.Answer, status string, output []map[string]any) map[string]any {
	out := map[string]any{"id": "resp_" + a.ID, "object": "response", "model": a.Model, "status": status,
		"output": output, "error": nil, "incomplete_details": nil, "usage": nil}
	if status == "in_progress" {
		return out
	}
	switch a.Finish {
	case "length":
		out["status"], out["incomplete_details"] = "incomplete", map[string]string{"reason": "max_output_tokens"}
	case "content_filter":
		out["status"], out["incomplete_details"] = "incomplete", map[string]string{"reason": "content_filter"}
	}
	out["usage"] = map[string]any{"input_tokens": a.Usage.InputTokens,
		"input_tokens_details": map[string]int{"cached_tokens": a.Usage.CachedTokens},
		"output_tokens":        a.Usage.OutputTokens, "output_tokens_details": map[string]int{"reasoning_tokens": 0},
		"total_tokens": a.Usage.InputTokens + a.Usage.OutputTokens}
	return out
}

// responsesEvents returns the answer as a stream.
func responsesEvents(a scripted.Answer) []string {
	var out []string
	add := func(kind string, members map[string]any) {
		members["type"], members["sequence_number"] = kind, len(out)
		out = append(out, scripted.FormatEvent(kind, members))
	}
	add("response.created", map[string]any{"response": toResponse(a, "in_progress", nil)})
	items := outputOf(a)
	for i, item := range items {
		begun := map[string]any{"type": item["type"], "id": item["id"], "status": "in_progress"}
		kind, text := "response.output_text.delta", a.Text
		if item["type"] == "message" {
			begun["role"], begun["content"] = "assistant", []any{}
		} else {
			kind, text = "response.function_call_arguments.delta", fmt.Sprint(item["arguments"])
			begun["name"], begun["call_id"] = item["name"], item["call_id"]
			begun["arguments"] = ""
		}
		add("response.output_item.added", map[string]any{"output_index": i, "item": begun})
		for _, piece := range scripted.SplitText(text) {
			add(kind, map[string]any{"item_id": item["id"], "output_index": i, "content_index": 0, "delta": piece})
		}
		add("response.output_item.done", map[string]any{"output_index": i, "item": item})
	}
	whole := toResponse(a, "completed", items)
	add("response."+fmt.Sprint(whole["status"]), map[string]any{"response": whole})
	return out
}
