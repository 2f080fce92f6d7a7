package config

import (
	"os"
	"path/filepath"
	"testing"

	"company/internal/gitops/gitindex"
	"company/internal/office/config/configtest"
)

// The logins to registries are for the checkout that the president let use
// them, as long as it comes from where it came from.
func TestMayUseLogins(t *testing.T) {
	home := t.TempDir()
	repo := filepath.Join(home, "repo")
	if err := os.Mkdir(repo, 0o755); err != nil {
		t.Fatal(err)
	}
	gitIn := func(args ...string) {
		t.Helper()
		if _, err := gitindex.Ask(t.Context(), repo, args...); err != nil {
			t.Fatal(err)
		}
	}
	gitIn("init", "-q", "-b", "main")
	trust := OpenTrust(configtest.Env(map[string]string{"HOME": home}))
	if trust.MayUseLogins(t.Context(), repo) {
		t.Fatal("nobody has let it")
	}
	if err := trust.AllowLogins(t.Context(), repo); err != nil {
		t.Fatal(err)
	}
	if !trust.MayUseLogins(t.Context(), repo) {
		t.Error("it was let")
	}
	// A folder of it, another checkout, and no checkout at all are others.
	other := filepath.Join(home, "other")
	if err := os.Rename(repo, other); err != nil {
		t.Fatal(err)
	}
	if trust.MayUseLogins(t.Context(), other) || trust.MayUseLogins(t.Context(), repo) {
		t.Error("another folder is let")
	}
	if err := os.Rename(other, repo); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(home, "link")
	if err := os.Symlink(repo, link); err != nil {
		t.Fatal(err)
	}
	if !trust.MayUseLogins(t.Context(), link) || trust.MayUseLogins(t.Context(), filepath.Join(repo, ".git")) {
		t.Error("a link to it is the same folder, and one inside is not")
	}
	// Another repository in the same place has another origin.
	gitIn("remote", "add", "origin", "https://evil.example/x.git")
	if trust.MayUseLogins(t.Context(), repo) {
		t.Error("another origin is let")
	}
	if err := trust.AllowLogins(t.Context(), repo); err != nil || !trust.MayUseLogins(t.Context(), repo) {
		t.Error(err)
	}
}
