package command

import (
	"context"
	"errors"
	"fmt"

	"company/internal/company"
)

// Exit codes.
const (
	ExitComplete   = 0
	ExitError      = 1
	ExitIncomplete = 2 // waiting for you, partial or cancelled; for doctor: could not check
	ExitHeld       = 3 // the process that holds the office does not respond
	ExitUsage      = 64
	ExitInterrupt  = 130
	ExitPipe       = 141 // output closed early; a shell's code for SIGPIPE
)

// CodedError makes a command exit with a code other than 1. Without a wrapped error, everything
// has been printed already.
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

// ReportError prints an error and returns the exit code for it.
func (env *Environment) ReportError(ctx context.Context, err error) int {
	if err == nil {
		return ExitComplete
	}
	if env.JSON { // the command line was rejected before its flags were applied
		env.Output = "json"
	}
	var ec *CodedError
	if errors.As(err, &ec) {
		if ec.err != nil {
			env.ShowError(ec.err)
		}
		return ec.Code
	}
	if ctx.Err() != nil && !errors.Is(err, company.ErrUnended) { // an unclean end is reported
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
