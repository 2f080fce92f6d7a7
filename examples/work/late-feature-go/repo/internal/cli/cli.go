// Package cli has the commands.
package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.com/shelf/internal/day"
	"example.com/shelf/internal/shelf"
	"example.com/shelf/internal/store"
)

// Env is what a command has to do with.
type Env struct {
	Out   io.Writer
	File  string // of the shelf
	Today day.Day
}

// call is a command line that was read.
type call struct {
	words   []string
	options map[string]string
	today   day.Day
}

type command struct {
	usage   string
	words   int // how many there are
	options []string
	changes bool // the shelf is saved afterwards
	run     func(s *shelf.Shelf, c call) (string, error)
}

// Run carries out a command line.
func Run(env Env, args []string) error {
	if len(args) == 0 {
		return errors.New(usage())
	}
	cmd, known := commands[args[0]]
	if !known {
		return fmt.Errorf("there is no command %s\n%s", args[0], usage())
	}
	c, err := parse(cmd, args[1:])
	if err != nil {
		return err
	}
	c.today = env.Today
	s, err := store.Load(env.File)
	if err != nil {
		return err
	}
	text, err := cmd.run(s, c)
	if err != nil {
		return err
	}
	if cmd.changes {
		if err := store.Save(env.File, s); err != nil {
			return err
		}
	}
	_, err = io.WriteString(env.Out, text)
	return err
}

// parse reads the words and options of a command.
func parse(cmd command, args []string) (c call, err error) {
	c.options = map[string]string{}
	for n := 0; n < len(args); n++ {
		name, option := strings.CutPrefix(args[n], "--")
		switch {
		case !option:
			c.words = append(c.words, args[n])
		case !slices.Contains(cmd.options, name):
			return c, fmt.Errorf("there is no option --%s: shelf %s", name, cmd.usage)
		case n+1 == len(args):
			return c, fmt.Errorf("--%s needs a value: shelf %s", name, cmd.usage)
		default:
			n++
			c.options[name] = args[n]
		}
	}
	if len(c.words) != cmd.words {
		return c, fmt.Errorf("usage: shelf %s", cmd.usage)
	}
	return c, nil
}

func usage() string {
	var lines []string
	for _, cmd := range commands {
		lines = append(lines, "  shelf "+cmd.usage)
	}
	slices.Sort(lines)
	return "commands:\n" + strings.Join(lines, "\n")
}
