package prbody

import (
	"strings"

	"company/internal/company"
)

// prClosing ends the text with the lines that close issues. Nothing else in the text
// closes one (T22). A part of what was asked closes none.
func prClosing(t *company.Task, o PROptions) string {
	if len(listUnmerged(t)) > 0 {
		return ""
	}
	return strings.Join(o.ClosingLines, "\n")
}
