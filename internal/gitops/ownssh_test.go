package gitops

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/gitops/remotetest"
)

// sshHome gives the store a president whose ssh knows the server by the name work:
// with a key (empty: none) and the known hosts of that home.
func (b *bundle) sshHome(t *testing.T, sshd *remotetest.SSHD, key string, more ...string) (home string) {
	t.Helper()
	home = b.useLogins(t, "", more...)
	name, port, err := net.SplitHostPort(sshd.Host)
	if err != nil {
		t.Fatal(err)
	}
	conf := fmt.Sprintf("Host work\n  HostName %s\n  Port %s\n  User %s\n  UserKnownHostsFile %s/known_hosts\n  "+
		"IdentitiesOnly %s\n", name, port, sshd.User, home, map[bool]string{true: "no", false: "yes"}[key == ""])
	if key != "" {
		conf += "  IdentityFile " + key + "\n"
	}
	writeFiles(
		t, home, map[string]string{"ssh_config": conf,
			".gitconfig": "[core]\n\tsshCommand = ssh -F " + home + "/ssh_config\n"})
	return home
}

// GIT-12, T25: the president's own ssh, with an alias of ~/.ssh/config in the remote's
// address, a key file and their known hosts.
func TestOwnSSH(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	sshd := remotetest.NewSSHD(t)
	origin, _ := sshd.Repository(t, b.checkout)
	url := "work:" + origin
	home := b.sshHome(t, sshd, sshd.Key)
	const ref = "refs/heads/develop-t1-k3fq"
	push := func() error { return b.push(nil, Remote{URL: url}, ref, b.base.OID, "") }

	err := push()
	requireCode(t, err, company.EHostKey, "the ssh server "+sshd.Host+" is not known", "SHA256:")
	if e := at(err); e.Class != company.HumanRequired || !strings.Contains(e.Hint, "company git trust-host "+sshd.Host) ||
		!strings.Contains(e.Hint, "ssh -T work") {
		t.Errorf("%#v", e)
	}
	keys, err := ScanHost(b.ctx, sshd.Host)
	if err != nil {
		t.Fatal(err)
	}
	line := ""
	for _, k := range keys {
		line += fmt.Sprintf("%s %s %s\n", k.Host, k.Type, k.Key)
	}
	writeFiles(t, home, map[string]string{"known_hosts": line})
	if err := push(); err != nil {
		t.Fatal(err)
	}
	if got := gitexectest.Git(t, origin, "rev-parse", ref); got != string(b.base.OID) {
		t.Error(got)
	}
	if _, err := b.mirror.FetchBase(b.ctx, nil, Source{URL: url}, ""); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(home, "known_hosts")); err != nil || string(text) != line {
		t.Errorf("ssh wrote known hosts: %s, %v", text, err)
	}
	// Off, the name of an alias is a server's, and no way leads there.
	own := b.store.cfg.Logins
	b.store.cfg.Logins = nil
	requireCode(t, push(), company.EAuth, "no login works for work")
	if !strings.Contains(at(push()).Hint, "git.use_my_logins") {
		t.Errorf("%#v", at(push()))
	}
	b.store.cfg.Logins = own

	// Hosts that this office accepted count, too.
	writeFiles(t, home, map[string]string{"known_hosts": ""})
	if err := AcceptHost(b.store.root, sshd.Host, keys); err != nil {
		t.Fatal(err)
	}
	if err := push(); err != nil {
		t.Error(err)
	}
	// The server has another key now.
	sshd.NewHostKey(t)
	writeFiles(t, home, map[string]string{"known_hosts": line})
	requireCode(t, push(), company.EHostKey, "has a new key", "SHA256:")
}

