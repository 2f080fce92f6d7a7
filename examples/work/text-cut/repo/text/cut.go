// Package text shortens text, so that it fits.
package text

import (
	"fmt"
	"strings"
)

// ellipsis marks text that was cut.
const ellipsis = "…"

// Head is the longest start of s of at most limit bytes.
func Head(s string, limit int) string {
	if limit >= len(s) {
		return s
	}
	return s[:max(limit, 0)]
}

// Cut bounds s to limit bytes, at least three. Text that is cut ends with an
// ellipsis.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return Head(s, limit-len(ellipsis)) + ellipsis
}

// CutBetweenWords bounds s to limit bytes and cuts no word, unless the first
// is longer.
func CutBetweenWords(s string, limit int) string {
	const mark = " " + ellipsis
	if len(s) <= limit {
		return s
	}
	head := Head(s, limit-len(mark))
	if at := strings.LastIndexByte(head, ' '); at > 0 {
		head = head[:at]
	}
	return strings.TrimRight(head, " ") + mark
}

// HeadTail keeps the start and the end of s within limit bytes and says how
// much is gone. The end gets three parts of four: tools say there what went
// wrong.
func HeadTail(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	mark := fmt.Sprintf("\n[... %d of %d bytes are not shown ...]\n", len(s)-limit, len(s))
	room := max(0, limit-len(mark))
	tail := len(s) - (room - room/4)
	return Head(s, room/4) + mark + s[tail:]
}

// FirstLine is the first line of s that is not blank, without blanks around it.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}
