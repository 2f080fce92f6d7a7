package scriptedtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"company/internal/adapters"
	"company/internal/adapters/scripted"
)

// ollama is Ollama's own protocol.
var ollama = scripted.Protocol{
	ContentType: "application/x-ndjson",
	Read:        readOllama,
	Whole:       func(a scripted.Answer) any { return toOllama(a, a.Text, a.Calls, true) },
	Events:      ollamaEvents,
	Fail: func(w http.ResponseWriter, status int, _, message string) {
		scripted.WriteJSON(w, status, map[string]string{"error": message})
	},
}

type ollamaCall struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Index     int             `json:"index"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

type ollamaMessage struct {
	Role       string       `json:"role"`
	Content    string       `json:"content"`
	Images     [][]byte     `json:"images,omitempty"`
	Thinking   string       `json:"thinking,omitempty"`
	ToolCalls  []ollamaCall `json:"tool_calls,omitempty"`
	ToolName   string       `json:"tool_name,omitempty"`
	ToolCallID string       `json:"tool_call_id,omitempty"`
}

// readOllama parses a request. It refuses keys that are not in the protocol.
func readOllama(body []byte) (scripted.Exchange, error) {
	var req struct {
		Model    string          `json:"model"`
		Messages []ollamaMessage `json:"messages"`
		Tools    []struct {
			Type     string `json:"type"`
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		Stream  *bool `json:"stream"`
		Options struct {
			NumCtx      int      `json:"num_ctx"`
			NumPredict  int      `json:"num_predict"`
			Temperature *float64 `json:"temperature"`
		} `json:"options"`
		Truncate *bool `json:"truncate"`
		Shift    *bool `json:"shift"`
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&req); err != nil {
		return scripted.Exchange{}, err
	}
	if req.Model == "" || len(req.Messages) == 0 {
		return scripted.Exchange{}, errors.New("model is required")
	}
	exchange := scripted.Exchange{Model: req.Model, Stream: req.Stream == nil || *req.Stream,
		MaxTokens: max(0, req.Options.NumPredict)}
	for i, message := range req.Messages {
		out := adapters.Message{Role: message.Role, Content: message.Content, ToolCallID: message.ToolCallID,
			ToolName: message.ToolName}
		switch message.Role {
		case adapters.System, adapters.User:
		case adapters.ToolRole:
			if message.ToolName == "" {
				return scripted.Exchange{}, fmt.Errorf("messages[%d]: a result names no tool", i)
			}
		case adapters.Assistant:
			exchange.Turn++
		default:
			return scripted.Exchange{}, fmt.Errorf("invalid role %q", message.Role)
		}
		for _, data := range message.Images {
			out.Images = append(out.Images, scripted.ImageOf(http.DetectContentType(data), data))
		}
		for _, ollamaCall := range message.ToolCalls {
			var object map[string]any
			if json.Unmarshal(ollamaCall.Function.Arguments, &object) != nil {
				return scripted.Exchange{}, fmt.Errorf("messages[%d]: arguments are not an object", i)
			}
			out.ToolCalls = append(out.ToolCalls,
				adapters.ToolCall{ID: ollamaCall.ID, Name: ollamaCall.Function.Name,
					Arguments: string(ollamaCall.Function.Arguments)})
		}
		exchange.Messages = append(exchange.Messages, out)
	}
	for _, t := range req.Tools {
		exchange.Tools = append(
			exchange.Tools,
			adapters.Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
	}
	exchange.Header, exchange.HasHeader = adapters.FindHeader(exchange.Messages)
	return exchange, nil
}

// toOllama returns one line of an answer.
func toOllama(a scripted.Answer, text string, calls []adapters.ToolCall, done bool) any {
	message := ollamaMessage{Role: adapters.Assistant, Content: text}
	for i, toolCall := range calls {
		var oc ollamaCall
		oc.ID = toolCall.ID
		oc.Function.Index = i
		oc.Function.Name = toolCall.Name
		oc.Function.Arguments = json.RawMessage(toolCall.Arguments)
		if !json.Valid(oc.Function.Arguments) { // arguments that a real server could not parse
			oc.Function.Arguments = json.RawMessage(scripted.EncodeJSON(toolCall.Arguments))
		}
		message.ToolCalls = append(message.ToolCalls, oc)
	}
	line := map[string]any{"model": a.Model, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": done}
	if done {
		line["done_reason"] = "stop"
		if a.Finish == "length" {
			line["done_reason"] = "length"
		}
		line["prompt_eval_count"], line["eval_count"] = a.Usage.InputTokens, a.Usage.OutputTokens
	}
	return line
}

// ollamaEvents returns the answer as a stream of lines.
func ollamaEvents(a scripted.Answer) []string {
	var out []string
	for _, piece := range scripted.SplitText(a.Text) {
		out = append(out, scripted.EncodeJSON(toOllama(a, piece, nil, false))+"\n")
	}
	for i := range a.Calls {
		out = append(out, scripted.EncodeJSON(toOllama(a, "", a.Calls[i:i+1], false))+"\n")
	}
	return append(out, scripted.EncodeJSON(toOllama(a, "", nil, true))+"\n")
}
