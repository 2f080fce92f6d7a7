package reviewer

import (
	"fmt"
	"strconv"
	"strings"

	"company/internal/agent"
	"company/internal/gitops/patch"
	"company/internal/lib/lazyregexp"
)

// newLine is a line of the new version.
type newLine struct {
	path string
	line int
}

// moreHeading matches a line of a file's heading that tells of more than its lines, such as a new mode or name.
var moreHeading = lazyregexp.New(`(?m)^(?:old mode|similarity|rename|copy) `)

// withoutShown returns the patch of what changed since a review, without hunks that only add lines which the whole diff
// shows. It names these lines instead, so that no line stands in the prompt twice.
func withoutShown(since, whole string) string {
	shown := map[newLine]bool{}
	for line := range patch.Lines(whole) {
		if line.Kind == patch.Added {
			shown[newLine{line.File.Path(), line.New}] = true
		}
	}
	var named, kept, heading, hunk strings.Builder
	var file *patch.File
	var added []string // lines of the hunk: 3, or 3-5
	var first, last int
	keep := false
	end := func() {
		switch {
		case hunk.Len() == 0:
		case keep:
			kept.WriteString(heading.String() + hunk.String())
			heading.Reset()
		default:
			fmt.Fprintf(&named, "%s: lines that are new and in the whole diff: %s\n", agent.JoinLines(file.Path()),
				strings.Join(added, ", "))
		}
		hunk.Reset()
		added = nil
		last = 0
		keep = false
	}
	endFile := func() {
		isBare := hunk.Len() == 0 // a binary file, or a new mode alone
		end()
		if isBare || moreHeading.MatchString(heading.String()) {
			kept.WriteString(heading.String())
		}
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
			if last > 0 && line.New == last+1 {
				added[len(added)-1] = fmt.Sprintf("%d-%d", first, line.New)
			} else {
				first = line.New
				added = append(added, strconv.Itoa(first))
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
