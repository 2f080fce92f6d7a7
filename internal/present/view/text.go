package view

import (
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
)

// FormatCost formats a cost. If no price is known it only gives the tokens.
func FormatCost(usd *int64, tokens int64) string {
	count := company.TokensText(tokens)
	if usd == nil {
		return count
	}
	return company.USDText(*usd) + ", " + count
}

// FormatAge formats an age in short form. A negative age, after a clock was set back, counts as 0.
func FormatAge(d time.Duration) string { return termtext.FormatAge(d) }

// ageOf formats an age in milliseconds.
func ageOf(ms int64) string { return termtext.FormatAge(time.Duration(ms) * time.Millisecond) }

// ShortCost formats a cost for a column: money if a price is known, otherwise tokens.
func ShortCost(usd *int64, tokens int64) string {
	switch {
	case usd != nil:
		return company.USDText(*usd)
	case tokens == 0:
		return "-"
	}
	return company.TokensText(tokens)
}

// FormatBytes formats a size in bytes in short form.
func FormatBytes(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", (n+1023)>>10)
}

// writeText writes a text, indented and wrapped. It writes the first lines up to limit, or all with -v.
func writeText(b *strings.Builder, style Style, text string, limit int) {
	lines := strings.Split(strings.TrimSpace(safetext.Escape(text)), "\n")
	more := len(lines) - limit
	if style.Verbose {
		more = 0
	}
	if more > 0 {
		lines = lines[:limit]
	}
	for _, line := range lines {
		if termtext.Cells(line)+2 <= style.Width || style.Width <= 0 {
			b.WriteString(strings.TrimRight("  "+line, " ") + "\n") // keeps its own indent
			continue
		}
		writeWrapped(b, style, "  ", line)
	}
	if more > 0 {
		fmt.Fprintf(b, "  … %s: -v\n", company.Count(more, "more line"))
	}
}

// lastLines returns the last n lines of an output, indented.
func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(safetext.Escape(s), "\n"), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return "      " + strings.Join(lines, "\n      ") + "\n"
}
