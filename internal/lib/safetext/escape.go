package safetext

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Escape makes text safe to display without hiding any of it. Characters that could control a terminal, reorder a line
// or be invisible become escapes (\x1b, \u202e). Newlines and tabs stay, and CRLF becomes a newline.
func Escape(s string) string {
	return strings.ReplaceAll(escape(s, func(r rune) bool { return control(r) || invisible(r) }), "\r\n", "\n")
}

// EscapeLine is like Escape, but returns one line of at most limit bytes.
func EscapeLine(s string, limit int) string {
	// Also cut the text before escaping: do not escape ten megabytes to show two hundred bytes.
	if len(s) > 4*limit {
		s = Head(s, 4*limit)
	}
	return Cut(strings.Join(strings.Fields(Escape(s)), " "), limit)
}

// EscapeControl makes text safe for a model: valid UTF-8, with terminal control characters and invisible tag
// characters escaped. Newlines, tabs and CRLF stay. Other invisible characters stay, too, so that an edit of a line
// that contains one can match.
func EscapeControl(s string) string {
	return escape(s, func(r rune) bool { return control(r) || tag(r) })
}

// EscapeJSON escapes the characters that Escape escapes in an encoded JSON value (\u009b). The meaning of the value
// and its line ends stay the same.
func EscapeJSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(r rune) bool { return control(r) || invisible(r) }) {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		switch {
		case !control(r) && !invisible(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

func control(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f
}

func tag(r rune) bool { return r >= 0xe0000 && r <= 0xe0fff }

// invisible reports whether a character draws no glyph, or looks like a blank, so that text could be hidden with it.
// These may be letters (fillers of Hangul), marks (variation selectors) or format characters. Format characters that
// are drawn do not count.
func invisible(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0x2028, r == 0x2029, r == 0x2800: // separators, the blank of Braille
		return true
	case r >= 0x13430 && r <= 0x1345f: // joiners of hieroglyphs
		return false
	case unicode.Is(unicode.Cf, r):
		return !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func escape(s string, bad func(rune) bool) string {
	var b strings.Builder
	clean := 0 // s[clean:i] needs no change
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		var as string
		switch {
		case r == utf8.RuneError && n == 1:
			as = fmt.Sprintf(`\x%02x`, s[i])
		case r == '\r' && strings.HasPrefix(s[i:], "\r\n"):
		case !bad(r):
		case r < 0x80:
			as = fmt.Sprintf(`\x%02x`, r)
		case r > 0xffff:
			as = fmt.Sprintf(`\U%08x`, r)
		default:
			as = fmt.Sprintf(`\u%04x`, r)
		}
		if as != "" {
			b.WriteString(s[clean:i])
			b.WriteString(as)
			clean = i + n
		}
		i += n
	}
	if clean == 0 {
		return s
	}
	b.WriteString(s[clean:])
	return b.String()
}
