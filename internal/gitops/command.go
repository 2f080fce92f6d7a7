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
	"company/internal/gitops/gitexec"
	"company/internal/lib/lazyregexp"
)

const (
	localLimit   = 2 * time.Minute  // limit for one command on local objects
	networkLimit = 10 * time.Minute // limit for one fetch or push
)

// syncedParts lists the data that git syncs to disk. By default git leaves out loose objects and references. They
// would be empty after a power cut although the ledger names them.
const syncedParts = "committed,loose-object,reference"

// call is one git command.
type call struct {
	dir       string   // absolute --git-dir
	workTree  string   // --work-tree, for the few commands that need one
	args      []string // the command and its arguments
	config    []gitexec.Setting
	env       []string        // added to the fixed variables
	global    string          // GIT_CONFIG_GLOBAL; empty means the store's own
	protocols string          // GIT_ALLOW_PROTOCOL; empty blocks all
	access    *remoteEndpoint // the remote that the command talks to: ssh, credential, proxies
	personal  bool            // read the configuration of the user and the system; only for a git that lists it
	limited   bool            // apply resource limits, because its input comes from a container
	stdin     io.Reader
	stdout    io.Writer // if nil, collected in result.out
	extra     []*os.File
	limit     time.Duration // localLimit if 0
}

// result is the result of a git command.
type result struct {
	out    []byte
	stderr string
	exit   int
}

// outputText returns the output without its last newline.
func (r result) outputText() string { return strings.TrimSuffix(string(r.out), "\n") }

// failureReason returns git's message, masked and cut to 2000 bytes.
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

// command converts a call into a process with this store's own settings.
func (s *Store) command(c call) gitexec.Command {
	cmd := gitexec.Command{
		Program: s.git, Args: c.args, GitDir: c.dir, WorkTree: c.workTree, Dir: s.homeDir(), Home: s.homeDir(),
		GlobalConfig: c.global,
		Protocols:    c.protocols, Limited: c.limited, Stdin: c.stdin, Stdout: c.stdout, Files: c.extra,
		Config: append([]gitexec.Setting{{"merge.directoryRenames", "false"}, {"core.fsync", syncedParts}}, c.config...),
	}
	if c.workTree != "" {
		// An office's store is usually inside the checkout. If run from a folder there, git would answer for that folder
		// only. From elsewhere, it would look there for the files that a sparse checkout leaves out.
		cmd.Dir = c.workTree
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
	if c.personal {
		s.cfg.Personal.ReadPersonal(&cmd)
	}
	return cmd
}

// run runs one git command and waits for it. A non-zero exit code is not an error here. It fails only if git could
// not run or was stopped.
func (s *Store) run(ctx context.Context, c call) (result, error) {
	if err := s.checkUntampered(c.dir); err != nil {
		return result{}, err
	}
	if err := context.Cause(ctx); err != nil {
		return result{}, err
	}
	if c.args[0] == "update-ref" {
		// update-ref takes milliseconds, mostly while holding a lock. It would leave the lock behind if it were ended
		// before git registered it.
		ctx = context.WithoutCancel(ctx)
	}
	limit := c.limit
	limit = cmp.Or(limit, localLimit)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var server *credentialServer
	if c.access.needsCredential() {
		var err error
		if server, err = c.access.openCredentialServer(ctx); err != nil {
			return result{}, err
		}
		defer server.close()
		c.extra = []*os.File{server.ask, server.answer}
	}
	cmd := s.command(c)
	if server != nil {
		cmd.Started = server.closeGits
	}
	start := time.Now()
	done, err := cmd.Run(ctx)
	r := result{out: done.Out, stderr: done.Stderr, exit: done.Exit}
	s.logOf(ctx).writeLine(subjectOf(ctx), c.args[0], c.args[1:], r.exit, time.Since(start), r.stderr)
	if ctx.Err() != nil {
		return r, contextError(ctx, c.args[0])
	}
	if err != nil {
		return r, company.E(company.EGit, "git "+c.args[0]+" could not be started").Because(r.stderr).Wrap(err)
	}
	return r, nil
}

// runOK is like run, but returns an error for a non-zero exit code.
func (s *Store) runOK(ctx context.Context, c call) (result, error) {
	r, err := s.run(ctx, c)
	if err == nil && r.exit != 0 {
		err = s.explainFailure(c.args[0], r)
	}
	return r, err
}

// explainFailure returns the error for a failed git command.
func (s *Store) explainFailure(op string, r result) *company.Error {
	failed := company.E(company.EGit, "git "+op+" failed").Because(r.failureReason())
	if s.isFull(r) {
		failed = failed.Wrap(syscall.ENOSPC).Fix(makeRoom)
	}
	return failed
}

// unwrittenRE matches git's messages about a file that it could not write, if they give no reason.
var unwrittenRE = lazyregexp.New(`(?i)(?:couldn't|could not|unable to|cannot) (?:write|create|lock)`)

// isFull reports whether a command failed because the disk is full. If git names no reason, it writes a small file to
// find out, because the system's free space does not show quotas.
func (s *Store) isFull(r result) bool {
	if r.hadNoRoom() {
		return true
	}
	if !unwrittenRE.MatchString(r.stderr) {
		return false
	}
	file, name, err := s.own.CreateTemp("room-")
	if err == nil {
		_, err = file.Write(make([]byte, 4096))
		err = errors.Join(err, file.Sync(), file.Close(), s.own.Remove(name))
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// makeRoom tells how to fix a full disk of ours.
const makeRoom = "make room on the office's disk (df and df -i show it); company cleanup --dry-run lists what " +
	"company itself could give back"

// hadNoRoom reports whether git reported a full disk on this host. It ignores messages about a remote's own disk.
func (r result) hadNoRoom() bool {
	for line := range strings.Lines(r.stderr) {
		if !strings.HasPrefix(line, "remote:") && noRoomReason([]byte(line)) != "" {
			return true
		}
	}
	return false
}

// contextError returns the error for a git process that its context ended.
func contextError(ctx context.Context, op string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return company.E(company.ETimeout, "git "+op+" timed out").Wrap(context.Cause(ctx))
	}
	return context.Cause(ctx)
}
