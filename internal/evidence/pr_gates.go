package evidence

import (
	"fmt"
	"strconv"
	"time"

	"company/internal/company"
)

// prGates is the verdict on the tree that is asked to be merged.
func prGates(t *company.Task, o PROptions) string {
	if t.Gate == nil || len(t.Gate.Result.Checks) == 0 {
		return "## Gates\n\nNone were run.\n"
	}
	var rows [][]string
	for _, c := range t.Gate.Result.Checks {
		took := c.Took.Round(10 * time.Millisecond).String()
		rows = append(rows, []string{inert(c.Name), code(c.Command), strconv.Itoa(c.ExitCode), took})
	}
	return "## Gates\n\n" + table(o, []string{"gate", "command", "exit", "took"}, rows) +
		fmt.Sprintf("\n\nRun on the tree of %s in a fresh container without a network; the exit code is the daemon's.\n", t.Head.Short())
}
