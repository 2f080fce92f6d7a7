package prbody

import (
	"strings"
	"unicode/utf8"

	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
)

// closingWordsRE matches the verbs with which a forge closes or reopens an issue at a merge, followed by a possible
// issue reference.
var closingWordsRE = lazyregexp.New(
	`(?i)\b(clos|fix|resolv|reopen|implement)(e[sd]?|ing|s|ed)?(:?\s+)(#|[a-z]+://|gh-|[\w.-]+/[\w.-]+#|![0-9]|[\w-]+-[0-9])`)

// escapeMarkdown makes text of agents and people harmless in Markdown on a forge: no HTML, images, mentions or verbs
// that close issues (T22). It returns one line.
func escapeMarkdown(s string) string { return escapeInline(safetext.StripLine(s)) }

// escapeQuoted is like escapeMarkdown, for a quoted line: it keeps blanks.
func escapeQuoted(line string) string {
	return escapeInline(strings.ReplaceAll(safetext.Strip(line), "\t", "    "))
}

func escapeInline(s string) string {
	s = closingWordsRE.ReplaceAllStringFunc(s, func(m string) string {
		_, size := utf8.DecodeRuneInString(m)
		return m[:size] + zeroWidth + m[size:]
	})
	r := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "![", "!\\[", "@", "@"+zeroWidth, "|", "\\|", "#",
		"#"+zeroWidth)
	return r.Replace(s)
}

// escapeWithin returns escapeMarkdown of s, cut to at most n bytes. It reads only the beginning of a long text.
func escapeWithin(s string, n int) string {
	if head := safetext.Head(s, 8*n); len(head) < len(s) {
		if text := escapeMarkdown(head); len(text) > 2*n {
			return truncateText(text, n)
		}
	}
	return truncateText(escapeMarkdown(s), n)
}

// UnescapeMarkdown reverses escapeMarkdown for programs that read the text as a person sees it.
func UnescapeMarkdown(s string) string {
	return strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", "!\\[", "![", zeroWidth, "", "\\|", "|").Replace(s)
}

// zeroWidth separates characters that a forge would interpret together.
const zeroWidth = "\u200b"

// stripText returns untrusted text of several lines without hidden characters.
func stripText(s string) string {
	return safetext.Strip(
		strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n").Replace(s))
}

// codeSpan returns a code span that s cannot end and that is harmless in a table.
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

// longestRepeat returns the length of the longest run of c in s.
func longestRepeat(s string, c byte) int {
	limit, now := 0, 0
	for i := range len(s) {
		if s[i] != c {
			now = 0
			continue
		}
		now++
		limit = max(limit, now)
	}
	return limit
}

// truncateText cuts s to at most n bytes and appends an ellipsis.
func truncateText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	index := n
	for index > 0 && !utf8.RuneStart(s[index]) {
		index--
	}
	// Cut between words, unless one is longer than longWord, and never inside an entity.
	if word := strings.LastIndexAny(s[:index], " \t"); word > index-longWord && word > 0 && s[index] != ' ' {
		index = word
	} else if amp := strings.LastIndexByte(s[:index], '&'); amp >= 0 && amp > index-len("&amp;") &&
		!strings.Contains(s[amp:index], ";") {
		index = amp
	}
	return strings.TrimRight(s[:index], " \t") + " …"
}

// longWord is the length up to which a run of letters is not cut.
const longWord = 80
