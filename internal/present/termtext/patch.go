package termtext

import (
	"fmt"
	"strings"

	"company/internal/gitops/patch"
	"company/internal/lib/safetext"
)

// PaintedLine is a displayed line of a patch, without its line end.
type PaintedLine struct {
	patch.Line
	Painted string
}

// RenderPatch renders a patch for people: a summary of each file's changes, then the patch in colour with short object
// ids.
func RenderPatch(text string, s Style) string {
	head, lines := PaintPatch(text, s)
	var b strings.Builder
	b.WriteString(head)
	for _, l := range lines {
		b.WriteString(l.Painted + "\n")
	}
	return b.String()
}

// PaintPatch returns the parts of RenderPatch: the summary, which ends with a blank line, and the lines of the patch.
func PaintPatch(text string, style Style) (head string, lines []PaintedLine) {
	var files []*patchFile
	for line := range patch.Lines(text) {
		if line.Kind == patch.Outside {
			lines = append(lines, PaintedLine{line, line.Text})
			continue
		}
		if len(files) == 0 || files[len(files)-1].file != line.File {
			files = append(files, &patchFile{file: line.File})
		}
		lines = append(lines, PaintedLine{line, files[len(files)-1].paint(line, style)})
	}
	if len(files) == 0 {
		return "", lines
	}
	table := Table{Indent: " ", Columns: []Column{{}, {}}}
	added, removed := 0, 0
	for _, f := range files {
		added, removed = added+f.added, removed+f.removed
		table.Row(fmt.Sprintf("+%d −%d", f.added, f.removed), safetext.EscapeLine(f.file.Path(), 1000))
	}
	sum := ""
	if len(files) > 1 {
		sum = fmt.Sprintf(" +%d −%d in all\n", added, removed)
	}
	return table.Render(style) + sum + "\n", lines
}

// patchFile is one file of a patch, with its added and removed lines.
type patchFile struct {
	file           *patch.File
	added, removed int
	begun          bool // its first heading was painted
}

func (f *patchFile) paint(line patch.Line, style Style) string {
	text := strings.TrimSuffix(line.Raw, "\n")
	switch line.Kind {
	case patch.Heading:
		if !f.begun {
			f.begun = true
			return style.Paint(Bold, text)
		}
		if ids, ok := strings.CutPrefix(text, "index "); ok {
			text = "index " + shortenIDs(ids)
		}
		return style.Paint(Dim, text)
	case patch.Hunk:
		return style.Paint(Cyan, text)
	case patch.Added:
		f.added++
		return style.Paint(Green, text)
	case patch.Removed:
		f.removed++
		return style.Paint(Red, text)
	}
	return style.Paint("", text)
}

// shortenIDs shortens the two object ids of an index line.
func shortenIDs(ids string) string {
	pair, mode, _ := strings.Cut(ids, " ")
	from, to, ok := strings.Cut(pair, "..")
	if !ok {
		return ids
	}
	return strings.TrimSpace(from[:min(7, len(from))] + ".." + to[:min(7, len(to))] + " " + mode)
}
