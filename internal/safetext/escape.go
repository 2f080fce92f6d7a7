package safetext

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Escape makes text safe to show and hides nothing of it: what could steer a
// terminal, reorder a line or hide in it is written as an escape (\x1b,
// \u202e). Newlines and tabs stay; a CRLF becomes a newline.
func Escape(s string) string {
	return strings.ReplaceAll(escape(s, func(r rune) bool { return control(r) || invisible(r) }), "\r\n", "\n")
}

// EscapeLine is Escape on one line of at most limit bytes.
func EscapeLine(s string, limit int) string {
	// Bounded before the escaping too: ten megabytes are not worth escaping to
	// show two hundred bytes.
	if len(s) > 4*limit {
		s = Head(s, 4*limit)
	}
	return Cut(strings.Join(strings.Fields(Escape(s)), " "), limit)
}

// EscapeControl makes text safe for a model: valid UTF-8, newlines, tabs and
// CRLF as they are, terminal control and the invisible tag characters as
// escapes. Other invisible runes stay, so that an edit of a line that holds one
// can match.
func EscapeControl(s string) string {
	return escape(s, func(r rune) bool { return control(r) || tag(r) })
}

func control(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f
}

func tag(r rune) bool { return r >= 0xe0000 && r <= 0xe0fff }

func invisible(r rune) bool {
	switch {
	case r == 0x00ad, r == 0x061c, r == 0x180e, r == 0xfeff:
	case r >= 0x200b && r <= 0x200f: // zero width, LRM, RLM
	case r >= 0x2028 && r <= 0x202e: // separators, bidi embedding and override
	case r >= 0x2060 && r <= 0x206f: // word joiner, bidi isolates
	case r >= 0xfe00 && r <= 0xfe0f: // variation selectors
	case r >= 0xfff9 && r <= 0xfffb: // interlinear annotation
	case tag(r):
	default:
		return false
	}
	return true
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
