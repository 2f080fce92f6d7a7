// Package gitexec runs every git process on the host. It sets the environment, the configuration and the limits of
// each process, and ends it.
//
// No configuration of a user, a system or a repository, no attribute of a tree and no variable of our own environment
// can make git run a program. Git prompts for no input and reaches no network. A process and its children end with
// its context. A signal that a terminal or a service manager sends to all our processes does not end it earlier.
// SeparateGroup gives other programs a process group of their own. Options of Command loosen one of these rules for
// one user and explain why.
//
// The package does not know the purpose of a repository; package gitops does.
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

// EmptyTree is the object id of the empty tree.
const EmptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

const (
	maxOutput = 256 << 20 // limit for a command's stdout that is held in memory, in bytes
	MaxStderr = 64 << 10  // limit for its stderr, in bytes
)

// Setting is a key and value of the git configuration.
type Setting [2]string

// Command is one git process.
type Command struct {
	Program string   // absolute path of git; Find if empty
	Args    []string // the command and its arguments

	// GitDir is the absolute path of the repository. If empty, git searches Dir and its parents, and accepts a
	// repository only if it belongs to this user. Leave it empty to ask about a folder that may be in any repository or
	// in none.
	GitDir   string
	WorkTree string // --work-tree, for the few commands that look at one
	Dir      string // the process's working directory; / if empty

	// Home is an empty folder of ours for a git that starts ssh or gpg, which need one. If empty, HOME does not exist.
	Home string
	// GlobalConfig is a file of ours that replaces the user's, for a pack process that git starts, because that process
	// does not get Config. It may be empty.
	GlobalConfig string
	// PersonalConfig lets git read the configuration of the system and of the user whose Home is given. Use it only for
	// a git that lists the configuration.
	PersonalConfig bool
	// NoTerminal detaches the process and its children from the terminal. A user's own program that prompts there then
	// fails instead of waiting.
	NoTerminal bool
	// Protocols lists the allowed protocols for remotes. Empty allows none.
	Protocols string
	SSH       string    // the ssh command for such a remote; empty disables ssh
	Config    []Setting // added to the fixed settings; overrides them
	Env       []string  // added to the fixed variables; overrides them
	// Limited limits the resources of a process that handles data from a container.
	Limited bool

	Stdin   io.Reader
	Stdout  io.Writer  // if nil, collected in Result.Out
	Files   []*os.File // descriptors from 3 on
	Started func()     // called once git has its files
}

// Result is the result of a git process.
type Result struct {
	Out    []byte
	Stderr string // its beginning
	Exit   int
}

// Find returns the absolute path of git. It prefers the host's own git to the one in PATH.
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

// Process builds the process. It has its own process group, so that git's helpers die with it, and it ends when ctx
// ends. Call Start to start it.
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
	// A new session is also a new process group, and has no terminal.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !c.NoTerminal, Setsid: c.NoTerminal}
	cmd.Cancel = func() error { return endGroup(cmd.Process.Pid) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// tidyTime is how long a git may take to remove its locks before it is killed.
const tidyTime = time.Second

// endGroup ends a git that leads a process group, with all its children. A killed git leaves its locks behind, and
// later git processes fail ("File exists") until the locks are removed. At SIGPIPE, git removes them first. Of the
// signals that have this effect, SIGPIPE is the one that startShielded does not block and that dumps no core. A
// process that does not react is killed.
func endGroup(leader int) error {
	if syscall.Kill(-leader, syscall.SIGPIPE) != nil {
		return os.ErrProcessDone
	}
	for end := time.Now().Add(tidyTime); syscall.Kill(leader, 0) == nil && time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond)
	}
	_ = syscall.Kill(-leader, syscall.SIGKILL) // an error means that the group is gone
	return nil
}

// Run starts the process and waits for it. A non-zero exit code is not an error. It fails only if git could not run,
// was stopped, or wrote too much.
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
	cmd.Stdin = c.Stdin
	cmd.Stdout = c.Stdout
	cmd.Stderr = errOut
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
	result := Result{Out: out.Bytes(), Stderr: errOut.String(), Exit: ExitCode(cmd)}
	if ctx.Err() != nil {
		return result, context.Cause(ctx)
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // helpers that git left running: its SIGTERM does not end them
		err = nil
	}
	return result, err
}

// Output is like Run, but returns an error for a non-zero exit code. The error contains the end of git's stderr.
func (c Command) Output(ctx context.Context) ([]byte, error) {
	result, err := c.Run(ctx)
	if err == nil && result.Exit != 0 {
		text := strings.TrimSpace(result.Stderr)
		err = fmt.Errorf("git %s: exit code %d: %s", c.Args[0], result.Exit, text[max(0, len(text)-2048):])
	}
	return result.Out, err
}

// ExitCode returns the exit code of a process, or -1 if it did not run or was killed.
func ExitCode(cmd *exec.Cmd) int {
	if cmd.ProcessState == nil {
		return -1
	}
	return cmd.ProcessState.ExitCode()
}

// hardenedConfig returns the configuration that every git process gets (docs/threats.md).
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

// Environ returns the complete environment. It contains no variable of our own process.
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
	if c.GitDir != "" { // otherwise a repository in / would not be found
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

// capped forwards bytes and fails if there are too many.
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

// Head keeps the first bytes written to it and discards the rest, so that a process with much output never blocks.
type Head struct {
	buf  bytes.Buffer
	left int
}

// NewHead returns a Head that keeps limit bytes.
func NewHead(limit int) *Head { return &Head{left: limit} }

func (h *Head) Write(p []byte) (int, error) {
	keep := min(len(p), h.left)
	h.buf.Write(p[:keep])
	h.left -= keep
	return len(p), nil
}

func (h *Head) Bytes() []byte  { return h.buf.Bytes() }
func (h *Head) String() string { return h.buf.String() }
