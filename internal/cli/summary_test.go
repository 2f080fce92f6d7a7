package cli

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"company/internal/company"
)

// Errors, to the letter: cause, then what to do, and a stable code; with -v
// what is long; as JSON for programs. The exit code follows from the code.
func TestErrorLayout(t *testing.T) {
	full := company.E(company.EForge, "GitHub refused the token (401) while opening the PR").Because("GITHUB_TOKEN lacks \"pull_requests: write\"\x1b[2J").Fix("export a token with that permission, then: company resume t12")
	full.Details = "HTTP 401"
	for name, tc := range map[string]struct {
		err  error
		set  func(*app)
		want string
		code int
	}{
		"all of it": {full, nil, `error[E_FORGE]: GitHub refused the token (401) while opening the PR
  why:  GITHUB_TOKEN lacks "pull_requests: write"\x1b[2J
  fix:  export a token with that permission, then: company resume t12
`, 1},
		"verbose": {full, func(a *app) { a.verbose = true }, `error[E_FORGE]: GitHub refused the token (401) while opening the PR
  why:  GITHUB_TOKEN lacks "pull_requests: write"\x1b[2J
  fix:  export a token with that permission, then: company resume t12
HTTP 401
`, 1},
		"json": {full, func(a *app) { a.output = "json" }, `{"error":{"code":"E_FORGE","message":"GitHub refused the token (401) while opening the PR","why":"GITHUB_TOKEN lacks \"pull_requests: write\"\u001b[2J","hint":"export a token with that permission, then: company resume t12","details":"HTTP 401","fix":"export a token with that permission, then: company resume t12"},"schema_version":1}
`, 1},
		"a cause":           {company.E(company.EGit, "git does not answer").Wrap(errors.New("signal: killed")), nil, "error[E_GIT]: git does not answer\n  why:  signal: killed\n", 1},
		"not one of ours":   {errors.New("odd"), nil, "error[E_INTERNAL]: odd\n", 1},
		"usage":             {company.E(company.EUsage, "wrong").Fix("right"), nil, "error[E_USAGE]: wrong\n  fix:  right\n", 64},
		"held":              {company.E(company.EHeld, "held"), nil, "error[E_HELD]: held\n", 3},
		"said already":      {&exitCode{code: 2}, nil, "", 2},
		"with its own code": {&exitCode{code: 2, err: company.E(company.EWaiting, "waits")}, nil, "error[E_WAITING]: waits\n", 2},
	} {
		t.Run(name, func(t *testing.T) {
			var errs bytes.Buffer
			a := &app{err: &errs, output: "text"}
			if tc.set != nil {
				tc.set(a)
			}
			if got := a.reportError(context.Background(), tc.err); got != tc.code {
				t.Errorf("exit code %d, want %d", got, tc.code)
			}
			if errs.String() != tc.want {
				t.Errorf("got\n%swant\n%s", errs.String(), tc.want)
			}
		})
	}
}

// Amounts of people.
func TestParseAmount(t *testing.T) {
	for text, want := range map[string]company.Amount{
		"5usd": {MicroUSD: 5_000_000}, "$2.50": {MicroUSD: 2_500_000}, "0.000001usd": {MicroUSD: 1}, "5 USD": {MicroUSD: 5_000_000},
		"100ktokens": {Tokens: 100_000}, "2Mtokens": {Tokens: 2_000_000}, "7tokens": {Tokens: 7}, "1.5ktokens": {Tokens: 1500},
	} {
		if got, err := parseAmount(text); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "5", "usd", "-5usd", "$5usd", "$5tokens", "0usd", "1e9usd", "5eur", "9999999999999usd", "5usd x", "0.0000001usd", "NaNusd", "५usd"} {
		if got, err := parseAmount(text); company.CodeOf(err) != company.EUsage {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
}
