// Package command is what the commands of company share: streams and flags, the way
// to the office, texts for people and programs, and exit codes. It promises that no
// text of a repository or a model steers the terminal, and that a command which only
// looks makes nothing. It has no command, and knows none.
package command

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"text/template"
	"time"

	"github.com/itchyny/gojq"

	"company/internal/clock"
	"company/internal/company"
	"company/internal/config"
	"company/internal/feed"
)

// Version of the program. CHANGELOG.md lists what each one brought.
var Version = "0.1.0"

// Commit is what the program was built from; scripts/release.sh sets it.
var Commit = ""

// Environment is what every command has: its streams, its flags, its logger.
type Environment struct {
	In        io.Reader
	Out, Err  io.Writer
	LookupEnv func(string) (string, bool)
	Environ   []string // all of it; nil: only LookupEnv is asked

	OfficeDir   string
	RepoDir     string
	Output      string // text | json
	JSON        bool
	Template    string // of Go, for the result; it implies JSON
	Query       string // of jq, for the result; it implies JSON
	Quiet       bool
	Verbose     bool
	NoColor     bool
	NoInput     bool
	Yes         bool
	ConfigFlags []string // key=value of the config

	Lifetime context.Context // of the command: an expression of jq ends with it

	template *template.Template // parsed; nil: there is none
	query    *gojq.Code         // parsed; nil: there is none

	configs map[[2]string]config.Loaded // that were read, by office and project

	ReportsWork bool // the result reports work: it must not be lost

	Clocks clock.Sources // of the machine; zero: of this one

	Log      *slog.Logger
	keyboard *Keyboard     // of In, once something was asked
	progress *feed.Display // of Err, once something was shown
}

// WallTime is what the wall clock says.
func (env *Environment) WallTime() time.Time {
	if env.Clocks.Wall != nil {
		return env.Clocks.Wall()
	}
	return time.Now()
}

// ApplyFlags checks what all commands share.
func (env *Environment) ApplyFlags() error {
	if env.Template != "" {
		var err error
		if env.template, err = parseTemplate(env.Template); err != nil {
			return err
		}
		env.JSON = true
	}
	if env.Query != "" {
		var err error
		if env.template != nil {
			return company.E(company.EUsage, "--jq and --template both shape the result").Fix("leave one of them out")
		}
		if env.query, err = parseQuery(env.Query); err != nil {
			return err
		}
		env.JSON = true
	}
	if env.JSON {
		env.Output = "json"
	}
	if env.Output != "text" && env.Output != "json" {
		return company.E(company.EUsage, fmt.Sprintf("there is no output %q", env.Output)).Fix("-o text or -o json")
	}
	level := slog.LevelError + 4 // silent
	if env.Verbose {
		level = slog.LevelDebug
	}
	env.Log = slog.New(slog.NewTextHandler(env.Err, &slog.HandlerOptions{Level: level}))
	return nil
}

// envValue is a variable of the environment; empty where it is not set.
func (env *Environment) envValue(name string) string {
	v, _ := env.LookupEnv(name)
	return v
}

// StdoutWriter is stdout. It remembers the first write that went wrong, so that
// a command whose result was lost does not end with success.
type StdoutWriter struct {
	W   io.Writer
	Err error
}

func (r *StdoutWriter) Write(p []byte) (int, error) {
	if r.Err != nil {
		return 0, r.Err
	}
	n, err := r.W.Write(p)
	r.Err = err
	return n, err
}
