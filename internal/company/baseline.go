package company

import (
	"slices"
	"strings"
)

// BaselineComparison is the result of comparing a check with the baseline of its task.
type BaselineComparison string

const (
	ComparedPassed  BaselineComparison = "passed"
	ComparedFailed  BaselineComparison = "failed" // it blocks
	ComparedSkipped BaselineComparison = "skipped"
	ComparedKnown   BaselineComparison = "known" // red, and the base has failures with all of the same names
	// ComparedUnreadable means red as on the base, with no way to recognise new failures. The president decides.
	ComparedUnreadable BaselineComparison = "unread"
	ComparedAsBefore   BaselineComparison = "as_before" // unreadable, and the president let it pass
	ComparedAbsent     BaselineComparison = "absent"    // it cannot judge the base; not checked
)

// endedOddly is the lowest exit code of a check that did not end by itself: 124 for a timeout, 126 and 127 for not
// started, higher ones for killed.
const endedOddly = ExitTimeout

// Against compares a check with the same check on the base tree (nil if there is none). It is the only rule that
// decides which checks block a merge. A red check blocks, except for failures that the base has under the same name. A
// failure without a name excuses nothing, because a new failure would be invisible. The same applies to a failure that
// kept tests from running.
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
		return ComparedFailed // only a second run of the same tree can show flaky tests
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
	for _, testResult := range c.Tests {
		if !known[testResult.Name] {
			return ComparedFailed
		}
		if testResult.Unrun {
			stand = ComparedUnreadable
		}
	}
	return stand
}

// Unrun returns the names of failures that kept tests from running.
func (c GateCheck) Unrun() []string {
	var out []string
	for _, testResult := range c.Tests {
		if testResult.Unrun {
			out = append(out, testResult.Name)
		}
	}
	return out
}

// namesFailures reports whether each failure of a check has a name.
func (c GateCheck) namesFailures() bool {
	return c.Counts != nil && c.Counts.Failed > 0 && c.Counts.Failed == len(c.Tests)
}

// baseCheck returns the baseline's check with this index, or nil.
func baseCheck(base *GateResult, i int) *GateCheck {
	if base == nil || i >= len(base.Checks) {
		return nil
	}
	return &base.Checks[i]
}

// WaiverFunc reports whether the president let an unreadable check pass. A nil WaiverFunc waives no check.
type WaiverFunc func(GateCheck) bool

// Settle compares the checks with the baseline (nil if there is none yet) and applies the waivers. It sets the
// comparison of each check, the known failures, and the verdict.
func (r GateResult) Settle(base *GateResult, leave WaiverFunc) GateResult {
	r.Checks = slices.Clone(r.Checks)
	r.Passed, r.Untested = len(r.Checks) > 0, true
	for i := range r.Checks {
		gateCheck, b := &r.Checks[i], baseCheck(base, i)
		stand := gateCheck.Against(b)
		if stand == ComparedUnreadable && leave != nil && leave(*gateCheck) {
			stand = ComparedAsBefore
		}
		if gateCheck.Excused = ""; stand.isExcused() || stand == ComparedUnreadable {
			gateCheck.Excused = stand
		}
		gateCheck.Tests = slices.Clone(gateCheck.Tests)
		for n := range gateCheck.Tests {
			gateCheck.Tests[n].Known = b != nil &&
				slices.ContainsFunc(b.Tests, func(t TestResult) bool { return t.Name == gateCheck.Tests[n].Name })
		}
		r.Passed = r.Passed && (stand == ComparedPassed || stand.isExcused())
		r.Untested = r.Untested && gateCheck.Absent
	}
	if r.Untested { // no check ran, which is not a pass
		r.Passed = false
	}
	return r
}

func (s BaselineComparison) isExcused() bool {
	return s == ComparedKnown || s == ComparedAsBefore || s == ComparedAbsent
}

// Reuse applies a cached result to a task with this baseline: it compares the same facts again. ok is false if the
// facts do not suffice.
func (r GateResult) Reuse(base *GateResult, leave WaiverFunc) (_ GateResult, ok bool) {
	was := r.Passed
	for i, gateCheck := range r.Checks {
		b := baseCheck(base, i)
		if !gateCheck.Skipped && !gateCheck.Absent && gateCheck.ExitCode >= endedOddly {
			return r, false // timeout, not started or killed: possibly the machine's fault, and temporary
		}
		// A left-out check was not run on a change. A killed one may succeed next time.
		if base == nil && gateCheck.LeftOut && (gateCheck.ExitCode == 0 || gateCheck.ExitCode >= endedOddly) {
			return r, false
		}
		if gateCheck.Skipped && base == nil || gateCheck.Absent && b != nil && !b.Absent ||
			b != nil && b.Absent && !gateCheck.Absent {
			return r, false
		}
	}
	r = r.Settle(base, leave)
	r.Cached = true
	if base != nil && was && !r.Passed && !r.Untested {
		return r, false // a check that is red here was excused there, and was not run again
	}
	red := false
	for _, gateCheck := range r.Checks {
		if gateCheck.Skipped && !red {
			return r, false // no earlier check blocks any more
		}
		red = red || !gateCheck.Skipped && (!gateCheck.Passed || gateCheck.Hollow()) && gateCheck.Excused == ""
	}
	return r, true
}

// NewFailures returns the failures of a check that the base does not have.
func (c GateCheck) NewFailures() []string {
	var out []string
	for _, testResult := range c.Tests {
		if !testResult.Known {
			out = append(out, testResult.Name)
		}
	}
	return out
}

