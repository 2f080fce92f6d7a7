//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/toolbox/toolproto"
)

// The whole way: clone, commit and push through the pipe from inside.
func TestGitThroughThePipe(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@t",
			"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@t")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main", "w")
	git("-C", "w", "commit", "-q", "--allow-empty", "-m", "base")
	git("clone", "-q", "--bare", "w", "r.git")
	git("-C", "r.git", "config", "http.receivepack", "true")
	hook := filepath.Join(dir, "r.git", "hooks", "pre-receive")
	if err := os.WriteFile(
		hook, []byte("#!/bin/sh\nread old new ref\ncase $(git log -1 --format=%s $new) in bad*) echo 'this is why' >&2; "+
			"exit 1 ;; esac\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	base := git("-C", "r.git", "rev-parse", "main")

	c := serve(t)
	c.gateway(t, &cgi.Handler{
		Path: filepath.Join(git("--exec-path"), "git-http-backend"), Dir: dir, Logger: nil, Stderr: io.Discard,
		Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_COUNT=1",
			"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
	})
	p, err := c.Prepare(t.Context(), toolproto.PrepareRequest{
		CloneURL: fmt.Sprintf("http://127.0.0.1:%d/r.git", c.port), BaseOID: base, Branch: "agent/t1-01-x", AuthorName: "a",
		AuthorEmail: "a@b",
	})
	if err != nil || p.Head != base {
		t.Fatal(p, err, c.stderr.String())
	}
	if _, err := c.WriteFile(t.Context(), toolproto.WriteFileRequest{Path: "x", Content: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	cp, err := c.Checkpoint(t.Context(), "t1-01.1")
	if err != nil || !cp.Changed {
		t.Fatal(cp, err)
	}
	commit, err := c.GitCommit(t.Context(), toolproto.GitCommitRequest{Message: "m"})
	if err != nil {
		t.Fatal(err)
	}
	at := func(want ...string) {
		t.Helper()
		if got := git("-C", "r.git", "rev-parse", "agent/t1-01-x", "refs/company/checkpoint/t1-01.1"); got != strings.Join(
			want, "\n") {
			t.Fatalf("the origin is at %s, want %s", got, want)
		}
	}
	at(commit.Commit, cp.OID)

	// A refusal of the origin is told as git tells it, and moves nothing.
	c.run(t, "echo y > y")
	_, err = c.GitCommit(t.Context(), toolproto.GitCommitRequest{Message: "bad idea"})
	var refusal *toolproto.Refusal
	if !errors.As(err, &refusal) || refusal.Kind != toolproto.KindGit ||
		!strings.Contains(refusal.Message, "remote: this is why") ||
		!strings.Contains(refusal.Message, "pre-receive hook declined") {
		t.Fatal(err)
	}
	at(commit.Commit, cp.OID)
	c.run(t, "git reset -q --soft HEAD~1")
	if s, err := c.GitStatus(t.Context()); err != nil || s.Unpushed != 0 || s.Head != commit.Commit {
		t.Fatal(s, err)
	}

	// What the agent pushed by git itself is found out, and work goes on from there.
	c.run(t, "git commit -qam mine; git add y; git commit -qm more; git push -q origin HEAD:agent/t1-01-x; echo z > z")
	second, err := c.GitCommit(t.Context(), toolproto.GitCommitRequest{Message: "second"})
	if err != nil {
		t.Fatal(err)
	}
	at(second.Commit, cp.OID)
	cp2, err := c.Checkpoint(t.Context(), "t1-01.1")
	if err != nil || cp2.OID == cp.OID {
		t.Fatal(cp2, err)
	}
	at(second.Commit, cp2.OID)
	// A commit that leaves out what is at the origin does not replace it.
	c.run(t, "git commit -q --amend -m other")
	if _, err := c.Push(t.Context()); !errors.As(err, &refusal) ||
		!strings.Contains(refusal.Message, "git reset --soft origin/agent/t1-01-x") {
		t.Fatal(err)
	}
	at(second.Commit, cp2.OID)
	if fsck := git("-C", "r.git", "fsck", "--strict", "--no-dangling"); fsck != "" {
		t.Error(fsck)
	}
}
