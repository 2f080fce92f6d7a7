// Package configtest creates folders, repositories and environments for tests of the config and the office.
package configtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Dir returns a temporary folder without a symbolic link in its path.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Repo creates a git repository with one commit.
func Repo(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := Dir(t)
	Git(t, dir, "init", "-q", "-b", "main")
	WriteFile(t, filepath.Join(dir, "README.md"), "hello\n")
	for name, text := range files {
		WriteFile(t, filepath.Join(dir, name), text)
	}
	Git(t, dir, "add", "-A", "-f")
	Git(t, dir, "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "-m", "first")
	return dir
}

// Git runs git in dir with only the repository's config.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// Env returns an environment for tests.
func Env(m map[string]string) func(string) (string, bool) {
	return func(k string) (string, bool) { v, ok := m[k]; return v, ok }
}

// Office writes a company.yaml into a new folder and returns the folder.
func Office(t testing.TB, text string) string {
	t.Helper()
	dir := Dir(t)
	WriteFile(t, filepath.Join(dir, "company.yaml"), text)
	return dir
}

// WriteFile writes a file and the folders above it.
func WriteFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
