package gitops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
)

// twoToPush is a project with an origin, and two commits that are not there.
func twoToPush(t *testing.T) (b *bundle, origin string, one, two company.OID) {
	t.Helper()
	b = setup(t, nil)
	origin = newOrigin(t, b.checkout)
	b.fetch(t)
	one = b.side(t, "one", func(dir string) { writeFiles(t, dir, map[string]string{"1": "1"}) })
	two = b.side(t, "two", func(dir string) { writeFiles(t, dir, map[string]string{"2": "2"}) })
	return b, origin, one, two
}

func TestPush(t *testing.T) {
	t.Parallel()
	b, origin, one, two := twoToPush(t)
	remote := Remote{URL: b.base.RemoteURL}
	const ref = "refs/heads/develop-t1-k3fq"
	if err := b.push(nil, remote, ref, one, ""); err != nil {
		t.Fatal(err)
	}
	// Again, as after a crash: nothing changes.
	if err := b.push(nil, remote, ref, one, ""); err != nil {
		t.Fatal(err)
	}
	requireCode(t, b.push(nil, remote, ref, two, ""), company.EConflict)
	requireCode(t, b.push(nil, remote, ref, two, b.base.OID), company.EConflict)
	if got := gitexectest.Git(t, origin, "rev-parse", ref); got != string(one) {
		t.Errorf("the origin is at %s", got)
	}
	// Two does not contain one: the push would drop it, though it is expected there.
	requireCode(t, b.push(nil, remote, ref, two, one), company.EConflict, "would drop commits")
	tree, err := b.mirror.Tree(b.ctx, two)
	if err != nil {
		t.Fatal(err)
	}
	both, err := b.mirror.CommitTree(
		b.ctx, CommitSpec{Tree: tree, Parents: []company.OID{one, two}, Message: "both", When: time.Unix(0, 0),
			Passing: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.push(nil, Remote{URL: "file://" + origin}, ref, both, one); err != nil {
		t.Fatal(err)
	}
	if got := gitexectest.Git(t, origin, "rev-parse", ref); got != string(both) {
		t.Errorf("the origin is at %s", got)
	}
}

// A push that is done again, after people committed on top of what it brought,
// finds it there; nothing of theirs moves. On anything else the lease holds.
func TestPushBelowAPerson(t *testing.T) {
	t.Parallel()
	b, origin, one, two := twoToPush(t)
	remote := Remote{URL: b.base.RemoteURL}
	const ref = "refs/heads/develop-t1-k3fq"
	if at, err := b.mirror.Push(b.ctx, nil, remote, ref, one, ""); err != nil || at != one {
		t.Fatalf("%s, %v", at, err)
	}
	side := t.TempDir()
	gitexectest.Git(t, side, "clone", "-q", "--branch", "develop-t1-k3fq", origin, ".")
	gitexectest.Git(t, side, "commit", "-q", "--allow-empty", "-m", "on top")
	theirs := company.OID(gitexectest.Git(t, side, "rev-parse", "HEAD"))
	gitexectest.Git(t, side, "push", "-q", "origin", "HEAD:"+ref)
	for name, expect := range map[string]company.OID{"a first push": "", "a later one": b.base.OID} {
		if at, err := b.mirror.Push(b.ctx, nil, remote, ref, one, expect); err != nil || at != theirs {
			t.Errorf("%s: %s, %v", name, at, err)
		}
		_, err := b.mirror.Push(b.ctx, nil, remote, ref, two, expect)
		requireCode(t, err, company.EConflict, map[bool]string{true: "already", false: "moved on"}[expect == ""])
	}
	gitexectest.Git(t, side, "push", "-q", "-f", "origin", string(b.base.OID)+":"+ref)
	_, err := b.mirror.Push(b.ctx, nil, remote, ref, one, "")
	requireCode(t, err, company.EConflict, "already")
	if got := gitexectest.Git(t, origin, "rev-parse", ref); got != string(b.base.OID) {
		t.Errorf("the origin is at %s", got)
	}
}

// REV-1: never main or master, nor whatever the remote's default branch is.
func TestPushNeverMain(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	origin := newOrigin(t, b.checkout)
	head := b.side(t, "one", func(dir string) { writeFiles(t, dir, map[string]string{"1": "1"}) })
	before := gitexectest.Git(t, origin, "for-each-ref")
	remote := Remote{URL: origin}
	for _, ref := range []string{"refs/heads/main", "main", "refs/heads/master", "refs/heads/Main", "refs/tags/v1",
		"refs/company/runs/t1-01.1", "refs/heads/feature", "HEAD"} {
		requireCode(t, b.push(nil, remote, ref, head, b.base.OID), company.EProtected)
		requireCode(t, b.push(nil, remote, ref, head, ""), company.EProtected)
	}
	gitexectest.Git(t, origin, "symbolic-ref", "HEAD", "refs/heads/develop")
	gitexectest.Git(t, origin, "update-ref", "refs/heads/develop", string(b.base.OID))
	requireCode(t, b.push(nil, remote, "refs/heads/develop", head, b.base.OID), company.EProtected, "default branch")
	gitexectest.Git(t, origin, "update-ref", "-d", "refs/heads/develop")
	if after := gitexectest.Git(t, origin, "for-each-ref"); after != before {
		t.Errorf("the origin changed: %s", after)
	}
}

// A local origin's hooks are the operator's, and run.
func TestPushRunsTheOriginsHooks(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	origin := newOrigin(t, b.checkout)
	writeFiles(t, origin, map[string]string{"hooks/pre-receive": "#!/bin/sh\necho no pushes on Fridays >&2\nexit 1\n"})
	if err := os.Chmod(filepath.Join(origin, "hooks/pre-receive"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := b.push(nil, Remote{URL: origin}, "refs/heads/develop-t1-k3fq", b.base.OID, "")
	requireCode(t, err, company.EGit, "no pushes on Fridays", "hook declined")
}

func TestRemotes(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	for _, url := range []string{
		"", "-x", "ext::sh -c id", "http://host/x", "git://host/x", "ftp://h/x", "file://host/x", "https://",
		"ssh://-oProxyCommand=id/x",
		"relative/path", "https://h/x\nhttps://y", "transport::address",
	} {
		_, err := b.store.openRemote(b.ctx, Remote{URL: url})
		requireCode(t, err, company.EInvalid)
	}
	b.store.cfg.Method, b.store.cfg.AgentSocket = ByAgent, agentSocket(t)
	for url, protocol := range map[string]string{"https://host/x.git": "https", "ssh://git@host:22/x.git": "ssh",
		"git@host:x/y.git": "ssh", b.checkout: "file", "http://127.0.0.1:1/x": "http"} {
		a, err := b.store.openRemote(b.ctx, Remote{URL: url})
		if err != nil || a.protocols != protocol {
			t.Errorf("%s: %+v, %v", url, a, err)
			continue
		}
		a.done()
	}
	if left, err := os.ReadDir(b.store.tempDir()); err != nil || len(left) != 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
	b.store.cfg.Method = ByToken
	// Plain http is for this machine alone, and a name in the address does not
	// become an option of ssh.
	for _, url := range []string{"http://192.168.1.1/x", "http://localhost.example.com/x", "-oProxyCommand=id:x",
		"git@-oProxyCommand=id:x", "https://-x@h/y"} {
		_, err := b.store.openRemote(b.ctx, Remote{URL: url})
		requireCode(t, err, company.EInvalid)
	}
	// Where a token is the credential, what a forge serves by ssh is reached
	// over https; a password in an address leaves it.
	b.store.cfg.ForgeURL = "https://git.example.com:8443/"
	for url, want := range map[string]string{
		"git@github.com:acme/app.git":                        "https://github.com/acme/app.git",
		"ssh://git@github.com:22/acme/app.git":               "https://github.com/acme/app.git",
		"git@git.example.com:acme/app.git":                   "https://git.example.com:8443/acme/app.git",
		"https://me:canary@example.com/x.git":                "https://example.com/x.git",
		"https://" + "me" + "@example.com:8443/acme/app.git": "https://example.com:8443/acme/app.git",
	} {
		a, err := b.store.openRemote(b.ctx, Remote{URL: url})
		if err != nil || a.url != want {
			t.Errorf("%s: %+v, %v", url, a, err)
		}
	}
	_, err := b.store.openRemote(b.ctx, Remote{URL: "git@host.example.com:x/y"})
	requireCode(t, err, company.EAuth, "host.example.com")
}

// T21: nothing of our own environment reaches a git child.
func TestEnvironmentIsBuiltFromNothing(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "canary-key")
	t.Setenv("GIT_DIR", "/nowhere")
	b := setup(t, nil)
	for _, kv := range b.store.command(call{dir: "/x"}).Environ() {
		if strings.Contains(kv, "canary-key") || strings.Contains(kv, "/nowhere") {
			t.Error(kv)
		}
	}
}
