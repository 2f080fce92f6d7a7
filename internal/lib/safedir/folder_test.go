package safedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"company/internal/company"
)

// bed is a folder, and a file outside of it that must never change.
type bed struct {
	*Folder
	t       *testing.T
	outside string // a folder
	victim  string // a file in it
}

const untouched = "the operator's own\n"

func newBed(t *testing.T) *bed {
	t.Helper()
	dir := t.TempDir()
	b := &bed{t: t, outside: filepath.Join(dir, "outside"), victim: filepath.Join(dir, "outside", "profile")}
	own := filepath.Join(dir, "own")
	for _, d := range []string{b.outside, own} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(b.victim, []byte(untouched), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(own)
	if err != nil {
		t.Fatal(err)
	}
	b.Folder = f
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		entries, err := os.ReadDir(b.outside)
		text, err2 := os.ReadFile(b.victim)
		if err != nil || err2 != nil || len(entries) != 1 || string(text) != untouched {
			t.Errorf("what lies outside was touched: %v, %q, %v", entries, text, errors.Join(err, err2))
		}
	})
	return b
}

func (b *bed) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// ways are all the ways to a file of a folder.
func ways(f *Folder, name string) map[string]error {
	opened := func(file *os.File, err error) error {
		if err == nil {
			_, err = file.WriteString("touched")
			_ = file.Close()
		}
		return err
	}
	_, readErr := f.ReadFile(name, 0)
	return map[string]error{
		"ReadFile":  readErr,
		"Append":    opened(f.Append(name)),
		"WriteFile": f.WriteFile(name, []byte("touched"), 0o600),
		"Truncate":  opened(f.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)),
		"Exclusive": opened(f.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)),
	}
}

func TestNothingOutsideIsReachedThroughAFolder(t *testing.T) {
	for name, trap := range map[string]func(b *bed) (file string){
		"a link to a file": func(b *bed) string {
			b.must(os.Symlink(b.victim, b.Join("git.log")))
			return "git.log"
		},
		"a link to a file that is not there": func(b *bed) string {
			b.must(os.Symlink(filepath.Join(b.outside, "new"), b.Join("git.log")))
			return "git.log"
		},
		"a link within the folder": func(b *bed) string {
			b.must(b.WriteFile("real", []byte("x"), 0o600))
			b.must(os.Symlink("real", b.Join("git.log")))
			return "git.log"
		},
		"a link to a folder": func(b *bed) string {
			b.must(os.Symlink(b.outside, b.Join("runs")))
			return "runs/profile"
		},
		"a link to a folder two levels up": func(b *bed) string {
			b.must(os.MkdirAll(filepath.Join(b.outside, "..", "far", "t1-01.1"), 0o700))
			b.must(os.Symlink(filepath.Join(b.outside, "..", "far"), b.Join("runs")))
			return "runs/t1-01.1/git.log"
		},
		"a second name": func(b *bed) string {
			b.must(os.Link(b.victim, b.Join("git.log")))
			return "git.log"
		},
		"a pipe": func(b *bed) string {
			b.must(syscall.Mkfifo(b.Join("git.log"), 0o600))
			return "git.log"
		},
		"a folder with the name of a file": func(b *bed) string {
			b.must(b.Mkdir("git.log"))
			return "git.log"
		},
		"a repository above the file": func(b *bed) string {
			b.must(os.MkdirAll(b.Join("runs/t1-01.1/.git/refs/heads"), 0o700))
			return "runs/t1-01.1/git.log"
		},
		"a submodule above the file": func(b *bed) string {
			b.must(os.MkdirAll(b.Join("runs/t1-01.1"), 0o700))
			b.must(os.WriteFile(b.Join("runs/.git"), []byte("gitdir: ../../x\n"), 0o600))
			return "runs/t1-01.1/git.log"
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			file := trap(b)
			for way, err := range ways(b.Folder, file) {
				if err == nil {
					t.Errorf("%s of %s went through", way, file)
				}
				if way == "Exclusive" {
					continue // that there is something is enough
				}
				if company.CodeOf(err) != company.EConfig || !strings.Contains(err.Error(), "is refused") {
					t.Errorf("%s: %v, want an error that says what is refused", way, err)
				}
			}
		})
	}
}

func TestAFolderThatIsALinkIsNotOpened(t *testing.T) {
	b := newBed(t)
	b.must(os.Symlink(b.outside, b.Join("state")))
	if _, err := Open(b.Join("state")); company.CodeOf(err) != company.EConfig {
		t.Errorf("Open of a link: %v", err)
	}
	if err := b.Mkdir("state/bus"); company.CodeOf(err) != company.EConfig {
		t.Errorf("Mkdir below a link: %v", err)
	}
	if _, err := b.List("state"); company.CodeOf(err) != company.EConfig {
		t.Errorf("List of a link: %v", err)
	}
}

