// Package cli finds and runs the commands of the program. Packages register theirs.
package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"example.com/hours/internal/table"
)

// Command is a command of the program.
type Command struct {
	Name string
	Args string // as the list of commands shows them; an argument in brackets may be left out
	Help string
	Run  func(env *Env, args []string) error
}

var commands = map[string]Command{}

// Register adds a command. It is called by init of the package that has the command.
func Register(c Command) {
	if _, ok := commands[c.Name]; ok {
		panic("two commands have the name " + c.Name)
	}
	commands[c.Name] = c
}

// Run runs a command line. Without a command it lists those there are.
func Run(env *Env, args []string) error {
	if len(args) == 0 {
		return list(env.Out)
	}
	c, ok := commands[args[0]]
	if !ok {
		return fmt.Errorf("there is no command %q", args[0])
	}
	least, most := countArgs(c.Args)
	if given := len(args) - 1; given < least || given > most {
		return fmt.Errorf("usage: %s", strings.TrimSpace(c.Name+" "+c.Args))
	}
	return c.Run(env, args[1:])
}

// countArgs tells how many arguments a command has at least and at most.
func countArgs(args string) (least, most int) {
	optional := false
	for _, a := range strings.Fields(args) {
		optional = optional || strings.HasPrefix(a, "[")
		if most++; !optional {
			least++
		}
		if strings.HasSuffix(a, "]") {
			optional = false
		}
	}
	return least, most
}

func list(out io.Writer) error {
	var names []string
	for name := range commands {
		names = append(names, name)
	}
	slices.Sort(names)
	t := table.New("command", "arguments", "does")
	for _, name := range names {
		t.Add(name, commands[name].Args, commands[name].Help)
	}
	return t.Print(out)
}