// RecordBaseline records the gates' results on the base tree.
type RecordBaseline struct {
	Task   TaskID
	Result GateResult
}

func (c RecordBaseline) decide(s *State, meta Meta) ([]Event, error) {
	task, err := s.activeTask(c.Task)
	if err != nil {
		return nil, err
	}
	if !task.baselineDue() {
		return nil, nil
	}
	if err := task.checkBaseline(c.Result); err != nil {
		return nil, err
	}
	evs := []Event{meta.newEvent(task.ID, "", "", &BaselineRecorded{Result: c.Result})}
	if c.Result.Untested && task.Settings.NoGates == "fail" {
		evs = append(evs, meta.newEvent(task.ID, "", "", &TaskFailed{Code: EGates,
			Reason: "none of the gates that were found can run here, and gates.none is fail"}))
	}
	return evs, nil
}

// checkBaseline refuses a baseline that does not cover the pinned gates exactly: each gate must have been run, or have
// no program to run.
func (t *Task) checkBaseline(gateResult GateResult) error {
	if !gateResult.Tree.Valid() || t.Prepared == nil || gateResult.GateHash != t.Prepared.GateHash ||
		len(gateResult.Checks) == 0 ||
		len(gateResult.Checks) != len(t.Prepared.Gates) {
		return E(EInvalid, "the baseline does not match the task's pinned gates")
	}
	passed, absent := true, true
	for i, gateCheck := range gateResult.Checks {
		gateCommand := t.Prepared.Gates[i]
		switch {
		case gateCheck.Name != gateCommand.Name || gateCheck.Command != gateCommand.Command:
			return E(EInvalid, "the baseline has "+gateCheck.Name+" in the place of the pinned "+gateCommand.Name)
		case gateCheck.Skipped:
			return E(EInvalid, "the baseline did not run "+gateCheck.Name)
		case gateCheck.Absent && (gateCommand.Given || gateCommand.IsTest() && !gateCommand.Provisional):
			return E(EInvalid, gateCheck.Name+
				" must run: only detected checks that are not the project's own tests may be absent")
		case gateCheck.LeftOut && !(gateCheck.Absent && gateCommand.Provisional):
			return E(EInvalid, gateCheck.Name+" must be compared with the base")
		case !gateCheck.Absent && gateCheck.Passed != (gateCheck.ExitCode == 0):
			return E(EInvalid, "the baseline contradicts the exit code of "+gateCheck.Name)
		}
		passed, absent = passed && gateCheck.Passed, absent && gateCheck.Absent
	}
	if gateResult.Untested != absent || gateResult.Passed && !passed {
		return E(EInvalid, "the verdict of the baseline contradicts its checks")
	}
	return nil
}

// BaselineRecorded holds the gates' results on the base tree. Its red tests are known, and all others must stay green.
type BaselineRecorded struct {
	Result GateResult `json:"result"`
}

var _ = registerKind[BaselineRecorded]()

func (*BaselineRecorded) Kind() string { return "task.baseline" }
func (d *BaselineRecorded) apply(state *State, e Event) {
	task := state.editTask(e.Task)
	task.Baseline = &d.Result
	state.cacheResult(d.Result)
	delete(task.Failures, "baseline")
}

// IsTest reports whether a gate runs tests. Other gates read or build the tree (GAT-1).
func (g GateCommand) IsTest() bool { return g.Name == "test" || strings.HasPrefix(g.Name, "test ") }

// hasGates reports whether any check runs: there are gates, and not all of them are absent from the image.
func (t *Task) hasGates() bool {
	return t.Prepared != nil && len(t.Prepared.Gates) > 0 && (t.Baseline == nil || !t.Baseline.Untested)
}

// Untested reports whether no gate checks the work of a task.
func (t *Task) Untested() bool { return t.Prepared != nil && !t.hasGates() }

// KnownRed describes the red checks of the base for people and agents: each check with the names of its failing tests.
func (t *Task) KnownRed() []string {
	if t.Baseline == nil {
		return nil
	}
	var out []string
	for _, gateCheck := range t.Baseline.Checks {
		switch {
		case gateCheck.LeftOut:
			out = append(out, gateCheck.Name+": "+gateCheck.ExplainAbsence())
		case gateCheck.Absent || gateCheck.ExitCode == 0:
		case !gateCheck.namesFailures():
			out = append(out, gateCheck.Name+": red, exit "+itoa(gateCheck.ExitCode)+
				", and its output names no test; it ends with:\n"+
				lastLines(gateCheck.Output, 20))
		default:
			names := make([]string, 0, len(gateCheck.Tests))
			for _, t := range gateCheck.Tests {
				names = append(names, t.Name)
			}
			out = append(out, gateCheck.Name+": "+nameSome(names))
			if unrun := gateCheck.Unrun(); len(unrun) > 0 {
				out = append(out, gateCheck.Name+": what is behind "+nameSome(unrun)+" was not run on the base; it ends with:\n"+
					lastLines(gateCheck.Output, 20))
			}
		}
	}
	return out
}

// lastLines returns at most the given number of lines from the end of a text, and of these the last 2,000 bytes.
func lastLines(s string, lines int) string {
	const maxBytes = 2000
	s = strings.TrimRight(s, "\n")
	if len(s) > maxBytes {
		s = strings.ToValidUTF8(s[len(s)-maxBytes:], "")
	}
	index := len(s)
	for range lines {
		if index = strings.LastIndexByte(s[:index], '\n'); index < 0 {
			return s
		}
	}
	return s[index+1:]
}
