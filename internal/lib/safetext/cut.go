package safetext

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ellipsis marks text that was cut.
const ellipsis = "…"

// Head returns the longest start of s of at most limit bytes, without splitting a character.
func Head(s string, limit int) string {
	if limit >= len(s) {
		return s
	}
	limit = max(limit, 0)
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// Cut shortens s to at most limit bytes. limit must be at least three. Shortened text ends with an ellipsis.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return Head(s, limit-len(ellipsis)) + ellipsis
}

// CutBetweenWords shortens s to at most limit bytes. It cuts at a blank, unless the first piece is longer.
func CutBetweenWords(s string, limit int) string {
	const mark = " " + ellipsis
	if len(s) <= limit {
		return s
	}
	head := Head(s, limit-len(mark))
	if index := strings.LastIndexByte(head, ' '); index > 0 && s[len(head)] != ' ' {
		head = head[:index]
	}
	return strings.TrimRight(head, " ") + mark
}

// gapEnd is the end of the line with which HeadTail replaces the middle of a text.
const gapEnd = " bytes are not shown ...]\n"

// HasGap reports whether HeadTail shortened a text. A text that quotes such a line counts, too.
func HasGap(s string) bool { return strings.Contains(s, gapEnd) }

// HeadTail keeps the start and the end of s within limit bytes, and adds a line with the number of omitted bytes. The
// end gets three quarters, because tools report errors there.
func HeadTail(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	mark := fmt.Sprintf("\n[... %d of %d"+gapEnd, len(s)-limit, len(s))
	room := max(0, limit-len(mark))
	tail := len(s) - (room - room/4)
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return Head(s, room/4) + mark + s[tail:]
}

// FirstLine returns the first non-blank line of s without surrounding white space.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}
