package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"company/internal/adapters"
	"company/internal/company"
	"company/internal/company/jcs"
)

// PromptHash identifies the start of a conversation: SHA-256 of the canonical JSON of its system message and its
// first message.
func PromptHash(system, first string) company.Hash {
	hash, err := company.HashOf(struct {
		System string `json:"system"`
		First  string `json:"first"`
	}{toValidUTF8(system), toValidUTF8(first)})
	if err != nil {
		return "" // unreachable: two strings always have a canonical form
	}
	return hash
}

// TextHash returns the SHA-256 of a text's bytes.
func TextHash(text string) company.Hash {
	sum := sha256.Sum256([]byte(text))
	return company.Hash(hex.EncodeToString(sum[:]))
}

// RequestHash identifies a request as it was sent: SHA-256 of its canonical JSON. It is empty if there is no
// canonical form, because a server may send JSON with duplicate keys that is sent back.
func RequestHash(r adapters.Request) company.Hash {
	hash, err := company.HashOf(r)
	if err != nil {
		return ""
	}
	return hash
}

// requestHasher computes RequestHash for the requests of one conversation. It caches the canonical text of each
// message, so that long conversations stay cheap.
type requestHasher struct{ known []knownMessage }

type knownMessage struct {
	adapters.Message
	text []byte
}

func (h *requestHasher) hashRequest(request adapters.Request) company.Hash {
	messages := request.Messages
	request.Messages = nil
	frame, err := jcs.Marshal(request)
	front, back, ok := bytes.Cut(frame, []byte(`"messages":null`))
	if err != nil || !ok {
		return ""
	}
	sum := sha256.New()
	sum.Write(front)
	sum.Write([]byte(`"messages":[`))
	for i, message := range messages {
		if i == len(h.known) {
			h.known = append(h.known, knownMessage{})
		}
		if h.known[i].text == nil || !isSameMessage(h.known[i].Message, message) {
			text, err := jcs.Marshal(message)
			if err != nil {
				return ""
			}
			h.known[i] = knownMessage{message, text}
		}
		if i > 0 {
			sum.Write([]byte(","))
		}
		sum.Write(h.known[i].text)
	}
	sum.Write([]byte("]"))
	sum.Write(back)
	return company.Hash(hex.EncodeToString(sum.Sum(nil)))
}

// isSameMessage compares two messages. Strings that share memory are compared without being read.
func isSameMessage(message, b adapters.Message) bool {
	return message.Role == b.Role && message.Content == b.Content && message.ToolCallID == b.ToolCallID &&
		message.ToolName == b.ToolName &&
		slices.Equal(message.ToolCalls, b.ToolCalls) && bytes.Equal(message.Opaque, b.Opaque) &&
		slices.EqualFunc(message.Images, b.Images, func(a, b adapters.Image) bool { return a.Attachment == b.Attachment })
}
