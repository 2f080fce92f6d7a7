package view

import (
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/screen"
)

// FormatCost is what something cost, for people. Tokens without a known price are
// only counted.
func FormatCost(usd *int64, tokens int64) string {
	count := company.TokensText(tokens)
	if usd == nil {
		return count
	}
	return company.USDText(*usd) + ", " + count
}

// FormatAge is a short form of an age. A time that lies ahead, by a clock that
// was set back, has the age 0.
func FormatAge(d time.Duration) string { return screen.FormatAge(d) }

// ageOf is an age in milliseconds, for people.
func ageOf(ms int64) string { return screen.FormatAge(time.Duration(ms) * time.Millisecond) }

// ShortCost is what something cost, for a column: money where a price is known, else
// tokens.
func ShortCost(usd *int64, tokens int64) string {
	switch {
	case usd != nil:
		return company.USDText(*usd)
	case tokens == 0:
		return "-"
	}
	return company.TokensText(tokens)
}

// FormatBytes is a short form of an amount of bytes.
func FormatBytes(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", (n+1023)>>10)
}

// IndentLines shows at most n lines of text, each indented.
func IndentLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(safetext.Escape(s), "\n"), "\n")
	if len(lines) > n {
		lines = append(lines[:n], fmt.Sprintf("… and %s more (-o json shows all)", company.Count(len(lines)-n, "line")))
	}
	return "  " + strings.Join(lines, "\n  ") + "\n"
}

// writeText writes a text, indented and wrapped: its first lines, or with -v all.
func writeText(b *strings.Builder, s Style, text string, most int) {
	lines := strings.Split(strings.TrimSpace(safetext.Escape(text)), "\n")
	more := len(lines) - most
	if s.Verbose {
		more = 0
	}
	if more > 0 {
		lines = lines[:most]
	}
	for _, line := range lines {
		if screen.Cells(line)+2 <= s.Width || s.Width <= 0 {
			b.WriteString(strings.TrimRight("  "+line, " ") + "\n") // with its own indent
			continue
		}
		writeWrapped(b, s, "  ", line)
	}
	if more > 0 {
		fmt.Fprintf(b, "  … %s: -v\n", company.Count(more, "more line"))
	}
}

// lastLines shows the last n lines of an output, each indented.
func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(safetext.Escape(s), "\n"), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return "      " + strings.Join(lines, "\n      ") + "\n"
}
