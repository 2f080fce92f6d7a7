// Package gitindex asks git the few questions that come before there is an
// office: which files a repository tracks. It promises that nothing of the
// repository's config runs, and that a git which does not answer is an error,
// never a no. All other work with git is of package gitops.
package gitindex

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/safetext"
)

// gitTimeout bounds one question to git.
const gitTimeout = 20 * time.Second

// Ask asks git something in dir. Nothing of the repository's config may run a
// command there, and nothing of the caller's environment may point git
// elsewhere. It is for the few questions that come before there is
// an office; everything else about git has its own room.
func Ask(ctx context.Context, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	cmd.WaitDelay = time.Second
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "GIT_LITERAL_PATHSPECS=1", "GIT_OPTIONAL_LOCKS=0", "GIT_ALLOW_PROTOCOL=",
		"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false", "GIT_CONFIG_KEY_1=core.hooksPath", "GIT_CONFIG_VALUE_1=/dev/null",
		// A tracked folder that looks like a bare repository is not opened as
		// one.
		"GIT_CONFIG_KEY_2=safe.bareRepository", "GIT_CONFIG_VALUE_2=explicit"}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", company.E(company.EGit, "git "+args[0]+" does not answer in "+dir).Because(safetext.FirstLine(stderr.String())).Wrap(err).
			Fix("see that git status works there, and that the repository belongs to you")
	}
	return string(out), nil
}

// Entry is one line of git's index.
type Entry struct{ Mode, Path string }

// Tracked lists what git's index holds at or below these paths, which are
// relative to dir. Outside a repository nothing is tracked. When git does not
// answer, that is an error, never a no.
func Tracked(ctx context.Context, dir string, paths ...string) ([]Entry, error) {
	if !insideRepository(dir) {
		return nil, nil
	}
	out, err := Ask(ctx, dir, append([]string{"ls-files", "-z", "--cached", "--stage", "--"}, paths...)...)
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
