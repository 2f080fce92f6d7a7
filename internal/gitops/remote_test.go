package gitops

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"company/internal/company"
	"company/internal/gitops/gitexec/gitexectest"
	"company/internal/gitops/remotetest"
	"company/internal/lib/hosttest"
)

const canaryToken = "ghp_canaryCANARYcanaryCANARY0123456789"

func at(e error) *company.Error {
	var c *company.Error
	if errors.As(e, &c) {
		return c
	}
	return &company.Error{}
}

// agentSocket is an ssh agent with the keys of files; without files it is
// only a place.
func agentSocket(t *testing.T, keys ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "agent-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	sock := filepath.Join(dir, "s")
	cmd := exec.Command("ssh-agent", "-D", "-a", sock)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	hosttest.Eventually(t, "the agent answers", func() (any, bool) {
		c, err := net.Dial("unix", sock) // the file is there before anybody listens
		if err == nil {
			_ = c.Close()
		}
		return err, err == nil
	})
	for _, k := range keys {
		add := exec.Command("ssh-add", "-q", k)
		add.Env = []string{"PATH=" + os.Getenv("PATH"), "SSH_AUTH_SOCK=" + sock}
		if out, err := add.CombinedOutput(); err != nil {
			t.Fatalf("ssh-add: %v\n%s", err, out)
		}
	}
	return sock
}

// watchProcesses looks at the arguments and environments of all processes at each request to the server, while git
// waits for the answer, and in between. stop returns those that held the secret.
func watchProcesses(t *testing.T, server *remotetest.HTTP, secret string) (stop func() []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	var found []string
	requests := 0
	look := func() {
		for _, pattern := range []string{"/proc/[0-9]*/cmdline", "/proc/[0-9]*/environ"} {
			files, _ := filepath.Glob(pattern)
			for _, f := range files {
				if text, err := os.ReadFile(f); err == nil && strings.Contains(string(text), secret) {
					mu.Lock()
					found = append(found, f+": "+string(text))
					mu.Unlock()
				}
			}
		}
	}
	server.Watch(func() {
		look()
		mu.Lock()
		defer mu.Unlock()
		requests++
	})
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			look()
		}
	})
	return func() []string {
		cancel()
		wg.Wait()
		mu.Lock()
		defer mu.Unlock()
		if requests == 0 {
			t.Error("git asked the server nothing")
		}
		return found
	}
}

