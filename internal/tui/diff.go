package tui

import (
	"fmt"
	"strconv"
	"strings"

	"company/internal/company"
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
func annotatePatch(patch string, findings []company.Finding, s view.Style) []string {
	text := strings.TrimSuffix(screen.RenderPatch(strings.ReplaceAll(safetext.Escape(patch), "\t", "    "), s), "\n")
	var body []string
	placed := make([]bool, len(findings))
	file, at := "", 0
	for line := range strings.SplitSeq(text, "\n") {
		if len(body) >= maxPatchLines {
			body = append(body, s.Paint(screen.Dim, fmt.Sprintf("… cut after %d lines: company diff shows all", maxPatchLines)))
			break
		}
		body = append(body, line)
		plain := stripColors(line)
		switch {
		case strings.HasPrefix(plain, "diff --git "):
			_, file, _ = strings.Cut(plain, " b/")
			at = 0
			continue
		case strings.HasPrefix(plain, "@@ "):
			at = hunkStart(plain)
			continue
		case at == 0 || strings.HasPrefix(plain, "-") || strings.HasPrefix(plain, `\`):
			continue
		}
		for i, f := range findings {
			if !placed[i] && f.Line == at && f.File == file {
				placed[i] = true
				body = append(body, findingLines(f, s, "    ")...)
			}
		}
		at++
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

// hunkStart is the first line of a hunk in the new file; 0: it cannot be read.
func hunkStart(head string) int {
	_, rest, _ := strings.Cut(head, " +")
	end := strings.IndexAny(rest, ", ")
	if end < 0 {
		return 0
	}
	n, _ := strconv.Atoi(rest[:end])
	return n
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
