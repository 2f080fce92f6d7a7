package prbody

import (
	"strings"
	"unicode/utf8"

	"company/internal/lib/lazyregexp"
)

// markLine returns a text as one line of inline Markdown behind a mark, such as that of a list item. It has no breaks
// of its own, because GitHub shows each as a line's end. A zero-width mark before a list sign, heading, rule or fence
// prevents the text from starting a block.
func markLine(mark, text string) string {
	words := strings.Fields(text)
	if len(words) > 0 && blockSign.MatchString(words[0]) {
		words[0] = zeroWidth + words[0]
	}
	return mark + strings.Join(words, " ")
}

// blockSign matches the start of a Markdown block: an item, a heading, a rule, a fence, a heading underline, an HTML
// tag, or a link definition, which no page shows.
var blockSign = lazyregexp.New("^(?:[-+*]+$|#+$|\\d{1,9}[.)]$|[=_]+$|[-*_]{3,}|```|~~~|\\[[^\\]]*\\]?:?|[<>])")

// splitWord returns the first n characters of a text, or fewer to avoid cutting an entity.
func splitWord(w string, n int) string {
	index := 0
	for range n {
		_, size := utf8.DecodeRuneInString(w[index:])
		index += size
	}
	if amp := strings.LastIndexByte(w[:index], '&'); amp > 0 && amp > index-len("&amp;") &&
		!strings.Contains(w[amp:index], ";") {
		index = amp
	}
	return w[:index]
}

// listMark matches the sign of a list item as people write it.
var listMark = lazyregexp.New(`^\s*(?:[-*+]|\d{1,3}[.)])\s+`)

// flattenText joins a text of several lines into one paragraph. List items become sentences, and code keeps its
// place.
func flattenText(text string) string {
	var b strings.Builder
	parted := false // after a blank line
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

// sentenceEnd matches the end of a sentence that another one follows.
var sentenceEnd = lazyregexp.New("[.!?][)\"'`]*\\s+[^\\p{Ll}\\s]|[。！？]")

// shortenPlain returns a text as one harmless line of at most n characters. It keeps whole sentences, or parts of the
// first one if that is too long. An ellipsis marks the rest.
func shortenPlain(text string, n int) string {
	text = flattenText(headOf(text, 8*n))
	if utf8.RuneCountInString(text) <= n {
		return fitInline(text, n)
	}
	index := 0
	for _, m := range sentenceEnd.FindAllStringIndex(text, -1) {
		_, last := utf8.DecodeLastRuneInString(text[:m[1]])
		end := m[1]
		if trimmed := strings.TrimRight(text[m[0]:m[1]-last], " "); len(trimmed) < m[1]-m[0] &&
			strings.ContainsAny(text[m[0]:m[0]+1], ".!?") {
			end = m[0] + len(trimmed)
		}
		if utf8.RuneCountInString(text[:end]) > n-2 {
			break
		}
		index = end
	}
	if index > 0 {
		return fitInline(text[:index], n-2) + " …"
	}
	words := strings.Fields(text)
	out, size := "", 0
	for _, w := range words {
		if size += utf8.RuneCountInString(w) + 1; size > n-1 {
			break
		}
		out += w + " "
	}
	if out == "" { // it contains no blank
		out = splitWord(words[0], n-2) + " "
	}
	return fitInline(out, n-2) + " …"
}

// fitInline makes a line harmless within n characters. Escaped characters count with their full length.
func fitInline(text string, n int) string {
	return strings.TrimSuffix(closeSpans(cutInline(escapeMarkdown(closeSpans(text)), n)), " …")
}

// closeSpans replaces backticks that do not form complete code spans by quotation marks. An open span would include
// the text after it and expose the content of a later span.
func closeSpans(text string) string {
	if longestRepeat(text, '`') > 1 || strings.Count(text, "`")%2 == 1 {
		return strings.ReplaceAll(text, "`", "'")
	}
	return text
}

// headOf returns at most the first n bytes of a text, so that a huge one costs no time.
func headOf(text string, n int) string {
	if text = strings.TrimSpace(text); len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// shortSpan returns a code span of at most n characters. Of a longer path it keeps the end.
func shortSpan(s string, n int) string {
	runes := []rune(strings.Join(strings.Fields(stripText(s)), " "))
	if len(runes) > n {
		return codeSpan("…" + string(runes[len(runes)-n+1:]))
	}
	return codeSpan(string(runes))
}
