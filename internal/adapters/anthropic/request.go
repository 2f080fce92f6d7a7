package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
)

const (
	// noOutput replaces an empty text, which servers refuse.
	noOutput = "(no output)"
	// notRun is the result of a call whose result is missing in the conversation, because servers refuse such a
	// conversation.
	notRun = "not executed: the conversation went on without it"
)

// opaque is the content of Message.Opaque for this wire: the order of a reply's blocks, and its thinking, which
// the server needs back unchanged. Another model cannot read it.
type opaque struct {
	Model  string  `json:"model"`
	Blocks []block `json:"blocks"`
}

// block is one block of a reply. Text and calls are stored in the message itself.
type block struct {
	Kind      string `json:"kind"`           // thinking, redacted, text, call
	Size      int    `json:"size,omitempty"` // bytes of a text
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"`
}

// toWire converts a request into the wire's form.
func (c *Client) toWire(req adapters.Request) request {
	out := request{Model: c.cfg.Model, MaxTokens: c.quirks.output.Load().Limit(req.Limit(c.Info())), Stream: true}
	if !c.quirks.noTemperature.Load() {
		out.Temperature = req.Temperature
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: t.WireSchema()})
	}
	var system []string
	u := user{}
	for _, m := range req.Messages {
		switch m.Role {
		case adapters.System:
			system = append(system, m.Content)
		case adapters.Assistant:
			u.flushMessage(&out)
			out.Messages = append(out.Messages, message{Role: adapters.Assistant, Content: c.assistantBlocks(m)})
			u.open = m.ToolCalls
		case adapters.ToolRole:
			u.addResult(m)
		default:
			for _, image := range m.Images { // before the text, as the vendor recommends
				from := source{Type: "base64", MediaType: image.Type, Data: base64.StdEncoding.EncodeToString(image.Data)}
				u.texts = append(u.texts, content{Type: "image", Source: &from})
			}
			u.texts = append(u.texts, newText(m.Content))
		}
	}
	u.flushMessage(&out)
	if len(system) > 0 {
		out.System = []content{newText(strings.Join(system, "\n\n"))}
	}
	if !c.quirks.noCache.Load() {
		setCacheMarks(&out)
	}
	return out
}

// newText returns a text block, with noOutput for an empty text.
func newText(s string) content {
	if strings.TrimSpace(s) == "" {
		s = noOutput
	}
	return content{Type: "text", Text: s}
}

// user collects one user message: first the results of all calls before it, then texts.
type user struct {
	open    []adapters.ToolCall // calls of the previous reply
	results map[string]string
	texts   []content
}

func (u *user) addResult(message adapters.Message) {
	for _, call := range u.open {
		if call.ID == message.ToolCallID {
			if u.results == nil {
				u.results = map[string]string{}
			}
			u.results[call.ID] = message.Content
			return
		}
	}
	// The server would refuse the whole conversation for a result without a call.
	u.texts = append(
		u.texts, content{Type: "text", Text: "[result of " + message.ToolName + "]\n" + newText(message.Content).Text})
}

// flushMessage adds the collected message to out.
func (u *user) flushMessage(out *request) {
	var all []content
	for _, call := range u.open {
		result, ok := u.results[call.ID]
		if !ok {
			result = notRun
		}
		all = append(all, content{Type: "tool_result", ToolUseID: wireID(call.ID),
			Content: []content{newText(result)}, IsError: !ok})
	}
	if all = append(all, u.texts...); len(all) > 0 {
		out.Messages = append(out.Messages, message{Role: adapters.User, Content: all})
	}
	*u = user{}
}

// assistantBlocks returns a reply as it is sent back. The blocks are in their original order if that is known,
// and include thinking if it is from the same model.
func (c *Client) assistantBlocks(message adapters.Message) []content {
	var o opaque
	if json.Unmarshal(message.Opaque, &o) != nil || o.Model != c.cfg.Model {
		o = opaque{}
	}
	size := 0
	for _, b := range o.Blocks {
		size += b.Size
	}
	text, calls := message.Content, message.ToolCalls
	var all []content
	say := func(s string) {
		if strings.TrimSpace(s) != "" {
			all = append(all, newText(s))
		}
	}
	call := func() {
		all = append(
			all, content{Type: "tool_use", ID: wireID(calls[0].ID), Name: calls[0].Name,
				Input: json.RawMessage(calls[0].WireArguments())})
		calls = calls[1:]
	}
	for _, block := range o.Blocks {
		switch {
		case block.Kind == "thinking":
			all = append(all, content{Type: "thinking", Thinking: &block.Thinking, Signature: &block.Signature})
		case block.Kind == "redacted":
			all = append(all, content{Type: "redacted_thinking", Data: block.Data})
		case block.Kind == "text" && size == len(message.Content):
			say(text[:block.Size])
			text = text[block.Size:]
		case block.Kind == "call" && len(calls) > 0:
			if size != len(message.Content) { // the text was shortened since: put it in one piece before the calls
				say(text)
				text = ""
			}
			call()
		}
	}
	say(text)
	for len(calls) > 0 {
		call()
	}
	if len(all) == 0 {
		all = append(all, newText(""))
	}
	return all
}

// setCacheMarks sets the marks of the server's cache. One follows the tools and the system prompt. The others
// follow the newest user message and the one before it, where the server's next look-up starts. Marks are free
// if a prompt is too short for them.
func setCacheMarks(out *request) {
	here := &cacheControl{Type: "ephemeral"}
	if n := len(out.System); n > 0 {
		out.System[n-1].CacheControl = here
	} else if n := len(out.Tools); n > 0 {
		out.Tools[n-1].CacheControl = here
	}
	marks := 0
	for i := len(out.Messages) - 1; i >= 0 && marks < 2; i-- {
		message := out.Messages[i]
		if message.Role != adapters.User {
			continue
		}
		if last := &message.Content[len(message.Content)-1]; last.Type != "image" {
			last.CacheControl = here
		}
		marks++
	}
}

// dropParameter searches a refusal for the name of an unsupported parameter, and for the model's output cap. It reports
// whether the request should be sent again without that parameter, or with that cap.
func (c *Client) dropParameter(refusal *adapters.Error, sent request) bool {
	now := c.quirks.output.Load()
	if lower, ok := now.Lowered(refusal.Message, sent.MaxTokens); ok {
		c.quirks.output.CompareAndSwap(now, &lower) // a concurrent call has learnt it otherwise
		return true
	}
	words := strings.ToLower(refusal.Message)
	switch {
	case strings.Contains(words, "temperature") && sent.Temperature != nil:
		c.quirks.noTemperature.Store(true)
		return true
	case strings.Contains(words, "cache_control") && !c.quirks.noCache.Swap(true):
		return true
	}
	return false
}

// wireID returns the id of a call, which may be of another vendor's model, as the server accepts it.
func wireID(id string) string {
	if adapters.WireName(id) == id {
		return id
	}
	return exchange.ShortID(id)
}
