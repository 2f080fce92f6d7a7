// Package leak finds secrets in data that is about to be published: the
// office's own by their very characters, also where they are encoded, and those
// of others by their shape. It owns the matcher; the shapes are gitleaks'
// rules, kept as data (gitleaks.toml of v8.30.1, MIT). It promises that a
// finding never holds the secret, that the text itself cannot switch a rule
// off, that the name of a file or bytes that are no text switch off those rules
// alone that guess, that a search has a bounded cost and says how much of a text
// it left out, and that it costs nothing until it is first asked. It does not
// read repositories and does not decide what becomes of a finding.
package leak

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

// Own is a secret of the office: the name of its variable, and its value.
type Own struct{ Name, Value string }

// MinOwn is the fewest characters of a value that is looked for: shorter ones
// occur everywhere.
const MinOwn = 8

// OwnRule is the rule of a finding that is a secret of the office itself.
const OwnRule = "own-secret"

// Finding is a secret in a text. It tells where and what sort, not which.
type Finding struct {
	Line int
	Rule string // of gitleaks, or OwnRule
	What string // for people: "the value of GITHUB_TOKEN", "a GitHub personal access token"
	// Mark tells one secret from another and gives none away: the same secret
	// has the same mark in every text.
	Mark string
}

// Scanner knows the secrets of one office. It may be used by many goroutines.
type Scanner struct {
	own  []spelling
	salt string
}

type spelling struct {
	name string
	text []byte
}

// New is a scanner for an office's own secrets. salt keeps marks of one office
// from telling another anything; its id will do.
func New(own []Own, salt string) *Scanner {
	s := &Scanner{salt: salt}
	for _, o := range own {
		value := strings.TrimSpace(o.Value)
		if len(value) < MinOwn {
			continue
		}
		for _, text := range secretSpellings(value) {
			s.own = append(s.own, spelling{o.Name, []byte(text)})
		}
	}
	return s
}

// secretSpellings are the ways in which a value is written down: as it is, in hex,
// escaped for an address, in quotes of Go or JSON, reversed, in letters of two
// and of four bytes, and in base64, where what stands before it shifts the letters: three of
// each alphabet.
func secretSpellings(value string) []string {
	out := []string{value, hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value))), reverseString(value)}
	if !strings.ContainsFunc(value, func(r rune) bool { return r >= 0x80 }) {
		// Less the zeros at both ends, so that it is found whichever byte comes
		// first.
		out = append(out, strings.Join(strings.Split(value, ""), "\x00"), strings.Join(strings.Split(value, ""), "\x00\x00\x00"))
	}
	for _, escaped := range []string{url.QueryEscape(value), url.PathEscape(value), strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value)} {
		if escaped != value {
			out = append(out, escaped)
		}
	}
	for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			text := alphabet.EncodeToString(append(make([]byte, shift), value...))
			// What depends on the neighbours is left out at both ends.
			first := (shift*8 + 5) / 6
			last := (shift + len(value)) * 8 / 6
			out = append(out, text[first:last])
		}
	}
	return out
}

func reverseString(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// sniffed is how much of a text is looked at to tell whether it is one.
const sniffed = 8 << 10

// fromUTF16 is a text of letters of two bytes in those of one; ok is false for
// any other. It is recognised by its byte order mark, or by zeros in every
// second place.
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

// general is the rule for whatever is assigned to a name such as "key".
const general = "generic-api-key"

func (s *Scanner) fingerprint(secret string) string {
	sum := sha256.Sum256([]byte(s.salt + "\x00" + secret))
	return hex.EncodeToString(sum[:8])
}
