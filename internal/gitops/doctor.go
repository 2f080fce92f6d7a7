package gitops

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"company/internal/company"
	"company/internal/gitops/gitexec"
	"company/internal/lib/healthcheck"
)

// Checks returns doctor's checks for the remote of a checkout, as a store of this configuration would reach it: its
// address, the credential (SET or NOT SET, never its value), the ssh host key, and, if online, whether the remote
// answers. They change no files of the office. Unless online, they ask no server.
func Checks(cfg Config, checkout string, online bool) []healthcheck.Check {
	p := &probe{cfg: cfg, checkout: checkout, online: online}
	out := []healthcheck.Check{
		{Name: "remote", Run: p.checkRemote},
		{Name: "push", Run: p.checkPush},
		{Name: "git credential", Run: p.checkCredential},
		{Name: "ssh host", Run: p.checkHost},
	}
	if online {
		out = append(out, healthcheck.Check{Name: "remote answers", Run: p.checkOnline})
		if cfg.Logins != nil {
			out = append(out, healthcheck.Check{Name: "own login", Run: p.checkOwnLogin})
		}
	}
	return out
}

type probe struct {
	cfg      Config
	checkout string
	online   bool
}

// resultOf converts an error to the result of a check.
func resultOf(err error) healthcheck.Result {
	var fault *company.Error
	if !errors.As(err, &fault) {
		return healthcheck.Result{Found: Mask(err.Error())}
	}
	found := fault.Message
	if fault.Why != "" {
		found += ": " + fault.Why
	}
	return healthcheck.Result{Found: Mask(found), Fix: fault.Hint}
}

// openStore creates a temporary store that uses the real store's known hosts, and reads the addresses of the remote.
// The caller must call done.
func (p *probe) openStore(ctx context.Context) (store *Store, remote probedRemote, done func(), err error) {
	dir, err := os.MkdirTemp("", "company-look-")
	if err != nil {
		return nil, remote, nil, err
	}
	done = func() { _ = os.RemoveAll(dir) }
	cfg := p.cfg
	cfg.Root, cfg.Log = filepath.Join(dir, "git"), nil
	if store, err = Open(cfg); err == nil {
		store.known = KnownHosts(p.cfg.Root)
		var c *checkout
		if c, err = store.openCheckout(ctx, p.checkout); err == nil {
			remote = probedRemote{fetch: c.fetchURL(), push: c.pushTarget("")}
			return store, remote, done, nil
		}
	}
	done()
	return nil, remote, nil, err
}

// probedRemote holds the addresses of a checkout's remote.
type probedRemote struct {
	fetch string
	push  PushTarget
}

// pushAddress returns the address that a branch is pushed to, or "".
func (r probedRemote) pushAddress() string {
	if r.push.Forbidden() {
		return ""
	}
	return r.push.Main(r.fetch)
}

func (p *probe) checkRemote(ctx context.Context) healthcheck.Result {
	store, remote, done, err := p.openStore(ctx)
	if err != nil {
		return resultOf(err)
	}
	defer done()
	url := remote.fetch
	if url == "" {
		return healthcheck.Result{OK: true, Found: "no remote " + store.cfg.Remote + ": branches stay on this machine"}
	}
	endpoint, err := store.openRemote(ctx, Remote{URL: url, checkout: p.checkout})
	if company.CodeOf(err) == company.EAuth { // the next check reports it
		return healthcheck.Result{OK: true, Found: Mask(url)}
	}
	if err != nil {
		return resultOf(err)
	}
	defer endpoint.done()
	found := Mask(url)
	if endpoint.url != url && endpoint.host != "" {
		found += ", reached at " + endpoint.url
	}
	return healthcheck.Result{OK: true, Found: found}
}

// checkPush reports where branches are pushed.
func (p *probe) checkPush(ctx context.Context) healthcheck.Result {
	_, remote, done, err := p.openStore(ctx)
	if err != nil {
		return resultOf(err)
	}
	defer done()
	switch target := remote.push; {
	case target.Forbidden():
		return healthcheck.Result{OK: true,
			Found: "nothing is pushed, since " + target.Why() + ": branches stay on this machine"}
	case target.Setting != "":
		var to []string
		for _, address := range target.URLs {
			to = append(to, Mask(address))
		}
		return healthcheck.Result{OK: true, Found: "to " + strings.Join(to, " and ") + ", by " + target.Setting}
	case remote.fetch == "":
		return healthcheck.Result{OK: true, Found: "nowhere"}
	}
	return healthcheck.Result{OK: true, Found: "to the remote"}
}

func (p *probe) checkCredential(ctx context.Context) healthcheck.Result {
	store, remote, done, err := p.openStore(ctx)
	if err != nil {
		return resultOf(err)
	}
	defer done()
	url := remote.pushAddress()
	if HostOf(url) == "" {
		return healthcheck.Result{OK: true, Found: "none is needed"}
	}
	// The work is possible without a credential, but its branch cannot be pushed.
	short := func(err error) healthcheck.Result {
		result := resultOf(err)
		result.Warn, result.Needed = true, "a login, to push"
		return result
	}
	endpoint, err := store.openRemote(ctx, Remote{URL: url, checkout: p.checkout})
	if err != nil {
		return short(err)
	}
	defer endpoint.done()
	if endpoint.ssh != nil {
		return endpoint.describeOwnSSH()
	}
	if endpoint.protocols == "ssh" {
		if store.cfg.Method == ByDeployKey {
			return healthcheck.Result{OK: true, Found: "deploy key " + store.cfg.DeployKey}
		}
		return healthcheck.Result{OK: true, Found: "ssh agent, SSH_AUTH_SOCK SET"}
	}
	endpoint.askNobody = !p.online
	login, err := endpoint.findLogin(ctx)
	if names := endpoint.helpersUnasked(); names != "" && !login.Secret.Set() &&
		(err == nil || errors.As(err, new(noTokenError))) {
		return healthcheck.Result{OK: true,
			Found: "a push asks your credential helper " + names + " for a login at " + endpoint.host + "; --online tries it"}
	}
	if err != nil {
		return short(err)
	}
	if !login.Secret.Set() {
		// Reading a public repository needs no token.
		return healthcheck.Result{Warn: true, Found: "token for " + endpoint.host + " NOT SET" + endpoint.lackOfLogins(),
			Needed: "a token, to push", Fix: store.howToLogin(url)}
	}
	if login.Source != "" {
		return healthcheck.Result{OK: true, Found: "login for " + endpoint.host + " SET, of " + login.Source}
	}
	return healthcheck.Result{OK: true, Found: "token for " + endpoint.host + " SET"}
}

