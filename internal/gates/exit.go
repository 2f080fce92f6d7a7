package gates

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// killedError explains a gate that was killed on the base. That is not a verdict, and all later work would be affected.
func killedError(gateCommand company.GateCommand) error {
	return company.E(company.EGates,
		fmt.Sprintf("the gate %s (%s) was killed on the base commit, exit %d", gateCommand.Name,
			testreport.CleanName(gateCommand.Command, 100),
			company.ExitKilled)).
		Because("something in it was killed, by the kernel for its memory as a rule; that says nothing about the base").
		Fix("raise workers.memory, or have the command do less at a time, then try again").NeedsPerson()
}

// cannotStart reports whether a check cannot run here at all.
func cannotStart(gateCheck company.GateCheck) bool {
	return gateCheck.CannotRun() || runnerCannotStart(gateCheck)
}

// runnerCannotStart reports whether the runner of a toolchain says in its own way that it ran no test. One that was
// ended did not give up.
func runnerCannotStart(gateCheck company.GateCheck) bool {
	if gateCheck.HasRunTests() || gateCheck.ExitCode == company.ExitTimeout || gateCheck.ExitCode == company.ExitKilled {
		return false
	}
	return slices.ContainsFunc(catalog.Of[ecosystem.Starter](),
		func(e ecosystem.Starter) bool {
			return e.CannotStart(gateCheck.Command, gateCheck.ExitCode, gateCheck.Output)
		})
}

// startError is an error about a gate that cannot start on the base, with its check.
type startError struct {
	error
	check company.GateCheck
}

func (e *startError) Unwrap() error { return e.error }

// cannotStartError explains a gate that cannot start on the base. No work was done yet, so the set-up is at fault and
// must be fixed.
func cannotStartError(gateCommand company.GateCommand, gateCheck company.GateCheck) error {
	key, _, _ := strings.Cut(gateCommand.Name, " ")
	fault := withLine(gateCheck.Output, company.E(company.EGates, fmt.Sprintf("the gate %s (%s) cannot start on the base "+
		"commit", gateCommand.Name, testreport.CleanName(gateCommand.Command, 100))).NeedsPerson())
	if reason := explainOutput(gateCheck.Output); reason != "" {
		return fault.Because(reason).Fix("follow its message, or set another command in gates." + key + ", then submit again")
	}
	reason := testreport.CleanName(gateCheck.ExplainCannotRun(), 300)
	if gateCheck.Output == "" {
		reason += ": exit code " + fmt.Sprint(gateCheck.ExitCode)
	}
	fix := "name another command with gates." + key + ", then submit again"
	if strings.Contains(reason, "image") {
		fix = "have it installed with container.setup, or " + fix
	}
	return fault.Because(reason).Fix(fix)
}

// withLine adds to an error the config line that installs a missing program or library, if its Debian package is
// known.
func withLine(output string, fault *company.Error) *company.Error {
	names := missingPackages(output, nil)
	if len(names) == 0 {
		return fault
	}
	line := company.InstallPackages(names...)
	line.Why = "the image has no " + strings.Join(names, ", ")
	return fault.MendedBy(line)
}

// missingPackages returns the Debian packages that provide what a check reports as missing.
func missingPackages(output string, own ecosystem.OwnNames) []string {
	for _, e := range catalog.Of[ecosystem.PackageFinder]() {
		names := slices.DeleteFunc(e.MissingPackages(output, own),
			func(name string) bool { return !packageNameRE.MatchString(name) })
		if len(names) > 0 {
			return names
		}
	}
	if said := unknownProgramRE.FindStringSubmatch(company.FindUnstartedLine(output)); said != nil {
		if name := catalog.PackageOfProgram(said[1]); name != "" && !own.Has(said[1]) {
			return []string{name}
		}
	}
	return nil
}

// packageNameRE matches names of Debian packages. The names are used in a shell command.
var packageNameRE = lazyregexp.New(`^[a-z0-9][a-z0-9+.-]+$`)

// unknownProgramRE matches the name in a shell's message about a program that was not found.
var unknownProgramRE = lazyregexp.New(`(?:^|[\s:])([A-Za-z0-9_.+-]+): (?:command )?not found$`)

// explainOutput returns the reason of a failure in one line, if an ecosystem recognises the output, or "".
func explainOutput(output string) string {
	for _, e := range catalog.Of[ecosystem.Explainer]() {
		if reason := e.ExplainOutput(output); reason != "" {
			return strings.Trim(strings.TrimSpace(reason), "[]")
		}
	}
	return ""
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
