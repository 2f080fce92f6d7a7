package company

import "fmt"

// UnrunCheck is a check command found in the repository that no gate runs.
type UnrunCheck struct {
	Command string `json:"command"`
	At      string `json:"at"` // file:line
	Why     string `json:"why"`
	OfCI    bool   `json:"of_ci,omitempty"` // found in the CI config; otherwise in a text, script or third-party action
}

// String formats the check for people and agents.
func (u UnrunCheck) String() string { return u.Command + " (" + u.At + ") is not run here: " + u.Why }

// ExplainUnverified returns the CI checks of the repository that do not check the task's work. It also returns the
// checks that are red on the base in a way that hides new faults. It is empty if all checks that a maintainer would
// look at were run, or cannot run here (ListCannotRun).
func (t *Task) ExplainUnverified() []string {
	if t.Prepared == nil {
		return nil
	}
	var out []string
	for i, gateCommand := range t.Prepared.Gates {
		base, now := baseCheck(t.Baseline, i), (*GateCheck)(nil)
		if t.gateDone() {
			now = baseCheck(&t.Gate.Result, i)
		}
		switch {
		case now != nil && now.Passed:
		case now != nil && now.Excused == ComparedAsBefore:
			out = append(out, gateCommand.Name+
				" is red on the base too, new failures in it cannot be recognised, and the president "+
				"accepted that")
		case base == nil:
		case base.LeftOut && gateCommand.From != "":
			out = append(out, gateCommand.Command+" ("+gateCommand.From+") was left out: "+base.ExplainAbsence())
		case base.Absent || base.ExitCode == 0 || !gateCommand.IsTest():
		case !base.namesFailures():
			out = append(out, gateCommand.Name+" is red on the base too, and new failures in it cannot be recognised")
		case base.Counts.Failed > base.Counts.Passed:
			out = append(
				out, fmt.Sprintf("%d of %d red on the base by %s", base.Counts.Failed,
					base.Counts.Failed+base.Counts.Passed, gateCommand.Name))
		}
	}
	for _, unrunCheck := range t.Prepared.Unrun {
		if unrunCheck.OfCI {
			out = append(out, unrunCheck.String())
		}
	}
	return out
}

// NameUnverified returns ExplainUnverified in one line, or "" if everything was verified.
func (t *Task) NameUnverified() string {
	all := t.ExplainUnverified()
	if len(all) == 0 {
		return ""
	}
	if n := len(all) - 1; n > 0 {
		return all[0] + fmt.Sprintf("; and %d more", n)
	}
	return all[0]
}

// mostUnrun limits the checks that ListUnrun names.
const mostUnrun = 8

// ListUnrun returns, for agents, at most eight of the checks that no gate runs, or that cannot run here. CI checks come
// first. A last line has the number of the rest.
func (t *Task) ListUnrun() []string {
	if t.Prepared == nil {
		return nil
	}
	var out, others []string
	for _, unrunCheck := range t.Prepared.Unrun {
		if unrunCheck.OfCI {
			out = append(out, unrunCheck.String())
		} else {
			others = append(others, unrunCheck.String())
		}
	}
	for _, unrunCheck := range t.ListCannotRun() {
		out = append(out, unrunCheck.String())
	}
	out = append(out, others...)
	if n := len(out) - mostUnrun; n > 0 {
		out = append(out[:mostUnrun], "and "+itoa(n)+" more")
	}
	return out
}
