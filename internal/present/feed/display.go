package feed

import (
	"fmt"
	"io"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/present/termtext"
)

// Display shows a feed to people on one stream: items as lines and, on a terminal, the current steps below them,
// redrawn in place. It is not safe for concurrent use.
type Display struct {
	Out io.Writer
	// Style returns the style of the stream. It is called for each item, because a terminal's size may change.
	Style func() Style
	// Redraws is set for a terminal that can move its cursor while no other writer uses it.
	Redraws bool

	shown   condenser
	now     underway
	area    *termtext.Area
	lastDay string
}

// mostUnderway limits the steps at the foot of a terminal.
const mostUnderway = 6

// Show writes an item unless it is hidden from people, and reports whether it did.
func (d *Display) Show(item Item) (printed bool, err error) {
	d.Note(item)
	style := d.Style()
	visible := d.shown.isShown(item)
	if !visible && !(style.Verbose && !item.isInner()) {
		return false, nil
	}
	d.Clear()
	_, err = fmt.Fprintln(d.Out, d.dayLine(item.Time)+item.Render(style))
	return true, err
}

// Note processes an item that is not shown.
func (d *Display) Note(item Item) { d.now.observe(item) }

// isInner reports whether an item is only useful to programs, even in verbose mode.
func (it Item) isInner() bool {
	return it.Quiet && it.Seq == 0 && it.Text == ""
}

// dayLine returns a line with the date before the first item of a new day. For the first item it returns "" if that is
// today.
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

// Draw shows the progress of tasks and the current steps at the foot of a terminal.
func (d *Display) Draw(now time.Time, heads []string) {
	style := d.Style()
	if !d.Redraws || style.Width <= 0 {
		return
	}
	if d.area == nil {
		d.area = &termtext.Area{Out: d.Out}
	}
	d.area.Draw(style.Width, append(heads, d.now.renderLines(now, mostUnderway)...), style)
}

// Clear erases the lines that Draw has drawn, before other output.
func (d *Display) Clear() {
	if d.area != nil {
		d.area.Erase(d.Style().Width)
	}
}

// Heartbeat returns an item that shows, on a stream without redrawn lines, that work continues.
func (d *Display) Heartbeat(now time.Time, task company.TaskID, head string) Item {
	item := Item{SchemaVersion: 1, Time: now, Task: task, Kind: kindHeartbeat, Mark: Info,
		Text: strings.TrimSpace("still running: " + head)}
	if doing := d.now.renderText(now); doing != "" {
		item.Text += ": " + doing
	}
	return item
}
