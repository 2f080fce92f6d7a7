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

// noOutput stands for an empty text: go-openai leaves an empty content out of
// the JSON, and servers refuse a tool's answer without one.
const noOutput = "(no output)"

// opaque is what Message.Opaque holds for this wire.
type opaque struct {
	Reasoning string `json:"reasoning_content"`
}

// toWire translates a request.
func (c *Client) toWire(req adapters.Request) sdk.ChatCompletionRequest {
	out := sdk.ChatCompletionRequest{Model: c.cfg.Model, Stream: true}
	if !c.quirks.noStreamOptions.Load() {
		out.StreamOptions = &sdk.StreamOptions{IncludeUsage: true}
	}
	for _, m := range req.Messages {
		out.Messages = append(out.Messages, c.wireMessage(m))
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, sdk.Tool{Type: sdk.ToolTypeFunction, Function: &sdk.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: t.WireSchema(),
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
		out.Temperature = cmp.Or(out.Temperature, math.SmallestNonzeroFloat32) // a plain 0 would be left out
	}
	if len(req.Tools) > 0 && (c.cfg.Model == sdk.GPT6Sol || c.cfg.Model == sdk.GPT6Luna) {
		out.ReasoningEffort = sdk.ReasoningEffortNone // else tools go over the Responses API only
	}
	return out
}

// refusesMaxTokens tells the names for which go-openai sends no max_tokens.
func refusesMaxTokens(model string) bool {
	return isReasoningModel(model) && !strings.Contains(model, "/")
}

func (c *Client) wireMessage(m adapters.Message) sdk.ChatCompletionMessage {
	out := sdk.ChatCompletionMessage{Role: m.Role, Content: m.Content, ToolCallID: m.ToolCallID}
	for _, call := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, sdk.ToolCall{
			ID: call.ID, Type: sdk.ToolTypeFunction, // and no Index: that belongs to deltas
			Function: sdk.FunctionCall{Name: call.Name, Arguments: call.WireArguments()},
		})
	}
	if out.Content == "" && len(out.ToolCalls) == 0 {
		out.Content = noOutput
	}
	if len(m.Images) > 0 {
		out.MultiContent, out.Content = wireParts(m), ""
	}
	if (c.cfg.EchoReasoning || c.quirks.echo.Load()) && !c.quirks.noEcho.Load() && len(m.Opaque) > 0 {
		var o opaque
		if json.Unmarshal(m.Opaque, &o) == nil {
			out.ReasoningContent = o.Reasoning
		}
	}
	return out
}

// wireParts is a message with images: these first, as vendors advise, each as a data URI.
func wireParts(m adapters.Message) []sdk.ChatMessagePart {
	var out []sdk.ChatMessagePart
	for _, image := range m.Images {
		out = append(out, sdk.ChatMessagePart{Type: sdk.ChatMessagePartTypeImageURL, ImageURL: &sdk.ChatMessageImageURL{
			URL: "data:" + image.Type + ";base64," + base64.StdEncoding.EncodeToString(image.Data),
		}})
	}
	return append(out, sdk.ChatMessagePart{Type: sdk.ChatMessagePartTypeText, Text: cmp.Or(m.Content, noOutput)})
}

// dropParameter reads a refusal for the name of a parameter that this server does not
// take, and reports whether the same request is worth sending without it.
func (c *Client) dropParameter(refusal *adapters.Error, sent sdk.ChatCompletionRequest) bool {
	text := strings.ToLower(refusal.Message)
	if strings.Contains(text, "reasoning_content") && (strings.Contains(text, "missing") || strings.Contains(text, "must be") || strings.Contains(text, "required")) {
		return !c.cfg.EchoReasoning && c.quirks.echo.CompareAndSwap(false, true)
	}
	unsupported := false
	for _, word := range []string{"unsupported", "not supported", "unrecognized", "unknown", "extra", "not permitted", "not allowed", "unexpected", "does not support"} {
		unsupported = unsupported || strings.Contains(text, word)
	}
	if !unsupported {
		return false
	}
	// Another call may have learnt the same meanwhile, so what counts is what
	// this one sent; nothing is sent twice in the same way.
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

// prefersCompletionTokens says which of the two limits is tried first. OpenAI
// itself takes max_completion_tokens for all models; many compatible servers
// know only max_tokens, and go-openai refuses that for its reasoning models.
func (c *Client) prefersCompletionTokens() bool {
	return c.cfg.BaseURL == Standard || isReasoningModel(c.cfg.Model)
}
