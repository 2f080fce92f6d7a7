package feed

import (
	"fmt"
	"strings"
)

var markSymbols = map[Mark]string{
	Done: "+", Started: ">", Failed: "x",
	Needs: "!", Stalled: "~", Info: "-",
}

var markColors = map[Mark]string{
	Done: "32", Failed: "31", Needs: "33;1", Stalled: "33",
}

// RenderText is an item in a line for people: time, run, agent, kind, a sign,
// text, and the time that it took. Ids stand before prose, so that grep finds
// them.
func (it Item) RenderText(colour bool) string {
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
