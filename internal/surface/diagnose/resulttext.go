package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/lib/healthcheck"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
)

// RenderResults renders findings: passed ones first and only with whole, failed ones last, then a
// summary line.
func RenderResults(findings []healthcheck.Finding, whole bool, style termtext.Style) string {
	var b strings.Builder
	findings = slices.Clone(findings)
	slices.SortStableFunc(findings, func(a, b healthcheck.Finding) int { return rankFinding(a) - rankFinding(b) })
	first := map[string]string{} // maps a failure's text to the first check that reports it
	for _, finding := range findings {
		if finding.OK && !whole {
			continue
		}
		if name := first[finding.Found]; name != "" && !finding.OK {
			finding.Found = "same cause as " + name
			finding.Needed = ""
			finding.Fix = ""
			finding.Lines = nil
		} else if !finding.OK {
			first[finding.Found] = finding.Name
		}
		color := map[string]string{"pass": termtext.Green, "warn": termtext.Yellow, "unknown": termtext.Yellow,
			"fail": termtext.Red}[finding.Label()]
		head := fmt.Sprintf(" %-16s ", finding.Name)
		b.WriteString(style.Paint(color, finding.Mark()) + head +
			style.Wrap(safetext.EscapeLine(finding.Found, 300), strings.Repeat(" ", len(head)+1)) + "\n")
		for _, l := range []struct{ title, text string }{{"    needed: ", finding.Needed}, {"    fix:    ", finding.Fix}} {
			if !finding.OK && l.text != "" {
				b.WriteString(l.title + style.Wrap(safetext.EscapeLine(l.text, 300), strings.Repeat(" ", len(l.title))) + "\n")
			}
		}
		for _, configLine := range finding.Lines {
			if !finding.OK && configLine.File != "" { // lines that cannot be written appear only in the fix
				text := configLine.String() + ", which company doctor --fix writes into " + configLine.File
				b.WriteString("    line:   " + style.Wrap(safetext.EscapeLine(text, 600), strings.Repeat(" ", 12)) + "\n")
			}
		}
	}
	sum := sumUpText(findings)
	if n := countPassed(findings); n > 0 && !whole {
		sum += fmt.Sprintf("; %s passed: company doctor --all", company.Count(n, "check"))
	}
	b.WriteString(style.Wrap(sum, "  ") + "\n")
	return b.String()
}

// rankFinding returns the sort rank of a finding, with failures last.
func rankFinding(v healthcheck.Finding) int {
	return map[string]int{"pass": 0, "warn": 1, "unknown": 2, "fail": 3}[v.Label()]
}

// sumUpText counts and names the findings that did not pass.
func sumUpText(findings []healthcheck.Finding) string {
	names := map[string][]string{}
	for _, v := range findings {
		names[v.Label()] = append(names[v.Label()], v.Name)
	}
	var parts []string
	if fail := names["fail"]; len(fail) > 0 {
		parts = append(parts, company.Count(len(fail), "problem")+" to fix: "+strings.Join(fail, ", "))
	}
	if unknown := names["unknown"]; len(unknown) > 0 {
		parts = append(parts, "not checked: "+strings.Join(unknown, ", "))
	}
	if len(parts) == 0 {
		parts = append(parts, "no problems found")
	}
	if warn := names["warn"]; len(warn) > 0 {
		parts = append(parts, company.Count(len(warn), "warning")+": "+strings.Join(warn, ", "))
	}
	return strings.Join(parts, "; ")
}

// countPassed counts the findings that passed.
func countPassed(findings []healthcheck.Finding) int {
	n := 0
	for _, v := range findings {
		if v.OK {
			n++
		}
	}
	return n
}
