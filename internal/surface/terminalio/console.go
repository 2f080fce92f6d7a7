// Package terminalio manages the streams of a process, and the person or program at them.
//
// It detects the abilities of a stream (width, colours, redrawn lines). It formats results, notes,
// progress and errors. It also handles questions, keyboard input, the pager and the editor. Text
// of a repository or a model cannot steer the terminal. Input typed before a question does not
// answer it. A stream for programs holds only output that they can parse. The package knows no
// flags, offices or tasks, and decides nothing.
package terminalio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"company/internal/present/feed"
)

// Console holds the streams of a process and their settings. All fields except the streams and
// Output may have their zero value.
type Console struct {
	In        io.Reader
	Out, Err  io.Writer
	LookupEnv func(string) (string, bool)
	Environ   []string // all variables, nil if only LookupEnv is used

	Output  string // text | json
	Quiet   bool   // no progress
	Verbose bool   // print details of errors, and the log
	NoColor bool
	NoInput bool // ask no questions
	Yes     bool // approve questions before work begins

	Lifetime context.Context // lifetime of the process's work

	Log      *slog.Logger
	keyboard *Keyboard     // of In, after the first question
	progress *feed.Display // of Err, after the first output
}

// ErrInterrupted is the cause of a context that the person at the console cancelled.
var ErrInterrupted = errors.New("interrupted")

// ErrTerminated is the cause after SIGTERM, which a supervisor sends. It wraps ErrInterrupted.
var ErrTerminated = fmt.Errorf("terminated: %w", ErrInterrupted)

// OpenLog opens the log on stderr. The log is silent unless Verbose is set.
func (con *Console) OpenLog() {
	level := slog.LevelError + 4 // silent
	if con.Verbose {
		level = slog.LevelDebug
	}
	var handler slog.Handler = slog.NewTextHandler(con.Err, &slog.HandlerOptions{Level: level})
	if con.Verbose && IsTerminal(con.Err) {
		handler = &lineHandler{show: con.printLogLine}
	}
	con.Log = slog.New(handler)
}

// envValue returns the value of an environment variable, or "" if it is not set.
func (con *Console) envValue(name string) string {
	v, _ := con.LookupEnv(name)
	return v
}
