package terminalio

import (
	"io"
	"os"

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
