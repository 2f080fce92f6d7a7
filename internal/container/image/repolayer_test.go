package image

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"company/internal/gitops/gitexec/gitexectest"
)

// otherFileSystem is an empty folder on another file system than dir's.
func otherFileSystem(t *testing.T, dir string) string {
	t.Helper()
	place := "/dev/shm"
	if deviceOf(t, place) == deviceOf(t, dir) {
		place = "/var/tmp" // the temporary files of this run are in memory
	}
	other, err := os.MkdirTemp(place, "company-image-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(other); err != nil {
			t.Error(err)
		}
	})
	if deviceOf(t, other) == deviceOf(t, dir) {
		t.Fatalf("%s and %s are on one file system: this test needs two", dir, other)
	}
	return other
}

func deviceOf(t *testing.T, dir string) uint64 {
	t.Helper()
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	return uint64(info.Sys().(*syscall.Stat_t).Dev)
}

// The cache of the user and the office may be on two file systems, on which
// nothing can be renamed from one to the other.
func TestPackRepoAcrossFileSystems(t *testing.T) {
	p := newProject(t)
	repo := p.commit(map[string]string{"a.txt": "one\n"})
	p.commit(map[string]string{"b.txt": "two\n"}) // not of the image
	work := otherFileSystem(t, p.bare)
	before := filesBelow(t, p.bare)

	l, err := newLayer(filepath.Join(work, "layer.tar"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.removeFile()
	if err := packRepo(context.Background(), *repo, work, l); err != nil {
		t.Fatal(err)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	got := filepath.Join(t.TempDir(), "got")
	unpack(t, filepath.Join(work, "layer.tar"), got)
	bare := filepath.Join(got, "opt/repo.git")
	if out := p.git("--git-dir="+bare, "fsck", "--strict", "--full"); out != "" {
		t.Errorf("git fsck of the repository in the image: %s", out)
	}
	if head := p.git("--git-dir="+bare, "rev-parse", "HEAD"); head != string(repo.Commit) {
		t.Errorf("the image has %s, want %s", head, repo.Commit)
	}
	if n := p.git("--git-dir="+bare, "rev-list", "--all", "--count"); n != "1" {
		t.Errorf("the image has %s commits, want the history of the base alone: 1", n)
	}
	if after := filesBelow(t, p.bare); after != before {
		t.Errorf("the mirror was written to:\n%s\nit was\n%s", after, before)
	}
}

func filesBelow(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
		names = append(names, p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "\n")
}

func unpack(t *testing.T, file, dir string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for tr := tar.NewReader(f); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(to, 0o755)
		} else {
			var text []byte
			if text, err = io.ReadAll(tr); err == nil {
				err = os.WriteFile(to, text, 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestHostileConfigRunsNothing: what is read and packed of a repository runs no
// program that its configuration, its hooks or our environment name.
func TestHostileConfigRunsNothing(t *testing.T) {
	repo := newProject(t).commit(
		map[string]string{"go.mod": "module x\n", ".gitattributes": "* filter=x diff=x merge=x\n"})
	c := gitexectest.NewCanary(t)
	c.Poison(repo.MirrorDir)
	c.PoisonEnvironment()
	files, err := listTree(t.Context(), *repo, repo.Commit)
	if err != nil {
		t.Fatal(err)
	}
	if texts, err := files.readTexts(t.Context(), []string{"go.mod"}); err != nil ||
		string(texts["go.mod"]) != "module x\n" {
		t.Errorf("%q, %v", texts, err)
	}
	work := t.TempDir()
	l, err := newLayer(filepath.Join(work, "layer.tar"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.removeFile()
	if err := packRepo(t.Context(), *repo, work, l); err != nil {
		t.Error(err)
	}
	if what := c.Ran(); what != "" {
		t.Errorf("it ran %s", what)
	}
}
