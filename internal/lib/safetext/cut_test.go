package safetext

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestStrip(t *testing.T) {
	for in, want := range map[string]string{
		"plain äöü 漢字\n\ttab":      "plain äöü 漢字\n\ttab",
		"a\r\nb":                   "a\nb",
		"\x1b[31mred\x1b[0m":       "[31mred[0m",
		"abc\u202edef\u2066x":      "abcdefx",
		"zero\u200bwidth\ufeff":    "zerowidth",
		"heart\ufe0f":              "heart",
		"tag\U000e0041\U000e007f!": "tag!",
		"bad\xff":                  "bad\ufffd",
	} {
		if got := Strip(in); got != want {
			t.Errorf("Strip(%q) = %q, want %q", in, got, want)
		}
	}
	if got := StripLine(" a\r\nb\rc\t\x1b d "); got != "a b c d" {
		t.Errorf("StripLine: %q", got)
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct{ name, got, want string }{
		{"short", Cut("abc", 3), "abc"},
		{"long", Cut("abcdef", 5), "ab…"},
		{"inside a character", Cut("aéé", 4), "a…"},
		{"between words", CutBetweenWords("one two three", 12), "one two …"},
		{"after a word", CutBetweenWords("one two three", 11), "one two …"},
		{"one long word", CutBetweenWords("onetwothree", 9), "onetw …"},
		{"head", Head("aéé", 2), "a"},
		{"no room", Head("abc", -1), ""},
		{"first line", FirstLine("\n  first \r\nsecond"), "first"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

// Feature: texts, Property 3: Cut Text Is Text
//
// Of any text a cut one is text within the limit (CLI-7).
func TestAnyTextIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, limit := rapid.String().Draw(t, "text"), rapid.IntRange(4, 40).Draw(t, "limit")
		for _, got := range []string{Cut(s, limit), CutBetweenWords(s, limit), Head(s, limit)} {
			if len(got) > limit || !utf8.ValidString(got) {
				t.Fatalf("%q of %q within %d", got, s, limit)
			}
			if len(s) <= limit && got != s {
				t.Fatalf("%q was cut to %q within %d", s, got, limit)
			}
			if kept := strings.TrimRight(got, " …"); !strings.HasPrefix(s, kept) {
				t.Fatalf("%q is no start of %q", kept, s)
			}
		}
	})
}
