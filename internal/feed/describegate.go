package feed

import (
	"fmt"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lazyregexp"
	"company/internal/safetext"
)

func (it *Item) describeGate(d *company.GateFinished) {
	if d.Result.Untested {
		it.Mark, it.Text = Stalled, "no gates: untested"
		return
	}
	it.Mark, it.Text = Done, "gates passed"
	var took time.Duration
	for _, c := range d.Result.Checks {
		took += c.Took
		if c.Part != nil {
			it.Text += "; of " + c.Name + " " + c.Part.String() + ", all when it is merged"
		}
		if blind := d.Result.Overlooked(c); !c.Hollow() && len(blind) > 0 {
			it.Text += "; " + c.Name + " does not look at " + joinFirst(blind)
		}
		switch {
		case c.Hollow():
			it.Mark, it.Text = Failed, fmt.Sprintf("gate %s does not look at %s any more: a test that must fail did not turn it red", c.Name, joinFirst(c.Canary.Hollow))
		case c.Passed && len(c.Flaky) > 0:
			it.Text += "; flaky: " + joinFirst(c.Flaky)
		case c.Passed || c.Skipped:
		case c.Excused == company.ComparedAbsent:
			it.Text += "; " + c.Name + " absent"
		case c.Excused == company.ComparedUnreadable:
			it.Mark, it.Text = Stalled, fmt.Sprintf("gate %s is red as on the base, exit %d, and new failures in it cannot be recognised", c.Name, c.ExitCode)
		case c.Excused == company.ComparedAsBefore:
			it.Text += "; " + c.Name + " red as on the base, unverified by the president's leave"
		case c.Excused != "":
			it.Text += "; " + c.Name + " red as on the base"
		default:
			it.Mark, it.Text = Failed, fmt.Sprintf("gate %s failed, exit %d", c.Name, c.ExitCode)
			it.addFailure(c)
		}
	}
	it.DurationMS = took.Milliseconds()
	if d.Result.Cached {
		it.Text += " (cached)"
		it.DurationMS = 0
	}
	if it.Mark == Done {
		it.addUntested(d.Result.ExplainUntested())
	}
	if r := d.Result.RedGreen; r != nil && it.Mark == Done {
		if why, _ := r.ExplainUnshown(); why != "" {
			it.Mark, it.Text = Stalled, it.Text+", but no test shows the change: "+safetext.EscapeLine(why, 200)
		}
	}
	if d.Conflict {
		it.Text += " on the branch alone: it conflicts with what is merged"
	}
}

// describeBaseline tells what the gates say of the base.
func (it *Item) describeBaseline(d *company.BaselineRecorded, t *company.Task) {
	it.Mark, it.Text = Done, "the base is green"
	var took time.Duration
	for _, c := range d.Result.Checks {
		took += c.Took
		if len(c.Flaky) > 0 {
			it.Text += "; flaky: " + joinFirst(c.Flaky)
		}
	}
	if t != nil {
		if red := t.KnownRed(); len(red) > 0 {
			it.Mark, it.Text = Stalled, "before any work: "+safetext.EscapeLine(strings.Join(red, "; "), 300)
		}
	}
	it.addUntested(d.Result.ExplainUntested())
	for _, c := range d.Result.SlowChecks() {
		it.Mark, it.Text = Stalled, it.Text+"; "+safetext.EscapeLine(c.DescribeSlow(), 300)
	}
	if it.DurationMS = took.Milliseconds(); d.Result.Cached {
		it.Text += " (cached)"
		it.DurationMS = 0
	}
}

// joinFirst names the first of a list.
func joinFirst(names []string) string {
	const most = 3
	more := ""
	if n := len(names) - most; n > 0 {
		names, more = names[:most], fmt.Sprintf(" and %d more", n)
	}
	return safetext.EscapeLine(strings.Join(names, ", "), 200) + more
}

// addFailure names what a red check reports. Where it names no test, the first line
// of its output that tells of a failure stands for them.
func (it *Item) addFailure(c company.GateCheck) {
	if news := c.NewFailures(); len(news) > 0 {
		it.Text += ": " + joinFirst(news)
		for _, t := range c.Tests {
			if !t.Known && t.Message != "" {
				it.Lines = append(it.Lines, safetext.EscapeLine(safetext.FirstLine(t.Message), 200))
				return
			}
		}
		return
	}
	if line := FirstFailure(c.Output); line != "" {
		it.Lines = append(it.Lines, line)
	}
}

var (
	// tellsFailure is how programs begin to tell of a failure.
	tellsFailure = lazyregexp.New(`(?i)\b(fail(ed|ure|s)?|error|fatal|panic|assert\w*|exception|not ok|undefined|cannot|mismatch|expected|no such)\b|[✗✘✕]`)
	// onlyReports is what runners print about the failure of another program.
	onlyReports = lazyregexp.New(`^(make(\[\d+\])?|gmake|npm (ERR!|error)|error: recipe|ninja|FAIL$|exit status \d+$|Command failed)`)
)

// FirstFailure is the line of a program's output that tells what failed first, made
// safe to show; of an output that tells nothing, its last line.
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
