package diagnose

import (
	"context"
	"fmt"
	"strings"

	officeapp "company/internal/app"
	"company/internal/config"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/health"
	"company/internal/office"
)

// checkRemote is doctor's look at the remote of the checkout.
func (d *Checker) checkRemote(ctx context.Context, p office.Paths, c config.Config, online bool) []health.Finding {
	if p.Repo == "" {
		return singleResult("remote", health.Result{OK: true, Found: "not in a git checkout"})
	}
	cfg, err := officeapp.GitConfig(p, c, d.Env)
	if err != nil {
		return singleResult("remote", ErrorResult(err))
	}
	var out []health.Finding
	for _, check := range gitops.Checks(cfg, p.Repo, online) {
		out = append(out, health.Finding{Name: check.Name, Result: check.Run(ctx)})
	}
	return out
}

// CheckForge says where a pull request of a checkout would go, and with whose
// login. Nothing is asked of the forge.
func (d *Checker) CheckForge(ctx context.Context, c config.Config, remote string) health.Result {
	f, choice, err := officeapp.OpenForges(nil, c, d.Logger, d.Env).ForRemote(ctx, remote)
	switch {
	case err != nil:
		return ErrorResult(err)
	case choice.Why != "":
		return health.Result{Warn: true, Found: choice.Kind + ": " + choice.Why, Needed: "nothing: the branch is pushed, the pull request is kept as a page", Fix: choice.Fix}
	case choice.Kind == "local":
		return health.Result{OK: true, Found: "local: pull requests are kept as pages"}
	case c.Forge.AppID != 0:
		return health.Result{OK: true, Found: fmt.Sprintf("%s %s, as GitHub App %d", choice.Kind, choice.Repo, c.Forge.AppID)}
	}
	cred, err := f.Credential(ctx)
	if err != nil {
		return ErrorResult(err)
	}
	return health.Result{OK: true, Found: fmt.Sprintf("%s %s, login from %s", choice.Kind, choice.Repo, cred.Source)}
}

// checkForgeAccess is checkForge with the forge's own answer: whether the login
// may push there, or to which fork. Asking changes nothing.
func (d *Checker) checkForgeAccess(ctx context.Context, p office.Paths, c config.Config) health.Result {
	remote := ""
	if p.Repo != "" {
		if cfg, err := officeapp.GitConfig(p, c, d.Env); err == nil {
			remote = gitops.RemoteAt(ctx, cfg, p.Repo)
		}
	}
	f, choice, err := officeapp.OpenForges(nil, c, d.Logger, d.Env).ForRemote(ctx, remote)
	if err != nil {
		return ErrorResult(err)
	}
	if choice.Kind == "local" {
		return health.Result{OK: true, Found: "none is used"}
	}
	access, err := f.Access(ctx)
	if err != nil {
		return ErrorResult(err)
	}
	return AccessResult(choice.Repo, access, officeapp.OpenForges(nil, c, d.Logger, d.Env).HowToLogIn(remote))
}

// AccessResult reports a login's rights for doctor.
func AccessResult(repo forge.Repo, may forge.Access, fix string) health.Result {
	lacks := strings.Join(may.MissingPermissions, ", ")
	switch {
	case lacks != "":
		return health.Result{Found: "the token lacks " + lacks + " on " + repo.String(), Needed: "a token that may push and open pull requests", Fix: fix}
	case may.Push:
		return health.Result{OK: true, Found: "the login may push to " + repo.String()}
	case may.Fork != "":
		return health.Result{OK: true, Found: "the login may not push to " + repo.String() + ": its fork " + gitops.Mask(may.Fork) + " is used"}
	}
	return health.Result{OK: true, Found: "the login may not push to " + repo.String() + ": the first delivery forks it"}
}
