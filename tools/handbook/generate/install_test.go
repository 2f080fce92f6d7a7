package generate_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// make install puts the program, its man pages and completions where they are looked for, below
// DESTDIR and PREFIX. make uninstall removes these and what an older version had installed, and
// leaves the files of others.
func TestInstall(t *testing.T) {
	dest := filepath.Join(t.TempDir(), "a b")
	for path, text := range map[string]string{
		"opt/x/share/man/man1/other.1":        "other",
		"opt/x/share/company/installed":       "share/man/man1/company-gone.1\nshare/old/\n",
		"opt/x/share/man/man1/company-gone.1": "of an older version", "opt/x/share/old/keep": "other",
	} {
		writeFile(t, filepath.Join(dest, path), text)
	}
	before := listFiles(t, dest)
	runMake(t, dest, "install")
	for file, words := range map[string]string{
		"bin/company": "\x7fELF", "share/man/man1/company-submit.1": "company submit", "share/man/man1/other.1": "other",
		"share/bash-completion/completions/company":    "bash completion V2 for company",
		"share/zsh/site-functions/_company":            "#compdef company",
		"share/fish/vendor_completions.d/company.fish": "fish completion for company",
	} {
		text, err := os.ReadFile(filepath.Join(dest, "opt/x", file))
		if err != nil || !strings.Contains(string(text), words) {
			t.Errorf("%s has no %q, %v", file, words, err)
		}
	}
	if out, err := exec.CommandContext(
		t.Context(), filepath.Join(dest, "opt/x/bin/company"), "--version").CombinedOutput(); err != nil {
		t.Errorf("%v %s", err, out)
	}
	if slices.Contains(listFiles(t, dest), "opt/x/share/man/man1/company-gone.1") {
		t.Error("a man page of an older version is still there")
	}
	runMake(t, dest, "uninstall")
	want := slices.DeleteFunc(before, func(file string) bool {
		return strings.HasSuffix(file, "company-gone.1") || strings.HasSuffix(file, "company/installed")
	})
	if got := listFiles(t, dest); !slices.Equal(got, want) {
		t.Errorf("after an uninstall there are %q, want %q", got, want)
	}
	for _, folder := range []string{"bin", "share/fish", "share/zsh", "share/bash-completion"} {
		if _, err := os.Lstat(filepath.Join(dest, "opt/x", folder)); !os.IsNotExist(err) {
			t.Errorf("the folder %s is still there: %v", folder, err)
		}
	}
}

func runMake(t *testing.T, dest, target string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "make", "-C", "../../..", target, "PREFIX=/opt/x", "DESTDIR="+dest)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make %s: %v\n%s", target, err, out)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// listFiles lists the files below a folder, sorted.
func listFiles(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		files = append(files, rel)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
