// Package gitexec is the one way to a git process on the host. It owns the
// environment, the configuration, the limits and the end of each.
//
// It promises that no configuration of a user, a system or a repository, no
// attribute of a tree and no variable of our own environment makes git run a
// program; that git asks nobody and reaches no network; that a process ends
// with its context, and all that it started with it; that a signal of a terminal or a
// service manager to all our processes does not end it before. SeparateGroup gives other
// programs a process group of their own. An option of a Command
// loosens one of these for one user and says why it needs that.
//
// It does not know what a repository is for: package gitops does.
package gitexec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// EmptyTree is the object id of the tree without entries.
const EmptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

const (
	maxOutput = 256 << 20 // bytes of a command's stdout that we hold
	MaxStderr = 64 << 10  // bytes of its messages
)

// Setting is the key and the value of one git configuration.
type Setting [2]string

// Command is one git process.
type Command struct {
	Program string   // absolute path of git; empty: Find
	Args    []string // the command and its arguments

	// GitDir is the absolute path of the repository. Empty: git looks for one in
	// Dir and above, and takes it only if it belongs to this user. That is for a
	// question about a folder which may lie in any repository, or in none.
	GitDir   string
	WorkTree string // --work-tree, for the few commands that look at one
	Dir      string // the process's folder; empty: /

	// Home is an empty folder of ours for a git that starts ssh or gpg, which
	// want one; empty: one that does not exist.
	Home string
	// GlobalConfig is a file of ours in place of the user's, for a pack process
	// that git starts: it gets no Config. Empty: none.
	GlobalConfig string
	// PersonalConfig lets git read the configuration of the system and of the user
	// whose Home is given. It is for a git that lists it and does nothing else.
	PersonalConfig bool
	// NoTerminal takes the terminal from the process and all that it starts: a
	// program of the user's own that asks a question there fails, and never waits.
	NoTerminal bool
	// Protocols are those that a remote is reached by; empty: none at all.
	Protocols string
	SSH       string    // the ssh command of such a remote; empty: none
	Config    []Setting // beyond the fixed ones, and stronger
	Env       []string  // beyond the fixed ones, and stronger
	// Limited bounds a process that handles bytes made in a container.
	Limited bool

	Stdin   io.Reader
	Stdout  io.Writer  // nil: collected in Result.Out
	Files   []*os.File // descriptors from 3 on
	Started func()     // called once git has its files
}

// Result is how a git process ended.
type Result struct {
	Out    []byte
	Stderr string // its beginning
	Exit   int
}

// Find is the absolute path of git. The host's own comes before what the PATH of
// our environment names.
func Find() (string, error) {
	for _, p := range []string{"/usr/bin/git", "/bin/git", "/usr/local/bin/git"} {
		if fi, err := os.Stat(p); err == nil && fi.Mode()&0o111 != 0 {
			return p, nil
		}
	}
	p, err := exec.LookPath("git")
	if err != nil {
		return "", fmt.Errorf("git is not installed: %w", err)
	}
	return filepath.Abs(p)
}

// Process builds the process: in a group of its own, so that helpers of git die
// with it, ended when ctx ends. Start starts it.
func (c Command) Process(ctx context.Context) *exec.Cmd {
	argv := []string{c.Program}
	if c.GitDir != "" {
		argv = append(argv, "--git-dir="+c.GitDir)
	}
	if c.WorkTree != "" {
		argv = append(argv, "--work-tree="+c.WorkTree)
	}
	argv = append(argv, c.Args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = c.Dir
	if c.Dir == "" {
		cmd.Dir = "/"
	}
	cmd.Env = c.Environ()
	cmd.ExtraFiles = c.Files
	// A session of its own is a group of its own, too, and has no terminal.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !c.NoTerminal, Setsid: c.NoTerminal}
	cmd.Cancel = func() error { return endGroup(cmd.Process.Pid) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// tidyTime is how long a git may take to put away its locks before it is killed.
const tidyTime = time.Second

// endGroup ends a git that leads a group, and all that it started. A git that is killed leaves
// the locks that it has, and each later git is refused ("File exists") until somebody removes
// them. At SIGPIPE it removes them first: of the signals at which it does so, this is the one
// that startShielded does not block and that leaves no core. What does not listen is killed.
func endGroup(leader int) error {
	if syscall.Kill(-leader, syscall.SIGPIPE) != nil {
		return os.ErrProcessDone
	}
	for end := time.Now().Add(tidyTime); syscall.Kill(leader, 0) == nil && time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond)
	}
	_ = syscall.Kill(-leader, syscall.SIGKILL) // an error: nobody of it is left
	return nil
}

// Run starts the process and waits for it. A non-zero exit code is no error:
// only a git that could not run, was stopped, or wrote too much is.
func (c Command) Run(ctx context.Context) (Result, error) {
	if c.Program == "" {
		var err error
		if c.Program, err = Find(); err != nil {
			return Result{Exit: -1}, err
		}
	}
	cmd := c.Process(ctx)
	var out bytes.Buffer
	errOut := NewHead(MaxStderr)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, errOut
	if c.Stdout == nil {
		cmd.Stdout = &capped{w: &out, left: maxOutput}
	}
	err := c.Start(cmd)
	if c.Started != nil {
		c.Started()
	}
	if err == nil {
		err = cmd.Wait()
	}
	r := Result{Out: out.Bytes(), Stderr: errOut.String(), Exit: ExitCode(cmd)}
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // helpers that it left: its SIGTERM does not end them
		err = nil
	}
	return r, err
}

