package company

import (
	"regexp"
	"strings"
)

// A check cannot run here if this sandbox or its image ends it before it has looked at anything. That says nothing of
// the code, so it is neither red nor a gate. Only the base is measured for it: a check that ran there can run.

// exitSystemCall is the exit code of a process that the kernel ended for a system call (SIGSYS).
const exitSystemCall = 159

var (
	// killedRE matches the words for a process that the kernel did not let run, in any line of an output.
	killedRE = regexp.MustCompile(`(?i)\bbad system call\b|\bSIGSYS\b|\bexec format error\b`)
	// lackingRE matches a line in which a shell or a library says that a program is not in the image.
	lackingRE = regexp.MustCompile(`(?m)^\S*sh: (?:\d+: )?\S+: not found$|command not found|executable file not found`)
	// ranRE matches a line about a part of the tests that has run, in the text of runners that print no numbers.
	ranRE = regexp.MustCompile(`(?m)^ok\b`)
	// unstartedRE matches a line about a program that could not be started, where an exit code says that one was.
	unstartedRE = regexp.MustCompile(`(?mi)^.*(?:: not found|command not found|executable file not found|` +
		`No such file or directory|Permission denied|not in the image|bad system call|SIGSYS|exec format error).*$`)
)

// CannotRun reports whether a red check tells by its exit code or its output that it cannot run in this sandbox. Which
// messages the runners of a toolchain have of their own, the ecosystems know.
func (c GateCheck) CannotRun() bool {
	switch {
	case c.Passed:
		return false
	case c.ExitCode == 126 || c.ExitCode == 127 || c.ExitCode == exitSystemCall:
		return true
	case c.hasRunTests():
		return false
	}
	return killedRE.MatchString(c.Output) || lackingRE.MatchString(lastLines(c.Output, 5))
}

// hasRunTests reports whether a check names a test or a finding, or says that a part of its tests passed.
func (c GateCheck) hasRunTests() bool {
	return ranRE.MatchString(c.Output) || c.Counts != nil && (c.Counts.Passed > 0 || len(c.Tests) > len(c.Unrun()))
}

// FindUnstartedLine returns the last line of an output about a program that could not be started, or else the last one.
func FindUnstartedLine(output string) string {
	if lines := unstartedRE.FindAllString(output, -1); len(lines) > 0 {
		return strings.TrimSpace(lines[len(lines)-1])
	}
	return lastLines(strings.TrimSpace(output), 1)
}

// ExplainCannotRun returns the reason why a check that is absent cannot run here. It quotes a line of its output.
func (c GateCheck) ExplainCannotRun() string {
	line := cutText(FindUnstartedLine(c.Output), 200)
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
