package tui

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/gitops/patch"
	"company/internal/lib/safetext"
	"company/internal/present/termtext"
	"company/internal/present/view"
)

// maxPatchLines limits the lines shown of a patch.
const maxPatchLines = 20_000

// diffLines returns the diff of a task, subtask or run, with the reviewer's findings at their
// lines.
func (m *model) diffLines(row *taskRow, width int) []string {
	patchText := m.snap.diff
	switch {
	case patchText.of != row.id:
		return []string{"loading ..."}
	case patchText.why != "":
		return wrapLine("- "+patchText.why, width)
	}
	review := m.shownTask().Review
	if row.sub != nil {
		review = row.sub.Review
	}
	style := m.style
	style.Width = width
	var out []string
	for _, note := range patchText.notes {
		out = append(out, wrapLine("- "+safetext.EscapeLine(note, 400), width)...)
	}
	var findings []company.Finding
	if review != nil {
		findings = review.Findings
	}
	return append(out, annotatePatch(patchText.text, findings, style)...)
}

// annotatePatch returns a patch as lines, each finding below its line. Findings without a line in
// the patch come first.
func annotatePatch(text string, findings []company.Finding, style view.Style) []string {
	head, lines := termtext.PaintPatch(safetext.Escape(text), style)
	body := strings.Split(strings.TrimSuffix(head, "\n"), "\n")
	if head == "" {
		body = nil
	}
	placed := make([]bool, len(findings))
	for _, paintedLine := range lines {
		if len(body) >= maxPatchLines {
			body = append(
				body, style.Paint(termtext.Dim, fmt.Sprintf("… cut after %d lines: company diff shows all", maxPatchLines)))
			break
		}
		body = append(body, strings.ReplaceAll(paintedLine.Painted, "\t", "    "))
		if paintedLine.Kind != patch.Added && paintedLine.Kind != patch.Kept {
			continue
		}
		for i, finding := range findings {
			if !placed[i] && finding.Line == paintedLine.New && finding.File == paintedLine.File.Path() {
				placed[i] = true
				body = append(body, findingLines(finding, style, "    ")...)
			}
		}
	}
	var out []string
	for i, finding := range findings {
		if !placed[i] {
			out = append(out, findingLines(finding, style, "")...)
		}
	}
	if len(out) > 0 {
		out = append(append([]string{style.Heading("FINDINGS") + "  not in the lines below"}, out...), "")
	}
	return append(out, body...)
}

// findingLines renders a reviewer's finding.
func findingLines(finding company.Finding, style view.Style, indent string) []string {
	color := termtext.Yellow
	if finding.Severity == company.Blocking {
		color = termtext.Red
	}
	var out []string
	add := func(head, text string) {
		if text != "" {
			for _, line := range wrapLine(indent+head+safetext.EscapeLine(text, 600), style.Width) {
				out = append(out, style.Paint(color, line))
			}
		}
	}
	add("! ", strings.TrimSpace(string(finding.Severity)+" "+finding.Where()+": "+finding.What))
	add("  why: ", finding.Why)
	add("  suggestion: ", finding.Suggestion)
	return out
}
