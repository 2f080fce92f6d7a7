// Package gitindex asks git which files a repository tracks, for code that runs before there is an office. The
// repository's config cannot run a program. If git does not answer, the result is an error, never "not tracked". All
// other use of git is in package gitops.
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
	"company/internal/gitops/gitexec"
	"company/internal/lib/safetext"
)

// gitTimeout limits one git command.
const gitTimeout = 20 * time.Second

// Ask runs a git command in dir and returns its output. The repository's config cannot run a command, and the
// caller's environment cannot redirect git. It is for code that runs before there is an office; use package gitops
// otherwise.
func Ask(ctx context.Context, dir string, args ...string) (string, error) {
	return run(ctx, gitexec.Command{Dir: dir, Args: args})
}

func run(ctx context.Context, command gitexec.Command) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	result, err := command.Run(ctx)
	if err == nil && result.Exit != 0 {
		err = fmt.Errorf("exit code %d", result.Exit)
	}
	if err != nil {
		return "", company.E(company.EGit, "git "+command.Args[0]+" failed in "+command.Dir).
			Because(safetext.FirstLine(result.Stderr)).Wrap(err).
			Fix("check that git status works there, and that you own the repository")
	}
	return string(result.Out), nil
}

// Entry is one line of git's index.
type Entry struct{ Mode, Path string }

// Tracked lists the entries of git's index at or below the given paths, which are relative to dir. It ignores case,
// because a disk may fold case where git does not. Outside a repository it returns no entries. If git does not
// answer, it returns an error.
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
	var entries []Entry
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		about, path, ok := strings.Cut(line, "\t")
		mode, _, _ := strings.Cut(about, " ")
		if !ok {
			return nil, company.E(company.EGit, "git ls-files gave unexpected output in "+dir).Because(line).
				Fix("check that git works there")
		}
		entries = append(entries, Entry{mode, path})
	}
	return entries, nil
}

// TracksFile reports whether git tracks a file of dir. An entry with a different case counts if both names are the
// same file on disk.
func TracksFile(ctx context.Context, dir, name string) (bool, error) {
	entries, err := Tracked(ctx, dir, name)
	if err != nil {
		return false, err
	}
	file, err := os.Stat(filepath.Join(dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return slices.ContainsFunc(entries, func(entry Entry) bool {
		if entry.Path == name {
			return true
		}
		other, err := os.Stat(filepath.Join(dir, entry.Path))
		return err == nil && file != nil && os.SameFile(file, other)
	}), nil
}

// insideRepository reports whether dir or a folder above it contains a .git.
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
