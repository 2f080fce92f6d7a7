package strangers

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// mostRuns is how often a suite is run outside where its end is not ours. Some suites
// watch the clock, or stop at the third of many failures that run side by side.
const mostRuns = 3

// outsideRuns are the runs of one command of the maintainers.
type outsideRuns struct {
	suite   Suite
	command string
	all     []outsideRun
}

type outsideRun struct {
	exit   int
	output string
}

func (o *outsideRuns) runAgain(ctx context.Context) error {
	exit, output, err := o.suite.Run(ctx, o.command)
	if err != nil {
		return err
	}
	o.all = append(o.all, outsideRun{exit, output})
	return nil
}

func (o *outsideRuns) last() outsideRun { return o.all[len(o.all)-1] }

// compareWith says how our checks on the base end in another way than the command.
// It runs the command again while there is a difference.
func (o *outsideRuns) compareWith(ctx context.Context, ours []baseGate) ([]string, error) {
	for {
		differences := o.listDifferences(ours)
		if len(differences) == 0 || len(o.all) == mostRuns {
			return differences, nil
		}
		if err := o.runAgain(ctx); err != nil {
			return nil, err
		}
	}
}

func (o *outsideRuns) listDifferences(ours []baseGate) (differences []string) {
	last := o.last()
	red := slices.DeleteFunc(slices.Clone(ours), func(g baseGate) bool { return g.ExitCode == 0 })
	if (last.exit == 0) != (len(red) == 0) {
		return []string{fmt.Sprintf("%s ends with %d outside, and is %s here%s", o.command, last.exit,
			colourOf(len(red) == 0, ours[0].isLint()), lastWords(last.exit, last.output))}
	}
	for _, g := range red {
		for _, t := range g.Tests {
			if !o.showsRed(t.Name) {
				differences = append(differences, t.Name+" is not red outside")
			}
		}
	}
	return differences
}

// showsRed says whether a run outside printed the name of a test that is red here. A
// suite whose red names change outside from run to run is held to the groups that
// they are of.
func (o *outsideRuns) showsRed(name string) bool {
	own := lastPart(name)
	group := strings.TrimRight(strings.TrimSuffix(name, own), " >:/")
	inGroup := strings.ContainsAny(group, " :>") && o.isUnstable() // else it is the package or the file alone
	for _, r := range o.all {
		if strings.Contains(r.output, own) || inGroup && strings.Contains(r.output, lastPart(group)) {
			return true
		}
	}
	return false
}

// describeRuns says how often the command was run, and whether its ends were the same.
func (o *outsideRuns) describeRuns() string {
	out := fmt.Sprintf("%s was run %d times outside: ", o.command, len(o.all))
	if slices.ContainsFunc(o.all, func(r outsideRun) bool { return r.exit != o.last().exit }) || o.isUnstable() {
		return out + "it does not end in the same way each time"
	}
	return out + "it ends in the same way each time"
}

// durationRE is what differs in two equal runs.
var durationRE = regexp.MustCompile(`\(?\b[0-9.]+m?s\b\)?`)

// isUnstable says whether two red runs outside failed in different tests.
func (o *outsideRuns) isUnstable() bool {
	var first []string
	for i, r := range o.all {
		var failed []string
		for line := range strings.Lines(r.output) {
			if strings.Contains(line, "FAIL") {
				failed = append(failed, strings.TrimSpace(durationRE.ReplaceAllString(line, "")))
			}
		}
		slices.Sort(failed)
		if i == 0 {
			first = failed
		} else if !slices.Equal(first, failed) {
			return true
		}
	}
	return false
}

// lastPart is a test's own name: runners print what stands before it in other ways.
func lastPart(name string) string {
	for _, sep := range []string{" > ", "::", "/", " "} {
		if i := strings.LastIndex(name, sep); i >= 0 {
			name = name[i+len(sep):]
		}
	}
	return name
}

// lastWords is the end of what a red suite printed.
func lastWords(exit int, output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if exit == 0 {
		return ""
	}
	return ": " + strings.Join(lines[max(0, len(lines)-3):], " / ")
}
