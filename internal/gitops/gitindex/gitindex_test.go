package gitindex_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/gitops/gitindex"
)

// A file is tracked by the name that git knows; an entry in another case is the same file
// where the disk says so, and another one beside it where it does not.
func TestTracksFile(t *testing.T) {
	dir := t.TempDir()
	run := exec.Command("/bin/sh", "-c",
		"git init -q && echo a >Company.yaml && echo a >tracked.yaml && git add -A && echo b >company.yaml && echo c "+
			">other.yaml && ln Company.yaml cOMPANY.yaml")
	run.Dir, run.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, want := range map[string]bool{"tracked.yaml": true, "Company.yaml": true, "company.yaml": false,
		"other.yaml": false, "absent.yaml": false,
		"cOMPANY.yaml": true, // one file by two names, as on a disk that folds case
	} {
		if got, err := gitindex.TracksFile(t.Context(), dir, name); err != nil || got != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if entries, err := gitindex.Tracked(t.Context(), dir, "company.YAML"); err != nil || len(entries) != 1 ||
		entries[0].Path != "Company.yaml" {
		t.Errorf("%v, %v", entries, err)
	}
}

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
