package agent

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/safetext"
)

// Bounds of a result that only shows what changed.
const (
	leastSaved  = 40      // tokens that it saves
	aroundLines = 2       // unchanged lines on each side of a change
	mostCells   = 1 << 20 // pairs of lines that are compared; more are one change
)

// onlyChanges begins a result of which the model is shown what changed.
const onlyChanges = "[Only what changed since your same call above; all other lines are as they stand there.]\n"

// The same of what the first message shows.
const (
	onlyChangesSinceFirst = "[Only what changed since your first message; all other lines are as they stand there.]\n"
	unchangedSinceFirst   = "[Unchanged: the answer stands in your first message.]"
)

// showChanges is what changed in a file's lines since the newest answer to the same call that
// the model still has before it as a whole; "": there is none, or the difference is no
// shorter by much. A model reads a file again after it edited it: it has the rest already.
// A text that was cut to fit has lines without known numbers, and the model lacks its middle.
func (c *conversation) showChanges(name string, args company.Hash, text string, firstLine int) string {
	for i := len(c.results) - 1; i >= c.maskTo; i-- {
		r, call := c.results[i], c.log.ToolCalls[i]
		if r.msg < c.condensed {
			break
		}
		if r.pointer || call.IsError || call.Name != name || r.argsHash != args {
			continue
		}
		if call.Result == text || safetext.HasGap(text) || safetext.HasGap(call.Result) {
			return "" // it is what it was before another change, or is cut
		}
		return shortChanges(onlyChanges, call.Result, text, firstLine)
	}
	for _, s := range c.atFirst {
		switch {
		case s.Tool != name || hashArguments(s.Arguments) != args || safetext.HasGap(text):
		case s.Text != text:
			return shortChanges(onlyChangesSinceFirst, s.Text, text, firstLine)
		case tokensOf(text) >= sameTokens:
			return unchangedSinceFirst
		}
	}
	return ""
}

// shortChanges is what changed in a text, below a heading; "": that is no shorter by much.
func shortChanges(heading, old, text string, firstLine int) string {
	out := heading + formatChanges(splitLines(old), splitLines(text), firstLine)
	if saved := tokensOf(text) - tokensOf(out); saved < leastSaved || saved < tokensOf(text)/4 {
		return ""
	}
	return out
}

// partOf is what a call's result shows of a text that the model has in an older form; "": all
// of it is shown.
func (c *conversation) partOf(j *toolJob, args company.Hash, text string) string {
	if j.answer.IsError || j.answer.FirstLine == 0 {
		return ""
	}
	return c.showChanges(j.Name, args, text, j.answer.FirstLine)
}

// splitLines are the lines of a text, without their ends.
func splitLines(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }

// region is a run of lines that changed: old lines and what stands in their place. The ends
// are those after the last.
type region struct{ oldFrom, oldTo, newFrom, newTo int }

// formatChanges writes the changed lines of a text with the lines around them. The first line of
// both has the number firstLine.
func formatChanges(old, now []string, firstLine int) string {
	var b strings.Builder
	regions := joinRegions(changedRegions(old, now))
	for _, r := range regions {
		from, to := max(0, r.newFrom-aroundLines), min(len(now), r.newTo+aroundLines)
		gone := ""
		if n := (r.oldTo - r.oldFrom) - (r.newTo - r.newFrom); n > 0 {
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
	common := make([][]int32, len(a)+1) // of the ends of both
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
