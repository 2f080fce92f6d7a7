package task

import (
	"io"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/surface/cli/command"
	"company/internal/surface/terminalio"
)

func TestParseTokens(t *testing.T) {
	for text, want := range map[string]int64{"200k": 200_000, "5M": 5_000_000, "5m": 5_000_000, "1_000_000": 1_000_000,
		"1.5M": 1_500_000, "7": 7, "30ktokens": 30_000, "12 tokens": 12} {
		if got, err := parseTokens(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "k", "-5", "5usd", "$5", "many", "1e9", "2000000M", "5T", "0.0001"} {
		if got, err := parseTokens(text); company.CodeOf(err) != company.EUsage {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

func TestBudgetFlags(t *testing.T) {
	for args, want := range map[string]string{
		"--budget-usd 0": "must be greater than 0", "--budget-usd -1": "must be greater than 0", "--budget-usd NaN": "must be greater than 0",
		"--budget-usd Inf": "must be greater than 0", "--budget-usd 1e-9": "must be greater than 0",
		"--budget-tokens 0": "invalid cap", "--budget-tokens lots": "invalid cap",
	} {
		env := command.NewEnvironment(
			terminalio.Console{Output: "text", LookupEnv: func(string) (string, bool) { return "", false },
				In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
		env.OfficeDir = t.TempDir()
		c := NewSubmit(env)
		c.SetArgs(append(strings.Fields(args), "do it"))
		c.SetOut(io.Discard)
		c.SetErr(io.Discard)
		if err := c.Execute(); company.CodeOf(err) != company.EUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
