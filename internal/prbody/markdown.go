package prbody

import (
	"strings"
	"unicode/utf8"

	"company/internal/lazyregexp"
	"company/internal/safetext"
)

// closingWordsRE matches the verbs by which a forge closes or reopens an issue
// when the text is merged, in front of anything that may name one.
var closingWordsRE = lazyregexp.New(`(?i)\b(clos|fix|resolv|reopen|implement)(e[sd]?|ing|s|ed)?(:?\s+)(#|[a-z]+://|gh-|[\w.-]+/[\w.-]+#|![0-9]|[\w-]+-[0-9])`)

// escapeMarkdown makes text of agents and people harmless in Markdown that a
// forge shows: no HTML, no images, no mentions, no verbs that close issues
// (T22). It is one line.
func escapeMarkdown(s string) string { return escapeInline(safetext.StripLine(s)) }

// escapeQuoted is escapeMarkdown of a line that is quoted: its blanks stay as they are.
func escapeQuoted(line string) string {
	return escapeInline(strings.ReplaceAll(safetext.Strip(line), "\t", "    "))
}

func escapeInline(s string) string {
	s = closingWordsRE.ReplaceAllStringFunc(s, func(m string) string {
		_, size := utf8.DecodeRuneInString(m)
		return m[:size] + zeroWidth + m[size:]
	})
	r := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "![", "!\\[", "@", "@"+zeroWidth, "|", "\\|", "#", "#"+zeroWidth)
	return r.Replace(s)
}

// escapeWithin is escapeMarkdown of s, cut to at most n bytes. Of a long text it looks
// at the beginning alone.
func escapeWithin(s string, n int) string {
	if head := safetext.Head(s, 8*n); len(head) < len(s) {
		if text := escapeMarkdown(head); len(text) > 2*n {
			return truncateText(text, n)
		}
	}
	return truncateText(escapeMarkdown(s), n)
}

// UnescapeMarkdown is a text of ours without what inert put between its letters: what a
// person reads, for a program that reads it.
func UnescapeMarkdown(s string) string {
	return strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "!\\[", "![", zeroWidth, "", "\\|", "|").Replace(s)
}

// zeroWidth parts what a forge would read as one.
const zeroWidth = "\u200b"

// stripText is text of others in several lines without hidden characters.
func stripText(s string) string {
	return safetext.Strip(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n").Replace(s))
}

// codeSpan is a code span that s cannot end, and that is harmless in a table.
func codeSpan(s string) string {
	s = strings.ReplaceAll(truncateText(safetext.StripLine(s), 200), "|", "\\|")
	if s == "" {
		return "(no name)" // two backticks would begin a span
	}
	mark := strings.Repeat("`", longestRepeat(s, '`')+1)
	if len(mark) > 1 {
		s = " " + s + " "
	}
	return mark + s + mark
}

// longestRepeat is the length of the longest row of c in s.
func longestRepeat(s string, c byte) int {
	most, now := 0, 0
	for i := range len(s) {
		if s[i] != c {
			now = 0
			continue
		}
		now++
		most = max(most, now)
	}
	return most
}

// truncateText cuts s to at most n bytes, and says so with an ellipsis.
func truncateText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	at := n
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	// Cut between words, unless one is longer than a line, and never inside an
	// entity.
	if word := strings.LastIndexAny(s[:at], " \t"); word > at-longWord && word > 0 && s[at] != ' ' {
		at = word
	} else if amp := strings.LastIndexByte(s[:at], '&'); amp >= 0 && amp > at-len("&amp;") && !strings.Contains(s[amp:at], ";") {
		at = amp
	}
	return strings.TrimRight(s[:at], " \t") + " …"
}

// longWord is the length up to which a run of letters is not cut.
const longWord = 80