// A key of a stranger, one with a passphrase and no key at all end at once; the agent's
// keys count.
func TestOwnSSHKeys(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	sshd := remotetest.NewSSHD(t)
	origin, _ := sshd.Repository(t, b.checkout)
	keys, err := ScanHost(b.ctx, sshd.Host)
	if err != nil {
		t.Fatal(err)
	}
	if err := AcceptHost(b.store.root, sshd.Host, keys); err != nil {
		t.Fatal(err)
	}
	fetch := func() error {
		_, err := b.mirror.FetchBase(b.ctx, nil, Source{URL: "work:" + origin}, "")
		return err
	}
	b.sshHome(t, sshd, sshd.NewKey(t, "stranger"))
	err = fetch()
	requireCode(t, err, company.EAuth, "refused the keys of your own ssh", "Permission denied")
	if !strings.Contains(at(err).Hint, "ssh -T work") {
		t.Errorf("%#v", at(err))
	}
	locked := filepath.Join(t.TempDir(), "locked")
	text, err := os.ReadFile(sshd.Key)
	if err == nil {
		err = os.WriteFile(locked, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("ssh-keygen", "-q", "-p", "-P", "", "-N", "a passphrase", "-f",
		locked).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b.sshHome(t, sshd, locked)
	requireCode(t, fetch(), company.EAuth, "Permission denied")
	b.sshHome(t, sshd, "", "SSH_AUTH_SOCK="+agentSocket(t, sshd.Key))
	if err := fetch(); err != nil {
		t.Error(err)
	}
}

// insteadOf leads an https address to ssh, and pushInsteadOf pushes alone.
func TestOwnRewrites(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	sshd := remotetest.NewSSHD(t)
	origin, _ := sshd.Repository(t, b.checkout)
	keys, err := ScanHost(b.ctx, sshd.Host)
	if err != nil {
		t.Fatal(err)
	}
	if err := AcceptHost(b.store.root, sshd.Host, keys); err != nil {
		t.Fatal(err)
	}
	home := b.sshHome(t, sshd, sshd.Key)
	plain, err := os.ReadFile(filepath.Join(home, ".gitconfig"))
	if err != nil {
		t.Fatal(err)
	}
	rewrite := func(name string) {
		writeFiles(
			t, home, map[string]string{".gitconfig": string(plain) + "[url \"work:" + filepath.Dir(origin) + "/\"]\n\t" + name +
				" = https://git.invalid/\n"})
	}
	const url, ref = "https://git.invalid/app.git", "refs/heads/develop-t1-k3fq"
	rewrite("insteadOf")
	if _, err := b.mirror.FetchBase(b.ctx, nil, Source{URL: url}, ""); err != nil {
		t.Error(err)
	}
	rewrite("pushInsteadOf")
	if err := b.push(nil, Remote{URL: url}, ref, b.base.OID, ""); err != nil {
		t.Error(err)
	}
	if got := gitexectest.Git(t, origin, "rev-parse", ref); got != string(b.base.OID) {
		t.Error(got)
	}
	_, err = b.mirror.FetchBase(b.ctx, nil, Source{URL: url}, "")
	requireCode(t, err, company.EGit, "git.invalid could not be read")
	// A rewritten address is held to what every address is.
	for _, to := range []string{"ext::sh -c 'touch " + home + "/ran' ", "-oProxyCommand=x:", "http://git.example.com/"} {
		writeFiles(t, home, map[string]string{".gitconfig": "[url \"" + to + "\"]\n\tinsteadOf = https://git.invalid/\n"})
		_, err := b.mirror.FetchBase(b.ctx, nil, Source{URL: url}, "")
		requireCode(t, err, company.EInvalid, "invalid remote")
	}
	if _, err := os.Stat(filepath.Join(home, "ran")); err == nil {
		t.Error("a remote helper ran")
	}
}

// A token goes before the president's own ssh at an address whose forge takes it.
func TestTokenBeforeOwnSSH(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	b.useLogins(t, "")
	for _, c := range []struct {
		name       string
		credential Credential
		code       company.Code
		ssh        bool
	}{
		{"a token", func(context.Context, string) (string, string, error) { return "", "t", nil }, "", false},
		{"no token", func(context.Context, string) (string, string, error) {
			return "", "", NoToken(authError("none"))
		}, "", true},
		{"a broken token", func(context.Context, string) (string, string, error) { return "", "", authError("broken") },
			company.EAuth, true},
	} {
		b.store.cfg.Credential = c.credential
		a, err := b.store.openRemote(b.ctx, Remote{URL: "git@github.com:acme/app.git"})
		if company.CodeOf(err) != c.code || err == nil && (a.ssh != nil) != c.ssh {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	b.store.cfg.Method = ByAgent // which the config names
	b.store.cfg.AgentSocket = agentSocket(t)
	a, err := b.store.openRemote(b.ctx, Remote{URL: "git@github.com:acme/app.git"})
	if err != nil || a.ssh != nil || !strings.HasPrefix(a.sshCommand(), "ssh -F /dev/null") {
		t.Errorf("%v", err)
	}
}

// http.proxy of the president's configuration, for all servers or for one.
func TestOwnProxy(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	server := remotetest.NewHTTP(t, "", "")
	_, url := server.Repository(t, "acme/app.git", b.checkout)
	var through atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		through.Add(1)
		out := r.Clone(r.Context())
		out.RequestURI = ""
		resp, err := http.DefaultTransport.RoundTrip(out)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		for k, v := range resp.Header {
			w.Header()[k] = v
		}
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}))
	t.Cleanup(proxy.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	for config, want := range map[string]bool{
		"[http]\n\tproxy = " + proxy.URL:                                      true,
		"[http \"" + server.Server.URL + "\"]\n\tproxy = " + proxy.URL:        true,
		"[http \"http://other.example\"]\n\tproxy = " + proxy.URL:             false,
		"[http]\n\tproxy = " + proxy.URL + "\n[credential]\n\thelper = store": true,
	} {
		through.Store(0)
		b.useLogins(t, config+"\n")
		if _, err := b.mirror.FetchBase(b.ctx, nil, Source{URL: url}, ""); err != nil {
			t.Errorf("%s: %v", config, err)
		}
		if got := through.Load() > 0; got != want {
			t.Errorf("%s: %d requests went through the proxy", config, through.Load())
		}
	}
}

// Doctor names the president's own ssh, and with --online shows that a push is let in.
func TestDoctorTriesOwnLogin(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	server := remotetest.NewHTTP(t, "ann", canaryToken)
	origin, url := server.Repository(t, "acme/app.git", b.checkout)
	gitexectest.Git(t, b.checkout, "remote", "add", "origin", url)
	note := noteHelper(t, b.useLogins(t, ""), "ann", canaryToken)
	look := func() map[string]string {
		t.Helper()
		found := map[string]string{}
		for _, c := range Checks(b.newConfig(), b.checkout, true) {
			r := c.Run(b.ctx)
			found[c.Name] = fmt.Sprint(r.OK, " ", r.Found)
		}
		return found
	}
	if got := look()["own login"]; !strings.HasPrefix(
		got, "true a push to "+url+" is let in, by the login of your credential helper helper") {
		t.Error(got)
	}
	if got := gitexectest.Git(t, origin, "for-each-ref", "--format=%(refname)"); got != "refs/heads/main" {
		t.Errorf("doctor pushed: %s", got)
	}
	server.Secret("another")
	if got := look()["own login"]; !strings.HasPrefix(got, "false ") ||
		!strings.Contains(got, "refused the login of your credential helper helper") {
		t.Error(got)
	}
	readNote(t, note)

	sshd := remotetest.NewSSHD(t)
	dir, _ := sshd.Repository(t, b.checkout)
	gitexectest.Git(t, b.checkout, "remote", "set-url", "origin", "work:"+dir)
	b.sshHome(t, sshd, sshd.Key)
	keys, err := ScanHost(b.ctx, sshd.Host)
	if err != nil {
		t.Fatal(err)
	}
	if err := AcceptHost(b.store.root, sshd.Host, keys); err != nil {
		t.Fatal(err)
	}
	got := look()
	if want := "true your own ssh, as " + sshd.User + " at " + sshd.Host + ", with " +
		sshd.Key; !strings.HasPrefix(got["git credential"], want) {
		t.Errorf("%q, want %q", got["git credential"], want)
	}
	if !strings.Contains(got["own login"], "is let in, by your own ssh") {
		t.Error(got)
	}
}
