package company_test

import (
	"strings"
	"testing"

	. "company/internal/company"
)

// GAT-1: lint and test each have a result. A test that was skipped because lint failed has not passed, and neither has
// one that waits for the president.
func TestGateGroups(t *testing.T) {
	t.Parallel()
	green := func(name string) GateCheck { return GateCheck{Name: name, Passed: true, Output: "of " + name} }
	red := func(name string, excuse BaselineComparison) GateCheck {
		return GateCheck{Name: name, ExitCode: 1, Output: "of " + name, Excused: excuse}
	}
	absent := func(name string, excuse BaselineComparison) GateCheck {
		return GateCheck{Name: name, Absent: true, Excused: excuse}
	}
	for name, c := range map[string]struct {
		checks     []GateCheck
		lint, test string // passed, failed, none
	}{
		"green":               {[]GateCheck{green("lint"), green("test")}, "passed", "passed"},
		"lint red":            {[]GateCheck{red("lint", ""), {Name: "test", Skipped: true}}, "failed", "failed"},
		"test red":            {[]GateCheck{green("types"), red("test (web)", ""), green("test")}, "passed", "failed"},
		"red before":          {[]GateCheck{red("test", ComparedKnown)}, "none", "passed"},
		"unread":              {[]GateCheck{red("test", ComparedUnreadable)}, "none", "failed"},
		"one cannot run here": {[]GateCheck{absent("lint", ComparedAbsent), green("build")}, "passed", "none"},
		"one runs no more":    {[]GateCheck{absent("lint", ""), green("build")}, "failed", "none"},
		"none can run here":   {[]GateCheck{absent("test", ComparedAbsent)}, "none", "failed"},
	} {
		result := GateResult{Checks: c.checks}
		for want, group := range map[string]*GateGroup{"lint " + c.lint: result.SummarizeLint(),
			"test " + c.test: result.SummarizeTests()} {
			kind, _, _ := strings.Cut(want, " ")
			got := kind + " none"
			if group != nil {
				got = kind + map[bool]string{true: " passed", false: " failed"}[group.Passed]
			}
			if got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
		if group := result.SummarizeTests(); group != nil && group.Passed && !strings.Contains(group.Output, "of test") {
			t.Errorf("%s: output %q", name, group.Output)
		}
	}
}
