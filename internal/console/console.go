// Package console is the streams of one process, and the person or the program at them.
//
// It owns what a stream can show (its width, its colours, lines taken back), the forms in
// which results, notes, progress and errors are printed, questions and the keys typed
// after them, and what a person works in beside them: a pager, an editor. It promises that
// no text of a repository or of a model steers the terminal, that what was typed before a
// question answers nothing, and that a stream which programs read holds only what they
// can read. It knows no flag, no office and no task; it decides nothing.
package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"company/internal/feed"
	"company/internal/reshape"
)

// Console is the streams of a process, and how they are read. The zero value of all but
// the streams and Output will do.
type Console struct {
	In        io.Reader
	Out, Err  io.Writer
	LookupEnv func(string) (string, bool)
	Environ   []string // all of it; nil: only LookupEnv is asked

	Output  string        // text | json
	Shape   reshape.Shape // of results in JSON; nil: as they are
	Quiet   bool          // no progress
	Verbose bool          // details of errors, and the log
	NoColor bool
	NoInput bool // no question is put
	Yes     bool // the answer to questions before work begins

	Lifetime context.Context // of the process's work: an expression of jq ends with it

	Log      *slog.Logger
	keyboard *Keyboard     // of In, once something was asked
	progress *feed.Display // of Err, once something was shown
}

// ErrInterrupted is why a context ends: the person at the console wants the work to end.
var ErrInterrupted = errors.New("interrupted")

// ErrTerminated is ErrInterrupted by SIGTERM: a supervisor wants the process to
// end.
var ErrTerminated = fmt.Errorf("terminated: %w", ErrInterrupted)

// OpenLog opens the log on stderr, which is silent unless details are wanted.
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

// envValue is a variable of the environment; empty where it is not set.
func (con *Console) envValue(name string) string {
	v, _ := con.LookupEnv(name)
	return v
}
