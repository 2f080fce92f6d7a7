package cli

import (
	"fmt"
	"io"

	"company/internal/feed"
)

// useColor says whether a stream is shown in colour.
func (a *app) useColor(w io.Writer) bool {
	if a.noColor || !isTerminal(w) {
		return false
	}
	if v, ok := a.env("NO_COLOR"); ok && v != "" {
		return false
	}
	term, _ := a.env("TERM")
	return term != "dumb"
}

// printProgress prints one item of the feed as progress, and says whether
// anything was printed. A closed reader does not end the work.
func (a *app) printProgress(it feed.Item) bool {
	printed, _ := a.printItem(a.err, it)
	return printed
}

// printItem prints one item of the feed to w, unless it is of no use to its
// reader.
func (a *app) printItem(w io.Writer, it feed.Item) (printed bool, err error) {
	switch {
	case a.quiet && w == a.err:
		return false, nil
	case a.output == "json":
		return true, a.printJSON(w, it)
	case it.Quiet && !a.verbose:
		return false, nil
	}
	_, err = fmt.Fprintln(w, it.RenderText(a.useColor(w)))
	return true, err
}
