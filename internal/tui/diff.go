package tui

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/patch"
	"company/internal/safetext"
	"company/internal/screen"
	"company/internal/view"
)

// maxPatchLines is how many lines of a patch are shown.
const maxPatchLines = 20_000

// diffLines is the change of a part, with the findings of its reviewer at their lines.
func (m *model) diffLines(row *taskRow, width int) []string {
	d := m.snap.diff
	switch {
	case d.of != row.id:
		return []string{"reading ..."}
	case d.why != "":
		return wrapLine("- "+d.why, width)
	}
	review := m.shownTask().Review
	if row.sub != nil {
		review = row.sub.Review
	}
	s := m.style
	s.Width = width
	var out []string
	for _, note := range d.notes {
		out = append(out, wrapLine("- "+safetext.EscapeLine(note, 400), width)...)
	}
	var findings []company.Finding
	if review != nil {
		findings = review.Findings
	}
	return append(out, annotatePatch(d.text, findings, s)...)
}

// annotatePatch is a patch in lines, each finding below the line that it is about. Those
// whose line is not in the patch come first.
func annotatePatch(text string, findings []company.Finding, s view.Style) []string {
	head, lines := screen.PaintPatch(safetext.Escape(text), s)
	body := strings.Split(strings.TrimSuffix(head, "\n"), "\n")
	if head == "" {
		body = nil
	}
	placed := make([]bool, len(findings))
	for _, l := range lines {
		if len(body) >= maxPatchLines {
			body = append(body, s.Paint(screen.Dim, fmt.Sprintf("… cut after %d lines: company diff shows all", maxPatchLines)))
			break
		}
		body = append(body, strings.ReplaceAll(l.Painted, "\t", "    "))
		if l.Kind != patch.Added && l.Kind != patch.Kept {
			continue
		}
		for i, f := range findings {
			if !placed[i] && f.Line == l.New && f.File == l.File.Path() {
				placed[i] = true
				body = append(body, findingLines(f, s, "    ")...)
			}
		}
	}
	var out []string
	for i, f := range findings {
		if !placed[i] {
			out = append(out, findingLines(f, s, "")...)
		}
	}
	if len(out) > 0 {
		out = append(append([]string{s.Heading("FINDINGS") + "  beside the lines below"}, out...), "")
	}
	return append(out, body...)
}

// findingLines is a finding of a reviewer.
func findingLines(f company.Finding, s view.Style, indent string) []string {
	color := screen.Yellow
	if f.Severity == company.Blocking {
		color = screen.Red
	}
	var out []string
	add := func(head, text string) {
		if text != "" {
			for _, line := range wrapLine(indent+head+safetext.EscapeLine(text, 600), s.Width) {
				out = append(out, s.Paint(color, line))
			}
		}
	}
	add("! ", strings.TrimSpace(string(f.Severity)+" "+f.Where()+": "+f.What))
	add("  why: ", f.Why)
	add("  suggestion: ", f.Suggestion)
	return out
}
