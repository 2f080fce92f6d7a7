package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/health"
	"company/internal/safetext"
	"company/internal/screen"
)

// RenderResults is the findings of checks: those in order first, which are shown as a whole
// alone, those to mend last, and a line that sums them up.
func RenderResults(all []health.Finding, whole bool, s screen.Style) string {
	var b strings.Builder
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b health.Finding) int { return rankFinding(a) - rankFinding(b) })
	first := map[string]string{} // a finding that is not in order, and the first check with it
	for _, v := range all {
		if v.OK && !whole {
			continue
		}
		if name := first[v.Found]; name != "" && !v.OK {
			v.Found, v.Needed, v.Fix, v.Lines = "for the same reason as "+name, "", "", nil
		} else if !v.OK {
			first[v.Found] = v.Name
		}
		color := map[string]string{"pass": screen.Green, "warn": screen.Yellow, "unknown": screen.Yellow, "fail": screen.Red}[v.Label()]
		head := fmt.Sprintf(" %-16s ", v.Name)
		b.WriteString(s.Paint(color, v.Mark()) + head + s.Wrap(safetext.EscapeLine(v.Found, 300), strings.Repeat(" ", len(head)+1)) + "\n")
		for _, l := range []struct{ title, text string }{{"    needed: ", v.Needed}, {"    fix:    ", v.Fix}} {
			if !v.OK && l.text != "" {
				b.WriteString(l.title + s.Wrap(safetext.EscapeLine(l.text, 300), strings.Repeat(" ", len(l.title))) + "\n")
			}
		}
		for _, l := range v.Lines {
			if !v.OK && l.File != "" { // one that cannot be written is in the advice alone
				text := l.String() + ", which company doctor --fix writes into " + l.File
				b.WriteString("    line:   " + s.Wrap(safetext.EscapeLine(text, 600), strings.Repeat(" ", 12)) + "\n")
			}
		}
	}
	sum := sumUpText(all)
	if n := countPassed(all); n > 0 && !whole {
		sum += fmt.Sprintf("; %s passed: company doctor --all", company.Count(n, "check"))
	}
	b.WriteString(s.Wrap(sum, "  ") + "\n")
	return b.String()
}

// rankFinding is how far down a finding stands.
func rankFinding(v health.Finding) int {
	return map[string]int{"pass": 0, "warn": 1, "unknown": 2, "fail": 3}[v.Label()]
}

// sumUpText counts and names the checks that are not in order.
func sumUpText(all []health.Finding) string {
	names := map[string][]string{}
	for _, v := range all {
		names[v.Label()] = append(names[v.Label()], v.Name)
	}
	var parts []string
	if fail := names["fail"]; len(fail) > 0 {
		parts = append(parts, company.Count(len(fail), "thing")+" to mend: "+strings.Join(fail, ", "))
	}
	if unknown := names["unknown"]; len(unknown) > 0 {
		parts = append(parts, "not checked: "+strings.Join(unknown, ", "))
	}
	if len(parts) == 0 {
		parts = append(parts, "all in order")
	}
	if warn := names["warn"]; len(warn) > 0 {
		parts = append(parts, company.Count(len(warn), "warning")+": "+strings.Join(warn, ", "))
	}
	return strings.Join(parts, "; ")
}

// countPassed counts the findings that are in order.
func countPassed(all []health.Finding) int {
	n := 0
	for _, v := range all {
		if v.OK {
			n++
		}
	}
	return n
}
