package main

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
)

// RenderText is the report for people.
func (r Report) RenderText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d CPUs, load %s before and %s after\n\n", r.CPUs, r.LoadBefore, r.LoadAfter)
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "BENCH\tWHAT\tOURS\tAGAINST\tRATIO\tTARGET\t\tSAMPLES")
	for _, l := range r.Lines {
		against, ratio, verdict := "-", "-", ""
		if l.Against != "" {
			against = formatNumber(l.Bare) + " " + l.Unit + " " + l.Against
			ratio = fmt.Sprintf("%.2f", l.Ratio)
			if l.Ratio < 0.2 {
				ratio = fmt.Sprintf("1/%.0f", 1/l.Ratio)
			}
		}
		ours := formatNumber(l.Ours) + " " + l.Unit
		if l.Samples == 0 {
			ours, verdict = "-", "not measured"
		}
		if l.Met != nil {
			verdict = map[bool]string{true: "met", false: "missed"}[*l.Met]
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\n", l.Bench, l.What, ours, against, ratio, l.Target,
			verdict, l.Samples)
	}
	_ = table.Flush() // to memory
	for _, l := range r.Lines {
		if l.Note != "" {
			fmt.Fprintf(&b, "\n%s: %s.", l.What, l.Note)
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// formatNumber shows three digits that count.
func formatNumber(f float64) string {
	switch {
	case f >= 100:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case f >= 10:
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'f', 2, 64)
}
