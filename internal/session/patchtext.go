package session

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"company/internal/agent"
	"company/internal/gitops"
	"company/internal/patch"
	"company/internal/safetext"
)

// fewChanged is how many files a diff shows at a glance: of so many only the deleted ones
// are listed before it.
const fewChanged = 6

// maxSummary is how much of summaries a prompt shows, in bytes.
const maxSummary = 4 << 10

// CutSummary bounds workers' summaries to 4 KiB, and cuts them at blanks.
func CutSummary(text string) string { return safetext.CutBetweenWords(text, maxSummary) }

// FormatDiff quotes a diff as data, after a list of its files, which names at most listed of
// them: a worker may change thousands. A patch that was cut ends with a whole line.
func FormatDiff(d gitops.Diff, listed int) string {
	var w strings.Builder
	for i, c := range d.Changes {
		if i == listed {
			fmt.Fprintf(&w, "- and %d more files\n", len(d.Changes)-i)
			break
		}
		if d.Truncated || len(d.Changes) > fewChanged || c.Action == "deleted" {
			fmt.Fprintf(&w, "- %s %s\n", c.Action, agent.JoinLines(c.Path))
		}
	}
	text := d.Patch
	if d.Truncated {
		text = text[:bytes.LastIndexByte(text, '\n')+1]
	}
	w.WriteString("\n" + agent.Quote("diff", "", string(trimHeadings(text))))
	if d.Truncated {
		w.WriteString("The diff is longer than this; read the files in the container.\n")
	}
	return w.String()
}

// trimHeadings leaves the lines of git's headings out that repeat others: the ids of blobs with
// the usual mode, and the first line where two more lines name the file. A heading that no
// lines follow stays whole: of an empty file, of one that is binary, of another mode.
func trimHeadings(text []byte) []byte {
	out := make([]byte, 0, len(text))
	var file *patch.File
	var heading []string
	for l := range patch.Lines(string(text)) {
		if l.File != file {
			out = append(out, strings.Join(heading, "")...)
			file, heading = l.File, nil
		}
		switch {
		case l.Kind == patch.Heading:
			heading = append(heading, l.Raw)
			continue
		case l.Kind == patch.Hunk:
			heading = slices.DeleteFunc(heading, repeatsNames)
		}
		out = append(out, strings.Join(heading, "")...)
		out = append(out, l.Raw...)
		heading = nil
	}
	return append(out, strings.Join(heading, "")...)
}

// repeatsNames reports whether a line of a heading tells nothing beside the lines --- and +++.
// A mode behind the ids of blobs may tell that the file is a link.
func repeatsNames(line string) bool {
	if strings.HasPrefix(line, "index ") {
		ids := strings.Fields(line)
		return len(ids) < 3 || ids[2] == "100644"
	}
	for _, begin := range []string{"diff --git ", "new file mode 100644", "deleted file mode 100644"} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return false
}
