package scripted

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	sdk "github.com/sashabaranov/go-openai"

	"company/internal/adapters"
)

// check refuses what a real server refuses, so that a broken conversation is
// met here and not at the first paid call.
func check(req sdk.ChatCompletionRequest) error {
	if req.Model == "" {
		return errors.New("you must provide a model parameter")
	}
	if len(req.Messages) == 0 {
		return errors.New("messages: the list is empty")
	}
	open := map[string]bool{}
	for i, m := range req.Messages {
		if m.Role == sdk.ChatMessageRoleTool {
			if !open[m.ToolCallID] {
				return fmt.Errorf("messages[%d]: a tool's answer must follow the message with its call (%q)", i, m.ToolCallID)
			}
			delete(open, m.ToolCallID)
		} else if len(open) > 0 {
			return fmt.Errorf("messages[%d]: %d tool calls before it have no answer", i, len(open))
		}
		switch m.Role {
		case sdk.ChatMessageRoleTool, sdk.ChatMessageRoleUser, sdk.ChatMessageRoleSystem, sdk.ChatMessageRoleDeveloper:
			if m.Content == "" && len(m.MultiContent) == 0 {
				return fmt.Errorf("messages[%d].content: missing", i)
			}
		case sdk.ChatMessageRoleAssistant:
			if m.Content == "" && len(m.ToolCalls) == 0 {
				return fmt.Errorf("messages[%d]: neither content nor tool_calls", i)
			}
		default:
			return fmt.Errorf("messages[%d].role: %q is not known", i, m.Role)
		}
		for j, c := range m.ToolCalls {
			if c.ID == "" || c.Type != sdk.ToolTypeFunction || c.Function.Name == "" || open[c.ID] {
				return fmt.Errorf("messages[%d].tool_calls[%d]: needs an id of its own, type function and a name", i, j)
			}
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("messages: %d tool calls at the end have no answer", len(open))
	}
	return nil
}

// exchangeOf reads the request.
func exchangeOf(req sdk.ChatCompletionRequest) (Exchange, error) {
	//lint:ignore SA1019 clients of older servers send max_tokens
	x := Exchange{Model: req.Model, Stream: req.Stream, MaxTokens: max(req.MaxTokens, req.MaxCompletionTokens)}
	names := map[string]string{}
	for _, m := range req.Messages {
		out := adapters.Message{Role: m.Role, Content: m.Content, ToolCallID: m.ToolCallID, ToolName: names[m.ToolCallID]}
		for _, part := range m.MultiContent {
			out.Content += part.Text
		}
		for _, c := range m.ToolCalls {
			names[c.ID] = c.Function.Name
			out.ToolCalls = append(out.ToolCalls, adapters.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		if m.Role == adapters.Assistant {
			x.Turn++
		}
		x.Messages = append(x.Messages, out)
	}
	for i, t := range req.Tools {
		if t.Function == nil {
			return Exchange{}, fmt.Errorf("tools[%d].function: missing", i)
		}
		schema, err := json.Marshal(t.Function.Parameters)
		if err != nil {
			return Exchange{}, fmt.Errorf("tools[%d].function.parameters: %w", i, err)
		}
		x.Tools = append(x.Tools, adapters.Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: schema})
	}
	x.Header, x.HasHeader = adapters.FindHeader(x.Messages)
	return x, nil
}

// answer is a reply in the wire's words.
type answer struct {
	id, model string
	text      string
	calls     []sdk.ToolCall
	finish    sdk.FinishReason
	usage     sdk.Usage
}

const bytesPerToken = 4

// newAnswer makes the answer, cut at the request's max_tokens as a real
// server's is.
func newAnswer(req sdk.ChatCompletionRequest, x Exchange, reply Reply) (answer, error) {
	a := answer{id: fmt.Sprintf("chatcmpl-%s-%d", x.Header.Run, x.Turn), model: req.Model, text: reply.Text, finish: sdk.FinishReason(reply.Finish)}
	for i, c := range reply.Calls {
		args, err := c.arguments()
		if err != nil {
			return answer{}, fmt.Errorf("arguments of %s: %w", c.Tool, err)
		}
		id := c.ID
		if id == "" {
			id = fmt.Sprintf("call_%d_%d", x.Turn, i)
		}
		a.calls = append(a.calls, sdk.ToolCall{ID: id, Type: sdk.ToolTypeFunction, Function: sdk.FunctionCall{Name: c.Tool, Arguments: args}})
	}
	if a.finish == "" {
		a.finish = sdk.FinishReasonStop
		if len(a.calls) > 0 {
			a.finish = sdk.FinishReasonToolCalls
		}
	}
	size := len(a.text)
	for _, c := range a.calls {
		size += len(c.Function.Name) + len(c.Function.Arguments)
	}
	tokens := size/bytesPerToken + 1
	if x.MaxTokens > 0 && tokens > x.MaxTokens {
		tokens = x.MaxTokens
		a.cut(x.MaxTokens * bytesPerToken)
	}
	a.usage = sdk.Usage{PromptTokens: x.size()/bytesPerToken + 1, CompletionTokens: tokens}
	if reply.Usage != nil {
		a.usage = sdk.Usage{PromptTokens: reply.Usage.InputTokens, CompletionTokens: reply.Usage.OutputTokens,
			PromptTokensDetails: &sdk.PromptTokensDetails{CachedTokens: reply.Usage.CachedTokens}}
	}
	a.usage.TotalTokens = a.usage.PromptTokens + a.usage.CompletionTokens
	return a, nil
}

// size of the conversation and the tools in bytes.
func (x Exchange) size() int {
	n := 0
	for _, m := range x.Messages {
		n += len(m.Content)
		for _, c := range m.ToolCalls {
			n += len(c.Name) + len(c.Arguments)
		}
	}
	for _, t := range x.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return n
}

// cut keeps the first bytes of the answer: the text, then the calls in order.
func (a *answer) cut(room int) {
	a.finish = sdk.FinishReasonLength
	a.text = head(a.text, room)
	room -= len(a.text)
	for i := range a.calls {
		f := &a.calls[i].Function
		room -= len(f.Name)
		if room <= 0 {
			a.calls = a.calls[:i]
			return
		}
		f.Arguments = head(f.Arguments, room)
		room -= len(f.Arguments)
	}
}

// head is at most n bytes of s, whole characters.
func head(s string, n int) string {
	if n >= len(s) {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:max(n, 0)]
}

// whole is the answer in one piece.
func (a answer) whole() sdk.ChatCompletionResponse {
	return sdk.ChatCompletionResponse{
		ID: a.id, Object: "chat.completion", Model: a.model, Usage: a.usage,
		Choices: []sdk.ChatCompletionChoice{{
			Message:      sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleAssistant, Content: a.text, ToolCalls: a.calls},
			FinishReason: a.finish,
		}},
	}
}

// pieceSize is how many bytes of text or arguments one event carries.
const pieceSize = 1024

// stream writes the answer as events; half of them, and no end, when cut.
func (a answer) stream(w http.ResponseWriter, withUsage, cut bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	events := a.events(withUsage)
	if cut {
		events = events[:max(1, (len(events)-1)/2)]
	}
	for _, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			return // plain strings and numbers always encode; the client sees a cut stream
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil {
			return
		}
	}
	if !cut {
		if _, err := fmt.Fprint(w, "data: [DONE]\n\n"); err != nil {
			return
		}
	}
	_ = http.NewResponseController(w).Flush()
}

