package agentrun

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"company/internal/agent"
	"company/internal/gitops"
	"company/internal/gitops/patch"
	"company/internal/lib/safetext"
)

// fewChanged is the number of files up to which only the deleted ones are listed before a diff.
const fewChanged = 6

// maxSummary limits the summaries that a prompt shows, in bytes.
const maxSummary = 4 << 10

// CutSummary cuts workers' summaries to 4 KiB, at spaces.
func CutSummary(text string) string { return safetext.CutBetweenWords(text, maxSummary) }

// FormatDiff quotes a diff as data, after a list of at most listed of its files. A truncated patch ends with a
// whole line.
func FormatDiff(diff gitops.Diff, listed int) string {
	var w strings.Builder
	for i, fileChange := range diff.Changes {
		if i == listed {
			fmt.Fprintf(&w, "- and %d more files\n", len(diff.Changes)-i)
			break
		}
		if diff.Truncated || len(diff.Changes) > fewChanged || fileChange.Action == "deleted" {
			fmt.Fprintf(&w, "- %s %s\n", fileChange.Action, agent.JoinLines(fileChange.Path))
		}
	}
	text := diff.Patch
	if diff.Truncated {
		text = text[:bytes.LastIndexByte(text, '\n')+1]
	}
	w.WriteString("\n" + agent.Quote("diff", "", string(trimHeadings(text))))
	if diff.Truncated {
		w.WriteString("The diff is longer than this; read the files in the container.\n")
	}
	return w.String()
}

// trimHeadings removes redundant lines from git's file headings: the ids of blobs with the usual mode, and the
// first line if two more lines name the file. A heading without following lines stays whole: an empty file, a
// binary file, a change of mode.
func trimHeadings(text []byte) []byte {
	out := make([]byte, 0, len(text))
	var file *patch.File
	var heading []string
	for line := range patch.Lines(string(text)) {
		if line.File != file {
			out = append(out, strings.Join(heading, "")...)
			file, heading = line.File, nil
		}
		switch {
		case line.Kind == patch.Heading:
			heading = append(heading, line.Raw)
			continue
		case line.Kind == patch.Hunk:
			heading = slices.DeleteFunc(heading, repeatsNames)
		}
		out = append(out, strings.Join(heading, "")...)
		out = append(out, line.Raw...)
		heading = nil
	}
	return append(out, strings.Join(heading, "")...)
}

// repeatsNames reports whether a line of a heading is redundant beside the lines --- and +++. A line with ids
// and another mode is not redundant, because the file may be a link.
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
