package feed

import (
	"fmt"
	"strings"
	"time"

	"company/internal/present/termtext"
)

var markSymbols = map[Mark]string{
	Done: "+", Started: ">", Failed: "x",
	Needs: "!", Stalled: "~", Info: "-",
}

var markColors = map[Mark]string{
	Done: termtext.Green, Failed: termtext.Red, Needs: termtext.Bright, Stalled: termtext.Yellow,
}

// Style is the way in which a stream shows text.
type Style = termtext.Style

// Legend explains the lines of the feed.
const Legend = `A line is: time, id of the task or the subtask, a sign, what happened, how long
it took, and what it cost if the price is known. Details follow on the next lines.

  +  done, or passed         x  failed, or refused
  >  started                 !  needs you
  -  for your information    ~  check it: untested, waiting, or not as planned

A subtask that goes well is one line, its merge. If it fails, that line and all
lines until its merge are shown. With -v, each step of each run is a line,
including tool calls, and each line also names the run, the agent (w1 is a worker)
and the kind of event.`

// Render renders an item as lines for people, without a final line break: time, id, a sign, text and duration, with
// details below. With Verbose it adds the run, the agent and the kind. The id comes before the text, so that grep
// finds it. Each line is cut to the width of the stream.
func (it Item) Render(style Style) string {
	id := string(it.Subtask)
	if id == "" {
		id = string(it.Task)
	}
	head := it.Time.Local().Format("15:04:05") + " "
	if style.Verbose {
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
	before := termtext.Cells(head) + 2
	text, more := it.fitText(style, before, termtext.Cells(tail))
	line := head + style.Paint(markColors[it.Mark], markSymbols[it.Mark]) + " " + text + style.Paint(termtext.Dim, tail)
	indent := strings.Repeat(" ", before)
	for _, l := range append(more, it.Lines...) {
		line += "\n" + indent + style.Fit(l, before)
	}
	return line
}

// fitText fits the text into a line of the terminal. A failure or a question that does not fit gets a second line.
func (it Item) fitText(style Style, before, after int) (first string, more []string) {
	room := style.Width - before - after
	if title, merged, ok := it.cutMerge(); ok && style.Width > 0 && termtext.Cells(it.Text) > room {
		if left := room - termtext.Cells(merged); left >= shortestTitle {
			return termtext.Cut(title, left) + merged, nil
		}
	}
	if style.Width <= 0 || termtext.Cells(it.Text) <= room || it.Mark != Failed && it.Mark != Needs {
		return style.Fit(it.Text, before+after), nil
	}
	first, rest, _ := strings.Cut(termtext.Wrap(it.Text, room, ""), "\n")
	if rest != "" {
		more = []string{strings.ReplaceAll(rest, "\n", " ")}
	}
	return termtext.Cut(first, max(1, room)), more
}

// shortestTitle is the minimum width of a title in a cut line.
const shortestTitle = 8

// cutMerge splits the item of a merge into the subtask's title and the result. The result must not be cut.
func (it Item) cutMerge() (title, merged string, ok bool) {
	i := strings.LastIndex(it.Text, mergedAs)
	if it.Kind != kindMergeDone || i < 0 {
		return "", "", false
	}
	return it.Text[:i], it.Text[i:], true
}

// kindName returns the kind of an item for a column.
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

// durationText formats a duration, with tenths of a second below a minute.
func durationText(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return termtext.FormatAge(d)
}
