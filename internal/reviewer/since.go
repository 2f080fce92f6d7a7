package reviewer

import (
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/gitops/patch"
)

// newLine is a line of the new version.
type newLine struct {
	path string
	line int
}

// withoutShown returns the patch of what changed since a review, without hunks that only add lines which the whole diff
// shows. It names their lines instead, so that no line stands in the prompt twice.
func withoutShown(since, whole string) string {
	shown := map[newLine]bool{}
	for line := range patch.Lines(whole) {
		if line.Kind == patch.Added {
			shown[newLine{line.File.Path(), line.New}] = true
		}
	}
	var named, kept, heading, hunk strings.Builder
	var file *patch.File
	var first, last int // added lines of the hunk
	keep := false
	end := func() {
		switch {
		case hunk.Len() == 0:
		case keep:
			kept.WriteString(heading.String() + hunk.String())
			heading.Reset()
		default:
			fmt.Fprintf(&named, "%s: lines %d-%d are new; the whole diff has them\n", agent.JoinLines(file.Path()), first, last)
		}
		hunk.Reset()
		first, keep = 0, false
	}
	endFile := func() {
		if hunk.Len() == 0 { // a binary file, or a change of mode
			kept.WriteString(heading.String())
		}
		end()
		heading.Reset()
	}
	for line := range patch.Lines(since) {
		if line.File != file {
			endFile()
			file = line.File
		}
		switch line.Kind {
		case patch.Outside, patch.Heading:
			heading.WriteString(line.Raw)
			continue
		case patch.Hunk:
			end()
		case patch.Added:
			if first == 0 {
				first = line.New
			}
			last = line.New
			keep = keep || !shown[newLine{line.File.Path(), line.New}]
		case patch.Removed:
			keep = true
		}
		hunk.WriteString(line.Raw)
	}
	endFile()
	return named.String() + kept.String()
}
