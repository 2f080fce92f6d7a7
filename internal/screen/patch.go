package screen

import (
	"fmt"
	"strings"

	"company/internal/patch"
	"company/internal/safetext"
)

// PaintedLine is a line of a patch as people see it, without its end.
type PaintedLine struct {
	patch.Line
	Painted string
}

// RenderPatch is a patch for people: how much changed in each file first, then the
// patch itself, in colour and with short object ids.
func RenderPatch(text string, s Style) string {
	head, lines := PaintPatch(text, s)
	var b strings.Builder
	b.WriteString(head)
	for _, l := range lines {
		b.WriteString(l.Painted + "\n")
	}
	return b.String()
}

// PaintPatch is RenderPatch in parts: the files with how many lines came and went, which
// ends with a blank line, and the lines of the patch.
func PaintPatch(text string, s Style) (head string, lines []PaintedLine) {
	var files []*patchFile
	for l := range patch.Lines(text) {
		if l.Kind == patch.Outside {
			lines = append(lines, PaintedLine{l, l.Text})
			continue
		}
		if len(files) == 0 || files[len(files)-1].file != l.File {
			files = append(files, &patchFile{file: l.File})
		}
		lines = append(lines, PaintedLine{l, files[len(files)-1].paint(l, s)})
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
	return table.Render(s) + sum + "\n", lines
}

// patchFile is one file of a patch, with how many lines came and went.
type patchFile struct {
	file           *patch.File
	added, removed int
	begun          bool // its first heading is painted
}

func (f *patchFile) paint(l patch.Line, s Style) string {
	text := strings.TrimSuffix(l.Raw, "\n")
	switch l.Kind {
	case patch.Heading:
		if !f.begun {
			f.begun = true
			return s.Paint(Bold, text)
		}
		if ids, ok := strings.CutPrefix(text, "index "); ok {
			text = "index " + shortenIDs(ids)
		}
		return s.Paint(Dim, text)
	case patch.Hunk:
		return s.Paint(Cyan, text)
	case patch.Added:
		f.added++
		return s.Paint(Green, text)
	case patch.Removed:
		f.removed++
		return s.Paint(Red, text)
	}
	return s.Paint("", text)
}

// shortenIDs cuts the two object ids of an index line.
func shortenIDs(ids string) string {
	pair, mode, _ := strings.Cut(ids, " ")
	from, to, ok := strings.Cut(pair, "..")
	if !ok {
		return ids
	}
	return strings.TrimSpace(from[:min(7, len(from))] + ".." + to[:min(7, len(to))] + " " + mode)
}
