package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"company/internal/company"
	"company/internal/gitops/gitexec"
	"company/internal/lib/safetext"
)

// The branches of a lab. Each verdict is about one of them.
const (
	baseBranch     = "main"
	hiddenBranch   = "hidden"   // the base with the hidden tests
	solutionBranch = "solution" // the base with the solution and the hidden tests
	resultBranch   = "result"   // an attempt with the hidden tests
	fetchedBranch  = "fetched"  // an attempt as delivered
)

// lab is the repository of a case on this host: its base, its hidden tests and its results. No agent or container has
// access to it.
type lab struct {
	c      Case
	dir    string // folder of the checkout
	index  string // git's index file
	env    []string
	base   company.OID
	hidden company.OID // commit
	tests  []string    // paths that the hidden tests add, change or remove
}

// openLab creates the repository of a case in a new folder. The environment is for the go command that fetches a
// case's module.
func openLab(ctx context.Context, c Case, dir string, environ []string) (*lab, error) {
	l := &lab{c: c, dir: dir, index: dir + ".index", env: environ}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if _, err := l.runGit(ctx, nil, "init", "-q", "-b", baseBranch, dir); err != nil {
		return nil, err
	}
	var err error
	switch {
	case c.Base.Git != "":
		err = l.fetchBase(ctx)
	case c.Base.Module != "":
		err = l.commitModule(ctx)
	default:
		err = l.commitBase(ctx)
	}
	if err != nil {
		return nil, err
	}
	if l.hidden, err = l.commitPatch(ctx, l.base, HiddenFile, c.Hidden, hiddenBranch); err != nil {
		return nil, err
	}
	out, err := l.runGit(ctx, nil, "diff-tree", "-r", "-z", "--name-only", "--no-renames", string(l.base),
		string(l.hidden))
	if err != nil {
		return nil, err
	}
	l.tests = strings.FieldsFunc(out, func(r rune) bool { return r == 0 })
	if len(l.tests) == 0 {
		return nil, faultOf(c.Dir, HiddenFile, "the patch changes nothing").Fix("write it with git diff --binary")
	}
	return l, nil
}

// runGit runs git in the lab, on its own index. A failure is an EGit error.
func (l *lab) runGit(ctx context.Context, stdin []byte, args ...string) (string, error) {
	out, err := l.gitCommand(stdin, args...).Output(ctx)
	if err != nil {
		return "", company.E(company.EGit, "the repository of the case "+l.c.Name+" cannot be made").Wrap(err)
	}
	return strings.TrimSpace(string(out)), nil
}

func (l *lab) gitCommand(stdin []byte, args ...string) gitexec.Command {
	// The commits are always identical, so that an image with them is built only once.
	const who, at = "bench", "2026-01-01T00:00:00Z"
	command := gitexec.Command{Dir: l.dir, Args: args, Env: []string{"GIT_INDEX_FILE=" + l.index,
		"GIT_AUTHOR_NAME=" + who, "GIT_AUTHOR_EMAIL=" + who + "@localhost", "GIT_AUTHOR_DATE=" + at,
		"GIT_COMMITTER_NAME=" + who, "GIT_COMMITTER_EMAIL=" + who + "@localhost", "GIT_COMMITTER_DATE=" + at}}
	if stdin != nil {
		command.Stdin = bytes.NewReader(stdin)
	}
	return command
}

// commitBase commits the files of the case's folder.
func (l *lab) commitBase(ctx context.Context) error {
	if _, err := l.runGit(ctx, nil, "--work-tree="+l.c.Base.Folder, "add", "-A", "."); err != nil {
		return err
	}
	return l.commitIndex(ctx, "", "The base", baseBranch, &l.base)
}

// commitIndex commits the index, onto a parent if there is one, and moves a branch.
func (l *lab) commitIndex(ctx context.Context, parent company.OID, message, branch string, into *company.OID) error {
	tree, err := l.runGit(ctx, nil, "write-tree")
	if err != nil {
		return err
	}
	args := []string{"commit-tree", tree, "-m", message}
	if parent != "" {
		args = append(args, "-p", string(parent))
	}
	id, err := l.runGit(ctx, nil, args...)
	if err != nil {
		return err
	}
	if _, err := l.runGit(ctx, nil, "update-ref", "refs/heads/"+branch, id); err != nil {
		return err
	}
	*into = company.OID(id)
	return nil
}

// fetchBase fetches the commit that the case names and its history, but no later commits.
func (l *lab) fetchBase(ctx context.Context) error {
	base, missing := l.c.Base, func(err error) error {
		return faultOf(l.c.Dir, CaseFile, "the base is missing").
			Because(safetext.EscapeLine(fmt.Sprintf("the commit %.12s cannot be had from %s", l.c.Base.Commit, l.c.Base.Git),
				300)).Wrap(err).
			Fix("look whether base.git has base.commit")
	}
	fetch := func(spec string) error {
		command := l.gitCommand(nil, "fetch", "-q", "--no-tags", "--no-write-fetch-head", "--", base.Git, spec)
		command.Protocols = "file:https"
		_, err := command.Output(ctx)
		return err
	}
	// A bundle only serves its references.
	const from = "refs/bench/source"
	if err := fetch(base.Commit + ":" + from); err != nil {
		if err := fetch("+refs/*:refs/bench/*"); err != nil {
			return missing(err)
		}
	}
	if _, err := l.gitCommand(nil, "cat-file", "-e", base.Commit+"^{commit}").Output(ctx); err != nil {
		return missing(err)
	}
	l.base = company.OID(base.Commit)
	if _, err := l.runGit(ctx, nil, "update-ref", "refs/heads/"+baseBranch, base.Commit); err != nil {
		return err
	}
	refs, err := l.runGit(ctx, nil, "for-each-ref", "--format=delete %(refname)", "refs/bench/")
	if err != nil || refs == "" {
		return err
	}
	_, err = l.runGit(ctx, []byte(refs+"\n"), "update-ref", "--stdin")
	return err
}

