package feed

import (
	"fmt"
	"strings"
	"time"

	"company/internal/screen"
)

var markSymbols = map[Mark]string{
	Done: "+", Started: ">", Failed: "x",
	Needs: "!", Stalled: "~", Info: "-",
}

var markColors = map[Mark]string{
	Done: screen.Green, Failed: screen.Red, Needs: screen.Bright, Stalled: screen.Yellow,
}

// Style is how a stream shows text.
type Style = screen.Style

// Legend explains the lines of the feed.
const Legend = `A line is: time, id of the task or the subtask, a sign, what happened, how long
it took, and what it cost where a price is known. Lines below are its details.

  +  done, or passed         x  failed, or refused
  >  begun                   !  it needs you
  -  for your information    ~  look at it: untested, waiting, or not as planned

A subtask that goes well is one line, its merge. Where one fails, that line and
all that follow until its merge are shown. With -v each step of each run is a
line, the tools of agents included, and each line has the run, the agent (w1 is
a worker) and the kind of the event, too.`

// Render is an item in lines for people, without a line end: time, id, a sign,
// text, and the time that it took, with its details below. With Verbose it has the
// run, the agent and the kind. Ids stand before prose, so that grep finds them. Each
// line is cut to the width of the stream.
func (it Item) Render(s Style) string {
	id := string(it.Subtask)
	if id == "" {
		id = string(it.Task)
	}
	head := it.Time.Local().Format("15:04:05") + " "
	if s.Verbose {
		if it.Run != "" {
			id = string(it.Run)
		}
		head += fmt.Sprintf("%-15s %-8s %-9s ", dashIfEmpty(id), dashIfEmpty(it.Worker), it.kindName())
	} else {
		head += fmt.Sprintf("%-7s ", dashIfEmpty(id))
	}
	tail := ""
	if it.DurationMS >= 50 {
		tail += "  " + durationText(time.Duration(it.DurationMS)*time.Millisecond)
	}
	if it.CostMicroUSD != nil {
		tail += fmt.Sprintf("  $%.2f", float64(*it.CostMicroUSD)/1e6)
	}
	before := screen.Cells(head) + 2
	text, more := it.fitText(s, before, screen.Cells(tail))
	line := head + s.Paint(markColors[it.Mark], markSymbols[it.Mark]) + " " + text + s.Paint(screen.Dim, tail)
	indent := strings.Repeat(" ", before)
	for _, l := range append(more, it.Lines...) {
		line += "\n" + indent + s.Fit(l, before)
	}
	return line
}

// fitText is the text in a line of the terminal; a failure or a question that does not
// fit has a second one.
func (it Item) fitText(s Style, before, after int) (first string, more []string) {
	room := s.Width - before - after
	if title, merged, ok := it.cutMerge(); ok && s.Width > 0 && screen.Cells(it.Text) > room {
		if left := room - screen.Cells(merged); left >= shortestTitle {
			return screen.Cut(title, left) + merged, nil
		}
	}
	if s.Width <= 0 || screen.Cells(it.Text) <= room || it.Mark != Failed && it.Mark != Needs {
		return s.Fit(it.Text, before+after), nil
	}
	first, rest, _ := strings.Cut(screen.Wrap(it.Text, room, ""), "\n")
	if rest != "" {
		more = []string{strings.ReplaceAll(rest, "\n", " ")}
	}
	return screen.Cut(first, max(1, room)), more
}

// shortestTitle is how many columns of a title stay where a line is cut.
const shortestTitle = 8

// cutMerge parts the item of a merge into the subtask's title and the result, which a line must show.
func (it Item) cutMerge() (title, merged string, ok bool) {
	i := strings.LastIndex(it.Text, mergedAs)
	if it.Kind != kindMergeDone || i < 0 {
		return "", "", false
	}
	return it.Text[:i], it.Text[i:], true
}

// kindName is the kind of an item in a column.
func (it Item) kindName() string {
	noun, kind, ok := strings.Cut(it.Kind, ".")
	switch {
	case !ok:
		kind = it.Kind
	case noun != "run":
		kind = noun
	}
	if kind == "tool_done" || kind == "tool_started" {
		kind = "tool"
	}
	return kind
}

func dashIfEmpty(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// durationText is a duration with tenths of a second below a minute.
func durationText(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return screen.FormatAge(d)
}
