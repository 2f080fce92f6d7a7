package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// PersonGit runs git as the person at the terminal, in one of their checkouts, with their
// configuration, login, hooks and signature. Only commands of a person use it. The company's own
// work uses gitops, which has none of these.
type PersonGit struct {
	Dir     string
	Environ []string // environment of git (nil means that of this process)
	// In and Err are the terminal, for git's questions for a passphrase.
	In  io.Reader
	Err io.Writer

	noHooks bool
}

// withoutHooks returns the same git without hooks, because it checks out files of agents.
func (g PersonGit) withoutHooks() PersonGit {
	g.noHooks = true
	return g
}

// repositoryVariables would redirect git to a repository other than the one in Dir.
var repositoryVariables = []string{"GIT_DIR=", "GIT_WORK_TREE=", "GIT_INDEX_FILE=", "GIT_OBJECT_DIRECTORY=",
	"GIT_COMMON_DIR=", "GIT_NAMESPACE="}

func (g PersonGit) newCommand(ctx context.Context, args ...string) *exec.Cmd {
	if g.noHooks {
		args = append([]string{"-c", "core.hooksPath=/dev/null"}, args...)
	}
	cmd := exec.CommandContext(ctx, "git", args...)
	for _, kv := range g.Environ {
		foreign := false
		for _, name := range repositoryVariables {
			foreign = foreign || strings.HasPrefix(kv, name)
		}
		if !foreign {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Dir, cmd.WaitDelay = g.Dir, 5*time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // git then cleans up
	return cmd
}

// readOutput returns the output of a read-only git command.
func (g PersonGit) readOutput(ctx context.Context, args ...string) (string, error) {
	cmd := g.newCommand(ctx, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), gitFailure(args, errs.String(), err)
}

// isTrue reports whether a git command exits with 0. An exit code of 1 means false, and others are
// errors.
func (g PersonGit) isTrue(ctx context.Context, args ...string) (bool, error) {
	_, err := g.readOutput(ctx, args...)
	if ended := new(exec.ExitError); errors.As(err, &ended) && ended.ExitCode() == 1 {
		return false, nil
	}
	return err == nil, err
}

// runVisibly runs a git command that changes the checkout or the remote, and shows its messages to
// the person.
func (g PersonGit) runVisibly(ctx context.Context, args ...string) error {
	cmd := g.newCommand(ctx, args...)
	var errs bytes.Buffer
	cmd.Stdin = g.In
	cmd.Stdout = g.Err
	cmd.Stderr = &errs
	if g.Err != nil {
		cmd.Stderr = io.MultiWriter(&errs, g.Err)
	}
	err := cmd.Run() // before errs is read
	return gitFailure(args, errs.String(), err)
}

func gitFailure(args []string, said string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, exec.ErrNotFound) {
		return company.E(company.EGit, "git is not installed").Fix("install git 2.38 or newer")
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	reason := safetext.EscapeLine(strings.Join(lines[max(0, len(lines)-6):], " "), 600)
	return company.E(company.EGit, fmt.Sprintf("git %s failed", args[0])).Because(reason).Wrap(err)
}

// hasCommit reports whether the checkout's repository has a commit.
func (g PersonGit) hasCommit(ctx context.Context, id company.OID) bool {
	_, err := g.readOutput(ctx, "cat-file", "-e", string(id)+"^{commit}")
	return err == nil
}

// currentBranch returns the checked out branch, or "" if there is none.
func (g PersonGit) currentBranch(ctx context.Context) string {
	name, err := g.readOutput(ctx, "symbolic-ref", "-q", "--short", "HEAD")
	if err != nil {
		return ""
	}
	return name
}