// commitPatch commits the result of applying a patch to a commit.
func (l *lab) commitPatch(
	ctx context.Context, onto company.OID, file string, patch []byte, branch string,
) (id company.OID, err error) {
	if _, err := l.runGit(ctx, nil, "read-tree", string(onto)); err != nil {
		return "", err
	}
	if err := l.applyPatch(ctx, file, patch); err != nil {
		return "", err
	}
	err = l.commitIndex(ctx, onto, file, branch, &id)
	return id, err
}

// applyPatch applies a patch of the case to the index. file is its name for errors.
func (l *lab) applyPatch(ctx context.Context, file string, patch []byte) error {
	if _, err := l.gitCommand(patch, "apply", "--cached", "--unidiff-zero", "--whitespace=nowarn", "-").Output(
		ctx); err != nil {
		return faultOf(l.c.Dir, file, "the patch does not apply to the base").Wrap(err).
			Fix("write it with git diff --binary on the base commit")
	}
	return nil
}

// commitWithTests commits a tree with the hidden tests on top. Each path that they add, change or remove is as in the
// hidden tests, whatever the tree contains.
func (l *lab) commitWithTests(ctx context.Context, of company.OID, branch string) error {
	if _, err := l.runGit(ctx, nil, "read-tree", string(of)); err != nil {
		return err
	}
	args := append([]string{"ls-tree", "-r", "-z", string(l.hidden), "--"}, l.tests...)
	found, err := l.runGit(ctx, nil, args...)
	if err != nil {
		return err
	}
	var entries strings.Builder
	there := map[string]bool{}
	for entry := range strings.SplitSeq(found, "\x00") {
		meta, path, ok := strings.Cut(entry, "\t")
		f := strings.Fields(meta)
		if !ok || len(f) != 3 {
			continue
		}
		there[path] = true
		fmt.Fprintf(&entries, "%s %s\t%s\x00", f[0], f[2], path)
	}
	for _, path := range l.tests {
		if !there[path] {
			fmt.Fprintf(&entries, "0 %s\t%s\x00", strings.Repeat("0", len(of)), path)
		}
	}
	if _, err := l.runGit(ctx, []byte(entries.String()), "update-index", "--add", "--replace", "-z",
		"--index-info"); err != nil {
		return err
	}
	var id company.OID
	return l.commitIndex(ctx, of, "The hidden tests", branch, &id)
}

// commitSolution commits the solution with the hidden tests.
func (l *lab) commitSolution(ctx context.Context) error {
	id, err := l.commitPatch(ctx, l.base, SolutionFile, l.c.Solution, solutionBranch)
	if err == nil {
		err = l.commitWithTests(ctx, id, solutionBranch)
	}
	return err
}

// takeResult fetches the branch that an attempt delivered from the mirror of its office, and commits it with the
// hidden tests.
func (l *lab) takeResult(ctx context.Context, mirror, branch string, head company.OID) error {
	command := l.gitCommand(nil, "fetch", "-q", "--no-tags", "--no-write-fetch-head", "--", mirror,
		"+refs/heads/"+branch+":refs/heads/"+fetchedBranch)
	command.Protocols = "file"
	if _, err := command.Output(ctx); err != nil {
		return company.E(company.EGit, "what was delivered cannot be read").Wrap(err)
	}
	got, err := l.runGit(ctx, nil, "rev-parse", "refs/heads/"+fetchedBranch)
	if err == nil && got != string(head) {
		err = company.E(company.EGit, "the branch that was delivered has moved").
			Because(fmt.Sprintf("it is at %.12s, not at %.12s", got, head))
	}
	if err != nil {
		return err
	}
	return l.commitWithTests(ctx, head, resultBranch)
}

// copyBase creates a checkout with only the base and its history.
func (l *lab) copyBase(ctx context.Context, dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	for _, command := range []gitexec.Command{
		{Dir: l.dir, Args: []string{"init", "-q", "-b", baseBranch, dir}},
		{Dir: dir, Protocols: "file",
			Args: []string{"fetch", "-q", "--no-tags", "--update-head-ok", "--no-write-fetch-head", "--", l.dir,
				"+refs/heads/" + baseBranch + ":refs/heads/" + baseBranch}},
		{Dir: dir, Args: []string{"checkout", "-q", "-f", "-B", baseBranch, string(l.base)}},
	} {
		if command.Dir == dir {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
		}
		if _, err := command.Output(ctx); err != nil {
			return company.E(company.EGit, "the checkout of the case "+l.c.Name+" cannot be made").Wrap(err)
		}
	}
	return nil
}
