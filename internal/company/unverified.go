package company

import "fmt"

// UnrunCheck is a command by which the repository's own people check it, and that no gate runs.
type UnrunCheck struct {
	Command string `json:"command"`
	At      string `json:"at"` // file:line
	Why     string `json:"why"`
	OfCI    bool   `json:"of_ci,omitempty"` // a command of its CI; else of a text, a script, or an action of others
}

// String is the check for people and agents.
func (u UnrunCheck) String() string { return u.Command + " (" + u.At + ") is not run here: " + u.Why }

// ExplainUnverified says which checks of the repository's CI judge nothing of the task's work,
// and which of its checks are red on the base in a way that hides new faults. It is empty where all
// that a maintainer would look at was looked at.
func (t *Task) ExplainUnverified() []string {
	if t.Prepared == nil {
		return nil
	}
	var out []string
	for i, g := range t.Prepared.Gates {
		base, now := baseCheck(t.Baseline, i), (*GateCheck)(nil)
		if t.gateDone() {
			now = baseCheck(&t.Gate.Result, i)
		}
		switch {
		case now != nil && now.Passed:
		case now != nil && now.Excused == ComparedAsBefore:
			out = append(out, g.Name+" is red on the base too, new failures in it cannot be recognised, and the president accepted that")
		case base == nil:
		case base.Absent && g.From != "":
			out = append(out, g.Command+" ("+g.From+") was left out: "+base.ExplainAbsence())
		case base.Absent || base.ExitCode == 0 || !g.IsTest():
		case !base.namesFailures():
			out = append(out, g.Name+" is red on the base too, and new failures in it cannot be recognised")
		case base.Counts.Failed > base.Counts.Passed:
			out = append(out, fmt.Sprintf("%d of %d red on the base by %s", base.Counts.Failed, base.Counts.Failed+base.Counts.Passed, g.Name))
		}
	}
	for _, u := range t.Prepared.Unrun {
		if u.OfCI {
			out = append(out, u.String())
		}
	}
	return out
}

// NameUnverified is ExplainUnverified in one line; empty where everything was verified.
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

// mostUnrun bounds the checks that ListUnrun names.
const mostUnrun = 8

// ListUnrun are the checks of the repository's own people that no gate runs, for agents: those of its
// CI first, and at most eight.
func (t *Task) ListUnrun() []string {
	if t.Prepared == nil {
		return nil
	}
	var out, others []string
	for _, u := range t.Prepared.Unrun {
		if u.OfCI {
			out = append(out, u.String())
		} else {
			others = append(others, u.String())
		}
	}
	out = append(out, others...)
	if n := len(out) - mostUnrun; n > 0 {
		out = append(out[:mostUnrun], "and "+itoa(n)+" more")
	}
	return out
}
