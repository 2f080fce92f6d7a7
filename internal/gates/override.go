package gates

import (
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/shell"
	"company/internal/testreport"
)

// CommandOverride is what the config says of one check: auto, none, or a command.
type CommandOverride string

const (
	Auto CommandOverride = "auto"
	None CommandOverride = "none"
)

func (g CommandOverride) isAuto() bool { return g == Auto || g == "" }

// toGate makes a check of a given command. The command is run as it stands, but
// for a report of its tests where the program is a runner that is known; else its
// output for people is read.
func (g CommandOverride) toGate(name string) company.GateCommand {
	c := company.GateCommand{Name: name, Command: string(g), Given: true}
	if !c.IsTest() {
		c.Parse = testreport.FormatFindings
		return c
	}
	c.Parse = testreport.FormatPlain
	for _, e := range catalog.Of[ecosystem.Completer]() {
		if e.CompleteGate(&c) {
			break
		}
	}
	return c
}

// QuoteArgs is a command given as a list of arguments: nothing in them means
// anything to the shell that the gate is started by.
func QuoteArgs(argv []string) CommandOverride {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = shell.QuoteArgument(a)
	}
	// exec also keeps a program that is called auto or none from being taken
	// for the value.
	return CommandOverride("exec " + strings.Join(words, " "))
}
