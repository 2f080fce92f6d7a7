package command

import (
	"fmt"
	"io"

	"company/internal/feed"
)

// useColor says whether a stream is shown in colour.
func (env *Environment) useColor(w io.Writer) bool {
	if env.NoColor || !IsTerminal(w) {
		return false
	}
	if v, ok := env.LookupEnv("NO_COLOR"); ok && v != "" {
		return false
	}
	term, _ := env.LookupEnv("TERM")
	return term != "dumb"
}

// PrintProgress prints one item of the feed as progress, and says whether
// anything was printed. A closed reader does not end the work.
func (env *Environment) PrintProgress(it feed.Item) bool {
	printed, _ := env.PrintItem(env.Err, it)
	return printed
}

// PrintItem prints one item of the feed to w, unless it is of no use to its
// reader.
func (env *Environment) PrintItem(w io.Writer, it feed.Item) (printed bool, err error) {
	switch {
	case env.Quiet && w == env.Err:
		return false, nil
	case env.Output == "json":
		return true, env.PrintJSON(w, it)
	case it.Quiet && !env.Verbose:
		return false, nil
	}
	_, err = fmt.Fprintln(w, it.RenderText(env.useColor(w)))
	return true, err
}
