package gitexec_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"company/internal/gitops/gitexec"
	"company/internal/gitops/gitexec/gitexectest"
)

// newRepository is a checkout with two commits, made by the plainest git.
func newRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, c := range []string{
		"git init -q -b main", "printf one >a", "git add -A", "git commit -q -m one", "printf two >a",
		"git commit -q -a -m two",
		"git remote add origin ext::sh%20-c%20x", "printf three >a", // what differs from the index is asked about
	} {
		cmd := exec.Command("/bin/sh", "-c", c)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=t",
			"GIT_AUTHOR_EMAIL=t@t", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@t")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", c, err, out)
		}
	}
	return dir
}

// questions are what may be asked of a hostile repository without an option.
var questions = [][]string{
	{"rev-parse", "HEAD"},
	{"ls-files", "-z", "--cached", "--stage"},
	{"ls-files", "--others", "--exclude-standard"},
	{"cat-file", "blob", "HEAD:a"},
	{"ls-tree", "-r", "HEAD"},
	{"merge-tree", "--write-tree", "HEAD~1", "HEAD"},
	{"diff-tree", "-p", "--no-ext-diff", "--no-textconv", "HEAD~1", "HEAD"},
	{"fetch", "-q", "origin"},
	{"ls-remote", "ssh://host.invalid/x"},
	{"update-ref", "refs/heads/other", "HEAD"},
	{"gc", "--auto"},
}

// controls run programs of a hostile repository in a plain git.
var controls = append([][]string{{"status", "--porcelain"}, {"diff", "HEAD"}, {"log", "-p", "-1"}}, questions...)

// TestNothingHostileRuns: neither a repository, nor a configuration, nor our own
// environment makes git run a program; a plain git runs one in each way.
func TestNothingHostileRuns(t *testing.T) {
	for _, where := range []string{"repository", "environment"} {
		t.Run(where, func(t *testing.T) {
			dir := newRepository(t)
			git, err := gitexec.Find()
			if err != nil {
				t.Fatal(err)
			}
			c := gitexectest.NewCanary(t)
			if where == "repository" {
				c.Poison(filepath.Join(dir, ".git"))
			} else {
				c.PoisonEnvironment()
			}
			for _, args := range questions {
				for _, cmd := range []gitexec.Command{
					{Args: args, GitDir: filepath.Join(dir, ".git"), WorkTree: dir},
					{Args: args, Dir: dir},
				} {
					if _, err := cmd.Run(t.Context()); err != nil {
						t.Errorf("%v: %v", args, err)
					}
					if what := c.Ran(); what != "" {
						t.Errorf("%v ran %s", args, what)
					}
				}
			}
			ran := 0
			for _, args := range controls {
				plain := exec.CommandContext(t.Context(), git, args...)
				plain.Dir = dir
				plain.Env = slices.DeleteFunc(os.Environ(), func(e string) bool { // these name a repository
					return strings.HasPrefix(e, "GIT_DIR=") || strings.HasPrefix(e, "GIT_WORK_TREE=") ||
						strings.HasPrefix(e, "GIT_INDEX_FILE=") || strings.HasPrefix(e, "GIT_OBJECT_DIRECTORY=")
				})
				_ = plain.Run()
				if c.Ran() != "" {
					ran++
				}
			}
			if ran < 3 {
				t.Errorf("only %d commands run a program in a plain git", ran)
			}
		})
	}
}

// TestDiscovery: without a repository's path, git takes one above the folder,
// and none that only looks like one.
func TestDiscovery(t *testing.T) {
	dir := newRepository(t)
	below := filepath.Join(dir, "deep", "below")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := gitexec.Command{Dir: below, Args: []string{"rev-parse", "--show-toplevel"}}.Output(t.Context())
	if got, _ := filepath.EvalSymlinks(dir); err != nil || strings.TrimSpace(string(out)) != got {
		t.Errorf("%q, %v", out, err)
	}
	bare := filepath.Join(dir, "bare.git")
	if _, err := (gitexec.Command{Dir: dir, Args: []string{"init", "-q", "--bare", bare}}).Output(
		t.Context()); err != nil {
		t.Fatal(err)
	}
	if out, err := (gitexec.Command{Dir: bare, Args: []string{"rev-parse", "--git-dir"}}).Output(t.Context()); err == nil {
		t.Errorf("a bare repository was taken: %s", out)
	}
	if _, err := (gitexec.Command{GitDir: bare, Args: []string{"rev-parse", "--git-dir"}}).Output(
		t.Context()); err != nil {
		t.Errorf("a named one was not: %v", err)
	}
}

// TestOutcomes: exit codes are told, output is bounded, and a process ends with
// its context and what it started.
func TestOutcomes(t *testing.T) {
	dir := newRepository(t)
	r, err := gitexec.Command{Dir: dir, Args: []string{"cat-file", "-e", "HEAD:none"}}.Run(t.Context())
	if err != nil || r.Exit == 0 || r.Stderr == "" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := (gitexec.Command{Dir: dir, Args: []string{"cat-file", "-e", "HEAD:none"}}).Output(
		t.Context()); err == nil || !strings.Contains(err.Error(), "exit code 128") {
		t.Errorf("%v", err)
	}
	started := false
	r, err = gitexec.Command{Dir: dir, Args: []string{"cat-file", "blob", "HEAD:a"}, Limited: true,
		Started: func() { started = true }}.Run(t.Context())
	if err != nil || string(r.Out) != "two" || !started {
		t.Errorf("%+v, %v, started %v", r, err, started)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	read, write, err := os.Pipe() // never written to
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	if _, err := (gitexec.Command{Dir: dir, Args: []string{"hash-object", "--stdin"}, Stdin: read}).Run(ctx); !errors.Is(
		err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	head := gitexec.NewHead(3)
	if n, err := head.Write([]byte("hello")); n != 5 || err != nil || head.String() != "hel" ||
		!bytes.Equal(head.Bytes(), []byte("hel")) {
		t.Errorf("%d, %v, %q", n, err, head)
	}
}

// The configuration of the user and the system is read by the one git that asks for it.
func TestPersonalConfig(t *testing.T) {
	for personal, want := range map[bool]bool{false: true, true: false} {
		env := strings.Join(gitexec.Command{PersonalConfig: personal, Home: "/home/ann"}.Environ(), "\n")
		for _, off := range []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"} {
			if strings.Contains(env, off) != want {
				t.Errorf("personal %v: %s in\n%s", personal, off, env)
			}
		}
		if !strings.Contains(env, "GIT_CONFIG_KEY_1=core.hooksPath") {
			t.Errorf("personal %v: hooks are on in\n%s", personal, env)
		}
	}
}

// TestLimits: a process that handles bytes of a container has its limits before it
// gets the first of them (T9).
func TestLimits(t *testing.T) {
	dir := newRepository(t)
	for _, limited := range []bool{true, false} {
		c := gitexec.Command{Program: "/usr/bin/git", Dir: dir, Args: []string{"cat-file", "--batch"}, Limited: limited}
		cmd := c.Process(t.Context())
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(cmd); err != nil {
			t.Fatal(err)
		}
		has, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid), "limits"))
		if err := errors.Join(err, in.Close(), cmd.Wait()); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(string(has)), " ")
		for _, l := range []string{"cpu time 60 60 ", "core file size 0 0 ", "address space 4294967296 4294967296 ",
			"file size 1073741824 1073741824 "} {
			if strings.Contains(text, l) != limited {
				t.Errorf("limited %v: %q in %s", limited, l, text)
			}
		}
	}
}
