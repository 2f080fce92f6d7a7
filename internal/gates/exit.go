package gates

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// exitKilled is the exit code of a killed process: most often by the kernel,
// for its memory.
const exitKilled = 137

// killedError explains a gate that was killed on the base: that is no verdict, and
// nothing to live with for all the work to come.
func killedError(g company.GateCommand) error {
	return company.E(company.EGates, fmt.Sprintf("the gate %s (%s) was killed on the base commit, exit %d", g.Name, testreport.CleanName(g.Command, 100), exitKilled)).
		Because("something in it was killed, by the kernel for its memory as a rule; that says nothing about the base").
		Fix("raise workers.memory, or have the command do less at a time, then try again").NeedsPerson()
}

// exitTimeout is the exit code of a check that was ended for its time.
const exitTimeout = 124

// cannotStart says whether a check did not run at all: a shell ends with 126 or
// 127 then; a runner that calls a shell says so in its own way.
func cannotStart(c company.GateCheck) bool {
	return c.ExitCode == 126 || c.ExitCode == 127 ||
		slices.ContainsFunc(catalog.Of[ecosystem.Starter](), func(e ecosystem.Starter) bool { return e.CannotStart(c.Command, c.ExitCode, c.Output) })
}

// cannotStartError explains a gate that cannot run on the base: no work was
// done yet, so the set-up is at fault, and it must be mended.
func cannotStartError(g company.GateCommand, c company.GateCheck) error {
	key, _, _ := strings.Cut(g.Name, " ")
	e := withLine(c.Output, company.E(company.EGates, fmt.Sprintf("the gate %s (%s) cannot start on the base commit", g.Name, testreport.CleanName(g.Command, 100))).NeedsPerson())
	if why := explainOutput(c.Output); why != "" {
		return e.Because(why).Fix("do what it says, or name another command with gates." + key + ", then submit again")
	}
	line := testreport.CleanName(missingProgramLine(c.Output), 200)
	if line == "" {
		line = "exit code " + fmt.Sprint(c.ExitCode)
	}
	return e.Because("the image has no such program, or it is not executable: " + line).
		Fix("have it installed with container.setup, or name another command with gates." + key + ", then submit again")
}

// withLine adds to an error the line of the config that installs a missing program or library,
// where its Debian package is known.
func withLine(output string, e *company.Error) *company.Error {
	names := missingPackages(output)
	if len(names) == 0 {
		return e
	}
	line := company.InstallPackages(names...)
	line.Why = "the image has no " + strings.Join(names, ", ")
	return e.MendedBy(line)
}

// missingPackages are the packages of Debian with what the output of a check says that it lacks.
func missingPackages(output string) []string {
	for _, e := range catalog.Of[ecosystem.PackageFinder]() {
		names := slices.DeleteFunc(e.MissingPackages(output), func(name string) bool { return !packageNameRE.MatchString(name) })
		if len(names) > 0 {
			return names
		}
	}
	if said := unknownProgramRE.FindStringSubmatch(missingProgramLine(output)); said != nil {
		if name := catalog.PackageOfProgram(said[1]); name != "" {
			return []string{name}
		}
	}
	return nil
}

// packageNameRE is how Debian names packages. The names stand in a command of a shell.
var packageNameRE = lazyregexp.New(`^[a-z0-9][a-z0-9+.-]+$`)

// unknownProgramRE matches the name in a shell's message about a program that it does not find.
var unknownProgramRE = lazyregexp.New(`(?:^|[\s:])([A-Za-z0-9_.+-]+): (?:command )?not found$`)

// explainOutput is the reason of a failure by its output, in one line, where an ecosystem knows it.
func explainOutput(output string) string {
	for _, e := range catalog.Of[ecosystem.Explainer]() {
		if why := e.ExplainOutput(output); why != "" {
			return strings.Trim(strings.TrimSpace(why), "[]")
		}
	}
	return ""
}

// missingProgramRE matches the line in which a shell names what it cannot start.
var missingProgramRE = lazyregexp.New(`(?m)^.*(?:: not found|command not found|No such file or directory|Permission denied|not in the image).*$`)

// missingProgramLine is the last line that names a program which could not be started;
// without one the last line.
func missingProgramLine(output string) string {
	lines := missingProgramRE.FindAllString(output, -1)
	if len(lines) == 0 {
		return lastLine(output)
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
