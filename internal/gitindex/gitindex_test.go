package gitindex_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"company/internal/gitexec/gitexectest"
	"company/internal/gitindex"
)

// TestHostileConfigRunsNothing: the questions before there is an office run no
// program that the checkout's configuration, its hooks or our environment name.
func TestHostileConfigRunsNothing(t *testing.T) {
	dir := t.TempDir()
	plain := exec.Command("/bin/sh", "-c", "git init -q -b main && echo a >company.yaml && git add -A")
	plain.Dir, plain.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := plain.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := gitexectest.NewCanary(t)
	c.Poison(filepath.Join(dir, ".git"))
	c.PoisonEnvironment()
	all, err := gitindex.Tracked(t.Context(), dir, "company.yaml", "other.yaml")
	if err != nil || len(all) != 1 || all[0].Path != "company.yaml" {
		t.Errorf("%v, %v", all, err)
	}
	if out, err := gitindex.Ask(t.Context(), dir, "rev-parse", "--git-path", "info/exclude"); err != nil || out == "" {
		t.Errorf("%q, %v", out, err)
	}
	if what := c.Ran(); what != "" {
		t.Errorf("it ran %s", what)
	}
}
