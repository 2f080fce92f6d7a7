package company

import "cmp"

// A slow suite is run in two steps: for a ticket only the tests that its change can reach, and all tests for the merged
// tree. A green first step lets a ticket go on to its review. It is not a verdict on the tree: it is not cached, and
// it does not allow a merge.

// TestPart is the part of a suite that a check ran.
type TestPart struct {
	Ran  int    `json:"ran"`
	Of   int    `json:"of"`             // all tests of the check's command
	Unit string `json:"unit,omitempty"` // the counted unit; empty means packages
}

// String formats the part for people.
func (p TestPart) String() string {
	return itoa(p.Ran) + " of " + Count(p.Of, cmp.Or(p.Unit, "package"))
}

// FirstStep is a check of a ticket that ran a part of its suite.
type FirstStep struct {
	Check string `json:"check"` // name of the check
	TestPart
}

// FirstSteps returns the checks of a verdict that ran only a part of their suite.
func (r GateResult) FirstSteps() (out []FirstStep) {
	for _, gateCheck := range r.Checks {
		if gateCheck.Part != nil {
			out = append(out, FirstStep{gateCheck.Name, *gateCheck.Part})
		}
	}
	return out
}

// isPart reports whether a verdict is that of a first step.
func (r GateResult) isPart() bool { return len(r.FirstSteps()) > 0 }

// checkWholeVerdict is like checkVerdict for a tree that is to be merged or delivered. It refuses a first step.
func (s *State) checkWholeVerdict(task *Task, gateResult GateResult) error {
	if gateResult.isPart() {
		return E(EInvalid, "the verdict covers only the first step, and the whole suite must run").
			Because(gateResult.FirstSteps()[0].String())
	}
	return s.checkVerdict(task, gateResult)
}
