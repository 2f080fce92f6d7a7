// Package gitindex asks git the few questions that come before there is an
// office: which files a repository tracks. It promises that nothing of the
// repository's config runs, and that a git which does not answer is an error,
// never a no. All other work with git is of package gitops.
package gitindex

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/gitexec"
	"company/internal/safetext"
)

// gitTimeout bounds one question to git.
const gitTimeout = 20 * time.Second

// Ask asks git something in dir. Nothing of the repository's config may run a
// command there, and nothing of the caller's environment may point git
// elsewhere. It is for the few questions that come before there is
// an office; everything else about git has its own room.
func Ask(ctx context.Context, dir string, args ...string) (string, error) {
	return run(ctx, gitexec.Command{Dir: dir, Args: args})
}

func run(ctx context.Context, c gitexec.Command) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	r, err := c.Run(ctx)
	if err == nil && r.Exit != 0 {
		err = fmt.Errorf("exit code %d", r.Exit)
	}
	if err != nil {
		return "", company.E(company.EGit, "git "+c.Args[0]+" does not answer in "+c.Dir).Because(safetext.FirstLine(r.Stderr)).Wrap(err).
			Fix("see that git status works there, and that the repository belongs to you")
	}
	return string(r.Out), nil
}

// Entry is one line of git's index.
type Entry struct{ Mode, Path string }

// Tracked lists what git's index holds at or below these paths, which are
// relative to dir, in any case of their letters: a disk may fold case where git
// does not. Outside a repository nothing is tracked. When git does not answer,
// that is an error, never a no.
func Tracked(ctx context.Context, dir string, paths ...string) ([]Entry, error) {
	if !insideRepository(dir) {
		return nil, nil
	}
	args := []string{"ls-files", "-z", "--cached", "--stage", "--"}
	for _, path := range paths {
		args = append(args, ":(icase,literal)"+path)
	}
	out, err := run(ctx, gitexec.Command{Dir: dir, Args: args, Env: []string{"GIT_LITERAL_PATHSPECS=0"}})
	if err != nil || out == "" {
		return nil, err
	}
	var all []Entry
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		about, path, ok := strings.Cut(line, "\t")
		mode, _, _ := strings.Cut(about, " ")
		if !ok {
			return nil, company.E(company.EGit, "git ls-files answers oddly in "+dir).Because(line).Fix("see that git works there")
		}
		all = append(all, Entry{mode, path})
	}
	return all, nil
}

// TracksFile reports whether git tracks a file of dir. An entry whose name differs in
// case counts where the disk takes both names for one file.
func TracksFile(ctx context.Context, dir, name string) (bool, error) {
	entries, err := Tracked(ctx, dir, name)
	if err != nil {
		return false, err
	}
	file, err := os.Stat(filepath.Join(dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return slices.ContainsFunc(entries, func(e Entry) bool {
		if e.Path == name {
			return true
		}
		other, err := os.Stat(filepath.Join(dir, e.Path))
		return err == nil && file != nil && os.SameFile(file, other)
	}), nil
}

// insideRepository reports whether dir or a folder above it holds a .git.
func insideRepository(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}
