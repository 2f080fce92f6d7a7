package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/present/termtext"
	"company/internal/surface/cli/command"
	"company/internal/surface/terminalio"
	"company/internal/surface/terminalio/terminaltest"
	"company/test/heldoffice"
)

// stream is where a command writes, with what makes it plain.
type stream struct {
	terminal bool
	vars     map[string]string
	flags    []string
}

// plainStreams are the streams of which none gets an escape sequence that colours.
var plainStreams = map[string]stream{
	"a pipe":   {vars: map[string]string{"TERM": "xterm-256color"}},
	"NO_COLOR": {terminal: true, vars: map[string]string{"TERM": "xterm-256color", "NO_COLOR": "1"}},
	"--no-color": {terminal: true, vars: map[string]string{"TERM": "xterm-256color"},
		flags: []string{"--no-color"}},
	"TERM=dumb":            {terminal: true, vars: map[string]string{"TERM": "dumb"}},
	"NO_COLOR, TERM=dumb":  {terminal: true, vars: map[string]string{"TERM": "dumb", "NO_COLOR": "1"}},
	"a pipe and TERM=dumb": {vars: map[string]string{"TERM": "dumb"}},
}

// runOn runs a command line with stdout and stderr on a stream, and gives all that it
// wrote.
func runOn(t *testing.T, o *heldoffice.Office, s stream, args ...string) string {
	t.Helper()
	env := command.NewEnvironment(
		terminalio.Console{In: strings.NewReader(""), LookupEnv: func(name string) (string, bool) {
			if v, ok := s.vars[name]; ok {
				return v, true
			}
			return o.LookupEnv(name)
		}})
	args = append(args, append(s.flags, "--repo", o.Repo)...)
	if !s.terminal {
		var out bytes.Buffer
		env.Out, env.Err = &out, &out
		execute(t.Context(), env, args)
		return out.String()
	}
	person, tty := terminaltest.OpenPTY(t)
	env.Out, env.Err = tty, tty
	shown := make(chan string)
	go func() {
		text, _ := io.ReadAll(person) // its end is an error: the other end is closed
		shown <- string(text)
	}()
	execute(t.Context(), env, args)
	_ = tty.Close()
	return <-shown
}

// Where the terminal or its user wants none, and in a pipe, nothing that a command
// prints holds an escape sequence: results, errors, help and progress. At a terminal
// that shows colours the same commands use them.
func TestNoEscapeSequences(t *testing.T) {
	o := heldoffice.Open(t)
	o.Must(company.Cancel{Task: o.Submit("the first", o.Repo), Why: "no"})
	o.Executing("the second", 2)
	run := offerRun(o, "t2", 1)
	o.Claim(run, "")
	o.Serve()
	coloured := stream{terminal: true, vars: map[string]string{"TERM": "xterm-256color"}}
	for _, c := range []struct {
		line    string
		colours bool
	}{
		{"status", true}, {"status -v", true}, {"status t2", true}, {"list", true}, {"show t1", true}, {"show t2", true},
		{"show t2-01", true}, {"show " + string(run), false},
		{"feed", true}, {"feed -v -n 5", false}, {"agents", false}, {"costs", false}, {"pr", false}, {"project list", false},
		{"budget t2", false},
		{"config show", false}, {"--help", false}, {"submit --help", false}, {"help E_MODEL", false}, {"show t9", false},
		{"shwo", false}, {"wait t1", true}, {"status -o json", false},
	} {
		for name, s := range plainStreams {
			if text := runOn(t, o, s, strings.Fields(c.line)...); strings.Contains(text, "\x1b") || text == "" {
				t.Errorf("company %s, %s: %q", c.line, name, text)
			}
		}
		if c.colours && !strings.Contains(runOn(t, o, coloured, strings.Fields(c.line)...), "\x1b[") {
			t.Errorf("company %s has no colour at a terminal that shows it", c.line)
		}
	}
	for name, s := range plainStreams {
		if s.vars["TERM"] != "dumb" && s.terminal {
			continue // it may move the cursor
		}
		if text := runOn(t, o, s, "status", "--watch"); strings.Contains(text, "\x1b") ||
			!strings.Contains(text, "--watch needs a terminal") {
			t.Errorf("status --watch, %s: %q", name, text)
		}
	}
}

// The help of each command fits terminals of 80 and 120 columns, in which only a word
// that is longer than its room passes the edge, and has no colour.
func TestHelpFits(t *testing.T) {
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		var out bytes.Buffer
		env := command.NewEnvironment(
			terminalio.Console{In: strings.NewReader(""), Out: &out, Err: &out,
				LookupEnv: func(string) (string, bool) { return "", false }})
		if code := execute(t.Context(), env, append(strings.Fields(c.CommandPath())[1:], "--help")); code != 0 {
			t.Fatalf("%s --help: %d", c.CommandPath(), code)
		}
		for _, width := range []int{80, 120} {
			plain := termtext.WrapHelp(out.String(), termtext.Style{Width: width})
			if colour := termtext.WrapHelp(out.String(), termtext.Style{Width: width, Color: true}); colour != plain {
				t.Errorf("%s --help has another text in colour", c.CommandPath())
			}
			for line := range strings.Lines(plain) {
				if line = strings.TrimRight(line, "\n"); termtext.Cells(line) > width && len(strings.Fields(line)) > 1 {
					t.Errorf("%s --help: %d cells of %d: %s", c.CommandPath(), termtext.Cells(line), width, line)
				}
			}
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(Tree())
}
