package gitops

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
)

// A view reads a checkout's own objects, linked work trees included, runs
// nothing of its config, and leaves nothing behind.
func TestView(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	checkout := newCheckout(t, map[string]string{"go.mod": "module x\n", "sub/a.go": "package sub\n"})
	linked := filepath.Join(t.TempDir(), "linked")
	gitexectest.Git(t, checkout, "worktree", "add", "-q", "-b", "side", linked)
	canary := filepath.Join(t.TempDir(), "fired")
	gitexectest.Git(t, checkout, "config", "core.fsmonitor", "touch "+canary+"; false")
	for branch, dir := range map[string]string{"main": checkout, "side": linked} {
		m, info, done, err := View(t.Context(), dir, "origin", "")
		if err != nil || info.Branch != branch {
			t.Fatalf("%+v, %v", info, err)
		}
		entries, err := m.List(t.Context(), info.OID)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Path)
		}
		if !slices.Contains(names, "sub/a.go") {
			t.Errorf("%s: %v", branch, names)
		}
		if text, err := m.ReadFile(t.Context(), info.OID, "go.mod"); err != nil || string(text) != "module x\n" {
			t.Errorf("%s: %q, %v", branch, text, err)
		}
		done()
	}
	if _, err := os.Lstat(canary); err == nil {
		t.Error("the repository's config ran a command")
	}
	_, _, done, err := View(t.Context(), t.TempDir(), "origin", "")
	if err == nil || done != nil {
		t.Errorf("a folder without a repository: %v", err)
	}
	_, _, _, err = View(t.Context(), checkout, "origin", "nowhere")
	requireCode(t, err, company.ENotFound)
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
