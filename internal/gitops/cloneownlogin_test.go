package gitops

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/gitops/remotetest"
	"company/internal/lib/safedir/foldertest"
)

// SUB-4, GIT-12, T25: a repository behind a password is cloned, and followed, with the
// president's own login, also by a name of their git configuration. The secret is in no
// file of the clone, in no argument and in no error.
func TestCloneWithOwnLogin(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	server := remotetest.NewHTTPS(t, "ann", canaryToken)
	origin, url := server.Repository(t, "acme/app.git", b.checkout)
	b.store.cfg.OperatorEnv = OperatorEnv(func(k string) (string, bool) { return server.CA, k == "SSL_CERT_FILE" })
	b.store.cfg.Credential = func(context.Context, string) (string, string, error) {
		return "", "", NoToken(authError("there is no token for it").Because("T is NOT SET").Fix("export T"))
	}
	dir := t.TempDir()
	in := foldertest.Open(t, dir)
	open := func(address, branch string) (string, error) {
		return OpenClone(t.Context(), b.newConfig(), in, mustParse(t, address), branch)
	}
	_, err := open(url, "")
	requireCode(t, err, company.EAuth, "there is no token for it")

	home := b.useLogins(t, "")
	note := noteHelper(t, home, "ann", canaryToken)
	stop := watchProcesses(t, server, canaryToken)
	path, err := open(url, "")
	if err != nil {
		t.Fatal(err)
	}
	if seen := stop(); len(seen) > 0 {
		t.Errorf("processes held the secret: %q", seen)
	}
	if calls := readNote(t, note); strings.Trim(calls, "get\n") != "" || calls == "" {
		t.Errorf("the helper was asked to %q", calls)
	}
	gitexectest.Git(t, b.checkout, "switch", "-q", "-c", "side")
	next := commitFiles(t, b.checkout, "side", map[string]string{"side.txt": "1\n"})
	gitexectest.Git(t, b.checkout, "push", "-q", origin, "side", "side:main")
	if again, err := open(url, "side"); err != nil || again != path {
		t.Fatalf("%s, %v", again, err)
	}
	if head, dirty := headOf(t, path, "side"); head != next || dirty {
		t.Errorf("the clone is at %s, dirty %v; the remote at %s", head, dirty, next)
	}
	if files := filesWith(t, dir, canaryToken); len(files) > 0 {
		t.Errorf("the secret is in %v", files)
	}

	// A name that only the president's git knows: a clone of its own, since later fetches
	// go by the name, too.
	config := fmt.Sprintf("[credential]\n\thelper = %s\n[url \"%s\"]\n\tinsteadOf = \"work:\"\n",
		filepath.Join(home, "helper"), strings.TrimSuffix(url, "acme/app.git"))
	writeFiles(t, home, map[string]string{".gitconfig": config})
	named, err := open("work:acme/app.git", "")
	if err != nil {
		t.Fatal(err)
	}
	if head, _ := headOf(t, named, ""); head != next {
		t.Errorf("by its name it is at %s", head)
	}

	server.Secret("another secret")
	_, err = open(url, "")
	requireCode(t, err, company.EAuth)
	if strings.Contains(err.Error(), canaryToken) {
		t.Error(err)
	}
	if head, _ := headOf(t, path, "side"); head != next {
		t.Errorf("the clone was changed: %s", head)
	}
}

// SUB-4, GIT-12, T25: a repository behind the president's own ssh is cloned by the name
// that ~/.ssh/config gives its host.
func TestCloneWithOwnSSH(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	sshd := remotetest.NewSSHD(t)
	origin, _ := sshd.Repository(t, b.checkout)
	home := b.sshHome(t, sshd, sshd.Key)
	in := foldertest.Open(t, t.TempDir())
	open := func() (string, error) {
		return OpenClone(t.Context(), b.newConfig(), in, mustParse(t, "work:"+origin), "")
	}
	_, err := open()
	requireCode(t, err, company.EHostKey, "the ssh server "+sshd.Host+" is not known")
	keys, err := ScanHost(b.ctx, sshd.Host)
	if err != nil {
		t.Fatal(err)
	}
	line := ""
	for _, k := range keys {
		line += fmt.Sprintf("%s %s %s\n", k.Host, k.Type, k.Key)
	}
	writeFiles(t, home, map[string]string{"known_hosts": line})
	for range 2 { // made, and brought up to date
		path, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if head, _ := headOf(t, path, ""); head != b.base.OID {
			t.Errorf("the clone is at %s", head)
		}
		if text, err := os.ReadFile(filepath.Join(path, ".git", "config")); err != nil ||
			!strings.Contains(string(text), "url = work:"+origin) {
			t.Errorf("%v\n%s", err, text)
		}
	}
	b.store.cfg.Logins = nil
	_, err = open()
	requireCode(t, err, company.EAuth, "no login works for work")
}
