package company

import "strings"

// GateGroup is the result of the linters or of the tests among the checks of a verdict (GAT-1).
type GateGroup struct {
	Passed bool   `json:"passed"`
	Output string `json:"output"` // of its checks, each after its name
}

// SummarizeTests returns the result of the tests. It returns nil if there are none.
func (r GateResult) SummarizeTests() *GateGroup { return r.summarizeChecks(GateCommand.IsTest) }

// SummarizeLint returns the result of the other checks: linters, type checks and builds. It returns nil if there are
// none.
func (r GateResult) SummarizeLint() *GateGroup {
	return r.summarizeChecks(func(command GateCommand) bool { return !command.IsTest() })
}

// summarizeChecks returns the result of some checks. A check that was skipped has not passed. A check that failed, but
// is excused because the base fails too, counts as passed, as in the verdict. A check that cannot run here is left out,
// unless no other ran.
func (r GateResult) summarizeChecks(belongs func(GateCommand) bool) *GateGroup {
	group := &GateGroup{Passed: true}
	found, ran := false, false
	var output strings.Builder
	for _, check := range r.Checks {
		if !belongs(GateCommand{Name: check.Name}) {
			continue
		}
		found = true
		if check.Absent && check.Excused.isExcused() {
			continue
		}
		ran = true
		group.Passed = group.Passed && !check.Skipped && !check.Hollow() && (check.Passed || check.Excused.isExcused())
		output.WriteString(check.Name + ":\n" + check.Output + "\n")
	}
	if !found {
		return nil
	}
	group.Passed, group.Output = group.Passed && ran, output.String()
	return group
}