// Output is Run for commands where any exit code but 0 is an error, which tells
// the end of git's output.
func (c Command) Output(ctx context.Context) ([]byte, error) {
	r, err := c.Run(ctx)
	if err == nil && r.Exit != 0 {
		text := strings.TrimSpace(r.Stderr)
		err = fmt.Errorf("git %s: exit code %d: %s", c.Args[0], r.Exit, text[max(0, len(text)-2048):])
	}
	return r.Out, err
}

// ExitCode is the exit code of a process, -1 of one that did not run or was
// killed.
func ExitCode(cmd *exec.Cmd) int {
	if cmd.ProcessState == nil {
		return -1
	}
	return cmd.ProcessState.ExitCode()
}

// hardenedConfig is the configuration that every git process gets (docs/threats.md).
func (c Command) hardenedConfig() []Setting {
	out := []Setting{
		{"safe.bareRepository", "explicit"}, // a tracked folder can look like a repository
		{"core.hooksPath", "/dev/null"},
		{"core.fsmonitor", "false"},
		{"core.attributesFile", "/dev/null"},
		{"attr.tree", EmptyTree}, // git 2.43 and later read HEAD's attributes otherwise
		{"core.protectHFS", "true"},
		{"core.protectNTFS", "true"},
		{"credential.helper", ""},
		{"fetch.recurseSubmodules", "false"},
		{"transfer.bundleURI", "false"},
		{"gc.auto", "0"},
		{"maintenance.auto", "false"},
		{"transfer.fsckObjects", "true"},
		{"fetch.fsckObjects", "true"},
		{"receive.fsckObjects", "true"},
	}
	if c.GitDir != "" {
		out = append(out, Setting{"safe.directory", c.GitDir})
	}
	return append(out, c.Config...)
}

// Environ builds the whole environment. Nothing of our own gets in.
func (c Command) Environ() []string {
	env := []string{
		"PATH=/usr/bin:/bin",
		"HOME=" + orDefault(c.Home, "/nonexistent"),
		"LC_ALL=C",
	}
	if !c.PersonalConfig {
		env = append(env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+orDefault(c.GlobalConfig, "/dev/null"))
	}
	env = append(env,
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=/bin/false",
		"GIT_SSH_COMMAND="+orDefault(c.SSH, "/bin/false"),
		"GIT_SSH_VARIANT=ssh",
		"GIT_LITERAL_PATHSPECS=1",
		"GIT_ALLOW_PROTOCOL="+c.Protocols,
	)
	if c.GitDir != "" { // else a repository in / would not be found
		env = append(env, "GIT_CEILING_DIRECTORIES=/")
	}
	settings := c.hardenedConfig()
	env = append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(settings)))
	for i, kv := range settings {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+kv[0], "GIT_CONFIG_VALUE_"+n+"="+kv[1])
	}
	return append(env, c.Env...)
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
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

// Head keeps the first bytes written to it and swallows the rest, so that a
// chatty process is never blocked.
type Head struct {
	buf  bytes.Buffer
	left int
}

// NewHead keeps so many bytes.
func NewHead(limit int) *Head { return &Head{left: limit} }

func (h *Head) Write(p []byte) (int, error) {
	keep := min(len(p), h.left)
	h.buf.Write(p[:keep])
	h.left -= keep
	return len(p), nil
}

func (h *Head) Bytes() []byte  { return h.buf.Bytes() }
func (h *Head) String() string { return h.buf.String() }
