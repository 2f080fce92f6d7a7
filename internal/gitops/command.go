package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"company/internal/company"
)

const (
	localLimit   = 2 * time.Minute  // one command on objects that are here
	networkLimit = 10 * time.Minute // one fetch or push
	maxOutput    = 256 << 20        // bytes of a command's stdout that we hold
	maxStderr    = 64 << 10
)

// call is one git command.
type call struct {
	dir       string   // absolute --git-dir
	workTree  string   // --work-tree, for the few that look at one
	args      []string // the command and its arguments
	config    []setting
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

// limits bounds a process that handles bytes made in a container: no core,
// 60 s of processor time, 4 GiB of address space, files up to 1 GiB. It goes
// through sh because Go cannot set limits between fork and exec.
const limitScript = `ulimit -c 0 && ulimit -t 60 && ulimit -v 4194304 && ulimit -f 2097152 && exec "$@"`

// newCommand builds the process of a call: own process group, so that helpers
// of git die with it, killed when ctx ends.
func (s *Store) newCommand(ctx context.Context, c call) *exec.Cmd {
	argv := []string{s.git, "--git-dir=" + c.dir}
	if c.workTree != "" {
		argv = append(argv, "--work-tree="+c.workTree)
	}
	argv = append(argv, c.args...)
	if c.limited {
		argv = append([]string{"/bin/sh", "-c", limitScript, "sh"}, argv...)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = s.homeDir()
	if c.workTree != "" {
		// The store of an office lies inside the checkout as a rule; from a
		// folder in there git would answer for that folder alone.
		cmd.Dir = "/"
	}
	cmd.Env = s.buildEnv(c)
	cmd.ExtraFiles = c.extra
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// run starts one git command and waits for it. A non-zero exit code is no
// error here: only a git that could not run, or was stopped, is.
func (s *Store) run(ctx context.Context, c call) (result, error) {
	if err := s.checkUntampered(c.dir); err != nil {
		return result{}, err
	}
	limit := c.limit
	if limit == 0 {
		limit = localLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var d *credentialServer
	if c.access.needsCredential() {
		var err error
		if d, err = c.access.openDesk(ctx); err != nil {
			return result{}, err
		}
		defer d.close()
		c.extra = []*os.File{d.ask, d.answer}
	}
	cmd := s.newCommand(ctx, c)
	var out, errOut bytes.Buffer
	cmd.Stdin = c.stdin
	cmd.Stdout = c.stdout
	if c.stdout == nil {
		cmd.Stdout = &capped{w: &out, left: maxOutput}
	}
	cmd.Stderr = &truncating{buf: &errOut, left: maxStderr}
	start := time.Now()
	err := cmd.Start()
	if d != nil {
		d.closeGits()
	}
	if err == nil {
		err = cmd.Wait()
	}
	r := result{out: out.Bytes(), stderr: errOut.String(), exit: exitCode(cmd)}
	s.logOf(ctx).writeLine(c.args[0], c.args[1:], r.exit, time.Since(start), r.stderr)
	if ctx.Err() != nil {
		return r, contextError(ctx, c.args[0])
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return r, company.E(company.EGit, "git "+c.args[0]+" could not be run").Because(r.stderr).Wrap(err)
	}
	return r, nil
}

// runOK is run for commands where any exit code but 0 is an error.
func (s *Store) runOK(ctx context.Context, c call) (result, error) {
	r, err := s.run(ctx, c)
	if err == nil && r.exit != 0 {
		err = company.E(company.EGit, "git "+c.args[0]+" failed").Because(r.failureReason())
	}
	return r, err
}

// contextError is the error of a git process that was ended by its context.
func contextError(ctx context.Context, op string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return company.E(company.ETimeout, "git "+op+" took too long and was stopped").Wrap(context.Cause(ctx))
	}
	return context.Cause(ctx)
}

func exitCode(cmd *exec.Cmd) int {
	if cmd.ProcessState == nil {
		return -1
	}
	return cmd.ProcessState.ExitCode()
}

// capped passes bytes on and fails when there are too many of them.
type capped struct {
	w    io.Writer
	left int64
}

func (c *capped) Write(p []byte) (int, error) {
	if int64(len(p)) > c.left {
		return 0, fmt.Errorf("more than %d bytes of output", int64(maxOutput))
	}
	c.left -= int64(len(p))
	return c.w.Write(p)
}

// truncating keeps the first bytes and swallows the rest, so that a chatty
// process is never blocked.
type truncating struct {
	buf  *bytes.Buffer
	left int
}

func (t *truncating) Write(p []byte) (int, error) {
	keep := min(len(p), t.left)
	t.buf.Write(p[:keep])
	t.left -= keep
	return len(p), nil
}
