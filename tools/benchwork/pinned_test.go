package main

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

var updateTokens = flag.Bool("update-tokens", false, "pin the tokens of recorded conversations again (make tokens)")

// tokensFile has the input tokens of recorded conversations, by case and role.
const tokensFile = "testdata/tokens.json"

// moreTokens limits the tokens of a role, as a multiple of the pinned ones: times in the output of commands have more
// digits on a slow machine.
const moreTokens = 1.03

// TestTokens: the recorded conversations of the pinned cases take no more tokens than are pinned. No model is asked.
func TestTokens(t *testing.T) {
	hosttest.Long(t, "eight walks")
	t.Parallel()
	pinned := map[string]map[company.Role]int64{}
	text, err := os.ReadFile(tokensFile)
	if err == nil {
		err = json.Unmarshal(text, &pinned)
	}
	if err != nil {
		t.Fatal(err)
	}
	h := testenv.New(t, nil, map[string]string{"README.md": "not this one\n"})
	h.LetManagerPlan()
	o := newOptions(t, h)
	o.Only = slices.Sorted(maps.Keys(pinned))
	report, err := Tokens(t.Context(), filepath.Join("..", "..", "examples", "work"), o)
	if err != nil || len(report.Cases) != len(pinned) {
		t.Fatalf("%+v, %v", report, err)
	}
	for _, c := range report.Cases {
		if *updateTokens {
			pinned[c.Name] = map[company.Role]int64{}
			for role, count := range c.Roles {
				pinned[c.Name][role] = count.Input
			}
		}
		if len(c.Roles) != len(pinned[c.Name]) {
			t.Errorf("%s has the roles %v, pinned are %v", c.Name, c.Roles, pinned[c.Name])
		}
		for role, was := range pinned[c.Name] {
			if is := c.Roles[role].Input; float64(is) > moreTokens*float64(was) {
				t.Errorf("the %s of %s took %d input tokens and takes %d now. Where that is meant: make tokens", role, c.Name,
					was, is)
			}
		}
	}
	if !*updateTokens {
		return
	}
	if text, err = json.MarshalIndent(pinned, "", "  "); err == nil {
		err = os.WriteFile(tokensFile, append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
