package feed

import (
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
)

func (it *Item) describeGate(gateFinished *company.GateFinished) {
	if gateFinished.Result.Untested {
		it.Mark, it.Text = Stalled, "no gates: untested"
		return
	}
	it.Mark, it.Text = Done, "gates passed"
	var took time.Duration
	for _, gateCheck := range gateFinished.Result.Checks {
		took += gateCheck.Took
		if gateCheck.Part != nil {
			it.Text += "; of " + gateCheck.Name + " " + gateCheck.Part.String() + ", all on the merge"
		}
		if blind := gateFinished.Result.Overlooked(gateCheck); !gateCheck.Hollow() && len(blind) > 0 {
			it.Text += "; " + gateCheck.Name + " does not cover " + joinFirst(blind)
		}
		switch {
		case gateCheck.Hollow():
			it.Mark, it.Text = Failed, fmt.Sprintf(
				"gate %s no longer covers %s: it passed with a test that must fail", gateCheck.Name,
				joinFirst(gateCheck.Canary.Hollow))
		case gateCheck.Passed && len(gateCheck.Flaky) > 0:
			it.Text += "; flaky: " + joinFirst(gateCheck.Flaky)
		case gateCheck.Passed || gateCheck.Skipped:
		case gateCheck.Excused == company.ComparedAbsent:
			it.Text += "; " + gateCheck.Name + " absent"
		case gateCheck.Excused == company.ComparedUnreadable:
			it.Mark, it.Text = Stalled, fmt.Sprintf(
				"gate %s is red as on the base, exit %d, and new failures cannot be told apart", gateCheck.Name,
				gateCheck.ExitCode)
		case gateCheck.Excused == company.ComparedAsBefore:
			it.Text += "; " + gateCheck.Name + " red as on the base, unverified, accepted by the president"
		case gateCheck.Excused != "":
			it.Text += "; " + gateCheck.Name + " red as on the base"
		default:
			it.Mark, it.Text = Failed, fmt.Sprintf("gate %s failed, exit %d", gateCheck.Name, gateCheck.ExitCode)
			it.addFailure(gateCheck)
		}
	}
	it.DurationMS = took.Milliseconds()
	if gateFinished.Result.Cached {
		it.Text += " (cached)"
		it.DurationMS = 0
	}
	if it.Mark == Done {
		it.addUntested(gateFinished.Result.ExplainUntested())
	}
	if r := gateFinished.Result.RedGreen; r != nil && it.Mark == Done {
		if reason, _ := r.ExplainUnshown(); reason != "" {
			it.Mark, it.Text = Stalled, it.Text+", but no test shows the change: "+safetext.EscapeLine(reason, 200)
		}
	}
	if gateFinished.Conflict {
		it.Text += " on the branch alone: it conflicts with what is merged"
	}
}

// describeBaseline describes the results of the gates on the base.
func (it *Item) describeBaseline(recorded *company.BaselineRecorded, task *company.Task) {
	it.Mark, it.Text = Done, "the base is green"
	if recorded.Result.Untested {
		it.Mark, it.Text = Stalled, "no check applies to the base"
	}
	var took time.Duration
	for _, gateCheck := range recorded.Result.Checks {
		took += gateCheck.Took
		if len(gateCheck.Flaky) > 0 {
			it.Text += "; flaky: " + joinFirst(gateCheck.Flaky)
		}
	}
	if task != nil {
		if red := task.KnownRed(); len(red) > 0 {
			it.Mark, it.Text = Stalled, "before any work: "+safetext.EscapeLine(strings.Join(red, "; "), 300)
		}
		for _, unrunCheck := range task.ListCannotRun() {
			it.Text += "; " + safetext.EscapeLine(unrunCheck.String(), 300)
		}
	}
	it.addUntested(recorded.Result.ExplainUntested())
	for _, c := range recorded.Result.SlowChecks() {
		it.Mark, it.Text = Stalled, it.Text+"; "+safetext.EscapeLine(c.DescribeSlow(), 300)
	}
	if it.DurationMS = took.Milliseconds(); recorded.Result.Cached {
		it.Text += " (cached)"
		it.DurationMS = 0
	}
}

// joinFirst joins the first three names of a list and counts the rest.
func joinFirst(names []string) string {
	const most = 3
	more := ""
	if n := len(names) - most; n > 0 {
		names, more = names[:most], fmt.Sprintf(" and %d more", n)
	}
	return safetext.EscapeLine(strings.Join(names, ", "), 200) + more
}

// addFailure adds the failures of a check. If it names no failed test, it adds the first line of the output that
// reports a failure.
func (it *Item) addFailure(gateCheck company.GateCheck) {
	if news := gateCheck.NewFailures(); len(news) > 0 {
		it.Text += ": " + joinFirst(news)
		for _, testResult := range gateCheck.Tests {
			if !testResult.Known && testResult.Message != "" {
				it.Lines = append(it.Lines, safetext.EscapeLine(safetext.FirstLine(testResult.Message), 200))
				return
			}
		}
		return
	}
	if line := FirstFailure(gateCheck.Output); line != "" {
		it.Lines = append(it.Lines, line)
	}
}

var (
	// tellsFailure matches lines that report a failure.
	tellsFailure = lazyregexp.New(
		`(?i)\b(fail(ed|ure|s)?|error|fatal|panic|assert\w*|exception|not ok|undefined|cannot|mismatch|expected|no such)\b|[✗✘✕]`)
	// onlyReports matches lines in which runners report the failure of another program.
	onlyReports = lazyregexp.New(
		`^(make(\[\d+\])?|gmake|npm (ERR!|error)|error: recipe|ninja|FAIL$|exit status \d+$|Command failed)`)
)

// FirstFailure returns the first line of a program's output that reports a failure, escaped for display. Without such
// a line it returns the last line.
func FirstFailure(output string) string {
	last := ""
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || onlyReports.MatchString(line):
			continue
		case tellsFailure.MatchString(line):
			return safetext.EscapeLine(line, 200)
		}
		last = line
	}
	return safetext.EscapeLine(last, 200)
}
