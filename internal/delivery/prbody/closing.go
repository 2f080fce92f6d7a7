package prbody

import (
	"strings"

	"company/internal/company"
)

// prClosing returns the lines that close issues. No other part of the text closes one (T22). If a ticket is not
// merged, it returns no lines.
func prClosing(t *company.Task, prOptions PROptions) string {
	if len(listUnmerged(t)) > 0 {
		return ""
	}
	return strings.Join(prOptions.ClosingLines, "\n")
}