// filesWith lists the files below dir that hold the text.
func filesWith(t *testing.T, dir, text string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(p)
		if err == nil && strings.Contains(string(raw), text) {
			out = append(out, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// GIT-4, GIT-12, T21: a token over https, given to git by our own helper. It
// is in no argument, environment, log or file; the server alone sees it.
func TestHTTPSWithToken(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	server := remotetest.NewHTTPS(t, "x-access-token", canaryToken)
	origin, url := server.Repository(t, "acme/app.git", b.checkout)
	asked := ""
	b.store.cfg.OperatorEnv = OperatorEnv(func(k string) (string, bool) { return server.CA, k == "SSL_CERT_FILE" })
	b.store.cfg.Credential = func(_ context.Context, host string) (string, string, error) {
		asked = host
		return "", canaryToken, nil
	}
	stop := watchProcesses(t, server, canaryToken)
	info, err := b.mirror.FetchBase(b.ctx, nil, Source{URL: url}, "")
	if err != nil || info.OID != b.base.OID || info.Branch != "main" {
		t.Fatalf("%+v, %v", info, err)
	}
	const ref = "refs/heads/develop-t1-k3fq"
	if err := b.push(nil, Remote{URL: url}, ref, b.base.OID, ""); err != nil {
		t.Fatal(err)
	}
	if seen := stop(); len(seen) > 0 {
		t.Errorf("processes held the token: %q", seen)
	}
	if got := gitexectest.Git(t, origin, "rev-parse", ref); got != string(b.base.OID) {
		t.Error(got)
	}
	if asked != strings.TrimPrefix(server.Server.URL, "https://") {
		t.Errorf("asked for %q", asked)
	}
	if seen := server.Seen(); !strings.Contains(strings.Join(seen, " "), "x-access-token:"+canaryToken) {
		t.Errorf("the server saw %q", seen)
	}
	if files := append(filesWith(t, b.store.root, canaryToken), filesWith(t, b.checkout, canaryToken)...); len(
		files) > 0 || strings.Contains(b.log.String(), canaryToken) {
		t.Errorf("the token is in %v, log %s", files, b.log)
	}

	// A password in the operator's address goes the same way.
	b.store.cfg.Credential = nil
	stop = watchProcesses(t, server, canaryToken)
	withPassword := strings.Replace(url, "https://", "https://x-access-token:"+canaryToken+"@", 1)
	if _, err := b.mirror.FetchBase(b.ctx, nil, Source{URL: withPassword}, ""); err != nil {
		t.Fatal(err)
	}
	if seen := stop(); len(seen) > 0 {
		t.Errorf("processes held the password: %q", seen)
	}
	if strings.Contains(b.log.String(), canaryToken) {
		t.Error("the log has it")
	}
}

// GIT-6: a refused or missing credential is for a person to mend and is not
// tried again; what may pass by itself is tried three times, each with a
// fresh credential.
func TestHTTPSFailures(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	server := remotetest.NewHTTPS(t, "", "the right one")
	_, url := server.Repository(t, "acme/app.git", b.checkout)
	ca := OperatorEnv(func(k string) (string, bool) { return server.CA, k == "SSL_CERT_FILE" })
	secret, asked := "the wrong one", 0
	fetch := func() error {
		asked = 0
		_, err := b.mirror.FetchBase(b.ctx, nil, Source{URL: url}, "")
		return err
	}
	human := func(err error, code company.Code, words ...string) {
		t.Helper()
		requireCode(t, err, code, words...)
		if at(err).Class != company.HumanRequired || at(err).Hint == "" {
			t.Errorf("%#v", at(err))
		}
	}
	human(fetch(), company.EGit, "certificate") // no CA: nobody is told anything
	if len(server.Seen()) > 0 {
		t.Error("somebody spoke to a server that nobody trusts")
	}
	b.store.cfg.OperatorEnv = ca
	b.store.cfg.TokenFix = func(string) string { return "export MY_TOKEN=…" }
	human(fetch(), company.EAuth, "no credential")
	b.store.cfg.Credential = func(context.Context, string) (string, string, error) { asked++; return "", secret, nil }
	human(fetch(), company.EAuth, "refused")
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	secret = "the right one\nhost=evil.example"
	human(fetch(), company.EAuth, "line break")
	b.store.cfg.Credential = func(context.Context, string) (string, string, error) {
		return "", "", errors.New("gh is not logged in")
	}
	human(fetch(), company.EAuth, "gh is not logged in")
	human(b.push(nil, Remote{URL: url}, "refs/heads/develop-t1-k3fq", b.base.OID, ""), company.EAuth,
		"gh is not logged in")

	secret = "the right one"
	b.store.cfg.Credential = func(context.Context, string) (string, string, error) { asked++; return "", secret, nil }
	server.Refuse(502, 502) // two tries of ls-remote fail, the third does not
	if err := fetch(); err != nil {
		t.Fatal(err)
	}
	server.Refuse(502, 502, 502, 502)
	err := fetch()
	requireCode(t, err, company.EGit, "could not be read")
	if at(err).Class == company.HumanRequired || IsUnreachable(err) {
		t.Errorf("%#v", at(err))
	}
	server.Refuse()
	server.Refuse(403)
	human(fetch(), company.EAuth, "refused")

	// It expires between two calls: the next one asks again.
	server.Secret("another")
	secret = "another"
	if err := fetch(); err != nil || asked == 0 {
		t.Fatal(err, asked)
	}
	server.Server.Close()
	err = fetch()
	requireCode(t, err, company.EGit, "could not be read")
	if !IsUnreachable(err) {
		t.Errorf("%#v", at(err))
	}
	if at(err).Class != company.Recoverable {
		t.Errorf("%#v", at(err))
	}
}

// A server that sends us elsewhere does not get the credential sent along.
func TestTheCredentialIsForOneHost(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	thief := remotetest.NewHTTP(t, "", "x")
	_, _ = thief.Repository(t, "acme/app.git", b.checkout)
	server := remotetest.NewHTTP(t, "", canaryToken)
	_, url := server.Repository(t, "acme/app.git", b.checkout)
	server.Redirect(thief.Server.URL)
	b.store.cfg.Credential = func(context.Context, string) (string, string, error) { return "", canaryToken, nil }
	_, err := b.mirror.FetchBase(b.ctx, nil, Source{URL: url}, "")
	requireCode(t, err, company.EAuth, "wants to log in at")
	if seen := strings.Join(append(thief.Seen(), server.Seen()...), ""); strings.Contains(seen, canaryToken) {
		t.Errorf("%q", seen)
	}
	if len(thief.Seen()) == 0 {
		t.Error("git did not follow: the test shows nothing")
	}
}

// GIT-4, GIT-5: ssh with a deploy key. A first contact is refused with the
// fingerprint and what accepts it; a changed key is refused for good.
func TestSSHWithDeployKey(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	sshd := remotetest.NewSSHD(t)
	origin, url := sshd.Repository(t, b.checkout)
	b.store.cfg.Method, b.store.cfg.DeployKey = ByDeployKey, sshd.Key
	fetch := func() error { _, err := b.mirror.FetchBase(b.ctx, nil, Source{URL: url}, ""); return err }

	keys, err := ScanHost(b.ctx, sshd.Host)
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	out, err := exec.Command("ssh-keygen", "-l", "-f", filepath.Join(filepath.Dir(sshd.Key), "host.pub")).Output()
	if err != nil || !strings.Contains(string(out), keys[0].Fingerprint()) {
		t.Fatalf("fingerprint %s, ssh-keygen says %s, %v", keys[0].Fingerprint(), out, err)
	}
	err = fetch()
	requireCode(t, err, company.EHostKey, "not known", keys[0].Fingerprint())
	if e := at(err); e.Class != company.HumanRequired || !strings.Contains(e.Hint, "company git trust-host "+sshd.Host) {
		t.Errorf("%#v", e)
	}
	if strings.Contains(sshd.Log(), "Accepted") {
		t.Error("somebody logged in at a host that is not known")
	}
	if err := AcceptHost(b.store.root, sshd.Host, keys); err != nil {
		t.Fatal(err)
	}
	if err := fetch(); err != nil {
		t.Fatal(err)
	}
	const ref = "refs/heads/develop-t1-k3fq"
	if err := b.push(nil, Remote{URL: url}, ref, b.base.OID, ""); err != nil {
		t.Fatal(err)
	}
	if got := gitexectest.Git(t, origin, "rev-parse", ref); got != string(b.base.OID) {
		t.Error(got)
	}

	// A key of nobody, one that others can read, none.
	b.store.cfg.DeployKey = sshd.NewKey(t, "stranger")
	err = fetch()
	requireCode(t, err, company.EAuth, "deploy key", "Permission denied")
	if at(err).Class != company.HumanRequired || !strings.Contains(at(err).Hint, "ssh-keygen -y") {
		t.Errorf("%#v", at(err))
	}
	if err := os.Chmod(b.store.cfg.DeployKey, 0o644); err != nil {
		t.Fatal(err)
	}
	requireCode(t, fetch(), company.EAuth, "can be read by others", "0644")
	b.store.cfg.DeployKey = ""
	requireCode(t, fetch(), company.EAuth, "no deploy key")
	b.store.cfg.DeployKey = sshd.Key

	old := keys[0].Fingerprint()
	sshd.NewHostKey(t)
	err = fetch()
	requireCode(t, err, company.EHostKey, "has a new key", old)
	if !strings.Contains(at(err).Hint, "--replace") || strings.Contains(sshd.Log(), "Accepted") {
		t.Errorf("%#v", at(err))
	}
	if keys, err = ScanHost(b.ctx, sshd.Host); err != nil {
		t.Fatal(err)
	}
	if err := AcceptHost(b.store.root, sshd.Host, keys); err != nil {
		t.Fatal(err)
	}
	if err := fetch(); err != nil {
		t.Fatal(err)
	}
	if known, err := Known(b.store.root, sshd.Host); err != nil || len(known) != 1 || known[0].Fingerprint() == old {
		t.Errorf("%+v, %v", known, err)
	}
}

// ssh_agent: the operator's agent, and no key file of their home.
func TestSSHWithAgent(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	sshd := remotetest.NewSSHD(t)
	_, url := sshd.Repository(t, b.checkout)
	keys, err := ScanHost(b.ctx, sshd.Host)
	if err != nil {
		t.Fatal(err)
	}
	if err := AcceptHost(b.store.root, sshd.Host, keys); err != nil {
		t.Fatal(err)
	}
	b.store.cfg.Method = ByAgent
	fetch := func() error { _, err := b.mirror.FetchBase(b.ctx, nil, Source{URL: url}, ""); return err }
	requireCode(t, fetch(), company.EAuth, "SSH_AUTH_SOCK is NOT SET")
	b.store.cfg.AgentSocket = filepath.Join(t.TempDir(), "gone")
	requireCode(t, fetch(), company.EAuth, "does not answer")
	b.store.cfg.AgentSocket = agentSocket(t) // with no key in it
	requireCode(t, fetch(), company.EAuth, "ssh agent", "Permission denied")
	b.store.cfg.AgentSocket = agentSocket(t, sshd.Key)
	if err := fetch(); err != nil {
		t.Fatal(err)
	}
	// scp form and a repository that is not there.
	url = sshd.URL("/nowhere.git")
	requireCode(t, fetch(), company.EAuth)
}

// The office may lie anywhere: blanks, percent signs and quotes in its path
// mean nothing to ssh and the shell.
func TestOddPathsOfTheOffice(t *testing.T) {
	t.Parallel()
	checkout := newCheckout(t, map[string]string{"f": "f"})
	sshd := remotetest.NewSSHD(t)
	_, url := sshd.Repository(t, checkout)
	server := remotetest.NewHTTP(t, "", canaryToken)
	_, over := server.Repository(t, "a.git", checkout)
	root := filepath.Join(t.TempDir(), `it's 100%h "odd" $HOME`, "git")
	s, err := Open(Config{Root: root, Method: ByDeployKey, DeployKey: sshd.Key})
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Mirror(t.Context(), "p", checkout)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := ScanHost(t.Context(), sshd.Host)
	if err != nil {
		t.Fatal(err)
	}
	if err := AcceptHost(root, sshd.Host, keys); err != nil {
		t.Fatal(err)
	}
	if _, err := m.FetchBase(t.Context(), nil, Source{URL: url}, ""); err != nil {
		t.Fatal(err)
	}
	s.cfg.Method = ByToken
	s.cfg.Credential = func(context.Context, string) (string, string, error) { return "", canaryToken, nil }
	if _, err := m.FetchBase(t.Context(), nil, Source{URL: over}, ""); err != nil {
		t.Fatal(err)
	}
}

// Proxies and certificates of the operator's environment reach the git that
// goes to the network, and no other.
func TestOperatorEnvironment(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	env := map[string]string{"https_proxy": "http://127.0.0.1:1", "NO_PROXY": "x.example", "SSL_CERT_FILE": "/ca.pem",
		"OPENAI_API_KEY": "canary", "GIT_DIR": "/x"}
	b.store.cfg.OperatorEnv = OperatorEnv(func(k string) (string, bool) { v, ok := env[k]; return v, ok })
	far := &remoteEndpoint{s: b.store, host: "h", protocols: "https", url: "https://h/x"}
	got := strings.Join(b.store.command(far.newCall("/x")).Environ(), "\n")
	for _, want := range []string{"https_proxy=http://127.0.0.1:1", "NO_PROXY=x.example", "GIT_SSL_CAINFO=/ca.pem"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(got, "canary") || strings.Contains(got, "GIT_DIR") {
		t.Error(got)
	}
	near := &remoteEndpoint{s: b.store, protocols: "file", url: "file:///x"}
	for _, c := range []call{{dir: "/x"}, near.newCall("/x")} {
		if got := strings.Join(b.store.command(c).Environ(), "\n"); strings.Contains(got, "proxy") ||
			strings.Contains(got, "CAINFO") {
			t.Error(got)
		}
	}
	// The proxy is really used: there is none at that port.
	server := remotetest.NewHTTPS(t, "", "")
	_, url := server.Repository(t, "a.git", b.checkout)
	_, err := b.mirror.FetchBase(b.ctx, nil, Source{URL: url}, "")
	requireCode(t, err, company.EGit, "could not be read")
	if len(server.Seen()) > 0 {
		t.Error("the proxy was passed by")
	}
}

// Known hosts: what is not a host is refused, others' lines are kept.
func TestAcceptHost(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "git")
	for _, bad := range []string{"", "-oProxyCommand=x", "a b", "a\nb", "h:", "h:x", "*.example.com", "!h", "h,other",
		"@cert-authority"} {
		if _, _, err := splitHost(bad); company.CodeOf(err) != company.EUsage {
			t.Errorf("%q: %v", bad, err)
		}
	}
	key := HostKey{Type: "ssh-ed25519", Key: "AAAA"}
	for _, host := range []string{"one.example", "two.example:22", "three.example:2222", "one.example"} {
		if err := AcceptHost(root, host, []HostKey{key}); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(KnownHosts(root))
	if err != nil || string(text) != "two.example ssh-ed25519 AAAA\n[three.example]:2222 ssh-ed25519 AAAA\none.example "+
		"ssh-ed25519 AAAA\n" {
		t.Errorf("%s, %v", text, err)
	}
	if fi, err := os.Stat(KnownHosts(root)); err != nil || fi.Mode().Perm() != 0o600 {
		t.Error(fi, err)
	}
}

// A forge that does not live at its host's root has its ssh addresses there,
// and its web addresses below its path.
func TestSSHAddressesBelowAPath(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"git@example.com:acme/app.git", "https://example.com/tools/git/", "https://example.com/tools/git/acme/app.git"},
		{"ssh://git@example.com:2222/acme/app.git", "https://example.com/git", "https://example.com/git/acme/app.git"},
		{"git@example.com:git/acme/app.git", "https://example.com/git", "https://example.com/git/acme/app.git"},
		{"git@example.com:acme/app.git", "https://example.com", "https://example.com/acme/app.git"},
	} {
		if got := httpsOf(c[0], c[1]); got != c[2] {
			t.Errorf("%s at %s: %s", c[0], c[1], got)
		}
	}
}
