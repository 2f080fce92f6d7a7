package scripted

import (
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/sashabaranov/go-openai"

	"company/internal/adapters"
)

// openAI is the protocol of chat completions.
var openAI = Protocol{
	ContentType: "text/event-stream",
	Read: func(body []byte) (Exchange, error) {
		var req sdk.ChatCompletionRequest
		if err := json.Unmarshal(body, &req); err != nil {
			return Exchange{}, fmt.Errorf("the request is not JSON: %w", err)
		}
		if err := check(req); err != nil {
			return Exchange{}, err
		}
		return exchangeOf(req)
	},
	Whole:  func(a Answer) any { return a.openAI() },
	Events: Answer.openAIEvents,
	Fail:   writeError,
}

// check refuses requests that a real server refuses, so that a broken conversation is found here and not at the
// first paid call.
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
			return fmt.Errorf("messages[%d].role: unknown role %q", i, m.Role)
		}
		for j, c := range m.ToolCalls {
			if c.ID == "" || c.Type != sdk.ToolTypeFunction || c.Function.Name == "" || open[c.ID] {
				return fmt.Errorf("messages[%d].tool_calls[%d]: needs a unique id, type function and a name", i, j)
			}
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("messages: %d tool calls at the end have no answer", len(open))
	}
	return nil
}

// exchangeOf converts the request.
func exchangeOf(req sdk.ChatCompletionRequest) (Exchange, error) {
	//nolint:staticcheck // clients of older servers send max_tokens
	exchange := Exchange{Model: req.Model, Stream: req.Stream, MaxTokens: max(req.MaxTokens, req.MaxCompletionTokens),
		usage: req.StreamOptions != nil && req.StreamOptions.IncludeUsage}
	names := map[string]string{}
	for _, m := range req.Messages {
		out := adapters.Message{Role: m.Role, Content: m.Content, ToolCallID: m.ToolCallID, ToolName: names[m.ToolCallID]}
		for _, part := range m.MultiContent {
			out.Content += part.Text
			if part.ImageURL != nil {
				image, err := readDataURI(part.ImageURL.URL)
				if err != nil {
					return Exchange{}, err
				}
				out.Images = append(out.Images, image)
			}
		}
		for _, c := range m.ToolCalls {
			names[c.ID] = c.Function.Name
			out.ToolCalls = append(out.ToolCalls,
				adapters.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		if m.Role == adapters.Assistant {
			exchange.Turn++
		}
		exchange.Messages = append(exchange.Messages, out)
	}
	for i, t := range req.Tools {
		if t.Function == nil {
			return Exchange{}, fmt.Errorf("tools[%d].function: missing", i)
		}
		schema, err := json.Marshal(t.Function.Parameters)
		if err != nil {
			return Exchange{}, fmt.Errorf("tools[%d].function.parameters: %w", i, err)
		}
		exchange.Tools = append(exchange.Tools,
			adapters.Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: schema})
	}
	exchange.Header, exchange.HasHeader = adapters.FindHeader(exchange.Messages)
	return exchange, nil
}

// openAICalls returns the calls in the wire's form.
func (a Answer) openAICalls() []sdk.ToolCall {
	var out []sdk.ToolCall
	for _, toolCall := range a.Calls {
		out = append(
			out, sdk.ToolCall{ID: toolCall.ID, Type: sdk.ToolTypeFunction,
				Function: sdk.FunctionCall{Name: toolCall.Name, Arguments: toolCall.Arguments}})
	}
	return out
}

func (a Answer) openAIUsage() sdk.Usage {
	u := sdk.Usage{PromptTokens: a.Usage.InputTokens, CompletionTokens: a.Usage.OutputTokens,
		TotalTokens: a.Usage.InputTokens + a.Usage.OutputTokens}
	if a.Usage.CachedTokens > 0 {
		u.PromptTokensDetails = &sdk.PromptTokensDetails{CachedTokens: a.Usage.CachedTokens}
	}
	return u
}

// openAI returns the answer in one piece.
func (a Answer) openAI() sdk.ChatCompletionResponse {
	return sdk.ChatCompletionResponse{
		ID: a.ID, Object: "chat.completion", Model: a.Model, Usage: a.openAIUsage(),
		Choices: []sdk.ChatCompletionChoice{{
			Message: sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleAssistant, Content: a.Text,
				ToolCalls: a.openAICalls()},
			FinishReason: sdk.FinishReason(a.Finish),
		}},
	}
}

// openAIEvents returns the answer as a stream.
func (a Answer) openAIEvents() []string {
	chunk := func(delta sdk.ChatCompletionStreamChoiceDelta, finish sdk.FinishReason) string {
		return FormatEvent("", sdk.ChatCompletionStreamResponse{ID: a.ID, Object: "chat.completion.chunk", Model: a.Model,
			Choices: []sdk.ChatCompletionStreamChoice{{Delta: delta, FinishReason: finish}}})
	}
	out := []string{chunk(sdk.ChatCompletionStreamChoiceDelta{Role: sdk.ChatMessageRoleAssistant}, "")}
	for _, piece := range SplitText(a.Text) {
		out = append(out, chunk(sdk.ChatCompletionStreamChoiceDelta{Content: piece}, ""))
	}
	for i, c := range a.openAICalls() {
		index := i
		first := sdk.ToolCall{Index: &index, ID: c.ID, Type: c.Type, Function: sdk.FunctionCall{Name: c.Function.Name}}
		out = append(out, chunk(sdk.ChatCompletionStreamChoiceDelta{ToolCalls: []sdk.ToolCall{first}}, ""))
		for _, piece := range SplitText(c.Function.Arguments) {
			next := sdk.ToolCall{Index: &index, Function: sdk.FunctionCall{Arguments: piece}}
			out = append(out, chunk(sdk.ChatCompletionStreamChoiceDelta{ToolCalls: []sdk.ToolCall{next}}, ""))
		}
	}
	out = append(out, chunk(sdk.ChatCompletionStreamChoiceDelta{}, sdk.FinishReason(a.Finish)))
	if a.withUsage {
		usage := a.openAIUsage()
		out = append(
			out, FormatEvent("", sdk.ChatCompletionStreamResponse{ID: a.ID, Object: "chat.completion.chunk", Model: a.Model,
				Choices: []sdk.ChatCompletionStreamChoice{}, Usage: &usage}))
	}
	return append(out, "data: [DONE]\n\n")
}
