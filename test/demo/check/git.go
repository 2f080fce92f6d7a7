package check

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// git runs the git command on a repository, with no configuration but the
// repository's own.
func (e *eyes) git(ctx context.Context, dir string, args ...string) (string, error) {
	env := append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C")
	return command(ctx, "", env, "git", append([]string{"-C", dir}, args...)...)
}

// unmoved: main at the origin is what it was, the pushed branch builds on it,
// and the president's checkout is untouched.
func (e *eyes) unmoved(ctx context.Context) (string, error) {
	at, err := e.git(ctx, e.Origin, "rev-parse", "refs/heads/main")
	if err != nil {
		return "", err
	}
	if at != e.Main {
		return "", fmt.Errorf("main at the origin moved from %.7s to %.7s", e.Main, at)
	}
	if _, err := e.git(ctx, e.Origin, "merge-base", "--is-ancestor", e.Main, e.head); err != nil {
		return "", fmt.Errorf("%s does not build on main", e.branch)
	}
	mine, err := e.git(ctx, e.Repo, "rev-parse", "--symbolic-full-name", "HEAD")
	if err != nil {
		return "", err
	}
	head, err := e.git(ctx, e.Repo, "rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	dirt, err := e.git(ctx, e.Repo, "status", "--porcelain")
	if err != nil {
		return "", err
	}
	if mine != "refs/heads/main" || head != e.Main || dirt != "" {
		return "", fmt.Errorf("the checkout was touched: %s at %.7s %s", mine, head, dirt)
	}
	return fmt.Sprintf("still %.7s; the checkout is untouched", at), nil
}

// reviewed: the commit that the reviewer read is part of what was pushed, and
// a later commit changes the very line of each finding.
func (e *eyes) reviewed(ctx context.Context) (string, error) {
	if len(e.findings) == 0 {
		return "", errors.New("the reviewer found nothing")
	}
	var seen []string
	for _, f := range e.findings {
		by, err := e.repair(ctx, f)
		if err != nil {
			return "", fmt.Errorf("%s:%d (%s): %w", f.File, f.Line, f.What, err)
		}
		seen = append(seen, fmt.Sprintf("%s:%d changed by %.7s", f.File, f.Line, by))
	}
	return strings.Join(seen, "; "), nil
}

// repair finds the commit after the finding that touches its line.
func (e *eyes) repair(ctx context.Context, f Finding) (string, error) {
	head, err := e.git(ctx, e.Origin, "rev-parse", "--verify", f.Head+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("the commit that was reviewed was not pushed: %w", err)
	}
	text, err := e.git(ctx, e.Origin, "show", head+":"+f.File)
	if err != nil {
		return "", err
	}
	if n := strings.Count(text, "\n") + 1; f.Line < 1 || f.Line > n {
		return "", fmt.Errorf("%.7s has %d lines there", head, n)
	}
	later, err := e.git(ctx, e.Origin, "rev-list", "--reverse", "--no-merges", "--ancestry-path", head+".."+e.head)
	if err != nil {
		return "", err
	}
	for c := range strings.FieldsSeq(later) {
		own, err := e.git(ctx, e.Origin, "diff", "--name-only", c+"^", c, "--", f.File)
		if err != nil {
			return "", err
		}
		if own == "" {
			continue
		}
		diff, err := e.git(ctx, e.Origin, "diff", "-U0", "--no-renames", head, c, "--", f.File)
		if err != nil {
			return "", err
		}
		if touches(diff, f.Line) {
			return c, nil
		}
	}
	return "", fmt.Errorf("none of the %d commits after %.7s touches it", len(strings.Fields(later)), head)
}

var oldRange = regexp.MustCompile(`(?m)^@@ -(\d+)(?:,(\d+))? \+\S+ @@`)

// touches says whether a diff without context changes or deletes a line of the
// old version. Putting a line before or behind it does not touch it.
func touches(diff string, line int) bool {
	for _, m := range oldRange.FindAllStringSubmatch(diff, -1) {
		from, _ := strconv.Atoi(m[1])
		n := 1
		if m[2] != "" {
			n, _ = strconv.Atoi(m[2])
		}
		if line >= from && line < from+n {
			return true
		}
	}
	return false
}

var objectID = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// conflict: exactly one of the merge commits that were pushed joins sides that
// git cannot merge by itself; its tree is neither side's, and every test that
// passes on a side is still there and passes.
func (e *eyes) conflict(ctx context.Context) (string, error) {
	merges, err := e.git(ctx, e.Origin, "rev-list", "--reverse", "--merges", e.Main+".."+e.head)
	if err != nil {
		return "", err
	}
	var found, paths string
	for c := range strings.FieldsSeq(merges) {
		p, err := e.conflicts(ctx, c)
		if err != nil {
			return "", err
		}
		if p == "" {
			continue
		}
		if found != "" {
			return "", fmt.Errorf("%.7s and %.7s both join sides that conflict", found, c)
		}
		found, paths = c, p
	}
	if found == "" {
		return "", fmt.Errorf("git merges all %d merges by itself: there was no conflict", len(strings.Fields(merges)))
	}
	after, err := e.testsOn(ctx, found)
	if err != nil {
		return "", fmt.Errorf("the resolution %.7s: %w", found, err)
	}
	tree, err := e.git(ctx, e.Origin, "rev-parse", found+"^{tree}")
	if err != nil {
		return "", err
	}
	kept := 0
	for _, side := range []string{found + "^1", found + "^2"} {
		was, err := e.git(ctx, e.Origin, "rev-parse", side+"^{tree}")
		if err != nil {
			return "", err
		}
		if was == tree {
			return "", fmt.Errorf("the resolution %.7s is its parent %s, and drops the other side", found, side[len(found):])
		}
		before, err := e.testsOn(ctx, side)
		if err != nil {
			return "", fmt.Errorf("a side of the conflict: %w", err)
		}
		for _, t := range before {
			if !slices.Contains(after, t) {
				return "", fmt.Errorf("the test %s passes on parent %s and is not among those that pass on the resolution %.7s", t,
					side[len(found):], found)
			}
		}
		kept = max(kept, len(before))
	}
	return fmt.Sprintf("%.7s joins %s; %d tests pass on it, at most %d on a side", found, paths, len(after), kept), nil
}

// conflicts merges a merge commit's parents again and names the files in which
// that fails; none when git can do it. Exit 1 alone does not mean conflict:
// git says the same of an object that is missing.
func (e *eyes) conflicts(ctx context.Context, commit string) (string, error) {
	parents, err := e.git(ctx, e.Origin, "rev-list", "--parents", "-n1", commit)
	if err != nil {
		return "", err
	}
	ids := strings.Fields(parents)[1:]
	if len(ids) != 2 {
		return "", fmt.Errorf("%.7s has %d parents", commit, len(ids))
	}
	cmd := exec.CommandContext(ctx, "git", "-C", e.mirror, "merge-tree", "--write-tree", "--name-only", "--no-messages",
		ids[0], ids[1])
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	lines := strings.Fields(string(out))
	if errs.Len() > 0 || len(lines) == 0 || !objectID.MatchString(lines[0]) {
		return "", fmt.Errorf("git merge-tree of %.7s: %w %s", commit, err, errs.String())
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", nil
	case errors.As(err, &exit) && exit.ExitCode() == 1 && len(lines) > 1:
		return strings.Join(lines[1:], ", "), nil
	}
	return "", fmt.Errorf("git merge-tree of %.7s: %w", commit, err)
}
