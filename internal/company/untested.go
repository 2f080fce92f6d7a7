package company

// Reasons why no test covers a task's work.
const (
	UntestedNoChecks = "no check of this repository was run"
	UntestedLintOnly = "checks were run, and none of them is a test"
	UntestedNoTests  = "the tests' command ran, and ran no test"
)

// ExplainUntested returns why no test covers the work of a task. It returns "" if one does or if that is not known yet.
// It uses the verdict on the head. Without one it uses the baseline, and before that the pinned gates.
func (t *Task) ExplainUntested() string {
	switch {
	case t.gateDone():
		return t.Gate.Result.ExplainUntested()
	case t.Prepared == nil:
		return ""
	case t.Baseline != nil:
		return t.Baseline.ExplainUntested()
	}
	found := GateResult{}
	for _, g := range t.Prepared.Gates {
		found.Checks = append(found.Checks, GateCheck{Name: g.Name})
	}
	return found.ExplainUntested()
}

// ExplainUntested returns why a verdict includes no test. It returns "" if it may include one, since the output of a
// check is not always understood. Tests that were all skipped do not count.
func (r GateResult) ExplainUntested() string {
	var ran, tests, empty int
	for _, gateCheck := range r.Checks {
		if gateCheck.Absent {
			continue
		}
		ran++
		if !(GateCommand{Name: gateCheck.Name}).IsTest() {
			continue
		}
		tests++
		if gateCheck.Counts != nil && gateCheck.Counts.Passed+gateCheck.Counts.Failed == 0 {
			empty++
		}
	}
	switch {
	case ran == 0:
		return UntestedNoChecks
	case tests == 0:
		return UntestedLintOnly
	case empty == tests:
		return UntestedNoTests
	}
	return ""
}
