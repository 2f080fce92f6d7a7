package gates

import (
	"strings"

	"company/internal/company"
)

// Given is what the config says of one check: auto, none, or a command.
type Given string

const (
	Auto Given = "auto"
	None Given = "none"
)

func (g Given) auto() bool { return g == Auto || g == "" }

// gate is the check that a given command is. Nothing is added to a command
// that somebody chose; but what it prints is read where it says how.
func (g Given) gate(name string) company.GateCommand {
	c := company.GateCommand{Name: name, Command: string(g), Given: true}
	if words := strings.Fields(string(g)); len(words) > 2 && words[0] == "go" && words[1] == "test" && !strings.ContainsAny(string(g), "|;&><") {
		for _, w := range words[2:] {
			if w == "-json" || w == "--json" {
				c.Parse = GoJSON
			}
		}
	}
	return c
}

// Argv is a command given as a list of arguments: nothing in them means
// anything to the shell that the gate is started by.
func Argv(argv []string) Given {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = quoted(a)
	}
	// exec also keeps a program that is called auto or none from being taken
	// for the word.
	return Given("exec " + strings.Join(words, " "))
}

// quoted is a word that no shell gives a meaning.
func quoted(a string) string {
	if a != "" && strings.Trim(a, plain) == "" {
		return a
	}
	return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
}

// plain are the characters that no shell gives a meaning in an argument.
const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./,:@%+-"
