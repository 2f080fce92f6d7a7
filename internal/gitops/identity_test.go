package gitops

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
)

// What a run commits is in the run's name: a commit under another one is
// refused, in words that tell its worker what to do.
func TestForgedAuthorsAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	me := Person{Name: "Acme, Inc.", Email: "bot@acme.example"} // git takes the last dot off
	commit := func(q *Quarantine, author, committer Person, message string) company.OID {
		t.Helper()
		cmd := exec.Command("git", "--git-dir=.", "commit-tree", string(b.base.OID)+"^{tree}", "-p", string(b.base.OID),
			"-m", message)
		cmd.Dir = q.Dir()
		cmd.Env = append(gitexectest.Env(t.TempDir()), "GIT_AUTHOR_NAME="+author.Name, "GIT_AUTHOR_EMAIL="+author.Email,
			"GIT_COMMITTER_NAME="+committer.Name, "GIT_COMMITTER_EMAIL="+committer.Email)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return company.OID(strings.TrimSpace(string(out)))
	}
	ann := Person{Name: "Ann", Email: "ann@example.org"}
	look := Person{Name: me.Name, Email: ann.Email}
	n := 0
	take := func(signoff bool, author, committer Person, message string) error {
		t.Helper()
		n++
		run := company.RunID(fmt.Sprintf("t1-01.%d", n))
		q := b.quarantine(t, run)
		q.OnlyBy(Identity{Person: me, Signoff: signoff})
		_, err := b.mirror.Take(b.ctx, q, commit(q, author, committer, message), ResultRef(run))
		return err
	}
	if err := take(false, me, me, "mine"); err != nil {
		t.Error(err)
	}
	for _, c := range [][2]Person{{ann, me}, {me, ann}, {ann, ann}, {look, me}} {
		err := take(false, c[0], c[1], "not mine")
		requireCode(t, err, company.EObjects, "but must have")
		if !strings.Contains(at(err).Hint, "--reset-author") {
			t.Errorf("%#v", at(err))
		}
	}
	// Sign-offs (DCO).
	for message, good := range map[string]bool{
		"x":                                  false,
		"x\n\nSigned-off-by: " + me.String(): true,
		"x\n\nSigned-off-by: Acme, Inc <bot@acme.example>\nTask: t1-01": true,
		"x\n\nSigned-off-by: " + ann.String():                           false,
		"Signed-off-by: " + me.String() + "\n\nnot the last":            false,
		"x\n\nhe wrote Signed-off-by: " + me.String():                   false,
	} {
		err := take(true, me, me, message)
		if good && err != nil {
			t.Errorf("%q: %v", message, err)
		}
		if !good {
			requireCode(t, err, company.EObjects, "Signed-off-by: Acme, Inc. <bot@acme.example>")
		}
	}
	// Whoever's the base is, it is not judged.
	q := b.quarantine(t, "t1-02.1")
	q.OnlyBy(Identity{Person: me, Signoff: true})
	if err := q.checkObjects(b.ctx, nil, []company.OID{b.base.OID}); err != nil {
		t.Error(err)
	}
}

func TestSignOff(t *testing.T) {
	t.Parallel()
	p := Person{Name: "A", Email: "a@b"}
	for in, want := range map[string]string{
		"one":                                  "one\n\nSigned-off-by: A <a@b>\n",
		"one\n\nbody\n":                        "one\n\nbody\n\nSigned-off-by: A <a@b>\n",
		"one\n\nReviewed-by: B <b@c>\n":        "one\n\nReviewed-by: B <b@c>\nSigned-off-by: A <a@b>\n",
		"one\n\nSigned-off-by: A <a@b>\n":      "one\n\nSigned-off-by: A <a@b>\n",
		"[t1] Merge: co-authored-by: somebody": "[t1] Merge: co-authored-by: somebody\n\nSigned-off-by: A <a@b>\n",
	} {
		if got := signOff(in, p); got != want || !signedOff(got, p) {
			t.Errorf("%q: %q", in, got)
		}
		if out := gitexectest.GitWith(t, t.TempDir(), signOff(in, p), "interpret-trailers", "--parse"); !strings.Contains(
			out, "Signed-off-by: A <a@b>") {
			t.Errorf("git does not see the trailer of %q: %q", in, out)
		}
	}
}

