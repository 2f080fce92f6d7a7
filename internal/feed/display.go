package feed

import (
	"fmt"
	"io"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/screen"
)

// Display shows a feed to people on one stream: items as lines and, below them on a
// terminal, the steps under way, drawn anew in place. One goroutine uses it.
type Display struct {
	Out io.Writer
	// Style measures the stream. It is asked for each item: terminals change.
	Style func() Style
	// Redraws says that the stream takes lines back: it is a terminal that moves its
	// cursor, and nothing else writes to it meanwhile.
	Redraws bool

	shown   condenser
	now     underway
	area    *screen.Area
	lastDay string
}

// mostUnderway is how many steps are drawn at the foot of a terminal.
const mostUnderway = 6

// Show writes an item, unless people do not read it, and says whether it did.
func (d *Display) Show(it Item) (printed bool, err error) {
	d.Note(it)
	s := d.Style()
	visible := d.shown.isShown(it)
	if !visible && !(s.Verbose && !it.isInner()) {
		return false, nil
	}
	d.Clear()
	_, err = fmt.Fprintln(d.Out, d.dayLine(it.Time)+it.Render(s))
	return true, err
}

// Note takes an item into account that is not shown.
func (d *Display) Note(it Item) { d.now.observe(it) }

// isInner says whether an item is of use to programs alone, however much people want
// to see.
func (it Item) isInner() bool {
	return it.Quiet && it.Seq == 0 && it.Text == ""
}

// dayLine says which day it is, before the first item of a day that is not the
// one before it, or not today.
func (d *Display) dayLine(at time.Time) string {
	day := at.Local().Format(time.DateOnly)
	if d.lastDay == "" && day == time.Now().Format(time.DateOnly) {
		d.lastDay = day
	}
	if day == d.lastDay {
		return ""
	}
	d.lastDay = day
	return at.Local().Format("Monday, 2 January 2006") + "\n"
}

// Draw shows how far tasks are, and the steps under way, at the foot of a terminal.
func (d *Display) Draw(now time.Time, heads []string) {
	s := d.Style()
	if !d.Redraws || s.Width <= 0 {
		return
	}
	if d.area == nil {
		d.area = &screen.Area{Out: d.Out}
	}
	d.area.Draw(s.Width, append(heads, d.now.renderLines(now, mostUnderway)...), s)
}

// Clear takes away what Draw has drawn. What another part writes comes after it.
func (d *Display) Clear() {
	if d.area != nil {
		d.area.Erase(d.Style().Width)
	}
}

// Heartbeat is an item that says on a stream without a foot that the work goes on.
func (d *Display) Heartbeat(now time.Time, task company.TaskID, head string) Item {
	it := Item{SchemaVersion: 1, Time: now, Task: task, Kind: kindHeartbeat, Mark: Info, Text: strings.TrimSpace("still at work: " + head)}
	if doing := d.now.renderText(now); doing != "" {
		it.Text += ": " + doing
	}
	return it
}
