package company

import (
	"slices"
	"strings"
)

// BaselineComparison is how a check stands against the baseline of its task.
type BaselineComparison string

const (
	ComparedPassed     BaselineComparison = "passed"
	ComparedFailed     BaselineComparison = "failed" // it bars
	ComparedSkipped    BaselineComparison = "skipped"
	ComparedKnown      BaselineComparison = "known"     // red, and the base fails in each of the same names
	ComparedUnreadable BaselineComparison = "unread"    // red as on the base, and new failures cannot be recognised: the president decides
	ComparedAsBefore   BaselineComparison = "as_before" // the same, and the president let it pass
	ComparedAbsent     BaselineComparison = "absent"    // it cannot judge the base; not checked
)

// endedOddly is the least exit code that says that a check did not come to an
// end of its own: 124 too long, 126 and 127 not started, more: killed.
const endedOddly = 124

// Against says how a check stands, given the same check on the base tree (nil
// where there is none). It is the one rule of what bars a merge: red bars,
// except for failures that the base has under the same name. A failure without
// a name, and one behind which tests were not run, excuses nothing: a new
// failure there could not be seen.
func (c GateCheck) Against(base *GateCheck) BaselineComparison {
	switch {
	case c.Skipped:
		return ComparedSkipped
	case c.Absent:
		if base != nil && base.Absent {
			return ComparedAbsent
		}
		return ComparedFailed
	case len(c.Flaky) > 0 && len(c.Attempts) == 0:
		return ComparedFailed // only a second run of the same tree shows flaky
	case c.Hollow():
		return ComparedFailed
	case c.Passed && c.ExitCode == 0:
		return ComparedPassed
	case c.Passed || base == nil || base.Absent || base.Skipped || base.ExitCode == 0:
		return ComparedFailed
	case c.ExitCode >= endedOddly && c.ExitCode != base.ExitCode:
		return ComparedFailed
	case !base.namesFailures():
		return ComparedUnreadable
	case !c.namesFailures():
		return ComparedFailed
	}
	stand := ComparedKnown
	known := make(map[string]bool, len(base.Tests))
	for _, t := range base.Tests {
		known[t.Name] = true
	}
	for _, t := range c.Tests {
		if !known[t.Name] {
			return ComparedFailed
		}
		if t.Unrun {
			stand = ComparedUnreadable
		}
	}
	return stand
}

// Unrun lists what failed before its tests could run.
func (c GateCheck) Unrun() []string {
	var out []string
	for _, t := range c.Tests {
		if t.Unrun {
			out = append(out, t.Name)
		}
	}
	return out
}

// namesFailures says whether each failure of a check has a name.
func (c GateCheck) namesFailures() bool {
	return c.Counts != nil && c.Counts.Failed > 0 && c.Counts.Failed == len(c.Tests)
}

// baseCheck is the baseline's check at this place, or nil.
func baseCheck(base *GateResult, i int) *GateCheck {
	if base == nil || i >= len(base.Checks) {
		return nil
	}
	return &base.Checks[i]
}

// WaiverFunc says whether the president let a check pass that cannot be read. Nil
// lets nothing pass.
type WaiverFunc func(GateCheck) bool

// Settle says what the checks mean against the baseline (nil: there is none
// yet) and with this leave: how each stands, which failures are known, and the
// verdict.
func (r GateResult) Settle(base *GateResult, leave WaiverFunc) GateResult {
	r.Checks = slices.Clone(r.Checks)
	r.Passed, r.Untested = len(r.Checks) > 0, true
	for i := range r.Checks {
		c, b := &r.Checks[i], baseCheck(base, i)
		stand := c.Against(b)
		if stand == ComparedUnreadable && leave != nil && leave(*c) {
			stand = ComparedAsBefore
		}
		if c.Excused = ""; stand.isExcused() || stand == ComparedUnreadable {
			c.Excused = stand
		}
		c.Tests = slices.Clone(c.Tests)
		for n := range c.Tests {
			c.Tests[n].Known = b != nil && slices.ContainsFunc(b.Tests, func(t TestResult) bool { return t.Name == c.Tests[n].Name })
		}
		r.Passed = r.Passed && (stand == ComparedPassed || stand.isExcused())
		r.Untested = r.Untested && c.Absent
	}
	if r.Untested { // not looked at: that is no pass
		r.Passed = false
	}
	return r
}

func (s BaselineComparison) isExcused() bool {
	return s == ComparedKnown || s == ComparedAsBefore || s == ComparedAbsent
}

// Reuse is a verdict of the cache for a task with this baseline: the same
// facts, weighed anew. It is not ok when the facts do not suffice.
func (r GateResult) Reuse(base *GateResult, leave WaiverFunc) (_ GateResult, ok bool) {
	was := r.Passed
	for i, c := range r.Checks {
		b := baseCheck(base, i)
		if !c.Skipped && !c.Absent && c.ExitCode >= endedOddly {
			return r, false // too long, not started, killed: that may be the machine's doing, and may be mended
		}
		// Of a change a check that is left out was not run; one that was killed may end well next time.
		if base == nil && c.LeftOut && (c.ExitCode == 0 || c.ExitCode >= endedOddly) {
			return r, false
		}
		if c.Skipped && base == nil || c.Absent && b != nil && !b.Absent || b != nil && b.Absent && !c.Absent {
			return r, false
		}
	}
	r = r.Settle(base, leave)
	r.Cached = true
	if base != nil && was && !r.Passed && !r.Untested {
		return r, false // a red check here was excused there, and was not run again
	}
	red := false
	for _, c := range r.Checks {
		if c.Skipped && !red {
			return r, false // nothing bars before it any more
		}
		red = red || !c.Skipped && (!c.Passed || c.Hollow()) && c.Excused == ""
	}
	return r, true
}

