package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"company/internal/bench"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

var updateTokens = flag.Bool("update-tokens", false, "pin the tokens of recorded conversations anew (make tokens)")

// tokensFile has the input tokens of recorded conversations, by case and role.
const tokensFile = "testdata/tokens.json"

// moreTokens is how much more than the pinned tokens a role may take: times in the output of
// commands have more digits on a slow machine.
const moreTokens = 1.03

// pinned guards tokensFile.
var pinned sync.Mutex

// checkTokens compares the input tokens of recorded conversations with the pinned ones.
func checkTokens(t *testing.T, cases []bench.TokensCase) {
	t.Helper()
	pinned.Lock()
	defer pinned.Unlock()
	want := readPinned(t)
	var before, now int64
	for _, c := range cases {
		if *updateTokens {
			want[c.Name] = map[company.Role]int64{}
			for role, n := range c.Now.Roles {
				want[c.Name][role] = n.Input
			}
		}
		if len(want[c.Name]) != len(c.Now.Roles) {
			t.Errorf("%s has the roles %v, pinned are %v", c.Name, c.Now.Roles, want[c.Name])
		}
		for _, role := range slices.Sorted(maps.Keys(c.Now.Roles)) {
			was, is := want[c.Name][role], c.Now.Roles[role].Input
			before, now = before+was, now+is
			checkGrowth(t, fmt.Sprintf("the %s of %s", role, c.Name), was, is)
		}
	}
	checkGrowth(t, "all of them", before, now)
	if !*updateTokens {
		return
	}
	text, err := json.MarshalIndent(want, "", "  ")
	if err == nil {
		err = os.WriteFile(tokensFile, append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readPinned(t *testing.T) (tokens map[string]map[company.Role]int64) {
	t.Helper()
	text, err := os.ReadFile(tokensFile)
	if err == nil {
		err = json.Unmarshal(text, &tokens)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// checkGrowth fails where tokens exceed moreTokens times the pinned number.
func checkGrowth(t *testing.T, who string, was, is int64) {
	t.Helper()
	switch {
	case float64(is) > moreTokens*float64(was):
		t.Errorf("%s took %d input tokens and takes %d now, %+.1f %%. Where that is meant: make tokens", who, was, is,
			100*float64(is-was)/float64(was))
	case is != was:
		t.Logf("%s: %d input tokens, %d are pinned", who, is, was)
	}
}

// TestBenchWorkTokens: the recorded conversation of a case takes no more tokens than are pinned.
func TestBenchWorkTokens(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	checkTokens(t, playExamples(t, 1, "--case", "money-percent"))
}

// TestBenchWorkTokensOfAll is the same with all cases that are pinned.
func TestBenchWorkTokensOfAll(t *testing.T) {
	hosttest.Long(t, "TestBenchWorkTokens has one of them")
	t.Parallel()
	var args []string
	for _, name := range slices.Sorted(maps.Keys(readPinned(t))) {
		if name != "farewell" { // it is no example
			args = append(args, "--case", name)
		}
	}
	checkTokens(t, playExamples(t, len(args)/2, args...))
}

// playExamples plays the recorded conversations of so many cases of examples/work.
func playExamples(t *testing.T, want int, args ...string) []bench.TokensCase {
	t.Helper()
	h := testenv.New(t, nil, map[string]string{"README.md": "not this one\n"})
	h.LetManagerPlan()
	root, err := testenv.Root()
	if err != nil {
		t.Fatal(err)
	}
	ran := h.MustRun(
		3*patience,
		append([]string{"bench", "work", filepath.Join(root, "examples", "work"), "--recorded", "--long", "0", "-o", "json"},
			args...)...)
	var r bench.TokensReport
	if err := json.Unmarshal([]byte(ran.Stdout), &r); err != nil || len(r.Cases) != want {
		t.Fatalf("%v\n%s\n%s", err, ran.Stdout, ran.Stderr)
	}
	return r.Cases
}
