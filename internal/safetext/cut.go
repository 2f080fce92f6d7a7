package safetext

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ellipsis marks text that was cut.
const ellipsis = "…"

// Head is the longest start of s of at most limit bytes.
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

// Cut bounds s to limit bytes, at least three. Text that is cut ends with an
// ellipsis.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return Head(s, limit-len(ellipsis)) + ellipsis
}

// CutBetweenWords bounds s to limit bytes and cuts at blanks, unless the first
// is longer.
func CutBetweenWords(s string, limit int) string {
	const mark = " " + ellipsis
	if len(s) <= limit {
		return s
	}
	head := Head(s, limit-len(mark))
	if at := strings.LastIndexByte(head, ' '); at > 0 && s[len(head)] != ' ' {
		head = head[:at]
	}
	return strings.TrimRight(head, " ") + mark
}

// gapEnd ends the line of HeadTail that stands in the place of a text's middle.
const gapEnd = " bytes are not shown ...]\n"

// HasGap reports whether HeadTail has cut a text. A text that quotes such a line counts too.
func HasGap(s string) bool { return strings.Contains(s, gapEnd) }

// HeadTail keeps the start and the end of s within limit bytes and says how
// much is gone. The end gets three parts of four: tools say there what went
// wrong.
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

// FirstLine is the first line of s that is not blank, without blanks around it.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}
