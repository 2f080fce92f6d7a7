package gitops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"company/internal/company"
	"company/internal/gitexec"
)

const (
	localLimit   = 2 * time.Minute  // one command on objects that are here
	networkLimit = 10 * time.Minute // one fetch or push
)

// syncedParts are what git brings to the disk before it gives it a name. By itself it leaves out loose
// objects and references: after a power cut they are empty, and the ledger names them.
const syncedParts = "committed,loose-object,reference"

// call is one git command.
type call struct {
	dir       string   // absolute --git-dir
	workTree  string   // --work-tree, for the few that look at one
	args      []string // the command and its arguments
	config    []gitexec.Setting
	env       []string        // beyond the fixed ones
	global    string          // GIT_CONFIG_GLOBAL, if not the empty one
	protocols string          // GIT_ALLOW_PROTOCOL; empty blocks all
	access    *remoteEndpoint // the remote that is talked to: ssh, credential, proxies
	limited   bool            // resource limits: its input comes out of a container
	stdin     io.Reader
	stdout    io.Writer // nil: collected in result.out
	extra     []*os.File
	limit     time.Duration // 0: localLimit
}

// result is how a git command ended.
type result struct {
	out    []byte
	stderr string
	exit   int
}

// outputText is the output without its last newline.
func (r result) outputText() string { return strings.TrimSuffix(string(r.out), "\n") }

// failureReason is the shortest useful part of git's message.
func (r result) failureReason() string {
	s := strings.TrimSpace(r.stderr)
	if s == "" {
		return fmt.Sprintf("git ended with exit code %d and printed nothing", r.exit)
	}
	if len(s) > 2000 {
		s = s[:2000] + " …"
	}
	return Mask(s)
}

// command is a call as a process, with this store's own settings.
func (s *Store) command(c call) gitexec.Command {
	cmd := gitexec.Command{
		Program: s.git, Args: c.args, GitDir: c.dir, WorkTree: c.workTree, Dir: s.homeDir(), Home: s.homeDir(), GlobalConfig: c.global,
		Protocols: c.protocols, Limited: c.limited, Stdin: c.stdin, Stdout: c.stdout, Files: c.extra,
		Config: append([]gitexec.Setting{{"merge.directoryRenames", "false"}, {"core.fsync", syncedParts}}, c.config...),
	}
	if c.workTree != "" {
		// The store of an office lies inside the checkout as a rule; from a
		// folder in there git would answer for that folder alone.
		cmd.Dir = "/"
	}
	if c.global == "" {
		cmd.GlobalConfig = s.globalConfig()
	}
	if c.access.overSSHNow() {
		cmd.SSH = c.access.sshCommand()
	}
	if c.access.needsCredential() {
		cmd.Config = append(cmd.Config, gitexec.Setting{"credential.helper", "!" + shellQuote(s.helperPath())})
	}
	if c.access != nil && c.access.host != "" {
		cmd.Env = append(cmd.Env, s.cfg.OperatorEnv...)
		c.access.applyLogins(&cmd)
	}
	cmd.Env = append(cmd.Env, c.env...)
	return cmd
}

// run starts one git command and waits for it. A non-zero exit code is no
// error here: only a git that could not run, or was stopped, is.
func (s *Store) run(ctx context.Context, c call) (result, error) {
	if err := s.checkUntampered(c.dir); err != nil {
		return result{}, err
	}
	if err := context.Cause(ctx); err != nil {
		return result{}, err
	}
	if c.args[0] == "update-ref" {
		// It takes milliseconds, most of them with a lock, which it would leave if it were ended
		// before git knows of it.
		ctx = context.WithoutCancel(ctx)
	}
	limit := c.limit
	limit = cmp.Or(limit, localLimit)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var d *credentialServer
	if c.access.needsCredential() {
		var err error
		if d, err = c.access.openCredentialServer(ctx); err != nil {
			return result{}, err
		}
		defer d.close()
		c.extra = []*os.File{d.ask, d.answer}
	}
	cmd := s.command(c)
	if d != nil {
		cmd.Started = d.closeGits
	}
	start := time.Now()
	done, err := cmd.Run(ctx)
	r := result{out: done.Out, stderr: done.Stderr, exit: done.Exit}
	s.logOf(ctx).writeLine(c.args[0], c.args[1:], r.exit, time.Since(start), r.stderr)
	if ctx.Err() != nil {
		return r, contextError(ctx, c.args[0])
	}
	if err != nil {
		return r, company.E(company.EGit, "git "+c.args[0]+" could not be run").Because(r.stderr).Wrap(err)
	}
	return r, nil
}

// runOK is run for commands where any exit code but 0 is an error.
func (s *Store) runOK(ctx context.Context, c call) (result, error) {
	r, err := s.run(ctx, c)
	if err == nil && r.exit != 0 {
		failed := company.E(company.EGit, "git "+c.args[0]+" failed").Because(r.failureReason())
		if r.hadNoRoom() {
			failed = failed.Wrap(syscall.ENOSPC).Fix(makeRoom)
		}
		err = failed
	}
	return r, err
}

// makeRoom is what to do about a disk of ours that is full.
const makeRoom = "make room on the office's disk; company cleanup --dry-run lists what company itself could give back"

// hadNoRoom says that git told of a full disk of this host. What a remote says of its own is
// not meant.
func (r result) hadNoRoom() bool {
	for line := range strings.Lines(r.stderr) {
		if !strings.HasPrefix(line, "remote:") && noRoomReason([]byte(line)) != "" {
			return true
		}
	}
	return false
}

// contextError is the error of a git process that was ended by its context.
func contextError(ctx context.Context, op string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return company.E(company.ETimeout, "git "+op+" took too long and was stopped").Wrap(context.Cause(ctx))
	}
	return context.Cause(ctx)
}
