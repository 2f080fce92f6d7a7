package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newEnv makes an environment with a file of its own.
func newEnv(t *testing.T) Env {
	t.Helper()
	return Env{File: filepath.Join(t.TempDir(), "shelf.json"), Today: "2026-03-10"}
}

// run carries out a command line of words without blanks; gives what it prints.
func run(env Env, line string) (string, error) {
	var out strings.Builder
	env.Out = &out
	err := Run(env, strings.Fields(line))
	return out.String(), err
}

// must carries out command lines, which may not fail; gives what the last one prints.
func must(t *testing.T, env Env, lines ...string) (out string) {
	t.Helper()
	for _, line := range lines {
		var err error
		if out, err = run(env, line); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	return out
}

func TestLendAndReturn(t *testing.T) {
	env := newEnv(t)
	if got := must(t, env, "add ann Tent", "add cat Drill"); got != "2\n" {
		t.Errorf("got %s", got)
	}
	got := must(t, env, "lend 1 bob --on 2026-02-02 --weeks 2", "list")
	want := `id  title  owner  lent to  since       due
 1  Tent   ann    bob      2026-02-02  2026-02-16
 2  Drill  cat
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := must(t, env, "late"); !strings.Contains(got, " 1  Tent   bob      2026-02-16    22\n") {
		t.Errorf("got\n%s", got)
	}
	if got := must(t, env, "late --on 2026-02-16"); got != "nothing\n" {
		t.Errorf("got\n%s", got)
	}
	if got := must(t, env, "return 1", "remove 2", "list"); !strings.HasSuffix(got, "\n 1  Tent   ann\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestWhatFailsLeavesTheFile(t *testing.T) {
	env := newEnv(t)
	must(t, env, "add ann Tent", "lend 1 bob")
	before, err := os.ReadFile(env.File)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"", "borrow 1", "add ann", "lend 1 cat", "lend x cat", "lend 1 cat --weeks x", "return 2",
		"return 1 --on 2026-03-09", "return 1 --on", "return 1 --day 2026-03-12", "remove 1", "late --on x"} {
		if _, err := run(env, line); err == nil {
			t.Errorf("%q is fine", line)
		}
	}
	after, err := os.ReadFile(env.File)
	if err != nil || string(after) != string(before) {
		t.Errorf("the file is now %s, %v", after, err)
	}
}
