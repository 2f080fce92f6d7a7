package company

import "cmp"

// A slow suite is run in two steps: for a ticket the tests that its change can reach, and
// all of them for the merged tree. A verdict of the first step lets a ticket go on to its
// review. It is no verdict on the tree: it is not kept for others, and merges nothing.

// TestPart is the share of a suite that a check ran.
type TestPart struct {
	Ran  int    `json:"ran"`
	Of   int    `json:"of"`             // all that the check's command tests
	Unit string `json:"unit,omitempty"` // what is counted; empty: packages
}

// String is the share for people.
func (p TestPart) String() string {
	return itoa(p.Ran) + " of " + Count(p.Of, cmp.Or(p.Unit, "package"))
}

// FirstStep is a check of a ticket that ran a part of its suite.
type FirstStep struct {
	Check string `json:"check"` // its name
	TestPart
}

// FirstSteps lists the checks of a verdict that ran a part of their suite.
func (r GateResult) FirstSteps() (out []FirstStep) {
	for _, c := range r.Checks {
		if c.Part != nil {
			out = append(out, FirstStep{c.Name, *c.Part})
		}
	}
	return out
}

// isPart says whether a verdict is that of a first step.
func (r GateResult) isPart() bool { return len(r.FirstSteps()) > 0 }

// checkWholeVerdict is checkVerdict for a tree that is to be merged or delivered.
func (s *State) checkWholeVerdict(t *Task, r GateResult) error {
	if r.isPart() {
		return E(EInvalid, "the verdict of a first step, and the whole suite is to be run").Because(r.FirstSteps()[0].String())
	}
	return s.checkVerdict(t, r)
}
