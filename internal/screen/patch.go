package screen

import (
	"fmt"
	"strings"
)

// patchFile is one file of a patch, with how many lines came and went.
type patchFile struct {
	path           string
	added, removed int
}

// RenderPatch is a patch for people: how much changed in each file first, then the
// patch itself, in colour and with short object ids.
func RenderPatch(patch string, s Style) string {
	files, body := readPatch(patch, s)
	if len(files) == 0 {
		return patch
	}
	table := Table{Indent: " ", Columns: []Column{{}, {}}}
	added, removed := 0, 0
	for _, f := range files {
		added, removed = added+f.added, removed+f.removed
		table.Row(fmt.Sprintf("+%d −%d", f.added, f.removed), f.path)
	}
	sum := ""
	if len(files) > 1 {
		sum = fmt.Sprintf(" +%d −%d in all\n", added, removed)
	}
	return table.Render(s) + sum + "\n" + body
}

func readPatch(patch string, s Style) (files []patchFile, body string) {
	var b strings.Builder
	hunk := false
	for line := range strings.Lines(patch) {
		text := strings.TrimSuffix(line, "\n")
		color := ""
		switch {
		case strings.HasPrefix(text, "diff --git "):
			hunk, color = false, Bold
			_, path, _ := strings.Cut(text, " b/")
			files = append(files, patchFile{path: path})
		case strings.HasPrefix(text, "@@"):
			hunk, color = true, Cyan
		case !hunk:
			if ids, ok := strings.CutPrefix(text, "index "); ok {
				text = "index " + shortenIDs(ids)
			}
			color = Dim
		case strings.HasPrefix(text, "+"):
			color = Green
			if len(files) > 0 {
				files[len(files)-1].added++
			}
		case strings.HasPrefix(text, "-"):
			color = Red
			if len(files) > 0 {
				files[len(files)-1].removed++
			}
		}
		b.WriteString(s.Paint(color, text) + "\n")
	}
	return files, b.String()
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
