// Package command holds the code that the commands of company share: streams and flags, access to
// the office, text for people and programs, and exit codes. Text of a repository or a model cannot
// steer the terminal, and a read-only command creates no files. The package defines no command and
// depends on no command.
package command

import (
	"fmt"

	"company/internal/company"
	"company/internal/office/config"
	"company/internal/surface/officeaccess"
	"company/internal/surface/terminalio"
)

// Version is the version of the program. CHANGELOG.md lists the changes of each.
var Version = "0.1.0"

// Commit is the commit that the program was built from. scripts/release.sh sets it.
var Commit = ""

// Environment holds the state of a command: its console, its access to the office, and the flags
// that shape its result.
type Environment struct {
	*terminalio.Console
	*officeaccess.Entrance

	JSON        bool
	ReportsWork bool // the result reports work and must not be lost

	SummaryBlock bool // print summaries of tasks as blocks on a terminal, too
}

// NewEnvironment returns the environment of a command at a console.
func NewEnvironment(c terminalio.Console) *Environment {
	return &Environment{Console: &c, Entrance: &officeaccess.Entrance{Console: &c, Version: Version, Commit: Commit}}
}

// NameSlowStep prints the name of a step once the step takes a while. Call done to end the step.
func (env *Environment) NameSlowStep(what string) (done func()) {
	return env.Console.NameSlowStep("company "+Version, what)
}

// ApplyFlags validates and applies the flags that all commands share.
func (env *Environment) ApplyFlags() error {
	if env.JSON {
		env.Output = "json"
	}
	if env.Output != "text" && env.Output != "json" {
		return company.E(company.EUsage, fmt.Sprintf("invalid output format %q", env.Output)).Fix("-o text or -o json")
	}
	if value, ok := env.LookupEnv(config.VarForeground); ok && value != "" && value != "0" {
		env.Entrance.Foreground = true
	}
	env.OpenLog()
	return nil
}
