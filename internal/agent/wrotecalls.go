package agent

import (
	"slices"

	"company/internal/lib/lazyregexp"
)

var (
	// callMarkRE matches marks with which models begin a call in text.
	callMarkRE = lazyregexp.New(
		`<(?:tool_call|function_call|tool_use)>|<function=[A-Za-z0-9_-]+>|<invoke name="|\[TOOL_CALLS\]|<\|python_tag\|>`)
	// calledNameRE matches the tool name of a call in JSON.
	calledNameRE = lazyregexp.New(`"(?:tool|name|function)"\s*:\s*"([A-Za-z0-9_-]{1,64})"`)
)

// seemsToCall reports whether the text of a reply seems to contain a call. It only affects messages to the model
// and to people.
func (c *conversation) seemsToCall(text string) bool {
	if callMarkRE.MatchString(text) {
		return true
	}
	return slices.ContainsFunc(calledNameRE.FindAllStringSubmatch(text, -1), func(m []string) bool {
		return slices.ContainsFunc(c.cfg.Tools, func(t Tool) bool { return t.Spec.Name == m[1] })
	})
}

// NoToolsHint suggests a fix for a conversation that ended as EndNoTools. It returns "" if only another model
// helps.
func (o Outcome) NoToolsHint() string {
	if o.End != EndNoTools || !o.WroteCalls {
		return ""
	}
	return "put `tools: no` into the model's profile, or use a model and a server that can call tools: it seems to " +
		"write calls into its text, which is not read for calls"
}
