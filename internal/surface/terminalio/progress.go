package terminalio

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"company/internal/present/feed"
	"company/internal/present/termtext"
)

// Style returns the text style for a stream. It measures the width on each call, because terminals
// change.
func (con *Console) Style(w io.Writer) termtext.Style {
	style := termtext.Style{Verbose: con.Verbose, Color: con.useColor(w)}
	if IsTerminal(w) {
		style.Width, _ = terminalSize(w)
	}
	return style
}

// terminalSize returns the size of a terminal, or 80 by 24 if it is unknown.
func terminalSize(w io.Writer) (width, height int) {
	if f, ok := FileOf(w).(*os.File); ok {
		if width, height, err := term.GetSize(int(f.Fd())); err == nil && width >= 20 {
			return width, height
		}
	}
	return 80, 24
}

// MovesCursor reports whether a stream is a terminal on which lines can be redrawn.
func (con *Console) MovesCursor(w io.Writer) bool {
	if !IsTerminal(w) || con.LookupEnv == nil {
		return false
	}
	kind := con.envValue("TERM")
	return kind != "dumb" && kind != ""
}

// useColor reports whether a stream gets colours.
func (con *Console) useColor(w io.Writer) bool {
	if con.NoColor || !IsTerminal(w) {
		return false
	}
	if v, ok := con.LookupEnv("NO_COLOR"); ok && v != "" {
		return false
	}
	kind, _ := con.LookupEnv("TERM")
	return kind != "dumb"
}

// NewFeedDisplay returns a display that writes a feed to w in the style of stream. With -v it
// redraws no lines, because the log goes to the same terminal.
func (con *Console) NewFeedDisplay(w, stream io.Writer) *feed.Display {
	return &feed.Display{
		Out: w, Style: func() termtext.Style { return con.Style(stream) },
		Redraws: w == stream && con.Output == "text" && !con.Verbose && !con.Quiet && con.MovesCursor(stream),
	}
}

// Progress returns the display that prints the feed as progress on stderr.
func (con *Console) Progress() *feed.Display {
	if con.progress == nil {
		con.progress = con.NewFeedDisplay(con.Err, con.Err)
	}
	return con.progress
}

// PrintProgress prints a feed item as progress, and reports whether it printed output. A closed
// reader does not end the work.
func (con *Console) PrintProgress(item feed.Item) bool {
	switch {
	case con.Quiet:
		return false
	case con.Output == "json":
		con.Progress().Note(item)
		_ = con.PrintJSON(con.Err, item)
		return true
	}
	printed, _ := con.Progress().Show(item)
	return printed
}

// PrintAbovePrompt prints a feed item as progress while a person may be typing behind a prompt. The item goes above the
// prompt's line if the terminal can insert lines, else below it, with the prompt once more. Where a long answer fills
// several lines, the item stands between them: only the terminal knows what has been typed.
func (con *Console) PrintAbovePrompt(item feed.Item, prompt string) {
	var text strings.Builder
	display := con.Progress()
	display.Out = &text
	printed := con.PrintProgress(item)
	display.Out = con.Err
	switch {
	case !printed:
	case con.MovesCursor(con.Err):
		for line := range strings.Lines(text.String()) {
			fmt.Fprint(con.Err, insertAbove(strings.TrimSuffix(line, "\n")))
		}
	default:
		fmt.Fprintf(con.Err, "\n%s%s", text.String(), prompt)
	}
}

// insertAbove returns a terminal's control sequence that inserts a line of text above that of the cursor. The cursor
// stays in its column, behind what the person has typed.
func insertAbove(line string) string {
	const (
		makeRoom = "\x1bD\x1b[A"   // down, which scrolls at the bottom, and up again
		openLine = "\x1b7\r\x1b[L" // save the cursor's place, and push its line down
		goBack   = "\x1b8\x1b[B"   // to the saved place, and down to the pushed line
	)
	return makeRoom + openLine + line + goBack
}
