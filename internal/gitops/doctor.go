package gitops

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"company/internal/company"
	"company/internal/gitexec"
	"company/internal/health"
)

// Checks is what doctor looks at for the remote of a checkout, as a store of
// this configuration would reach it: its address, the credential (SET or NOT
// SET, never its value), the ssh host key, and, when online, whether the
// remote answers. Nothing is made; without online nothing is asked.
func Checks(cfg Config, checkout string, online bool) []health.Check {
	p := &probe{cfg: cfg, checkout: checkout, online: online}
	out := []health.Check{
		{Name: "remote", Run: p.checkRemote},
		{Name: "git credential", Run: p.checkCredential},
		{Name: "ssh host", Run: p.checkHost},
	}
	if online {
		out = append(out, health.Check{Name: "remote answers", Run: p.checkOnline})
		if cfg.Logins != nil {
			out = append(out, health.Check{Name: "own login", Run: p.checkOwnLogin})
		}
	}
	return out
}

type probe struct {
	cfg      Config
	checkout string
	online   bool
}

// resultOf is an error as the result of a check.
func resultOf(err error) health.Result {
	var e *company.Error
	if !errors.As(err, &e) {
		return health.Result{Found: Mask(err.Error())}
	}
	found := e.Message
	if e.Why != "" {
		found += ": " + e.Why
	}
	return health.Result{Found: Mask(found), Fix: e.Hint}
}

// open makes a store that is gone after use, which knows the hosts of the
// real one, and reads the address of the remote.
func (p *probe) open(ctx context.Context) (s *Store, remote string, done func(), err error) {
	dir, err := os.MkdirTemp("", "company-look-")
	if err != nil {
		return nil, "", nil, err
	}
	done = func() { _ = os.RemoveAll(dir) }
	cfg := p.cfg
	cfg.Root, cfg.Log = filepath.Join(dir, "git"), nil
	if s, err = Open(cfg); err == nil {
		s.known = KnownHosts(p.cfg.Root)
		var c *checkout
		if c, err = s.openCheckout(ctx, p.checkout); err == nil {
			return s, c.remoteURL(s.cfg.Remote), done, nil
		}
	}
	done()
	return nil, "", nil, err
}

func (p *probe) checkRemote(ctx context.Context) health.Result {
	s, url, done, err := p.open(ctx)
	if err != nil {
		return resultOf(err)
	}
	defer done()
	if url == "" {
		return health.Result{OK: true, Found: "no remote " + s.cfg.Remote + ": branches stay on this machine"}
	}
	a, err := s.openRemote(ctx, Remote{URL: url, checkout: p.checkout})
	if company.CodeOf(err) == company.EAuth { // the next check says it
		return health.Result{OK: true, Found: Mask(url)}
	}
	if err != nil {
		return resultOf(err)
	}
	defer a.done()
	found := Mask(url)
	if a.url != url && a.host != "" {
		found += ", reached at " + a.url
	}
	return health.Result{OK: true, Found: found}
}

func (p *probe) checkCredential(ctx context.Context) health.Result {
	s, url, done, err := p.open(ctx)
	if err != nil {
		return resultOf(err)
	}
	defer done()
	if HostOf(url) == "" {
		return health.Result{OK: true, Found: "none is needed"}
	}
	// Without it the work is done all the same; its branch cannot be pushed.
	short := func(err error) health.Result {
		r := resultOf(err)
		r.Warn, r.Needed = true, "a login, to push"
		return r
	}
	a, err := s.openRemote(ctx, Remote{URL: url, checkout: p.checkout})
	if err != nil {
		return short(err)
	}
	defer a.done()
	if a.ssh != nil {
		return a.describeOwnSSH()
	}
	if a.protocols == "ssh" {
		if s.cfg.Method == ByDeployKey {
			return health.Result{OK: true, Found: "deploy key " + s.cfg.DeployKey}
		}
		return health.Result{OK: true, Found: "ssh agent, SSH_AUTH_SOCK SET"}
	}
	a.askNobody = !p.online
	login, err := a.findLogin(ctx)
	if names := a.helpersUnasked(); names != "" && !login.Secret.Set() && (err == nil || errors.As(err, new(noTokenError))) {
		return health.Result{OK: true, Found: "a push asks your credential helper " + names + " for a login at " + a.host + "; --online tries it"}
	}
	if err != nil {
		return short(err)
	}
	if !login.Secret.Set() {
		// Reading a public repository needs none.
		return health.Result{Warn: true, Found: "token for " + a.host + " NOT SET" + a.lackOfLogins(), Needed: "a token, to push", Fix: s.howToLogin(url)}
	}
	if login.Source != "" {
		return health.Result{OK: true, Found: "login for " + a.host + " SET, of " + login.Source}
	}
	return health.Result{OK: true, Found: "token for " + a.host + " SET"}
}

