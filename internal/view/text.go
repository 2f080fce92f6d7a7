package view

import (
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
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
func FormatAge(d time.Duration) string {
	d = max(0, d)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
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

// lastLines shows the last n lines of an output, each indented.
func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(safetext.Escape(s), "\n"), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return "      " + strings.Join(lines, "\n      ") + "\n"
}
