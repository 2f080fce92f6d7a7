package prbody

import (
	"strings"

	"company/internal/company"
)

// prClosing ends the text with the lines that close issues. Nothing else in the text
// closes one (T22).
func prClosing(_ *company.Task, o PROptions) string { return strings.Join(o.ClosingLines, "\n") }
