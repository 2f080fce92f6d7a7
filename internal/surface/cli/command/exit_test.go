package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"company/internal/company"
	"company/internal/surface/terminalio"
)

// ERR-6: the exit code of every way to end. An error is 1, wrong usage 64, an
// office whose holder does not answer 3, an interrupt 130.
func TestExitCodeOfAnError(t *testing.T) {
	live := t.Context()
	gone, cancel := context.WithCancelCause(live)
	cancel(terminalio.ErrInterrupted)
	for name, x := range map[string]struct {
		ctx  context.Context
		err  error
		want int
	}{
		"none":                           {live, nil, 0},
		"none, after an interrupt":       {gone, nil, 0},
		"usage":                          {live, company.E(company.EUsage, "x"), 64},
		"usage, wrapped":                 {live, fmt.Errorf("a: %w", company.E(company.EUsage, "x")), 64},
		"held":                           {live, company.E(company.EHeld, "x"), 3},
		"config":                         {live, company.E(company.EConfig, "x"), 1},
		"stopped":                        {live, company.E(company.EStopped, "x"), 1},
		"not found":                      {live, company.E(company.ENotFound, "x"), 1},
		"of somebody else":               {live, errors.New("x"), 1},
		"interrupted":                    {gone, context.Canceled, 130},
		"a code":                         {live, &CodedError{Code: 2}, 2},
		"a code beside an error":         {live, &CodedError{Code: 2, err: company.E(company.EConfig, "x")}, 2},
		"a code, though interrupted":     {gone, &CodedError{Code: 130}, 130},
		"an end that was not clean":      {gone, company.E(company.EInternal, "x").Wrap(company.ErrUnended), 1},
		"an error that ended in time":    {live, context.DeadlineExceeded, 1},
		"usage that somebody gave up on": {gone, company.E(company.EUsage, "x"), 130},
	} {
		for range 2 { // deterministic
			var errs bytes.Buffer
			env := NewEnvironment(terminalio.Console{Err: &errs, Output: "text"})
			if got := env.ReportError(x.ctx, x.err); got != x.want {
				t.Errorf("%s: exit %d, want %d", name, got, x.want)
			}
		}
	}
}

// Errors, to the letter: cause, then what to do, and a stable code; with -v
// what is long; as JSON for programs. The exit code follows from the code.
func TestErrorLayout(t *testing.T) {
	full := company.E(company.EForge, "GitHub refused the token (401) while opening the PR").
		Because("GITHUB_TOKEN lacks \"pull_requests: write\"\x1b[2J").
		Fix("export a token with that permission, then: company resume t12")
	full.Details = "HTTP 401"
	for name, tc := range map[string]struct {
		err  error
		set  func(*Environment)
		want string
		code int
	}{
		"all of it": {full, nil, `error[E_FORGE]: GitHub refused the token (401) while opening the PR
  why:  GITHUB_TOKEN lacks "pull_requests: write"\x1b[2J
  fix:  export a token with that permission, then: company resume t12
`, 1},
		"verbose": {full, func(env *Environment) { env.Verbose = true },
			`error[E_FORGE]: GitHub refused the token (401) while opening the PR
  why:  GITHUB_TOKEN lacks "pull_requests: write"\x1b[2J
  fix:  export a token with that permission, then: company resume t12
HTTP 401
`, 1},
		"json": {full, func(env *Environment) { env.Output = "json" },
			`{"error":{"code":"E_FORGE","class":"recoverable","message":"GitHub refused the token (401) while opening the PR","why":"GITHUB_TOKEN lacks \"pull_requests: write\"\u001b[2J","hint":"export a token with that permission, then: company resume t12","details":"HTTP 401","fix":"export a token with that permission, then: company resume t12"},"schema_version":1}
`, 1},
		"json, by a person": {company.E(company.EForge, "no right").NeedsPerson(),
			func(env *Environment) {
				env.Output = "json"
			}, `{"error":{"code":"E_FORGE","class":"human_required","message":"no right"},"schema_version":1}
`, 1},
		"a cause": {company.E(company.EGit, "git does not answer").Wrap(errors.New("signal: killed")), nil,
			"error[E_GIT]: git does not answer\n  why:  signal: killed\n", 1},
		"not one of ours": {errors.New("odd"), nil, "error[E_INTERNAL]: odd\n", 1},
		"usage": {company.E(company.EUsage, "wrong").Fix("right"), nil,
			"error[E_USAGE]: wrong\n  fix:  right\n", 64},
		"held":         {company.E(company.EHeld, "held"), nil, "error[E_HELD]: held\n", 3},
		"said already": {&CodedError{Code: 2}, nil, "", 2},
		"with its own code": {&CodedError{Code: 2, err: company.E(company.EWaiting, "waits")}, nil,
			"error[E_WAITING]: waits\n", 2},
	} {
		t.Run(name, func(t *testing.T) {
			var errs bytes.Buffer
			env := NewEnvironment(terminalio.Console{Err: &errs, Output: "text"})
			if tc.set != nil {
				tc.set(env)
			}
			if got := env.ReportError(t.Context(), tc.err); got != tc.code {
				t.Errorf("exit code %d, want %d", got, tc.code)
			}
			if errs.String() != tc.want {
				t.Errorf("got\n%swant\n%s", errs.String(), tc.want)
			}
		})
	}
}