func (a answer) events(withUsage bool) []sdk.ChatCompletionStreamResponse {
	event := func(delta sdk.ChatCompletionStreamChoiceDelta, finish sdk.FinishReason) sdk.ChatCompletionStreamResponse {
		return sdk.ChatCompletionStreamResponse{ID: a.id, Object: "chat.completion.chunk", Model: a.model,
			Choices: []sdk.ChatCompletionStreamChoice{{Delta: delta, FinishReason: finish}}}
	}
	out := []sdk.ChatCompletionStreamResponse{event(sdk.ChatCompletionStreamChoiceDelta{Role: sdk.ChatMessageRoleAssistant}, "")}
	for _, piece := range pieces(a.text) {
		out = append(out, event(sdk.ChatCompletionStreamChoiceDelta{Content: piece}, ""))
	}
	for i, c := range a.calls {
		index := i
		first := sdk.ToolCall{Index: &index, ID: c.ID, Type: c.Type, Function: sdk.FunctionCall{Name: c.Function.Name}}
		out = append(out, event(sdk.ChatCompletionStreamChoiceDelta{ToolCalls: []sdk.ToolCall{first}}, ""))
		for _, piece := range pieces(c.Function.Arguments) {
			next := sdk.ToolCall{Index: &index, Function: sdk.FunctionCall{Arguments: piece}}
			out = append(out, event(sdk.ChatCompletionStreamChoiceDelta{ToolCalls: []sdk.ToolCall{next}}, ""))
		}
	}
	out = append(out, event(sdk.ChatCompletionStreamChoiceDelta{}, a.finish))
	if withUsage {
		usage := a.usage
		out = append(out, sdk.ChatCompletionStreamResponse{ID: a.id, Object: "chat.completion.chunk", Model: a.model,
			Choices: []sdk.ChatCompletionStreamChoice{}, Usage: &usage})
	}
	return out
}

// pieces splits s for streaming, between characters.
func pieces(s string) []string {
	var out []string
	for len(s) > 0 {
		piece := head(s, pieceSize)
		if piece == "" {
			piece = s // not text: invalid bytes travel as they are
		}
		out = append(out, piece)
		s = s[len(piece):]
	}
	return out
}