func TestNamesLeadNowhereElse(t *testing.T) {
	b := newBed(t)
	for _, name := range []string{"../outside/profile", "/etc/passwd", "a/../../outside/profile", "..", "a\x00b", ""} {
		for way, err := range ways(b.Folder, name) {
			if err == nil {
				t.Errorf("%s of %q went through", way, name)
			}
		}
		if err := b.RemoveAll(name); err == nil {
			t.Errorf("RemoveAll of %q went through", name)
		}
	}
}

func TestRemovingLeavesAloneWhatLinksPointAt(t *testing.T) {
	b := newBed(t)
	b.must(b.Mkdir("t1-01.1"))
	b.must(os.Symlink(b.outside, b.Join("t1-01.1/out")))
	b.must(b.RemoveAll("t1-01.1"))
	if _, err := b.Lstat("t1-01.1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	b.must(os.Symlink(b.outside, b.Join("runs")))
	if err := b.RemoveAll("runs/profile"); company.CodeOf(err) != company.EConfig {
		t.Errorf("RemoveAll below a link: %v", err)
	}
	b.must(b.RemoveAll("nothing/here"))
}

func TestAFolderOutlivesItsPath(t *testing.T) {
	b := newBed(t)
	b.must(b.Still())
	moved := filepath.Join(filepath.Dir(b.Path()), "moved")
	b.must(os.Rename(b.Path(), moved))
	if err := b.Still(); err == nil {
		t.Error("the path is gone, and nothing was said")
	}
	b.must(os.Symlink(b.outside, b.Path()))
	if err := b.Still(); company.CodeOf(err) != company.EConfig {
		t.Errorf("a link at the path: %v", err)
	}
	b.must(b.WriteFile("a", []byte("x"), 0o600))
	if text, err := os.ReadFile(filepath.Join(moved, "a")); err != nil || string(text) != "x" {
		t.Errorf("the file is not in the folder that was opened: %v", err)
	}
}

func TestPlainLooksAtEveryLevel(t *testing.T) {
	for name, trap := range map[string]func(b *bed){
		"link":       func(b *bed) { b.must(os.Symlink(b.victim, b.Join("a/b/1.blk"))) },
		"hard link":  func(b *bed) { b.must(os.Link(b.victim, b.Join("a/b/1.blk"))) },
		"repository": func(b *bed) { b.must(os.MkdirAll(b.Join("a/b/.git/refs/heads"), 0o700)) },
	} {
		b := newBed(t)
		b.must(b.Mkdir("a/b"))
		b.must(b.WriteFile("a/b/0.blk", []byte("x"), 0o600))
		b.must(b.Plain())
		trap(b)
		if err := b.Plain(); company.CodeOf(err) != company.EConfig {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFilesAreReadAndWritten(t *testing.T) {
	b := newBed(t)
	b.must(b.Mkdir("a/b"))
	b.must(b.WriteFile("a/b/c", []byte("one"), 0o600))
	b.must(b.WriteFile("a/b/c", []byte("two"), 0o600))
	log, err := b.Append("a/b/c")
	b.must(err)
	_, err = log.WriteString("+three")
	b.must(errors.Join(err, log.Close()))
	if text, err := b.ReadFile("a/b/c", 9); err != nil || string(text) != "two+three" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := b.ReadFile("a/b/c", 8); err == nil {
		t.Error("more was read than asked for")
	}
	if entries, err := b.List("a/b"); err != nil || len(entries) != 1 {
		t.Errorf("a temporary file was left: %v, %v", entries, err)
	}
	if n, ok := b.Usage(t.Context(), "."); n != 9 || !ok {
		t.Errorf("usage %d, %v", n, ok)
	}
	b.must(b.Rename("a/b", "a/d"))
	tmp, name, err := b.CreateTemp("x-")
	b.must(err)
	b.must(errors.Join(tmp.Close(), b.Remove(name)))
	if _, err := b.ReadFile("a/b/c", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was not moved: %v", err)
	}
	var none *Folder
	if _, err := none.ReadFile("a", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// Links that come and go while files are written reach nothing outside: a
// checkout in another terminal puts them there.
func TestLinksPutThereMeanwhileReachNothing(t *testing.T) {
	b := newBed(t)
	b.must(b.Mkdir("runs/t1-01.1"))
	done := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			run, aside := b.Join("runs/t1-01.1"), b.Join("runs/aside")
			_ = os.Rename(run, aside)
			_ = os.Symlink(b.outside, run)
			_ = os.Remove(run)
			_ = os.Rename(aside, run)
			log := filepath.Join(run, "profile")
			_ = os.Remove(log)
			_ = os.Symlink(b.victim, log)
			_ = os.Remove(log)
			_ = os.Link(b.victim, log)
			_ = os.Remove(log)
		}
	})
	wrote := 0
	for range 3000 {
		for _, err := range ways(b.Folder, "runs/t1-01.1/profile") {
			if err == nil {
				wrote++
			}
		}
	}
	close(done)
	swapping.Wait()
	if wrote == 0 {
		t.Error("nothing was ever written, so nothing was tried")
	}
}
