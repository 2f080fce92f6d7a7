package agent

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// Limits of a result that shows only changes.
const (
	leastSaved  = 40      // tokens that showing only the changes must save
	aroundLines = 2       // unchanged lines on each side of a change
	mostCells   = 1 << 20 // pairs of lines to compare; a larger text counts as one change
)

// onlyChanges is the heading of a result that shows the model only the changes.
const onlyChanges = "[Only what changed since your same call above; all other lines are as they stand there.]\n"

// The same headings for results that the first message shows.
const (
	onlyChangesSinceFirst = "[Only what changed since your first message; all other lines are as they stand there.]\n"
	unchangedSinceFirst   = "[Unchanged: the answer stands in your first message.]"
)

// showChanges returns the changed lines since the newest answer to the same call that the model still has as a
// whole. It returns "" if there is no such answer, or if the difference is not much shorter. A model reads a
// file again after an edit and has the rest already. A text that was cut has lines without known numbers, and
// the model lacks its middle.
func (c *conversation) showChanges(name string, args company.Hash, text string, firstLine int) string {
	for i := len(c.results) - 1; i >= c.maskTo; i-- {
		result, call := c.results[i], c.log.ToolCalls[i]
		if result.msg < c.condensed {
			break
		}
		if result.pointer || call.IsError || call.Name != name || result.argsHash != args {
			continue
		}
		if call.Result == text || safetext.HasGap(text) || safetext.HasGap(call.Result) {
			return "" // the same as before another change, or cut
		}
		return shortChanges(onlyChanges, call.Result, text, firstLine)
	}
	for _, shown := range c.atFirst {
		switch {
		case shown.Tool != name || hashArguments(shown.Arguments) != args || safetext.HasGap(text):
		case shown.Text != text:
			return shortChanges(onlyChangesSinceFirst, shown.Text, text, firstLine)
		case tokensOf(text) >= sameTokens:
			return unchangedSinceFirst
		}
	}
	return ""
}

// shortChanges returns the changes of a text below a heading, or "" if that is not much shorter than the text.
func shortChanges(heading, old, text string, firstLine int) string {
	out := heading + formatChanges(splitLines(old), splitLines(text), firstLine)
	if saved := tokensOf(text) - tokensOf(out); saved < leastSaved || saved < tokensOf(text)/4 {
		return ""
	}
	return out
}

// partOf returns the part of a result to show if the model has an older form of it. It returns "" if the whole
// result is to be shown.
func (c *conversation) partOf(j *toolJob, args company.Hash, text string) string {
	if j.answer.IsError || j.answer.FirstLine == 0 {
		return ""
	}
	return c.showChanges(j.Name, args, text, j.answer.FirstLine)
}

// splitLines returns the lines of a text without their line ends.
func splitLines(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }

// region is a range of old lines and the new lines that replace it. Both ranges are half-open.
type region struct{ oldFrom, oldTo, newFrom, newTo int }

// formatChanges writes the changed lines of a text with the lines around them. firstLine is the number of the
// first line of both texts.
func formatChanges(old, now []string, firstLine int) string {
	var b strings.Builder
	regions := joinRegions(changedRegions(old, now))
	for _, region := range regions {
		from, to := max(0, region.newFrom-aroundLines), min(len(now), region.newTo+aroundLines)
		gone := ""
		if n := (region.oldTo - region.oldFrom) - (region.newTo - region.newFrom); n > 0 {
			gone = fmt.Sprintf(" (%d fewer than above)", n)
		}
		fmt.Fprintf(&b, "lines %d-%d are now%s:\n", from+firstLine, to+firstLine-1, gone)
		for _, line := range now[from:to] {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// joinRegions joins changes whose surrounding lines meet.
func joinRegions(list []region) []region {
	var out []region
	for _, r := range list {
		if n := len(out); n > 0 && r.newFrom-out[n-1].newTo <= 2*aroundLines {
			out[n-1].oldTo, out[n-1].newTo = r.oldTo, r.newTo
			continue
		}
		out = append(out, r)
	}
	return out
}

// changedRegions compares two texts line by line, by their longest common subsequence.
func changedRegions(old, now []string) []region {
	begin := 0
	for begin < min(len(old), len(now)) && old[begin] == now[begin] {
		begin++
	}
	oldEnd, newEnd := len(old), len(now)
	for oldEnd > begin && newEnd > begin && old[oldEnd-1] == now[newEnd-1] {
		oldEnd, newEnd = oldEnd-1, newEnd-1
	}
	a, b := old[begin:oldEnd], now[begin:newEnd]
	if len(a)*len(b) > mostCells {
		return []region{{begin, oldEnd, begin, newEnd}}
	}
	common := make([][]int32, len(a)+1) // length of the longest common subsequence of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []region
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if i < len(a) && j < len(b) && a[i] == b[j] {
			i, j = i+1, j+1
			continue
		}
		r := region{begin + i, 0, begin + j, 0}
		for (i < len(a) || j < len(b)) && (i == len(a) || j == len(b) || a[i] != b[j]) {
			if j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1] {
				i++
			} else {
				j++
			}
		}
		r.oldTo, r.newTo = begin+i, begin+j
		out = append(out, r)
	}
	return out
}
