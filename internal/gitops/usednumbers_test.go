package gitops

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
)

// The number is that of this office's integration branches, whatever their prefix. Names that are not
// of that form, and numbers that none of ours has, do not count.
func TestLastTaskNumber(t *testing.T) {
	t.Parallel()
	checkout := newCheckout(t, map[string]string{"a": "a\n"})
	cfg := Config{Root: filepath.Join(t.TempDir(), "git")}
	if n, err := LastTaskNumber(t.Context(), cfg, checkout, "k3fq"); n != 0 || err != nil {
		t.Errorf("without a remote: %d, %v", n, err)
	}
	newOrigin(t, checkout)
	push := func(branches ...string) {
		for _, b := range branches {
			gitexectest.Git(t, checkout, "push", "-q", "origin", "main:refs/heads/"+b)
		}
	}
	push("develop-t7-aaaa", "develop-t9-k3fq/x", "agent/develop-t9-k3fq", "develop-t9-k3fq-more", "develop-t09-k3fq",
		"develop-tx-k3fq", "t9-k3fq", "main-t9-k3fq",
		fmt.Sprintf("develop-t%d-k3fq", company.MaxNumberAfter+1), "develop-t99999999999999999999-k3fq")
	push("main-t8-x-k3fq")
	if n, err := LastTaskNumber(t.Context(), cfg, checkout, "k3fq"); n != 0 || err != nil {
		t.Errorf("no branch of ours: %d, %v", n, err)
	}
	push("develop-t2-k3fq", "before-t10-t12-k3fq", "develop-t4-k3fq", "feature/x-t11-k3fq")
	if n, err := LastTaskNumber(t.Context(), cfg, checkout, "k3fq"); n != 12 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	gitexectest.Git(t, checkout, "remote", "set-url", "origin", filepath.Join(t.TempDir(), "gone"))
	if n, err := LastTaskNumber(t.Context(), cfg, checkout, "k3fq"); n != 0 || company.CodeOf(err) != company.ENotFound {
		t.Errorf("a remote that is gone: %d, %v", n, err)
	}
}

// Branches of the office are where they are pushed, too. A branch that is a folder of the configured names is refused
// before work is paid for, but not where nothing is pushed.
func TestLastTaskNumberWhereBranchesArePushed(t *testing.T) {
	t.Parallel()
	checkout := newCheckout(t, map[string]string{"a": "a\n"})
	origin := newOrigin(t, checkout)
	fork := filepath.Join(t.TempDir(), "fork.git")
	gitexectest.Git(t, checkout, "init", "-q", "--bare", fork)
	gitexectest.Git(t, checkout, "push", "-q", fork, "main:refs/heads/feature/a-t5-k3fq")
	gitexectest.Git(t, checkout, "push", "-q", origin, "main:refs/heads/users")
	cfg := Config{Root: filepath.Join(t.TempDir(), "git"), IntegrationPrefix: "users/jane/x"}
	ask := func() (int, error) { return LastTaskNumber(t.Context(), cfg, checkout, "k3fq") }
	_, err := ask()
	requireCode(t, err, company.EConflict, "a branch users")
	if !company.NeedsPerson(err) {
		t.Errorf("%v is tried again", err)
	}
	gitexectest.Git(t, checkout, "config", "remote.origin.pushurl", fork)
	if n, err := ask(); n != 5 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	gitexectest.Git(t, checkout, "config", "remote.origin.pushurl", "no_push")
	if n, err := ask(); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// A remote that does not answer is given up when the time is up.
func TestLastTaskNumberOfASilentRemote(t *testing.T) {
	t.Parallel()
	checkout := newCheckout(t, map[string]string{"a": "a\n"})
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the kernel takes connections, and nobody reads them
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	gitexectest.Git(t, checkout, "remote", "add", "origin", "http://"+silent.Addr().String()+"/x.git")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	n, err := LastTaskNumber(ctx, Config{Root: filepath.Join(t.TempDir(), "git")}, checkout, "k3fq")
	if n != 0 || err == nil {
		t.Errorf("%d, %v", n, err)
	}
}
