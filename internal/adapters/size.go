package adapters

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Upper bounds of the tokens that a chat template adds around the parts of a request. Published templates need 3
// to 12 tokens per message and 10 to 30 per tool. Vendors add up to about 700 tokens before a conversation with
// tools.
const (
	tokensPerRequest = 1024
	tokensPerMessage = 32
	tokensPerTool    = 64
)

// InputBound returns an upper bound of the input tokens that a server can count for req. It relies on one fact:
// tokenizers are byte-level or fall back to bytes, so a token covers at least one byte of the text. The bound is
// about four times the real count for English or code. The real cost is settled by the server's own count.
//
// Tools are counted twice, because servers render their schemas in another notation.
func InputBound(req Request) int {
	n := tokensPerRequest
	for _, message := range req.Messages {
		for _, image := range message.Images {
			n += max(minImageTokens, ImageTokens(image.Width, image.Height))
		}
		n += tokensPerMessage + textBytes(message.Content) + textBytes(message.ToolCallID) + textBytes(message.ToolName) +
			textBytes(string(message.Opaque))
		for _, c := range message.ToolCalls {
			n += tokensPerMessage + textBytes(c.ID) + textBytes(c.Name) + textBytes(c.WireArguments())
		}
	}
	for _, t := range req.Tools {
		n += tokensPerTool + 2*(textBytes(t.Name)+textBytes(t.Description)+len(t.Schema))
	}
	return n
}

// minImageTokens is the bound of a small image. Servers that scale images down count up to about this number.
const minImageTokens = 1600

// ImageTokens returns the tokens of an image: width*height/750, as Anthropic counts
// (docs.anthropic.com/en/docs/vision, read 2026-11). Servers scale large images down and count less. OpenAI's
// rule, 85 and 170 for each tile of 512 pixels, gives about half of it. Only its gpt-4o-mini counts more, and
// the real cost is settled by its count.
func ImageTokens(width, height int) int { return (width*height + 749) / 750 }

// textBytes returns the length of s in JSON, where each invalid byte becomes the replacement character of three
// bytes.
func textBytes(s string) int {
	n := len(s)
	if utf8.ValidString(s) { // almost always true, and fast
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

// WireArguments returns the arguments of a past call as they are sent. Servers refuse a whole conversation if
// the arguments of one past call are not a JSON object. Other arguments are therefore wrapped as a string in an
// object.
func (c ToolCall) WireArguments() string {
	if c.Arguments == "" {
		return "{}"
	}
	// Check without decoding, because this runs for every call of a conversation with every request.
	if strings.HasPrefix(strings.TrimLeft(c.Arguments, " \t\r\n"), "{") && json.Valid([]byte(c.Arguments)) {
		return c.Arguments
	}
	wrapped, err := json.Marshal(map[string]string{"malformed_arguments": c.Arguments})
	if err != nil { // unreachable: a map of strings always encodes
		return "{}"
	}
	return string(wrapped)
}
