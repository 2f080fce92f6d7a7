package company

// Reasons for which no test stands behind a task's work.
const (
	UntestedNoChecks = "no check of this repository was run"
	UntestedLintOnly = "checks were run, and none of them is a test"
	UntestedNoTests  = "the tests' command ran, and ran no test"
)

// ExplainUntested says why no test stands behind the work of a task, and nothing
// where one does or where it is not known yet. It goes by the verdict on the head;
// before there is one by the baseline, and before that by the pinned gates.
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

// ExplainUntested says why a verdict shows no test, and nothing where it may show
// one: what a check prints is not always understood. Tests that were all skipped
// show nothing.
func (r GateResult) ExplainUntested() string {
	ran, tests, empty := 0, 0, 0
	for _, c := range r.Checks {
		if c.Absent {
			continue
		}
		ran++
		if !(GateCommand{Name: c.Name}).IsTest() {
			continue
		}
		tests++
		if c.Counts != nil && c.Counts.Passed+c.Counts.Failed == 0 {
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
