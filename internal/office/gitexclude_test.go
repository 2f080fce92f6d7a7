package office

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"company/internal/office/config/configtest"
)

// The .git of an unpacked archive may have a link in the place of its exclude file, or what never
// ends: no other file of the president's gets lines, and nothing is read without an end.
func TestLinksOfAnExcludeFile(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, c := range []struct {
		name string
		make func(t *testing.T, info string) error
		want string // in the error; empty: none
	}{
		{"a link to a file of the president's", func(_ *testing.T, info string) error {
			return os.Symlink(filepath.Join(home, "profile"), filepath.Join(info, "exclude"))
		}, "a link leads from there to"},
		{"a folder that is a link", func(_ *testing.T, info string) error {
			return os.Symlink(home, info)
		}, "a link leads from there to"},
		{"a link that stays in the git folder", func(_ *testing.T, info string) error {
			return os.Symlink("mine", filepath.Join(info, "exclude"))
		}, ""},
		{"no folder", func(_ *testing.T, info string) error { return os.Remove(info) }, ""},
		{"a large file", func(_ *testing.T, info string) error {
			return os.WriteFile(filepath.Join(info, "exclude"), []byte(strings.Repeat("#\n", 600<<10)), 0o600)
		}, "not a regular file of at most 1 MiB"},
		{"a pipe", func(_ *testing.T, info string) error {
			return syscall.Mkfifo(filepath.Join(info, "exclude"), 0o600)
		}, "not a regular file of at most 1 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo := configtest.Repo(t, nil)
			info := filepath.Join(repo, ".git", "info")
			if err := os.RemoveAll(info); err != nil {
				t.Fatal(err)
			}
			if c.name != "a folder that is a link" {
				configtest.WriteFile(t, filepath.Join(info, "mine"), "mine\n")
			}
			configtest.WriteFile(t, filepath.Join(home, "profile"), "export A=1\n")
			if c.name == "no folder" {
				if err := os.Remove(filepath.Join(info, "mine")); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.make(t, info); err != nil {
				t.Fatal(err)
			}
			o, err := Open(t.Context(), mustFind(t, FindOptions{Dir: repo}))
			if err == nil {
				if err := o.Close(); err != nil {
					t.Error(err)
				}
			}
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
			if c.want == "" && !strings.Contains(excludeOf(t, repo), "/.company/\n") {
				t.Error("the office's folders are not hidden")
			}
			profile, err := os.ReadFile(filepath.Join(home, "profile"))
			if _, gone := os.Lstat(filepath.Join(home, "exclude")); err != nil || string(profile) != "export A=1\n" ||
				gone == nil {
				t.Errorf("files of the president's were written: %q, %v", profile, err)
			}
		})
	}
}
