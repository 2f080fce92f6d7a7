package strangers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"company/internal/company"
)

// baseGate is a check of ours and what it says of the base, as `company show` tells.
type baseGate struct {
	Name, Command, Verdict string
	Dir                    string
	ExitCode               int `json:"exit_code"`
	Counts                 *company.TestCounts
	Tests                  []company.TestResult
}

func (g baseGate) isLint() bool { return strings.HasPrefix(g.Name, "lint") }

// compareChecks says which checks of the maintainers ours are not.
func (r *Row) compareChecks(s Stranger, ours []baseGate) {
	for _, g := range ours {
		shown := g.Command
		if g.Dir != "" {
			shown += " (in " + g.Dir + ")"
		}
		r.Ours = append(r.Ours, shown)
	}
	for _, c := range s.Checks {
		said := c.Text
		if c.File == "" {
			said = "none named"
		} else {
			said += " [" + c.File + "]"
		}
		r.Theirs = append(r.Theirs, said)
		switch {
		case c.Ours == "":
			r.Known = append(r.Known, c.Text+": not ours; "+c.Note)
		case !slices.ContainsFunc(ours, func(g baseGate) bool {
			return g.isLint() == c.Lint && g.Verdict != "absent" && hasAnyOf(g.Command, c.Ours)
		}):
			r.Lacking = append(r.Lacking, cmp.Or(c.Text, c.Run))
		case c.Note != "":
			r.Known = append(r.Known, c.Note)
		}
	}
}

// hasAnyOf says whether a command has one of the words between the bars.
func hasAnyOf(command, words string) bool {
	return slices.ContainsFunc(strings.Split(words, "|"), func(w string) bool { return strings.Contains(command, w) })
}

// compareVerdicts runs the maintainers' suite outside of our containers, and says where
// the base's verdict is not its.
func (r *Row) compareVerdicts(ctx context.Context, s Stranger, from Checkout, ours []baseGate) error {
	if s.Outside == nil {
		return nil
	}
	suite, err := s.Outside.Copy(ctx, s, from)
	if err != nil {
		return err
	}
	start := time.Now()
	var untrue, outside, here []string
	for _, c := range s.Checks {
		if c.Run == "" {
			continue
		}
		runs := outsideRuns{suite: suite, command: c.Run}
		if err := runs.runAgain(ctx); err != nil {
			_ = suite.Remove() // the first error counts
			return err
		}
		var same []baseGate
		for _, g := range ours {
			if g.isLint() == c.Lint && g.Verdict != "absent" && g.Verdict != "skipped" {
				same = append(same, g)
			}
		}
		if len(same) > 0 {
			differences, err := runs.compareWith(ctx, same)
			if err != nil {
				_ = suite.Remove() // the first error counts
				return err
			}
			green := !slices.ContainsFunc(same, func(g baseGate) bool { return g.ExitCode != 0 })
			here = append(here, colourOf(green, c.Lint)+countTests(same))
			untrue = append(untrue, differences...)
		} // else it lacks; that is told
		outside = append(outside, colourOf(runs.last().exit == 0, c.Lint))
		if len(runs.all) > 1 {
			r.Known = append(r.Known, runs.describeRuns())
		}
	}
	r.Away = time.Since(start)
	r.Verdict, r.Outside, r.Untrue = strings.Join(here, ", "), strings.Join(outside, ", "), strings.Join(untrue, "; ")
	return suite.Remove()
}

func colourOf(green, lint bool) string {
	out := "red"
	if green {
		out = "green"
	}
	if lint {
		out = "lint " + out
	}
	return out
}

// countTests sums the tests that ran by name.
func countTests(gates []baseGate) string {
	n := 0
	for _, g := range gates {
		if g.Counts != nil {
			n += g.Counts.Passed + g.Counts.Failed
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d tests)", n)
}
