package gitexec

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/lib/hosttest"
)

// A git that its context ends takes its locks with it: each later git would be refused by one
// that is left.
func TestEndedGitLeavesNoLock(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "r.git")
	gitexectest.Git(t, "", "init", "-q", "--bare", dir)
	gitexectest.Git(t, dir, "hash-object", "-t", "tree", "-w", "/dev/null")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in, feed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer feed.Close()
	commit := gitexectest.Git(t, dir, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit-tree", "-m",
		"x", EmptyTree)
	lock := filepath.Join(dir, "refs/heads/x.lock")
	ended := make(chan error, 1)
	go func() {
		_, err := Command{GitDir: dir, Args: []string{"update-ref", "--stdin"}, Stdin: in}.Run(ctx)
		ended <- err
	}()
	if _, err := feed.WriteString("start\ncreate refs/heads/x " + commit + "\nprepare\n"); err != nil {
		t.Fatal(err)
	}
	hosttest.Eventually(t, "git takes its lock", func() (any, bool) {
		// git knows of a lock that it has written to. One that it has just made may stay: an office that
		// opens removes it.
		info, err := os.Lstat(lock)
		return err, err == nil && info.Size() > 0
	})
	cancel()
	if err := feed.Close(); err != nil { // exec waits for what copies it
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("a git that was ended succeeded")
	}
	if _, err := os.Lstat(lock); err == nil {
		t.Errorf("%s is left", lock)
	}
}

// What does not listen to the signal at which git tidies up is killed.
func TestEndOfWhatDoesNotListen(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "git")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntrap '' PIPE\necho $$\nwhile :; do sleep 0.1; done\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	r, err := Command{Program: script}.Run(ctx) // it would never end by itself
	if err == nil {
		t.Error("it ended well")
	}
	pid := strings.TrimSpace(string(r.Out))
	if out, err := exec.Command("ps", "-o", "stat=", "-p", pid).Output(); err == nil &&
		!strings.HasPrefix(string(out), "Z") {
		t.Errorf("%s lives on: %s", pid, out)
	}
}
