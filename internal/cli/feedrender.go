package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"company/internal/feed"
)

var markSymbols = map[feed.Mark]string{
	feed.Done: "+", feed.Started: ">", feed.Failed: "x",
	feed.Needs: "!", feed.Stalled: "~", feed.Info: "-",
}

var markColors = map[feed.Mark]string{
	feed.Done: "32", feed.Failed: "31", feed.Needs: "33;1", feed.Stalled: "33",
}

// formatItem shows one item of the feed: time, run, who, what kind, a sign, words,
// and what it took. Ids stand before prose, so that grep finds them.
func formatItem(it feed.Item, colour bool) string {
	id := string(it.Run)
	if id == "" {
		id = string(it.Subtask)
	}
	if id == "" {
		id = string(it.Task)
	}
	who := it.Worker
	if who == "" {
		who = "-"
	}
	_, kind, ok := strings.Cut(it.Kind, ".")
	if !ok {
		kind = it.Kind
	}
	if noun, _, _ := strings.Cut(it.Kind, "."); ok && noun != "run" {
		kind = noun
	}
	if kind == "tool_done" || kind == "tool_started" {
		kind = "tool"
	}
	sym := markSymbols[it.Mark]
	if c := markColors[it.Mark]; colour && c != "" {
		sym = "\x1b[" + c + "m" + sym + "\x1b[0m"
	}
	s := fmt.Sprintf("%s %-15s %-8s %-9s %s %s", it.Time.Local().Format("15:04:05"), id, who, kind, sym, it.Text)
	if it.DurationMS >= 50 {
		s += fmt.Sprintf("  %.1fs", float64(it.DurationMS)/1000)
	}
	if it.CostMicroUSD != nil {
		s += fmt.Sprintf("  $%.2f", float64(*it.CostMicroUSD)/1e6)
	}
	return s
}

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

// printProgress prints one item of the feed as progress, and says whether anything was
// printed. That nobody reads it any more does not end the work.
func (a *app) printProgress(it feed.Item) bool {
	printed, _ := a.printItem(a.err, it)
	return printed
}

// printItem prints one item of the feed to w, unless it is of no use to who
// reads there.
func (a *app) printItem(w io.Writer, it feed.Item) (printed bool, err error) {
	switch {
	case a.quiet && w == a.err:
		return false, nil
	case a.output == "json":
		return true, a.printJSON(w, it)
	case it.Quiet && !a.verbose:
		return false, nil
	}
	_, err = fmt.Fprintln(w, formatItem(it, a.useColor(w)))
	return true, err
}

// formatAge is an age in few words. What lies ahead by a clock that was set back has
// the age 0.
func formatAge(d time.Duration) string {
	d = max(0, d)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
