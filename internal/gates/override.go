package gates

import (
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/shellquote"
)

// CommandOverride is the config's value for one check: auto, none, or a command.
type CommandOverride string

const (
	Auto CommandOverride = "auto"
	None CommandOverride = "none"
)

func (g CommandOverride) isAuto() bool { return g == Auto || g == "" }

// toGate makes a check of a configured command. The command runs unchanged, except that a known test runner also
// writes a report. For other programs, the output for people is parsed.
func (g CommandOverride) toGate(name string) company.GateCommand {
	gateCommand := company.GateCommand{Name: name, Command: string(g), Given: true}
	if !gateCommand.IsTest() {
		gateCommand.Parse = testreport.FormatFindings
		return gateCommand
	}
	gateCommand.Parse = testreport.FormatPlain
	for _, e := range catalog.Of[ecosystem.Completer]() {
		if e.CompleteGate(&gateCommand) {
			break
		}
	}
	return gateCommand
}

// QuoteArgs quotes a list of arguments as a command, so that the gate's shell interprets none of them.
func QuoteArgs(argv []string) CommandOverride {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = shellquote.QuoteArgument(a)
	}
	// exec also prevents a program called auto or none from being taken for that value.
	return CommandOverride("exec " + strings.Join(words, " "))
}
