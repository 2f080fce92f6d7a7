package adapters

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// What a chat template may add around the parts of a request. Published
// templates need 3 to 12 tokens a message and 10 to 30 a tool; vendors put up
// to about 700 tokens of their own before a conversation with tools.
const (
	tokensPerRequest = 1024
	tokensPerMessage = 32
	tokensPerTool    = 64
)

// InputBound is an upper bound of the input tokens that a server can count for
// req. It rests on one fact: tokenizers are byte-level or fall back to bytes,
// so that a token stands for at least one byte of the text. That is about four
// times what English or code really takes; what a call truly cost is settled
// from the server's own count.
//
// Tools are counted twice, since a server renders their schemas in a notation
// of its own.
func InputBound(req Request) int {
	n := tokensPerRequest
	for _, m := range req.Messages {
		for _, image := range m.Images {
			n += max(minImageTokens, ImageTokens(image.Width, image.Height))
		}
		n += tokensPerMessage + textBytes(m.Content) + textBytes(m.ToolCallID) + textBytes(m.ToolName) + textBytes(string(m.Opaque))
		for _, c := range m.ToolCalls {
			n += tokensPerMessage + textBytes(c.ID) + textBytes(c.Name) + textBytes(c.WireArguments())
		}
	}
	for _, t := range req.Tools {
		n += tokensPerTool + 2*(textBytes(t.Name)+textBytes(t.Description)+len(t.Schema))
	}
	return n
}

// minImageTokens is the bound of a small image: servers that scale images down count up to
// about so many.
const minImageTokens = 1600

// ImageTokens is how many tokens an image is: width*height/750, as Anthropic counts
// (docs.anthropic.com/en/docs/vision, read 2026-11). Servers scale large images down and count
// less. OpenAI's rule, 85 and 170 for each tile of 512 pixels, gives about half of it; its
// gpt-4o-mini alone counts more, and what that truly cost is settled from its count.
func ImageTokens(width, height int) int { return (width*height + 749) / 750 }

// textBytes is the length of s as it travels: JSON makes each invalid byte the
// replacement character, which has three.
func textBytes(s string) int {
	n := len(s)
	if utf8.ValidString(s) { // nearly always, and quick
		return n
	}
	for i := 0; i < len(s); {
		r, width := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && width == 1 {
			n += 2
		}
		i += width
	}
	return n
}

// WireArguments is the form in which a past call of the history is sent:
// servers refuse a whole conversation for one past call whose arguments are not
// a JSON object, so a malformed one travels as a string inside one.
func (c ToolCall) WireArguments() string {
	if c.Arguments == "" {
		return "{}"
	}
	// Looked at and not decoded: every call of a conversation comes by here
	// with every request.
	if strings.HasPrefix(strings.TrimLeft(c.Arguments, " \t\r\n"), "{") && json.Valid([]byte(c.Arguments)) {
		return c.Arguments
	}
	wrapped, err := json.Marshal(map[string]string{"malformed_arguments": c.Arguments})
	if err != nil { // a map of strings always encodes
		return "{}"
	}
	return string(wrapped)
}
