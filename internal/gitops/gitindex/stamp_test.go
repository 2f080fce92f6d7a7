package gitindex_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/gitops/gitindex"
)

// inRepo runs git in a folder, without the configuration of its user.
func inRepo(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=n",
		"GIT_AUTHOR_EMAIL=e@x", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e@x")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Each change of the index has a stamp of its own, and nothing else has.
func TestStampTellsChanges(t *testing.T) {
	dir := t.TempDir()
	inRepo(t, dir, "init", "-q", "-b", "main")
	below := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	last := gitindex.ReadStamp(below)
	for i, change := range [][]string{{"add", "-A"}, {"rm", "-q", "--cached", "f"}, {"add", "-A"},
		{"update-index", "--chmod=+x", "f"}} {
		if !gitindex.ReadStamp(below).IsSameAs(last) || !gitindex.ReadStamp(dir).IsSameAs(last) {
			t.Fatalf("before %v the stamp is another one", change)
		}
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte("same size"), 0o644); err != nil {
			t.Fatal(err)
		}
		inRepo(t, dir, change...)
		now := gitindex.ReadStamp(below)
		if now.IsSameAs(last) {
			t.Errorf("change %d, %v, has the stamp of before", i, change)
		}
		last = now
	}
}

// Where git alone knows the place of the index there is no stamp, so that git is asked.
func TestNoStampWhereGitKnows(t *testing.T) {
	top := t.TempDir()
	inRepo(t, top, "init", "-q", "-b", "main")
	inRepo(t, top, "commit", "-q", "--allow-empty", "-m", "first")
	linked := filepath.Join(t.TempDir(), "linked")
	inRepo(t, top, "worktree", "add", "-q", linked)
	// git looks further up than a folder that is no repository.
	empty := filepath.Join(top, "sub")
	if err := os.MkdirAll(filepath.Join(empty, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := t.TempDir()
	if err := os.Symlink(filepath.Join(top, ".git"), filepath.Join(link, ".git")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{linked, empty, link, t.TempDir()} {
		if s := gitindex.ReadStamp(dir); s.IsSameAs(s) {
			t.Errorf("%s has a stamp", dir)
		}
	}
	for _, dir := range []string{top, linked, empty} {
		got, err := gitindex.ExcludeFile(t.Context(), dir)
		if want := inRepo(t, dir, "rev-parse", "--path-format=absolute", "--git-path", "info/exclude"); err != nil ||
			got != want {
			t.Errorf("%s: the exclude file is %s, %v; git says %s", dir, got, err, want)
		}
	}
}
