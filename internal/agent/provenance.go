package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"company/internal/adapters"
	"company/internal/company"
	"company/internal/jcs"
)

// PromptHash names what a conversation starts with: SHA-256 of the canonical JSON of
// its system message and its first message.
func PromptHash(system, first string) company.Hash {
	h, err := company.HashOf(struct {
		System string `json:"system"`
		First  string `json:"first"`
	}{toValidUTF8(system), toValidUTF8(first)})
	if err != nil {
		return "" // two strings have a canonical form
	}
	return h
}

// TextHash names a text: SHA-256 of its bytes.
func TextHash(text string) company.Hash {
	sum := sha256.Sum256([]byte(text))
	return company.Hash(hex.EncodeToString(sum[:]))
}

// RequestHash names a request as it was sent: SHA-256 of its canonical JSON. It is empty
// where it has none: a server may have given, to be sent back, what names a key twice.
func RequestHash(r adapters.Request) company.Hash {
	h, err := company.HashOf(r)
	if err != nil {
		return ""
	}
	return h
}

// requestHasher gives RequestHash of the requests of one conversation. It keeps the
// canonical text of each message, so that a long conversation costs little more.
type requestHasher struct{ known []knownMessage }

type knownMessage struct {
	adapters.Message
	text []byte
}

func (h *requestHasher) hashRequest(r adapters.Request) company.Hash {
	messages := r.Messages
	r.Messages = nil
	frame, err := jcs.Marshal(r)
	front, back, ok := bytes.Cut(frame, []byte(`"messages":null`))
	if err != nil || !ok {
		return ""
	}
	sum := sha256.New()
	sum.Write(front)
	sum.Write([]byte(`"messages":[`))
	for i, m := range messages {
		if i == len(h.known) {
			h.known = append(h.known, knownMessage{})
		}
		if h.known[i].text == nil || !isSameMessage(h.known[i].Message, m) {
			text, err := jcs.Marshal(m)
			if err != nil {
				return ""
			}
			h.known[i] = knownMessage{m, text}
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

// isSameMessage compares two messages. Texts that are one in memory are not read.
func isSameMessage(a, b adapters.Message) bool {
	return a.Role == b.Role && a.Content == b.Content && a.ToolCallID == b.ToolCallID && a.ToolName == b.ToolName &&
		slices.Equal(a.ToolCalls, b.ToolCalls) && bytes.Equal(a.Opaque, b.Opaque) &&
		slices.EqualFunc(a.Images, b.Images, func(a, b adapters.Image) bool { return a.Attachment == b.Attachment })
}
