package gitops

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
)

// A repository in a folder is refused at the push with commands that undo it, however many commits are on top.
func TestNestedRepositoryCanBeUndone(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"f": "f\n"})
	q := b.quarantine(t, run1)
	git := func(args ...string) string { return gitexectest.Git(t, b.checkout, args...) }
	take := func() error {
		gitexectest.Git(t, q.Dir(), "--git-dir=.", "fetch", "-q", b.checkout, "+HEAD:refs/heads/agent/t1-01-x")
		_, err := b.mirror.Take(b.ctx, q, company.OID(git("rev-parse", "HEAD")), ResultRef(run1))
		return err
	}
	writeFiles(t, b.checkout, map[string]string{"my app/file": "x\n", "g": "g\n"})
	git("init", "-q", "my app")
	git("-C", "my app", "add", ".")
	git("-C", "my app", "commit", "-q", "-m", "scaffold")
	for _, name := range []string{"my app", "g"} {
		git("add", name)
		git("commit", "-q", "-m", "[t1-01] add "+name)
	}
	err := take()
	if company.CodeOf(err) != company.EObjects || !strings.Contains(err.Error(), `folder "my app" has a git repository`) {
		t.Fatal(err)
	}
	var fault *company.Error
	if !errors.As(err, &fault) {
		t.Fatal(err)
	}
	_, fix, _ := strings.Cut(fault.Hint, ": ")
	fix, _, _ = strings.Cut(fix, ";")
	shell := exec.Command("sh", "-c", fix)
	shell.Dir = b.checkout
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v, %s", fix, err, out)
	}
	git("add", "-A")
	git("commit", "-q", "-m", "[t1-01] add all")
	if err := take(); err != nil {
		t.Fatal(err)
	}
	if files := git("ls-tree", "-r", "--name-only", "HEAD"); files != "f\ng\nmy app/file" {
		t.Errorf("%q", files)
	}
}
