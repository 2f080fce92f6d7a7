package agent

import (
	"crypto/sha256"
	"encoding/hex"

	"company/internal/adapters"
	"company/internal/company"
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
