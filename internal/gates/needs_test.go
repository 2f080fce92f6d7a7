package gates

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/company"
)

// What red checks of a base looked for in vain is found by their output, of a check that cannot start as well; what
// the image has, and what it may not get, is not asked for again.
func TestMissingNeeds(t *testing.T) {
	red := func(name, output string) company.GateCheck {
		return company.GateCheck{Name: name, ExitCode: 1, Output: output}
	}
	for name, c := range map[string]struct {
		has    company.BesideChecks
		checks []company.GateCheck
		err    error
		want   string
	}{
		"a module": {company.BesideChecks{MorePackages: true},
			[]company.GateCheck{red("test", "ModuleNotFoundError: No module named 'polib'\n")}, nil, "test [] [python3-polib]"},
		"a program": {company.BesideChecks{MorePackages: true},
			[]company.GateCheck{red("lint", "no\n"), red("test", "./t.sh: line 3: jq: command not found\n")}, nil,
			"test [] [jq]"},
		"a server and a module": {company.BesideChecks{MorePackages: true, MoreServices: true},
			[]company.GateCheck{red("lint", "No module named 'x'\n"),
				red("test", "dial tcp 127.0.0.1:6379: connect: connection refused\n"),
				red("more", "ModuleNotFoundError: No module named 'yaml'\n")}, nil, "test [redis] [python3-yaml]"},
		"a green check": {company.BesideChecks{MorePackages: true},
			[]company.GateCheck{{Name: "test", Passed: true, Output: "sh: 1: jq: not found\n"}}, nil, " [] []"},
		"it is there": {company.BesideChecks{MorePackages: true, Needs: company.Needs{Packages: []string{"jq"}}},
			[]company.GateCheck{red("test", "sh: 1: jq: not found\n")}, nil, " [] []"},
		"an image of its own": {company.BesideChecks{}, []company.GateCheck{red("test", "sh: 1: jq: not found\n")},
			nil, " [] []"},
		"it cannot start": {company.BesideChecks{MorePackages: true}, nil,
			fmt.Errorf(
				"%w", &startError{company.E(company.EGates, "it cannot start"),
					red("test", "CMake Error: Could not find a package configuration file provided by \"ECM\"\n-- Configuring "+
						"incomplete, errors occurred!\n")}), "test [] [extra-cmake-modules]"},
	} {
		got := (&Runner{}).findMissingNeeds(
			t.Context(), &company.Task{Prepared: &company.TaskPrepared{BesideChecks: c.has}},
			company.GateResult{Checks: c.checks}, c.err, nil)
		if say := fmt.Sprint(got.Check, " ", got.Services, " ", got.Packages); strings.TrimSpace(
			say) != strings.TrimSpace(c.want) {
			t.Errorf("%s: %q, want %q", name, say, c.want)
		}
	}
}
