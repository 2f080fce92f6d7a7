// Package secretscan finds secrets in data before it is published, and masks them in text that is stored, sent to a
// model or shown to people. It finds the office's own secrets by their exact
// characters, even if they are encoded, and other secrets by their form. It contains the matcher; the forms are
// gitleaks' rules, kept as data (gitleaks.toml of v8.30.1, MIT).
//
// A finding never contains the secret. A text cannot switch off a rule; the name of a file or binary content only
// switches off the rules that guess. A search has limited cost and reports how much of a text it skipped. No work is
// done before the first search. The package does not read repositories and does not decide about findings.
package secretscan

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
)

// Own is a secret of the office: the name of its variable and its value.
type Own struct{ Name, Value string }

// MinOwn is the minimum length of a value that is searched for, because shorter ones occur everywhere.
const MinOwn = 8

// ownPrefix is how many bytes of a spelling the first pass looks for. A private key has thousands of bytes, and is
// searched for in a dozen spellings.
const ownPrefix = 16

// OwnRule is the rule of findings of the office's own secrets.
const OwnRule = "own-secret"

// Finding describes a secret in a text: its place and kind, but not its value.
type Finding struct {
	Line int
	Rule string // of gitleaks, or OwnRule
	What string // for people: "the value of GITHUB_TOKEN", "a GitHub personal access token"
	// Mark identifies a secret without revealing it: the same secret has the same mark in every text.
	Mark string
}

// Scanner knows the secrets of one office. It is safe for concurrent use.
type Scanner struct {
	own  []spelling
	salt string
	// ownWords finds the beginning of any of own in one pass; nil without any.
	ownWords *keywords
}

type spelling struct {
	name string
	text []byte
}

// New returns a scanner for an office's own secrets. salt prevents offices from comparing their marks; the office's
// id is sufficient.
func New(own []Own, salt string) *Scanner {
	scanner := &Scanner{salt: salt}
	var words []string
	for _, o := range own {
		value := strings.TrimSpace(o.Value)
		if len(value) < MinOwn {
			continue
		}
		for _, text := range secretSpellings(value) {
			scanner.own = append(scanner.own, spelling{o.Name, []byte(text)})
			words = append(words, lowerASCII(text[:min(len(text), ownPrefix)]))
		}
	}
	if len(words) > 0 {
		scanner.ownWords = newKeywords(words)
	}
	return scanner
}

// secretSpellings returns the encodings of a value to search for: plain, hex, URL-escaped, quoted for Go or JSON,
// reversed, as 2-byte and 4-byte characters, and base64. Since the bytes before a value shift its base64 form, there
// are three forms for each alphabet.
func secretSpellings(value string) []string {
	out := []string{value, hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value))),
		reverseString(value)}
	if !strings.ContainsFunc(value, func(r rune) bool { return r >= 0x80 }) {
		// The zeros at both ends are left out, so that it matches in both byte orders.
		out = append(out, strings.Join(strings.Split(value, ""), "\x00"),
			strings.Join(strings.Split(value, ""), "\x00\x00\x00"))
	}
	for _, escaped := range []string{url.QueryEscape(value), url.PathEscape(value),
		strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value)} {
		if escaped != value {
			out = append(out, escaped)
		}
	}
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			text := alphabet.EncodeToString(append(make([]byte, shift), value...))
			// Leave out the characters at both ends that depend on neighbouring bytes.
			first := (shift*8 + 5) / 6
			last := (shift + len(value)) * 8 / 6
			out = append(out, text[first:last])
		}
	}
	return out
}

// lowerASCII returns a text with its ASCII letters in lower case, as newKeywords needs it.
func lowerASCII(text string) string {
	out := []byte(text)
	for i, b := range out {
		if 'A' <= b && b <= 'Z' {
			out[i] = b - 'A' + 'a'
		}
	}
	return string(out)
}

func reverseString(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// sniffed is how many bytes of a text are examined to detect its encoding.
const sniffed = 8 << 10

// fromUTF16 converts UTF-16 to UTF-8. ok is false for any other text. It detects UTF-16 by its byte order mark or by
// zeros in every second byte.
func fromUTF16(text []byte) ([]byte, bool) {
	var order binary.ByteOrder = binary.LittleEndian
	head := text[:min(len(text), sniffed)]
	zeros := [2]int{}
	for i, c := range head {
		if c == 0 {
			zeros[i%2]++
		}
	}
	few, many := len(head)/20, len(head)/4
	switch {
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}) || zeros[1] > many && zeros[0] <= few:
	case bytes.HasPrefix(text, []byte{0xfe, 0xff}) || zeros[0] > many && zeros[1] <= few:
		order = binary.BigEndian
	default:
		return nil, false
	}
	units := make([]uint16, 0, len(text)/2)
	for ; len(text) >= 2; text = text[2:] {
		units = append(units, order.Uint16(text))
	}
	return []byte(string(utf16.Decode(units))), true
}

// general is the id of the rule for values that are assigned to a name such as "key".
const general = "generic-api-key"

func (s *Scanner) fingerprint(secret string) string {
	sum := sha256.Sum256([]byte(s.salt + "\x00" + secret))
	return hex.EncodeToString(sum[:8])
}
