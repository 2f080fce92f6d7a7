package company

import (
	"regexp"
	"strings"
)

// A check cannot run here if this sandbox or its image ends it before it has looked at anything. That says nothing of
// the code, so it is neither red nor a gate. Only the base is measured for it: a check that ran there can run.

// Exit codes of a command that did not end by itself.
const (
	ExitTimeout    = 124 // it exceeded its time limit
	ExitKilled     = 137 // it was killed, usually by the kernel because of its memory
	exitSystemCall = 159 // it was ended for a system call (SIGSYS)
)

var (
	// killedRE matches a line in which a kernel's refusal to run a program is reported, in the forms of the go command, of
	// cargo, of the Go runtime and of shells. Code and tests may have the same words elsewhere in a line.
	killedRE = regexp.MustCompile(`(?m)^(?:.*: )?signal: bad system call\b|\(signal: 31, SIGSYS: bad system call|` +
		`^SIGSYS: bad system call$|(?:^|\] |line \d+: +\d+ )Bad system call\b|` +
		`: [Ee]xec format error$|\bExec format error \(os error 8\)$`)
	// lackingRE matches a line in which a shell or a library says that a program is not in the image.
	lackingRE = regexp.MustCompile(`(?m)^\S*sh: (?:\d+: )?\S+: not found$|command not found|executable file not found`)
	// ranRE matches a line about a test that has run, in the text of runners that print no numbers. A line of the go
	// command about a package that failed is none: it also has one if the package does not build.
	ranRE = regexp.MustCompile(`(?m)^(?:ok\b|not ok\b|PASS\b|FAIL[: ]| *--- (?:PASS|FAIL): )`)
	// unstartedRE matches any line that may be about a program that could not be started. It only selects the line to
	// quote of a check of which that is known.
	unstartedRE = regexp.MustCompile(`(?mi)^.*(?:: not found|command not found|executable file not found|` +
		`No such file or directory|Permission denied|not in the image|bad system call|SIGSYS|exec format error).*$`)
)

// CannotRun reports whether a red check tells by its exit code or its output that it cannot run in this sandbox. Which
// messages the runners of a toolchain have of their own, the ecosystems know.
func (c GateCheck) CannotRun() bool {
	switch {
	case c.ExitsUnstarted():
		return true
	case c.Passed || c.ExitCode == ExitTimeout || c.ExitCode == ExitKilled || c.HasRunTests():
		return false
	}
	return killedRE.MatchString(lastLines(c.Output, 20)) || lackingRE.MatchString(lastLines(c.Output, 5))
}

// ExitsUnstarted reports whether the exit code of a check says that its program cannot be run.
func (c GateCheck) ExitsUnstarted() bool {
	return !c.Passed && (c.ExitCode == 126 || c.ExitCode == 127 || c.ExitCode == exitSystemCall)
}

// HasRunTests reports whether the report or the output of a check has a test that ran.
func (c GateCheck) HasRunTests() bool {
	return ranRE.MatchString(c.Output) || c.Counts != nil && (c.Counts.Passed > 0 || len(c.Tests) > len(c.Unrun()))
}

// FindUnstartedLine returns the last line of an output that may be about a program that could not be started, or else
// its last line.
func FindUnstartedLine(output string) string {
	if lines := unstartedRE.FindAllString(output, -1); len(lines) > 0 {
		return strings.TrimSpace(lines[len(lines)-1])
	}
	return lastLines(strings.TrimSpace(output), 1)
}

// QuoteUnstartedLine returns that line of a check's output as it is shown.
func (c GateCheck) QuoteUnstartedLine() string { return cutText(FindUnstartedLine(c.Output), 200) }

// ExplainCannotRun returns the reason why a check that is absent cannot run here. It quotes a line of its output.
func (c GateCheck) ExplainCannotRun() string {
	line := c.QuoteUnstartedLine()
	switch lower := strings.ToLower(line); {
	case c.ExitCode == exitSystemCall || strings.Contains(lower, "bad system call") || strings.Contains(lower, "sigsys"):
		return "the sandbox ends a program that makes system calls of another kind, as one for another processor does"
	case strings.Contains(lower, "exec format error"):
		return "one of its programs is built for another processor"
	case line == "":
		return "its program is not in the image"
	case strings.Contains(line, "not in the image"):
		return line
	case c.ExitCode == 126 || c.ExitCode == 127 || lackingRE.MatchString(line):
		return "the image has no such program, or it is not executable: " + line
	}
	return line
}

// ListCannotRun returns the checks of a task that cannot run here, as the base has shown. They are no gates.
func (t *Task) ListCannotRun() (out []UnrunCheck) {
	if t.Prepared == nil || t.Baseline == nil {
		return nil
	}
	for i, gateCommand := range t.Prepared.Gates {
		if base := baseCheck(t.Baseline, i); base != nil && base.Absent && !base.LeftOut {
			at := gateCommand.From
			if at == "" {
				at = gateCommand.Name
			}
			out = append(out, UnrunCheck{Command: gateCommand.Command, At: at, Why: base.ExplainCannotRun()})
		}
	}
	return out
}
