// Package leak finds secrets in what is about to be published: the office's own
// by their very characters, also where they are encoded, and those of others by
// their shape. It owns the matcher; the shapes are gitleaks' rules, kept as data
// (gitleaks.toml of v8.30.1, MIT). It promises that a finding never holds the
// secret, that words in the text cannot switch a rule off, and that it costs
// nothing until it is first asked. It does not read repositories and does not
// decide what becomes of a finding.
package leak

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"sort"
	"strings"
)

// Own is a secret of the office: the name of its variable, and its value.
type Own struct{ Name, Value string }

// MinOwn is the fewest characters of a value that is looked for: shorter ones
// are words that stand everywhere.
const MinOwn = 8

// Finding is a secret in a text. It tells where and what sort, not which.
type Finding struct {
	Line int
	Rule string // of gitleaks, or own-secret
	What string // for people: "the value of GITHUB_TOKEN", "a GitHub personal access token"
	// Mark tells one secret from another and gives none away: the same secret
	// has the same mark in every text.
	Mark string
}

// Scanner looks for the secrets of one office and for known shapes. It may be
// used by many goroutines.
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
		for _, text := range spellings(value) {
			s.own = append(s.own, spelling{o.Name, []byte(text)})
		}
	}
	return s
}

// spellings are the ways in which a value is written down: as it is, in hex,
// escaped for an address, in quotes of Go or JSON, reversed, and in base64,
// where what stands before it shifts the letters: three of each alphabet.
func spellings(value string) []string {
	out := []string{value, hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value))), reversed(value)}
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

func reversed(s string) string {
	b := []byte(s)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

// sniffed is how much of a text is looked at to tell whether it is one.
const sniffed = 8 << 10

// Scan looks through a text of a file (path empty: a commit's message). The
// order is by line.
func (s *Scanner) Scan(path string, text []byte) []Finding {
	var out []Finding
	seen := map[string]bool{}
	add := func(at int, rule, what, secret string) {
		f := Finding{Line: 1 + bytes.Count(text[:at], []byte("\n")), Rule: rule, What: what, Mark: s.mark(secret)}
		if !seen[f.Mark] {
			seen[f.Mark] = true
			out = append(out, f)
		}
	}
	for _, o := range s.own {
		if at := bytes.Index(text, o.text); at >= 0 {
			add(at, "own-secret", "the value of "+o.name, o.name)
		}
	}
	if bytes.IndexByte(text[:min(len(text), sniffed)], 0) < 0 {
		found := shapes().match(path, string(text))
		// What a rule of its own knows is not named by the general one too.
		sort.SliceStable(found, func(i, j int) bool { return found[i].rule.ID != general && found[j].rule.ID == general })
		for _, m := range found {
			add(m.at, m.rule.ID, m.rule.words(), m.secret)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Line < out[j].Line })
	return out
}

// general is the rule for whatever is assigned to a name such as "key".
const general = "generic-api-key"

func (s *Scanner) mark(secret string) string {
	sum := sha256.Sum256([]byte(s.salt + "\x00" + secret))
	return hex.EncodeToString(sum[:8])
}
