package openai

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
	"company/internal/lib/lazyregexp"
)

// quirks records the rules of a server beyond the wire's. They are learnt from its refusals, so each refusal happens
// once per Client.
type quirks struct {
	refused     map[string]bool // members that it refuses; max_tokens means the first tried of its two names
	echo        bool            // each reply needs its reasoning back
	strictOrder bool            // no message of the user follows a tool's result
	ownIDs      bool            // ids of calls need a form that suits all servers
	output      exchange.OutputCap
}

var (
	unsupportedRE = lazyregexp.New(`unsupported|not supported|unrecognized|unknown|\bextra|not permitted|not allowed|` +
		`forbidden|unexpected|does not support|only .{1,40} (?:allowed|supported)|invalid temperature`)
	demandedRE = lazyregexp.New(`missing|must|required|needed`)
	orderRE    = lazyregexp.New(`roles? must alternate|unexpected role|after role|conversation roles|message order`)
	callIDRE   = lazyregexp.New(`tool.?call.?id|tool_calls\[\d+\]\.id|tool_use\.id`)
)

// adaptTo learns a rule from a refusal. It reports whether the request should be sent again. A concurrent call may
// have learnt the same, so the request that this call sent decides, and none is repeated unchanged.
func (c *Client) adaptTo(refusal *adapters.Error, sent request) bool {
	if sent.forwarded != nil {
		return leaveOut(refusal, sent, func(name string) bool {
			learnt := sent.learnt
			learnt.noteRefused(name)
			sent.forwarded.Learnt.Store(learnt)
			return true
		})
	}
	if c.lowerOutput(refusal, sent) {
		return true
	}
	text := strings.ToLower(refusal.Message)
	isUnsupported := unsupportedRE.MatchString(text)
	switch {
	case !isUnsupported && strings.Contains(text, reasoningContent) && demandedRE.MatchString(text):
		return !sent.learnt.echo && c.learnRule(func(q *quirks) { q.echo = true })
	case orderRE.MatchString(text):
		return !sent.learnt.strictOrder && c.learnRule(func(q *quirks) { q.strictOrder = true })
	case callIDRE.MatchString(text):
		return !sent.learnt.ownIDs && c.learnRule(func(q *quirks) { q.ownIDs = true })
	}
	return leaveOut(refusal, sent, func(name string) bool {
		return c.learnRule(func(q *quirks) { q.noteRefused(name) })
	})
}

// noteRefused records a member that the server refuses.
func (q *quirks) noteRefused(name string) {
	q.refused = maps.Clone(q.refused)
	if q.refused == nil {
		q.refused = map[string]bool{}
	}
	q.refused[name] = true
}

// leaveOut passes the member of a request that a server refuses by its name to learn. It returns false if there is
// none.
func leaveOut(refusal *adapters.Error, sent request, learn func(name string) bool) bool {
	text := strings.ToLower(refusal.Message)
	if !unsupportedRE.MatchString(text) {
		return false
	}
	var names []string
	if sent.StreamOptions != nil {
		names = append(names, "stream_options")
	}
	if sent.Temperature != nil {
		names = append(names, "temperature")
	}
	if !sent.learnt.refused["max_tokens"] {
		names = append(names, "max_completion_tokens", "max_tokens")
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, name := range append(names, sent.kept...) {
		if !slices.Contains(words, strings.ToLower(name)) {
			continue
		}
		if name == "max_completion_tokens" && !sent.learnt.refused["max_tokens"] {
			name = "max_tokens"
		}
		if sent.learnt.refused[name] {
			continue
		}
		return learn(name)
	}
	return false
}

// lowerOutput learns the model's output cap from a refusal of a longer reply.
func (c *Client) lowerOutput(refusal *adapters.Error, sent request) (ok bool) {
	c.learnRule(func(q *quirks) {
		q.output, ok = q.output.Lowered(refusal.Message, max(sent.MaxTokens, sent.MaxCompletionTokens))
	})
	return ok
}

// learnRule changes what is known of the server, and returns true.
func (c *Client) learnRule(change func(*quirks)) bool {
	c.learning.Lock()
	defer c.learning.Unlock()
	now := *c.quirks.Load()
	change(&now)
	c.quirks.Store(&now)
	return true
}