// Merge commits are signed with the president's key, by ssh or gpg, and git
// itself verifies them.
func TestSigning(t *testing.T) {
	b := setup(t, nil)
	dir := t.TempDir()
	key := func(name, passphrase string) string {
		t.Helper()
		p := filepath.Join(dir, name)
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", name, "-f",
			p).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return p
	}
	tree, err := b.mirror.Tree(b.ctx, b.base.OID)
	if err != nil {
		t.Fatal(err)
	}
	commit := func() (company.OID, error) {
		return b.mirror.CommitTree(b.ctx,
			CommitSpec{Tree: tree, Parents: []company.OID{b.base.OID, b.base.OID}, Message: "[t1] Merge: x\n",
				When: time.Unix(1700000000, 0)})
	}
	plain, err := commit()
	if err != nil {
		t.Fatal(err)
	}
	good := key("good", "")
	b.store.cfg.Sign, b.store.cfg.SigningKey, b.store.cfg.Signoff = SignSSH, good, true
	// What others are only merged onto is not signed, nor signed off.
	passing, err := b.mirror.CommitTree(
		b.ctx, CommitSpec{Tree: tree, Parents: []company.OID{b.base.OID, b.base.OID}, Message: "[t1] Merge: x\n",
			When: time.Unix(1700000000, 0), Passing: true})
	if err != nil || passing != plain {
		t.Errorf("%s is not the plain commit %s: %v", passing, plain, err)
	}
	one, err := commit()
	if err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(good + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	allowed := filepath.Join(dir, "allowed_signers")
	if err := os.WriteFile(allowed, []byte("company@localhost "+string(public)), 0o600); err != nil {
		t.Fatal(err)
	}
	verify := func(id company.OID, env ...string) (string, error) {
		cmd := exec.Command("git", "--git-dir="+b.mirror.Dir(), "-c", "gpg.ssh.allowedSignersFile="+allowed, "verify-commit",
			"-v", string(id))
		cmd.Env = append(gitexectest.Env(dir), env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := verify(one); err != nil || !strings.Contains(out, `Good "git" signature for company@localhost`) ||
		!strings.Contains(out, "Signed-off-by: company <company@localhost>") {
		t.Errorf("%s, %v", out, err)
	}
	if out, err := verify(plain); err == nil {
		t.Errorf("an unsigned commit is verified: %s", out)
	}
	if two, err := commit(); err != nil || two != one {
		t.Errorf("ed25519 signs the same each time: %s, %s, %v", one, two, err)
	}
	// A key with a passphrase: nobody is asked, and it does not hang; with the
	// agent its public half is enough.
	b.store.cfg.SigningKey = key("locked", "secret")
	_, err = commit()
	requireCode(t, err, company.EGit, "cannot sign a commit")
	if e := at(err); e.Class != company.HumanRequired || !strings.Contains(e.Hint, "passphrase") {
		t.Errorf("%#v", e)
	}
	b.store.cfg.SigningKey, b.store.cfg.AgentSocket = good+".pub", agentSocket(t, good)
	if err := os.Rename(good, good+".away"); err != nil {
		t.Fatal(err)
	}
	if three, err := commit(); err != nil || three != one {
		t.Errorf("by the agent: %s, %v", three, err)
	}
	b.store.cfg.SigningKey = filepath.Join(dir, "nowhere")
	_, err = commit()
	requireCode(t, err, company.EGit, "cannot sign a commit")

	// gpg, with a key of its own home.
	home, err := os.MkdirTemp("", "gpg-") // its agent's socket wants a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		kill := exec.Command("gpgconf", "--kill", "gpg-agent")
		kill.Env = []string{"PATH=" + os.Getenv("PATH"), "GNUPGHOME=" + home}
		_ = kill.Run()
		_ = os.RemoveAll(home)
	})
	make := exec.Command("gpg", "--batch", "--passphrase", "", "--quick-generate-key", "company <company@localhost>",
		"ed25519", "sign", "never")
	make.Env = []string{"PATH=" + os.Getenv("PATH"), "GNUPGHOME=" + home}
	if out, err := make.CombinedOutput(); err != nil {
		t.Fatalf("gpg: %v\n%s", err, out)
	}
	b.store.cfg.Sign, b.store.cfg.SigningKey, b.store.cfg.GPGHome = SignGPG, "company@localhost", home
	four, err := commit()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := verify(four, "GNUPGHOME="+home); err != nil || !strings.Contains(out, "Good signature") {
		t.Errorf("%s, %v", out, err)
	}
	b.store.cfg.SigningKey = "nobody@nowhere"
	_, err = commit()
	requireCode(t, err, company.EGit, "cannot sign a commit")
}