func (p *probe) checkHost(ctx context.Context) healthcheck.Result {
	store, remote, done, err := p.openStore(ctx)
	if err != nil {
		return resultOf(err)
	}
	defer done()
	url := remote.fetch
	endpoint, err := store.openRemote(ctx, Remote{URL: url, checkout: p.checkout})
	if company.CodeOf(err) == company.EAuth {
		return healthcheck.Result{OK: true, Found: "not looked at: there is no login for it"}
	}
	if url == "" || err != nil || endpoint.protocols != "ssh" {
		return healthcheck.Result{OK: true, Found: "not reached by ssh"}
	}
	if endpoint.ssh != nil {
		return healthcheck.Result{OK: true,
			Found: endpoint.sshServer() + ", by the host keys that your own ssh or this office knows"}
	}
	known, err := Known(p.cfg.Root, endpoint.host)
	if err != nil {
		return resultOf(err)
	}
	if len(known) == 0 {
		return healthcheck.Result{Found: endpoint.host + " is not known", Needed: "its key, accepted by you",
			Fix: "company git trust-host " + endpoint.host}
	}
	var prints []string
	for _, k := range known {
		prints = append(prints, k.Fingerprint())
	}
	return healthcheck.Result{OK: true, Found: endpoint.host + " " + strings.Join(prints, ", ")}
}

func (p *probe) checkOnline(ctx context.Context) healthcheck.Result {
	store, remote, done, err := p.openStore(ctx)
	if err != nil {
		return resultOf(err)
	}
	defer done()
	url := remote.fetch
	if url == "" {
		return healthcheck.Result{OK: true, Found: "no remote " + store.cfg.Remote}
	}
	endpoint, err := store.openRemote(ctx, Remote{URL: url, checkout: p.checkout})
	if err != nil {
		return resultOf(err)
	}
	defer endpoint.done()
	repo := filepath.Join(store.root, "look.git")
	if err := store.createRepo(ctx, repo, "main", nil); err != nil {
		return resultOf(err)
	}
	endpoint.once = true
	_, head, err := endpoint.listBranches(ctx, repo, "")
	if err != nil {
		return resultOf(err)
	}
	return healthcheck.Result{OK: true, Found: fmt.Sprintf("answers, default branch %q", head)}
}

// checkOwnLogin tries a dry-run push, since reading may need no login.
func (p *probe) checkOwnLogin(ctx context.Context) healthcheck.Result {
	store, remote, done, err := p.openStore(ctx)
	if err != nil {
		return resultOf(err)
	}
	defer done()
	url := remote.pushAddress()
	if HostOf(url) == "" {
		return healthcheck.Result{OK: true, Found: "none is needed"}
	}
	endpoint, err := store.openRemote(ctx, Remote{URL: url, checkout: p.checkout, push: true})
	if err != nil {
		return resultOf(err)
	}
	defer endpoint.done()
	repo := filepath.Join(store.root, "look.git")
	if err := store.createRepo(ctx, repo, "main", nil); err != nil {
		return resultOf(err)
	}
	who := []string{"GIT_AUTHOR_NAME=company", "GIT_AUTHOR_EMAIL=company@localhost", "GIT_COMMITTER_NAME=company",
		"GIT_COMMITTER_EMAIL=company@localhost"}
	commit, err := store.runOK(ctx,
		call{dir: repo, args: []string{"commit-tree", gitexec.EmptyTree, "-m", "look"}, env: who})
	if err != nil {
		return resultOf(err)
	}
	branch := "refs/heads/" + store.cfg.IntegrationPrefix + "-look"
	result, err := endpoint.runOnce(
		ctx, endpoint.newCall(repo, "push", "--dry-run", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed",
			"--recurse-submodules=no",
			"--", endpoint.url, commit.outputText()+":"+branch))
	if err == nil && result.exit != 0 {
		err = endpoint.explainFailure(ctx, "pushed to", result)
	}
	if err != nil {
		return resultOf(err)
	}
	found := "a push to " + Mask(endpoint.url) + " is let in"
	switch {
	case endpoint.given.Source != "":
		found += ", by the login of " + endpoint.given.Source
	case endpoint.ssh != nil:
		found += ", by your own ssh"
	}
	return healthcheck.Result{OK: true, Found: found}
}

// RemoteAt returns the address of a checkout's remote. It returns "" if there is no remote or the checkout cannot be
// read. It needs no office and leaves no files. The address may contain credentials: mask it before showing.
func RemoteAt(ctx context.Context, cfg Config, checkout string) string {
	_, remote, done, err := (&probe{cfg: cfg, checkout: checkout}).openStore(ctx)
	if err != nil {
		return ""
	}
	done()
	return remote.fetch
}
