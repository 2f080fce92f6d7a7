package prbody

import (
	"strings"
	"unicode/utf8"

	"company/internal/lazyregexp"
)

// wrapLine breaks one line of inline Markdown at blanks into lines of at most MaxPRColumns
// characters; each but the first begins with indent. No line begins a block: what would be the sign
// of a list, a heading, a rule or a fence has a mark without width before it.
func wrapLine(text, first, indent string) []string {
	var lines []string
	line, empty := first, true
	for _, w := range strings.Fields(text) {
		for {
			if empty && blockSign.MatchString(w) {
				w = zeroWidth + w
			}
			room := MaxPRColumns - utf8.RuneCountInString(line)
			if !empty {
				room--
			}
			n := utf8.RuneCountInString(w)
			switch {
			case n <= room && empty:
				line, empty = line+w, false
			case n <= room:
				line += " " + w
			case !empty: // to the next line
				lines, line, empty = append(lines, line), indent, true
				continue
			default: // longer than a line
				head := splitWord(w, room-1)
				lines, line = append(lines, line+head), indent
				w = w[len(head):]
				continue
			}
			break
		}
	}
	if !empty {
		lines = append(lines, line)
	}
	return lines
}

// blockSign matches what begins a block of Markdown: an item, a heading, a rule, a fence, the line below a
// heading, a tag of a page, and the definition of a link, which no page shows.
var blockSign = lazyregexp.New("^(?:[-+*]+$|#+$|\\d{1,9}[.)]$|[=_]+$|[-*_]{3,}|```|~~~|\\[[^\\]]*\\]?:?|[<>])")

// splitWord is the start of a word of at most n characters that cuts no entity.
func splitWord(w string, n int) string {
	at := 0
	for range n {
		_, size := utf8.DecodeRuneInString(w[at:])
		at += size
	}
	if amp := strings.LastIndexByte(w[:at], '&'); amp > 0 && amp > at-len("&amp;") && !strings.Contains(w[amp:at], ";") {
		at = amp
	}
	return w[:at]
}

// listMark is the sign of an item, as people write one.
var listMark = lazyregexp.New(`^\s*(?:[-*+]|\d{1,3}[.)])\s+`)

// flattenText makes a text of several lines one paragraph: items of a list become sentences, and code
// keeps its place.
func flattenText(text string) string {
	var b strings.Builder
	parted := false // by a blank line
	for line := range strings.SplitSeq(stripText(text), "\n") {
		item := parted || listMark.MatchString(line)
		line = strings.Join(strings.Fields(strings.TrimLeft(listMark.ReplaceAllString(line, ""), "#> ")), " ")
		if line == "" || strings.Trim(line, "`~=-*_") == "" {
			parted = true
			continue
		}
		parted = false
		if before := b.String(); before != "" {
			if item && !strings.ContainsAny(before[len(before)-1:], ".:;,!?") {
				b.WriteString(".")
			}
			b.WriteString(" ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// sentenceEnd matches the end of a sentence behind which another one begins.
var sentenceEnd = lazyregexp.New("[.!?][)\"'`]*\\s+[^\\p{Ll}\\s]|[。！？]")

// shortenPlain is a text as one harmless line of at most n characters: whole sentences of it, or where the
// first one is longer, words. An ellipsis stands for the rest.
func shortenPlain(text string, n int) string {
	text = flattenText(headOf(text, 8*n))
	if utf8.RuneCountInString(text) <= n {
		return fitInline(text, n)
	}
	at := 0
	for _, m := range sentenceEnd.FindAllStringIndex(text, -1) {
		_, last := utf8.DecodeLastRuneInString(text[:m[1]])
		end := m[1]
		if trimmed := strings.TrimRight(text[m[0]:m[1]-last], " "); len(trimmed) < m[1]-m[0] && strings.ContainsAny(text[m[0]:m[0]+1], ".!?") {
			end = m[0] + len(trimmed)
		}
		if utf8.RuneCountInString(text[:end]) > n-2 {
			break
		}
		at = end
	}
	if at > 0 {
		return fitInline(text[:at], n-2) + " …"
	}
	words := strings.Fields(text)
	out, size := "", 0
	for _, w := range words {
		if size += utf8.RuneCountInString(w) + 1; size > n-1 {
			break
		}
		out += w + " "
	}
	if out == "" { // no blank in it
		out = splitWord(words[0], n-2) + " "
	}
	return fitInline(out, n-2) + " …"
}

// fitInline makes a line harmless within n characters: what stands for a sign of a page has several.
func fitInline(text string, n int) string {
	return strings.TrimSuffix(closeSpans(cutInline(escapeMarkdown(closeSpans(text)), n)), " …")
}

// closeSpans makes quotation marks of backticks that do not form whole spans of code: one that is left
// open would take in what stands behind it, and set free what a later span holds.
func closeSpans(text string) string {
	if longestRepeat(text, '`') > 1 || strings.Count(text, "`")%2 == 1 {
		return strings.ReplaceAll(text, "`", "'")
	}
	return text
}

// headOf is the beginning of a text, of at most n bytes, so that a huge one costs no time.
func headOf(text string, n int) string {
	if text = strings.TrimSpace(text); len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// shortSpan is a code span of at most n characters; of a longer path the end is shown.
func shortSpan(s string, n int) string {
	runes := []rune(strings.Join(strings.Fields(stripText(s)), " "))
	if len(runes) > n {
		return codeSpan("…" + string(runes[len(runes)-n+1:]))
	}
	return codeSpan(string(runes))
}
