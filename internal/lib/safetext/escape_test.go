package safetext

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// T18: what could steer a terminal or hide in a line is shown as an escape.
func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain äöü 漢字\n\ttab":      "plain äöü 漢字\n\ttab",
		"a\r\nb\rc":                "a\nb\\x0dc",
		"\x1b[31mred\x1b[0m":       `\x1b[31mred\x1b[0m`,
		"\x1b]0;title\x07":         `\x1b]0;title\x07`,
		"\u009b31m \x7f \x00":      `\u009b31m \x7f \x00`,
		"abc\u202edef\u2066x":      `abc\u202edef\u2066x`,
		"zero\u200bwidth\ufeff":    `zero\u200bwidth\ufeff`,
		"tag\U000e0041\U000e007f":  `tag\U000e0041\U000e007f`,
		"bad\xff\xc3":              `bad\xff\xc3`,
		"line\u2028sep \u00adsoft": `line\u2028sep \u00adsoft`,
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
	if got := EscapeControl(
		"a\r\nb\tc\x1b]0;t\x07\u202e\U000e0041\xff"); got != "a\r\nb\tc\\x1b]0;t\\x07\u202e\\U000e0041\\xff" {
		t.Errorf("EscapeControl: %q", got)
	}
	if got := EscapeLine(" a\n\tb \x1b "+strings.Repeat("é", 100), 20); got != `a b \x1b éééé…` || len(got) > 20 {
		t.Errorf("EscapeLine: %q, %d bytes", got, len(got))
	}
}

// What is hidden is the same here and on the page, whose test reads the same ranges (UI-1).
func TestHiddenCharacters(t *testing.T) {
	text, err := os.ReadFile("testdata/hidden.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	hidden := func(r rune) bool {
		return r != '\n' && r != '\t' && utf8.ValidRune(r) && Escape("a"+string(r)) != "a"+string(r)
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !hidden(r) {
			continue
		}
		first := r
		for hidden(r + 1) {
			r++
		}
		fmt.Fprintf(&got, "%04x-%04x\n", first, r)
	}
	if got.String() != string(text) {
		t.Errorf("hidden are:\n%s", got.String())
	}
}

// Feature: texts, Property 4: Escaped Text Is Safe
//
// Any bytes become text without control characters, once and for all (UI-1).
func TestAnyTextIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(
			rapid.SliceOf(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte("\x1b\xe2\x80\xae\r\n")))).Draw(t, "bytes")) +
			rapid.String().Draw(t, "text")
		got := Escape(s)
		if !utf8.ValidString(got) || Escape(got) != got {
			t.Fatalf("Escape(%q) = %q", s, got)
		}
		for _, r := range got {
			if control(r) || invisible(r) {
				t.Fatalf("Escape(%q) holds %U", s, r)
			}
		}
		limit := rapid.IntRange(3, 80).Draw(t, "limit")
		if line := EscapeLine(s, limit); len(line) > limit || strings.ContainsAny(line, "\n\t") || !utf8.ValidString(line) {
			t.Fatalf("EscapeLine(%q, %d) = %q", s, limit, line)
		}
		if cut := HeadTail(EscapeControl(s), limit+60); len(cut) > limit+60 || !utf8.ValidString(cut) {
			t.Fatalf("HeadTail: %q", cut)
		}
	})
}
