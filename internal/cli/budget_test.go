package cli

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/config"
)

func TestParseTokens(t *testing.T) {
	for text, want := range map[string]int64{"200k": 200_000, "5M": 5_000_000, "5m": 5_000_000, "1_000_000": 1_000_000, "1.5M": 1_500_000, "7": 7, "30ktokens": 30_000, "12 tokens": 12} {
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

// A cap in USD that no price can hold is refused where somebody set it, and
// told of where it is the default.
func TestUSDCapNeedsPrice(t *testing.T) {
	const price = ", price: {input: 1, output: 2}}"
	for _, c := range []struct {
		name, models string
		set          []string
		refused      string // in the reason
		line         string
	}{
		{"the default", "default: {adapter: openai, model: fake-1}", nil, "", "5M tokens (no price is known for fake-1, so $5.00 cannot be held)"},
		{"a price", "default: {adapter: openai, model: fake-1" + price, nil, "", "$5.00"},
		{"a list price", "default: {adapter: openai, model: gpt-5}", []string{"budget.usd=0.0001"}, "", "$0.0001"},
		{"somebody's", "default: {adapter: openai, model: fake-1}", []string{"budget.usd=0.0001"}, "no price is known for fake-1", ""},
		{"somebody's, beside one in tokens", "default: {adapter: openai, model: fake-1}", []string{"budget.usd=3", "budget.tokens=200000"}, "", "200k tokens (no price is known for fake-1, so $3.00 cannot be held)"},
		{"somebody's, and no tokens at all", "default: {adapter: openai, model: fake-1}", []string{"budget.usd=3", "budget.tokens=none"}, "no price is known", ""},
		{"in tokens", "default: {adapter: openai, model: fake-1}", []string{"budget.tokens=200000", "budget.usd=none"}, "", "200k tokens"},
		{"none", "default: {adapter: openai, model: fake-1}", []string{"budget.tokens=none", "budget.usd=none"}, "", "no limit"},
		{"of a fallback", "default: {adapter: openai, model: gpt-5, fallback: [b]}, b: {adapter: ollama, model: qwen3}", []string{"budget.usd=3"}, "no price is known for qwen3", ""},
		{"nobody uses it", "default: {adapter: openai, model: gpt-5}, b: {adapter: ollama, model: qwen3}", []string{"budget.usd=3"}, "", "$3.00"},
	} {
		dir := t.TempDir()
		writeConfig(t, filepath.Join(dir, "company.yaml"), "models: {"+c.models+"}\n")
		flags := map[string]string{}
		for _, s := range c.set {
			key, value, _ := strings.Cut(s, "=")
			flags[key] = value
		}
		l, err := config.Load(t.Context(), config.LoadOptions{OfficeDir: dir, Flags: flags})
		if err != nil {
			t.Fatal(err)
		}
		err = checkUSDCap(l)
		var e *company.Error
		if c.refused != "" {
			if !errors.As(err, &e) || e.Code != company.EUsage || !strings.Contains(e.Why, c.refused) || !strings.Contains(e.Hint, "--budget-tokens 200k") || !strings.Contains(e.Hint, "price") {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if got := budgetLine(l.Config, officeapp.CompanySettings(l.Config).Cap, ""); err != nil || got != c.line {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

func TestBudgetFlags(t *testing.T) {
	for args, want := range map[string]string{
		"--budget-usd 0": "is none", "--budget-usd -1": "is none", "--budget-usd NaN": "is none", "--budget-usd Inf": "is none", "--budget-usd 1e-9": "is none",
		"--budget-tokens 0": "no cap in tokens", "--budget-tokens lots": "no cap in tokens",
	} {
		a := &app{officeDir: t.TempDir(), output: "text", env: func(string) (string, bool) { return "", false }, in: strings.NewReader(""), out: io.Discard, err: io.Discard}
		c := newSubmit(a)
		c.SetArgs(append(strings.Fields(args), "do it"))
		c.SetOut(io.Discard)
		c.SetErr(io.Discard)
		if err := c.Execute(); company.CodeOf(err) != company.EUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
