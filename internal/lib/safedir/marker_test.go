package safedir

import (
	"os"
	"path/filepath"
	"testing"
)

// A marker is a .git that tracks nothing and configures nothing, half made or whole; one
// that holds more is a repository, and refused like any.
func TestMarkForGit(t *testing.T) {
	dir := t.TempDir()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if IsMarked(dir) {
		t.Error("a folder without a .git is marked")
	}
	if err := os.Mkdir(filepath.Join(dir, "office"), 0o700); err != nil {
		t.Fatal(err)
	}
	office, err := f.Sub("office")
	if err != nil {
		t.Fatal(err)
	}
	defer office.Close()
	for range 2 {
		if err := office.MarkForGit(); err != nil {
			t.Fatal(err)
		}
	}
	at := office.Path()
	if !IsMarked(at) {
		t.Error("the marker is none")
	}
	if err := f.WriteFile("office/a", []byte("x"), 0o600); err != nil {
		t.Errorf("a file beside the marker: %v", err)
	}
	if err := os.Remove(filepath.Join(at, ".git", "HEAD")); err != nil || !IsMarked(at) {
		t.Errorf("half a marker: %v", err)
	}
	if err := office.MarkForGit(); err != nil || !IsMarked(at) {
		t.Errorf("made whole: %v", err)
	}
	for _, name := range []string{"index", "config", "commondir", "packed-refs", "hooks/post-checkout", "refs/heads/main",
		"objects/pack/a.pack", "modules/x"} {
		file := filepath.Join(at, ".git", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if IsMarked(at) {
			t.Errorf("with %s it is a marker", name)
		}
		if _, err := f.Sub("office"); err == nil {
			t.Errorf("with %s it is opened", name)
		}
		if err := os.RemoveAll(filepath.Join(at, ".git")); err != nil {
			t.Fatal(err)
		}
		if err := office.MarkForGit(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(at, ".git")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, ".git"), []byte("gitdir: ..\n"), 0o600); err != nil || IsMarked(at) ||
		office.MarkForGit() == nil {
		t.Errorf("a file is a marker: %v", err)
	}
}