func (p *probe) checkHost(ctx context.Context) health.Result {
	s, url, done, err := p.open(ctx)
	if err != nil {
		return resultOf(err)
	}
	defer done()
	a, err := s.openRemote(ctx, Remote{URL: url, checkout: p.checkout})
	if company.CodeOf(err) == company.EAuth {
		return health.Result{OK: true, Found: "not looked at: there is no login for it"}
	}
	if url == "" || err != nil || a.protocols != "ssh" {
		return health.Result{OK: true, Found: "not reached by ssh"}
	}
	if a.ssh != nil {
		return health.Result{OK: true, Found: a.sshServer() + ", by the host keys that your own ssh or this office knows"}
	}
	known, err := Known(p.cfg.Root, a.host)
	if err != nil {
		return resultOf(err)
	}
	if len(known) == 0 {
		return health.Result{Found: a.host + " is not known", Needed: "its key, accepted by you", Fix: "company git trust-host " + a.host}
	}
	var prints []string
	for _, k := range known {
		prints = append(prints, k.Fingerprint())
	}
	return health.Result{OK: true, Found: a.host + " " + strings.Join(prints, ", ")}
}

func (p *probe) checkOnline(ctx context.Context) health.Result {
	s, url, done, err := p.open(ctx)
	if err != nil {
		return resultOf(err)
	}
	defer done()
	if url == "" {
		return health.Result{OK: true, Found: "no remote " + s.cfg.Remote}
	}
	a, err := s.openRemote(ctx, Remote{URL: url, checkout: p.checkout})
	if err != nil {
		return resultOf(err)
	}
	defer a.done()
	repo := filepath.Join(s.root, "look.git")
	if err := s.createRepo(ctx, repo, "main", nil); err != nil {
		return resultOf(err)
	}
	a.once = true
	_, head, err := a.listBranches(ctx, repo, "")
	if err != nil {
		return resultOf(err)
	}
	return health.Result{OK: true, Found: fmt.Sprintf("answers, default branch %q", head)}
}

// checkOwnLogin tries a push that sends nothing, since reading may need no login.
func (p *probe) checkOwnLogin(ctx context.Context) health.Result {
	s, url, done, err := p.open(ctx)
	if err != nil {
		return resultOf(err)
	}
	defer done()
	if HostOf(url) == "" {
		return health.Result{OK: true, Found: "none is needed"}
	}
	a, err := s.openRemote(ctx, Remote{URL: url, checkout: p.checkout, push: true})
	if err != nil {
		return resultOf(err)
	}
	defer a.done()
	repo := filepath.Join(s.root, "look.git")
	if err := s.createRepo(ctx, repo, "main", nil); err != nil {
		return resultOf(err)
	}
	who := []string{"GIT_AUTHOR_NAME=company", "GIT_AUTHOR_EMAIL=company@localhost", "GIT_COMMITTER_NAME=company", "GIT_COMMITTER_EMAIL=company@localhost"}
	commit, err := s.runOK(ctx, call{dir: repo, args: []string{"commit-tree", gitexec.EmptyTree, "-m", "look"}, env: who})
	if err != nil {
		return resultOf(err)
	}
	branch := "refs/heads/" + s.cfg.IntegrationPrefix + "-look"
	r, err := a.runOnce(ctx, a.newCall(repo, "push", "--dry-run", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no",
		"--", a.url, commit.outputText()+":"+branch))
	if err == nil && r.exit != 0 {
		err = a.explainFailure(ctx, "pushed to", r)
	}
	if err != nil {
		return resultOf(err)
	}
	found := "a push to " + Mask(a.url) + " is let in"
	switch {
	case a.given.Source != "":
		found += ", by the login of " + a.given.Source
	case a.ssh != nil:
		found += ", by your own ssh"
	}
	return health.Result{OK: true, Found: found}
}

// RemoteAt is the address of a checkout's remote; empty where there is none,
// or where the checkout cannot be read. Nothing of the office is needed or
// made. It may hold credentials: mask it before showing.
func RemoteAt(ctx context.Context, cfg Config, checkout string) string {
	_, remote, done, err := (&probe{cfg: cfg, checkout: checkout}).open(ctx)
	if err != nil {
		return ""
	}
	done()
	return remote
}