// NewFailures lists the failures of a check that the base does not have.
func (c GateCheck) NewFailures() []string {
	var out []string
	for _, t := range c.Tests {
		if !t.Known {
			out = append(out, t.Name)
		}
	}
	return out
}

// RecordBaseline brings in what the gates say of the base tree.
type RecordBaseline struct {
	Task   TaskID
	Result GateResult
}

func (c RecordBaseline) decide(s *State, m Meta) ([]Event, error) {
	t, err := s.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	if !t.baselineDue() {
		return nil, nil
	}
	if err := t.checkBaseline(c.Result); err != nil {
		return nil, err
	}
	evs := []Event{m.newEvent(t.ID, "", "", &BaselineRecorded{Result: c.Result})}
	if c.Result.Untested && t.Settings.NoGates == "fail" {
		evs = append(evs, m.newEvent(t.ID, "", "", &TaskFailed{Code: EGates,
			Reason: "none of the gates that were found can run here, and gates.none is fail"}))
	}
	return evs, nil
}

// checkBaseline refuses a baseline that is not the whole truth about the
// pinned gates: each of them was run, or has no program to run.
func (t *Task) checkBaseline(r GateResult) error {
	if !r.Tree.Valid() || t.Prepared == nil || r.GateHash != t.Prepared.GateHash || len(r.Checks) == 0 || len(r.Checks) != len(t.Prepared.Gates) {
		return E(EInvalid, "the baseline is not of this task's pinned gates")
	}
	passed, absent := true, true
	for i, c := range r.Checks {
		g := t.Prepared.Gates[i]
		switch {
		case c.Name != g.Name || c.Command != g.Command:
			return E(EInvalid, "a baseline of "+c.Name+", which is not the pinned "+g.Name)
		case c.Skipped:
			return E(EInvalid, "a baseline that did not run "+c.Name)
		case c.Absent && (g.Given || g.IsTest() && !g.Provisional):
			return E(EInvalid, c.Name+" must run: only what was found, and is no test of the project itself, may be absent")
		case c.LeftOut && !(c.Absent && g.Provisional):
			return E(EInvalid, c.Name+" must be held against the base")
		case !c.Absent && c.Passed != (c.ExitCode == 0):
			return E(EInvalid, "a baseline that does not go by the exit code of "+c.Name)
		}
		passed, absent = passed && c.Passed, absent && c.Absent
	}
	if r.Untested != absent || r.Passed && !passed {
		return E(EInvalid, "a baseline whose verdict is not that of its checks")
	}
	return nil
}

// BaselineRecorded holds the gates' results on the base tree: its red tests are
// known, and everything else must stay green.
type BaselineRecorded struct {
	Result GateResult `json:"result"`
}

var _ = registerKind[BaselineRecorded]()

func (*BaselineRecorded) Kind() string { return "task.baseline" }
func (d *BaselineRecorded) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	t.Baseline = &d.Result
	s.cacheResult(d.Result)
	delete(t.Failures, "baseline")
}

// IsTest says whether a gate runs tests; the others read or build the tree (GAT-1).
func (g GateCommand) IsTest() bool { return g.Name == "test" || strings.HasPrefix(g.Name, "test ") }

// hasGates says whether anything is checked at all: there are gates, and not all
// of them are absent from the image.
func (t *Task) hasGates() bool {
	return t.Prepared != nil && len(t.Prepared.Gates) > 0 && (t.Baseline == nil || !t.Baseline.Untested)
}

// Untested reports whether no gate looks at the work of a task.
func (t *Task) Untested() bool { return t.Prepared != nil && !t.hasGates() }

// KnownRed lists the red checks of the base, in lines for people and for
// agents: the check, and the names of its failing tests.
func (t *Task) KnownRed() []string {
	if t.Baseline == nil {
		return nil
	}
	var out []string
	for _, c := range t.Baseline.Checks {
		switch {
		case c.Absent:
			out = append(out, c.Name+": "+c.ExplainAbsence())
		case c.ExitCode == 0:
		case !c.namesFailures():
			out = append(out, c.Name+": red, exit "+itoa(c.ExitCode)+", and its output names no test; it ends with:\n"+lastLines(c.Output, 20, 2000))
		default:
			names := make([]string, 0, len(c.Tests))
			for _, t := range c.Tests {
				names = append(names, t.Name)
			}
			out = append(out, c.Name+": "+nameSome(names))
			if unrun := c.Unrun(); len(unrun) > 0 {
				out = append(out, c.Name+": what is behind "+nameSome(unrun)+" was not run on the base; it ends with:\n"+lastLines(c.Output, 20, 2000))
			}
		}
	}
	return out
}

// lastLines is the end of a text: at most so many lines, and bytes.
func lastLines(s string, lines, bytes int) string {
	s = strings.TrimRight(s, "\n")
	if len(s) > bytes {
		s = strings.ToValidUTF8(s[len(s)-bytes:], "")
	}
	at := len(s)
	for range lines {
		if at = strings.LastIndexByte(s[:at], '\n'); at < 0 {
			return s
		}
	}
	return s[at+1:]
}
