package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"math"
	"strings"

	sdk "github.com/sashabaranov/go-openai"

	"company/internal/adapters"
)

// noOutput replaces an empty text. go-openai leaves empty content out of the JSON, and servers refuse a tool's
// answer without content.
const noOutput = "(no output)"

// opaque is the content of Message.Opaque for this wire.
type opaque struct {
	Reasoning string `json:"reasoning_content"`
}

// toWire converts a request into the wire's form.
func (c *Client) toWire(req adapters.Request) sdk.ChatCompletionRequest {
	out := sdk.ChatCompletionRequest{Model: c.cfg.Model, Stream: true}
	if !c.quirks.noStreamOptions.Load() {
		out.StreamOptions = &sdk.StreamOptions{IncludeUsage: true}
	}
	for _, m := range req.Messages {
		out.Messages = append(out.Messages, c.wireMessage(m))
	}
	for _, tool := range req.Tools {
		out.Tools = append(out.Tools, sdk.Tool{Type: sdk.ToolTypeFunction, Function: &sdk.FunctionDefinition{
			Name: tool.Name, Description: tool.Description, Parameters: tool.WireSchema(),
		}})
	}

	limit := req.Limit(c.Info())
	if c.prefersCompletionTokens() != c.quirks.otherMaxTokens.Load() {
		out.MaxCompletionTokens = limit
	} else {
		//nolint:staticcheck // many compatible servers know max_tokens only
		out.MaxTokens = limit
	}
	if req.Temperature != nil && !isReasoningModel(c.cfg.Model) && !c.quirks.noTemperature.Load() {
		out.Temperature = float32(*req.Temperature)
		out.Temperature = cmp.Or(out.Temperature, math.SmallestNonzeroFloat32) // a zero would be left out of the JSON
	}
	if len(req.Tools) > 0 && (c.cfg.Model == sdk.GPT6Sol || c.cfg.Model == sdk.GPT6Luna) {
		out.ReasoningEffort = sdk.ReasoningEffortNone // otherwise tools work only over the Responses API
	}
	return out
}

// refusesMaxTokens reports whether go-openai refuses max_tokens for a model.
func refusesMaxTokens(model string) bool {
	return isReasoningModel(model) && !strings.Contains(model, "/")
}

func (c *Client) wireMessage(message adapters.Message) sdk.ChatCompletionMessage {
	out := sdk.ChatCompletionMessage{Role: message.Role, Content: message.Content, ToolCallID: message.ToolCallID}
	for _, call := range message.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, sdk.ToolCall{
			ID: call.ID, Type: sdk.ToolTypeFunction, // Index is only for deltas
			Function: sdk.FunctionCall{Name: call.Name, Arguments: call.WireArguments()},
		})
	}
	if out.Content == "" && len(out.ToolCalls) == 0 {
		out.Content = noOutput
	}
	if len(message.Images) > 0 {
		out.MultiContent, out.Content = wireParts(message), ""
	}
	if (c.cfg.EchoReasoning || c.quirks.echo.Load()) && !c.quirks.noEcho.Load() && len(message.Opaque) > 0 {
		var o opaque
		if json.Unmarshal(message.Opaque, &o) == nil {
			out.ReasoningContent = o.Reasoning
		}
	}
	return out
}

// wireParts returns the parts of a message with images. The images come first, as vendors recommend, each as a
// data URI.
func wireParts(message adapters.Message) []sdk.ChatMessagePart {
	var out []sdk.ChatMessagePart
	for _, image := range message.Images {
		out = append(out, sdk.ChatMessagePart{Type: sdk.ChatMessagePartTypeImageURL, ImageURL: &sdk.ChatMessageImageURL{
			URL: "data:" + image.Type + ";base64," + base64.StdEncoding.EncodeToString(image.Data),
		}})
	}
	return append(out, sdk.ChatMessagePart{Type: sdk.ChatMessagePartTypeText, Text: cmp.Or(message.Content, noOutput)})
}

// dropParameter searches a refusal for the name of an unsupported parameter. It reports whether the request
// should be sent again without that parameter.
func (c *Client) dropParameter(refusal *adapters.Error, sent sdk.ChatCompletionRequest) bool {
	text := strings.ToLower(refusal.Message)
	if strings.Contains(text, "reasoning_content") &&
		(strings.Contains(text, "missing") || strings.Contains(text, "must be") || strings.Contains(text, "required")) {
		return !c.cfg.EchoReasoning && c.quirks.echo.CompareAndSwap(false, true)
	}
	unsupported := false
	for _, word := range []string{"unsupported", "not supported", "unrecognized", "unknown", "extra", "not permitted",
		"not allowed", "unexpected", "does not support"} {
		unsupported = unsupported || strings.Contains(text, word)
	}
	if !unsupported {
		return false
	}
	// A concurrent call may have learnt the same, so decide by the request that this call sent. No request is
	// repeated unchanged.
	switch {
	case strings.Contains(text, "stream_options") && sent.StreamOptions != nil:
		c.quirks.noStreamOptions.Store(true)
		return true
	case strings.Contains(text, "max_tokens") || strings.Contains(text, "max_completion_tokens"):
		if (sent.MaxCompletionTokens > 0) == c.prefersCompletionTokens() && !refusesMaxTokens(c.cfg.Model) {
			c.quirks.otherMaxTokens.Store(true)
			return true
		}
	case strings.Contains(text, "reasoning_content"):
		return c.quirks.noEcho.CompareAndSwap(false, true)
	case strings.Contains(text, "temperature") && sent.Temperature != 0:
		c.quirks.noTemperature.Store(true)
		return true
	}
	return false
}

// prefersCompletionTokens reports whether to try max_completion_tokens first. OpenAI itself accepts it for all
// models. Many compatible servers know only max_tokens, which go-openai refuses for reasoning models.
func (c *Client) prefersCompletionTokens() bool {
	return c.cfg.BaseURL == Standard || isReasoningModel(c.cfg.Model)
}
