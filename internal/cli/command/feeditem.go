package command

import (
	"io"
	"os"

	"golang.org/x/term"

	"company/internal/feed"
	"company/internal/screen"
)

// Style is how a stream shows text: measured now, since terminals change.
func (env *Environment) Style(w io.Writer) screen.Style {
	s := screen.Style{Verbose: env.Verbose, Color: env.useColor(w)}
	if IsTerminal(w) {
		s.Width, _ = terminalSize(w)
	}
	return s
}

// terminalSize is the size of a terminal; 80 by 24 where it has none.
func terminalSize(w io.Writer) (width, height int) {
	if r, ok := w.(*StdoutWriter); ok {
		w = r.W
	}
	if f, ok := w.(*os.File); ok {
		if width, height, err := term.GetSize(int(f.Fd())); err == nil && width >= 20 {
			return width, height
		}
	}
	return 80, 24
}

// TerminalHeight is the height of a terminal; 24 where it has none.
func TerminalHeight(w io.Writer) int {
	_, height := terminalSize(w)
	return height
}

// MovesCursor says whether a stream is a terminal that takes lines back.
func (env *Environment) MovesCursor(w io.Writer) bool {
	if !IsTerminal(w) || env.LookupEnv == nil {
		return false
	}
	kind := env.envValue("TERM")
	return kind != "dumb" && kind != ""
}

// useColor says whether a stream is shown in colour.
func (env *Environment) useColor(w io.Writer) bool {
	if env.NoColor || !IsTerminal(w) {
		return false
	}
	if v, ok := env.LookupEnv("NO_COLOR"); ok && v != "" {
		return false
	}
	kind, _ := env.LookupEnv("TERM")
	return kind != "dumb"
}

// NewFeedDisplay is what shows a feed through w on a stream. The log of -v goes to
// the same terminal: then no line is taken back.
func (env *Environment) NewFeedDisplay(w, stream io.Writer) *feed.Display {
	return &feed.Display{
		Out: w, Style: func() screen.Style { return env.Style(stream) },
		Redraws: w == stream && env.Output == "text" && !env.Verbose && !env.Quiet && env.MovesCursor(stream),
	}
}

// Progress is what shows the feed as progress, on stderr.
func (env *Environment) Progress() *feed.Display {
	if env.progress == nil {
		env.progress = env.NewFeedDisplay(env.Err, env.Err)
	}
	return env.progress
}

// PrintProgress prints one item of the feed as progress, and says whether
// anything was printed. A closed reader does not end the work.
func (env *Environment) PrintProgress(it feed.Item) bool {
	switch {
	case env.Quiet:
		return false
	case env.Output == "json":
		env.Progress().Note(it)
		_ = env.PrintJSON(env.Err, it)
		return true
	}
	printed, _ := env.Progress().Show(it)
	return printed
}
