// Package strangers runs the company on repositories that it was not made for:
// Go modules, Debian's source packages, npm packages and the scaffolds of real
// tools, all made by others, and projects in the shapes that people have
// (test/fixtures). Each goes the whole way as a user's would: nothing configured
// but the model, the image prepared, the baseline run, one change with its test
// merged, and a pull request.
//
// There are two ways to choose them. A draw takes repositories from the frozen
// lists in lists/ by the commit that is measured (lot*.go); its rows are kept in
// draws/ and make bin/strangers.md, and the cases that were found ahead in
// draws/prepared. The fixed list has pinned repositories whose
// checks were read by people, and makes bin/strangers-pinned.md. The package owns
// the lists, the fetchers, the walks, the comparison with what the maintainers'
// own commands say outside of our containers, and both tables.
package strangers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Stranger is one repository and the change that is made to it.
type Stranger struct {
	Name    string
	Version string // pinned
	Kind    string
	Short   bool // one of those that `make test/long` runs
	From    Source
	Checks  []Check // that its maintainers run
	Outside Place   // where its suite runs for the comparison, or nil for no comparison
	Change  []File
	Check   string // what the worker runs before it commits
	Blind   string // why no test that must fail can be planted; empty: it must be proven
}

// Check is one check of a stranger's maintainers, and where they say so.
type Check struct {
	Lint bool
	File string // of the repository, or below debian/ of its packaging; empty: nothing is said there
	Text string // the words of File
	Run  string // the same as it is run outside of our containers; empty: it is not, see Ours
	Ours string // words of our command where it is the same check; empty: we do not have it
	Note string // what ours leaves out, or why we do not have it
}

// Source is where a stranger comes from.
type Source interface {
	// Fetch brings it to this machine. What is there is not fetched again.
	Fetch(ctx context.Context, s Stranger) (Checkout, error)
}

// Checkout is a stranger's files on this machine. They are shared: a walk works
// on a copy.
type Checkout struct {
	Dir       string
	Packaging string // the debian/ folder of a source package
}

// Place is where a suite runs outside of our containers.
type Place interface {
	// Copy makes a copy of a checkout ready: its packages are installed.
	Copy(ctx context.Context, s Stranger, from Checkout) (Suite, error)
}

// Suite is a copy of a checkout that is ready for its checks. It is used by one
// at a time.
type Suite interface {
	// Run runs a command offline. An error says that it could not be run.
	Run(ctx context.Context, command string) (exit int, output string, err error)
	Remove() error
}

// File is a file of a repository.
type File struct{ Path, Text string }

// Fixture is a project of ours, below test/fixtures.
type Fixture struct{ Root, Folder string }

// Fetch finds it in this repository.
func (f Fixture) Fetch(context.Context, Stranger) (Checkout, error) {
	return Checkout{Dir: filepath.Join(f.Root, "test", "fixtures", f.Folder)}, nil
}

// findStatement checks that the maintainers' words are where the list says.
func (c Check) findStatement(from Checkout) error {
	if c.File == "" {
		return nil
	}
	at := filepath.Join(from.Dir, filepath.FromSlash(c.File))
	if rest, ok := strings.CutPrefix(c.File, "debian/"); ok && from.Packaging != "" {
		at = filepath.Join(from.Packaging, filepath.FromSlash(rest))
	}
	text, err := os.ReadFile(at)
	if err != nil {
		return err
	}
	if !strings.Contains(string(text), c.Text) {
		return fmt.Errorf("%s does not have the words %q", c.File, c.Text)
	}
	return nil
}

// cacheDir is a folder for what was fetched, kept between runs.
func cacheDir(parts ...string) (string, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(append([]string{user, "company-strangers"}, parts...)...)
	return dir, os.MkdirAll(dir, 0o755)
}

// keepIn makes a folder of the cache once: fill writes to a folder beside it, which
// gets its name when all of it is there.
func keepIn(dir string, fill func(temp string) error) error {
	if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), ".new-")
	if err != nil {
		return err
	}
	err = fill(temp)
	if err == nil {
		err = os.Rename(temp, dir)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	return nil
}

// countFiles counts the files of a tree.
func countFiles(dir string) (n int, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			n++
		}
		return err
	})
	if err == nil && n == 0 {
		err = fmt.Errorf("%s is empty", dir)
	}
	return n, err
}

// Row is what came of one stranger.
type Row struct {
	Name, Version, Kind string
	Measured            time.Time // when its walk began; zero: the row is older than this field
	Commit              string    // of the company that walked, as its version has it; empty: not known
	Foreign             bool      // it was not made by us
	Files               int
	Theirs, Ours        []string // checks
	Lacking             []string // of theirs, that ours are not, for which the list has no reason
	Known               []string // the same with the list's reason
	Baseline            string   // of the base, in the words of the feed
	Verdict, Outside    string   // of the base, here and outside: green or red
	Untrue              string   // how they differ
	Result, Why         string
	Prepare, Total      time.Duration // of the image and all before the baseline; of the whole
	Check, Canary       time.Duration // of the tests of the ticket; of the proof beside them that they look at the change
	Away                time.Duration // of the suite outside
	Proven              []string      // folders of the change that the tests look at
	Unproven            string
}

// IsRight says whether a stranger came out right in all: complete, with the checks of
// its maintainers, and a verdict on the base that holds outside.
func (r Row) IsRight() bool {
	return r.Result == "COMPLETE" && len(r.Lacking) == 0 && r.Untrue == "" && r.Verdict != ""
}

func (r *Row) addUntrue(words string) {
	if r.Untrue != "" {
		words = r.Untrue + "; " + words
	}
	r.Untrue = words
}
