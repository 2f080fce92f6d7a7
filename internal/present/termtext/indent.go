package termtext

import (
	"fmt"
	"strings"

	"company/internal/lib/safetext"
)

// IndentLines returns at most n lines of text, indented, and counts the rest.
func IndentLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(safetext.Escape(s), "\n"), "\n")
	if more := len(lines) - n; more == 1 {
		lines = append(lines[:n], "… and 1 line more (-o json shows all)")
	} else if more > 1 {
		lines = append(lines[:n], fmt.Sprintf("… and %d lines more (-o json shows all)", more))
	}
	return "  " + strings.Join(lines, "\n  ") + "\n"
}
