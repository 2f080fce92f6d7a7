// Package command is what the commands of company share: streams and flags, the way
// to the office, texts for people and programs, and exit codes. It promises that no
// text of a repository or a model steers the terminal, and that a command which only
// looks makes nothing. It has no command, and knows none.
package command

import (
	"fmt"

	"company/internal/company"
	"company/internal/console"
	"company/internal/entrance"
	"company/internal/reshape"
)

// Version of the program. CHANGELOG.md lists what each one brought.
var Version = "0.1.0"

// Commit is what the program was built from; scripts/release.sh sets it.
var Commit = ""

// Environment is what every command has: its console, its way into the office, and the
// flags that shape its result.
type Environment struct {
	*console.Console
	*entrance.Entrance

	JSON     bool
	Template string // of Go, for the result; it implies JSON
	Query    string // of jq, for the result; it implies JSON

	ReportsWork bool // the result reports work: it must not be lost

	SummaryBlock bool // summaries of tasks are blocks on a terminal, too
}

// NewEnvironment is the environment of a command at a console.
func NewEnvironment(c console.Console) *Environment {
	return &Environment{Console: &c, Entrance: &entrance.Entrance{Console: &c, Version: Version, Commit: Commit}}
}

// NameSlowStep names a step, once it takes a while. The function that it returns ends it.
func (env *Environment) NameSlowStep(what string) (done func()) {
	return env.Console.NameSlowStep("company "+Version, what)
}

// ApplyFlags checks what all commands share.
func (env *Environment) ApplyFlags() (err error) {
	switch {
	case env.Template != "" && env.Query != "":
		if _, err := reshape.ParseTemplate(env.Template); err != nil {
			return err
		}
		env.JSON = true
		return company.E(company.EUsage, "--jq and --template both shape the result").Fix("leave one of them out")
	case env.Template != "":
		env.Shape, err = reshape.ParseTemplate(env.Template)
	case env.Query != "":
		env.Shape, err = reshape.ParseQuery(env.Query)
	}
	if err != nil {
		return err
	}
	if env.JSON = env.JSON || env.Shape != nil; env.JSON {
		env.Output = "json"
	}
	if env.Output != "text" && env.Output != "json" {
		return company.E(company.EUsage, fmt.Sprintf("there is no output %q", env.Output)).Fix("-o text or -o json")
	}
	env.OpenLog()
	return nil
}
