package console

import (
	"io"
	"os"

	"golang.org/x/term"

	"company/internal/feed"
	"company/internal/screen"
)

// Style is how a stream shows text: measured now, since terminals change.
func (con *Console) Style(w io.Writer) screen.Style {
	s := screen.Style{Verbose: con.Verbose, Color: con.useColor(w)}
	if IsTerminal(w) {
		s.Width, _ = terminalSize(w)
	}
	return s
}

// terminalSize is the size of a terminal; 80 by 24 where it has none.
func terminalSize(w io.Writer) (width, height int) {
	if f, ok := FileOf(w).(*os.File); ok {
		if width, height, err := term.GetSize(int(f.Fd())); err == nil && width >= 20 {
			return width, height
		}
	}
	return 80, 24
}

// MovesCursor says whether a stream is a terminal that takes lines back.
func (con *Console) MovesCursor(w io.Writer) bool {
	if !IsTerminal(w) || con.LookupEnv == nil {
		return false
	}
	kind := con.envValue("TERM")
	return kind != "dumb" && kind != ""
}

// useColor says whether a stream is shown in colour.
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

// NewFeedDisplay is what shows a feed through w on a stream. The log of -v goes to
// the same terminal: then no line is taken back.
func (con *Console) NewFeedDisplay(w, stream io.Writer) *feed.Display {
	return &feed.Display{
		Out: w, Style: func() screen.Style { return con.Style(stream) },
		Redraws: w == stream && con.Output == "text" && !con.Verbose && !con.Quiet && con.MovesCursor(stream),
	}
}

// Progress is what shows the feed as progress, on stderr.
func (con *Console) Progress() *feed.Display {
	if con.progress == nil {
		con.progress = con.NewFeedDisplay(con.Err, con.Err)
	}
	return con.progress
}

// PrintProgress prints one item of the feed as progress, and says whether
// anything was printed. A closed reader does not end the work.
func (con *Console) PrintProgress(it feed.Item) bool {
	switch {
	case con.Quiet:
		return false
	case con.Output == "json":
		con.Progress().Note(it)
		_ = con.PrintJSON(con.Err, it)
		return true
	}
	printed, _ := con.Progress().Show(it)
	return printed
}
