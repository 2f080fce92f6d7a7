package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"company/internal/adapters"
)

const (
	// noOutput stands for an empty text, which servers refuse.
	noOutput = "(no output)"
	// notRun answers a call that the conversation holds no result of: servers
	// refuse a conversation in which one is missing.
	notRun = "not executed: the conversation went on without it"
)

// opaque is what Message.Opaque holds for this wire: the order of a reply's
// blocks, and its thinking, which the server wants back unchanged. Another
// model cannot read it.
type opaque struct {
	Model  string  `json:"model"`
	Blocks []block `json:"blocks"`
}

// block is one block of a reply. Text and calls are in the message itself.
type block struct {
	Kind      string `json:"kind"`           // thinking, redacted, text, call
	Size      int    `json:"size,omitempty"` // bytes of a text
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"`
}

type blocks = []sdk.ContentBlockParamUnion

// toWire translates a request.
func (c *Client) toWire(req adapters.Request) sdk.MessageNewParams {
	out := sdk.MessageNewParams{Model: c.cfg.Model, MaxTokens: int64(req.Limit(c.Info()))}
	if req.Temperature != nil && !c.quirks.noTemperature.Load() {
		out.Temperature = param.NewOpt(*req.Temperature)
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, sdk.ToolUnionParam{OfTool: &sdk.ToolParam{
			Name: t.Name, Description: param.NewOpt(t.Description), InputSchema: param.Override[sdk.ToolInputSchemaParam](t.WireSchema()),
		}})
	}
	var system []string
	u := user{}
	for _, m := range req.Messages {
		switch m.Role {
		case adapters.System:
			system = append(system, m.Content)
		case adapters.Assistant:
			u.flushMessage(&out)
			out.Messages = append(out.Messages, sdk.NewAssistantMessage(c.assistantBlocks(m)...))
			u.open = m.ToolCalls
		case adapters.ToolRole:
			u.addResult(m)
		default:
			for _, image := range m.Images { // before the text, as the vendor advises
				u.texts = append(u.texts, sdk.NewImageBlockBase64(image.Type, base64.StdEncoding.EncodeToString(image.Data)))
			}
			u.texts = append(u.texts, sdk.NewTextBlock(nonEmptyText(m.Content)))
		}
	}
	u.flushMessage(&out)
	if len(system) > 0 {
		out.System = []sdk.TextBlockParam{{Text: nonEmptyText(strings.Join(system, "\n\n"))}}
	}
	if !c.quirks.noCache.Load() {
		setCacheMarks(&out)
	}
	return out
}

// nonEmptyText is s, or what stands for nothing.
func nonEmptyText(s string) string {
	if strings.TrimSpace(s) == "" {
		return noOutput
	}
	return s
}

// user gathers one message of the user: the results of the calls before it, all
// of them and first, then texts.
type user struct {
	open    []adapters.ToolCall // calls of the reply before
	results map[string]string
	texts   blocks
}

func (u *user) addResult(m adapters.Message) {
	for _, call := range u.open {
		if call.ID == m.ToolCallID {
			if u.results == nil {
				u.results = map[string]string{}
			}
			u.results[call.ID] = m.Content
			return
		}
	}
	// A result of no call would have the whole conversation refused.
	u.texts = append(u.texts, sdk.NewTextBlock("[result of "+m.ToolName+"]\n"+nonEmptyText(m.Content)))
}

// flushMessage ends the message.
func (u *user) flushMessage(out *sdk.MessageNewParams) {
	var all blocks
	for _, call := range u.open {
		content, ok := u.results[call.ID]
		if !ok {
			content = notRun
		}
		all = append(all, sdk.NewToolResultBlock(call.ID, nonEmptyText(content), !ok))
	}
	if all = append(all, u.texts...); len(all) > 0 {
		out.Messages = append(out.Messages, sdk.NewUserMessage(all...))
	}
	*u = user{}
}

// assistantBlocks is a reply as it goes back: in the order in which it came where that is
// known, with its thinking where this is the model that thought it.
func (c *Client) assistantBlocks(m adapters.Message) blocks {
	var o opaque
	if json.Unmarshal(m.Opaque, &o) != nil || o.Model != c.cfg.Model {
		o = opaque{}
	}
	size := 0
	for _, b := range o.Blocks {
		size += b.Size
	}
	content, calls := m.Content, m.ToolCalls
	var all blocks
	say := func(s string) {
		if strings.TrimSpace(s) != "" {
			all = append(all, sdk.NewTextBlock(s))
		}
	}
	call := func() {
		all = append(all, sdk.NewToolUseBlock(calls[0].ID, json.RawMessage(calls[0].WireArguments()), calls[0].Name))
		calls = calls[1:]
	}
	for _, b := range o.Blocks {
		switch {
		case b.Kind == "thinking":
			all = append(all, sdk.NewThinkingBlock(b.Signature, b.Thinking))
		case b.Kind == "redacted":
			all = append(all, sdk.NewRedactedThinkingBlock(b.Data))
		case b.Kind == "text" && size == len(m.Content):
			say(content[:b.Size])
			content = content[b.Size:]
		case b.Kind == "call" && len(calls) > 0:
			if size != len(m.Content) { // a text that was shortened since: in one piece, before the calls
				say(content)
				content = ""
			}
			call()
		}
	}
	say(content)
	for len(calls) > 0 {
		call()
	}
	if len(all) == 0 {
		all = append(all, sdk.NewTextBlock(noOutput))
	}
	return all
}

// setCacheMarks sets the marks of the server's cache: behind the tools and the system
// prompt, behind the newest message, and behind the one of the request before,
// which is where the next look-up begins. They cost nothing where a prompt is
// too short for them.
func setCacheMarks(out *sdk.MessageNewParams) {
	here := sdk.NewCacheControlEphemeralParam()
	if n := len(out.System); n > 0 {
		out.System[n-1].CacheControl = here
	} else if n := len(out.Tools); n > 0 {
		out.Tools[n-1].OfTool.CacheControl = here
	}
	marks := 0
	for i := len(out.Messages) - 1; i >= 0 && marks < 2; i-- {
		m := out.Messages[i]
		if m.Role != sdk.MessageParamRoleUser {
			continue
		}
		switch last := m.Content[len(m.Content)-1]; {
		case last.OfText != nil:
			last.OfText.CacheControl = here
		case last.OfToolResult != nil:
			last.OfToolResult.CacheControl = here
		}
		marks++
	}
}

// dropParameter reads a refusal for the name of a parameter that this server does not
// take, and reports whether the same request is worth sending without it.
func (c *Client) dropParameter(refusal *adapters.Error, sent sdk.MessageNewParams) bool {
	words := strings.ToLower(refusal.Message)
	switch {
	case strings.Contains(words, "temperature") && sent.Temperature.Valid():
		c.quirks.noTemperature.Store(true)
		return true
	case strings.Contains(words, "cache_control") && !c.quirks.noCache.Swap(true):
		return true
	}
	return false
}
