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
	ExitIncomplete = 2 // waiting for you, partial, cancelled; of doctor: could not check
	ExitHeld       = 3 // the office is held by a process that does not answer
	ExitUsage      = 64
	ExitInterrupt  = 130
	ExitPipe       = 141 // the reader closed early; a shell's code for SIGPIPE
)

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
	if env.JSON { // of a command line that was refused before its flags were applied
		env.Output = "json"
	}
	var ec *CodedError
	if errors.As(err, &ec) {
		if ec.err != nil {
			env.ShowError(ec.err)
		}
		return ec.Code
	}
	if ctx.Err() != nil && !errors.Is(err, company.ErrUnended) { // an end that was not clean is reported
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
