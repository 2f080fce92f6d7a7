package command

import (
	"context"
	"errors"
	"fmt"

	"company/internal/company"
	"company/internal/safetext"
)

// Exit codes.
const (
	ExitComplete   = 0
	ExitError      = 1
	ExitIncomplete = 2 // waiting for you, partial, cancelled; of doctor: could not check
	ExitHeld       = 3 // the office is held by a process that does not answer
	ExitUsage      = 64
	ExitInterrupt  = 130
	ExitPipe       = 141 // the reader closed early; a shell's code for SIGPIPE
)

// ErrInterrupted is why the context of a command ends.
var ErrInterrupted = errors.New("interrupted")

// ErrTerminated is ErrInterrupted by SIGTERM: a supervisor wants the process to
// end.
var ErrTerminated = fmt.Errorf("terminated: %w", ErrInterrupted)

// CodedError carries a code other than 1 out of a command. Without an error in it
// everything is printed already.
type CodedError struct {
	Code int
	err  error
}

func (e *CodedError) Error() string {
	if e.err != nil {
		return e.err.Error()
	}
	return fmt.Sprintf("exit %d", e.Code)
}
func (e *CodedError) Unwrap() error { return e.err }

// ReportError shows an error and turns it into an exit code.
func (env *Environment) ReportError(ctx context.Context, err error) int {
	if err == nil {
		return ExitComplete
	}
	var ec *CodedError
	if errors.As(err, &ec) {
		if ec.err != nil {
			env.ShowError(ec.err)
		}
		return ec.Code
	}
	if ctx.Err() != nil {
		return ExitInterrupt
	}
	env.ShowError(err)
	switch company.CodeOf(err) {
	case company.EUsage:
		return ExitUsage
	case company.EHeld:
		return ExitHeld
	}
	return ExitError
}

// ShowError prints an error as people and programs read it. What it says may
// come from a repository or a model: nothing in it steers the terminal.
func (env *Environment) ShowError(err error) {
	var e *company.Error
	if !errors.As(err, &e) {
		e = company.E(company.EInternal, err.Error())
	}
	if e.Why == "" && e.Err != nil {
		e = e.Because(e.Err.Error())
	}
	if env.Output == "json" || env.JSON {
		told := struct {
			*company.Error
			Fix string `json:"fix,omitempty"` // the name in text output and in doctor; hint is its older name
		}{e, e.Hint}
		_ = env.PrintJSON(env.Err, map[string]any{"schema_version": 1, "error": told}) // stderr was closed on purpose
		return
	}
	fmt.Fprintf(env.Err, "error[%s]: %s\n", e.Code, safetext.Escape(e.Message))
	if e.Why != "" {
		fmt.Fprintf(env.Err, "  why:  %s\n", safetext.Escape(e.Why))
	}
	if e.Hint != "" {
		fmt.Fprintf(env.Err, "  fix:  %s\n", safetext.Escape(e.Hint))
	}
	if env.Verbose && e.Details != "" {
		fmt.Fprintf(env.Err, "%s\n", safetext.Escape(e.Details))
	}
}
