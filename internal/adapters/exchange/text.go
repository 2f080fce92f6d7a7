package exchange

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text is a text that comes in pieces. A piece may end in the middle of a character: in its UTF-8, or between the
// two escapes (\ud83d\ude00) of one that JSON writes as a pair.
type Text struct {
	strings.Builder
	half []byte // of a character, as it stands in the JSON
}

// Add appends a piece, which is a JSON string. It reports false for another value, and appends nothing then. null
// and a missing value are not text.
func (t *Text) Add(piece json.RawMessage) bool {
	piece = bytes.TrimSpace(piece)
	if len(piece) == 0 || string(piece) == "null" {
		return true
	}
	if piece[0] != '"' {
		return false
	}
	inner := append(t.half, piece[1:len(piece)-1]...)
	cut := len(inner) - halfAtEnd(inner)
	var text string
	if json.Unmarshal(append(append([]byte{'"'}, inner[:cut]...), '"'), &text) != nil {
		return false
	}
	t.half = bytes.Clone(inner[cut:])
	t.WriteString(text)
	return true
}

// Torn reports whether the text ends in the middle of a character.
func (t *Text) Torn() bool { return len(t.half) > 0 }

// halfAtEnd returns the number of bytes of an incomplete character at the end of a JSON string.
func halfAtEnd(inner []byte) int {
	for n := 1; n < min(utf8.UTFMax, len(inner)+1); n++ {
		if tail := inner[len(inner)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return n
			}
			break
		}
	}
	const escape = len(`\ud83d`)
	at := len(inner) - escape
	if at < 0 || inner[at] != '\\' || inner[at+1] != 'u' {
		return 0
	}
	unit, err := strconv.ParseUint(string(inner[at+2:]), 16, 16)
	before := len(inner[:at]) - len(bytes.TrimRight(inner[:at], `\`))
	if err != nil || unit < 0xD800 || unit > 0xDBFF || before%2 != 0 {
		return 0
	}
	return escape
}

// Members are the members of a JSON object.
type Members map[string]json.RawMessage

// MembersOf returns the members of an object, and nil for another value.
func MembersOf(raw json.RawMessage) Members {
	var m Members
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// Word returns a member that is a text, a number or a boolean as text, and "" for others.
func (m Members) Word(name string) string {
	raw := bytes.TrimSpace(m[name])
	var word string
	switch {
	case len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || string(raw) == "null":
	case json.Unmarshal(raw, &word) != nil:
		word = string(raw)
	}
	return word
}

// Count returns a member that is a number or the text of one, rounded down. ok is false if it is there and is neither.
func (m Members) Count(name string) (n int, ok bool) {
	word := m.Word(name)
	if word == "" {
		return 0, IsEmpty(m[name])
	}
	number, err := strconv.ParseFloat(word, 64)
	const most = 1 << 52
	return int(min(max(number, -most), most)), err == nil && number == number
}

// List returns the elements of a member that is a list, or the one value that it is.
func (m Members) List(name string) []json.RawMessage {
	var list []json.RawMessage
	switch raw := m[name]; {
	case IsEmpty(raw):
	case json.Unmarshal(raw, &list) != nil:
		list = []json.RawMessage{raw}
	}
	return list
}

// IsEmpty reports whether a value says nothing: null, "", [], {} or missing.
func IsEmpty(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", `""`, "[]", "{}":
		return true
	}
	return false
}

// ShortID returns an id of a call that suits every server: nine letters or digits, as Mistral wants it. Equal ids stay
// equal.
func ShortID(id string) string {
	const length = 9
	isPlain := func(r rune) bool { return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
	if len(id) == length && !strings.ContainsFunc(id, func(r rune) bool { return !isPlain(r) }) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:length]
}
