package diagnose

import (
	"context"
	"fmt"
	"strings"

	officeapp "company/internal/app"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/lib/healthcheck"
	"company/internal/office"
	"company/internal/office/config"
)

// checkRemote checks the remote of the checkout.
func (d *Checker) checkRemote(
	ctx context.Context, paths office.Paths, c config.Config, online bool,
) []healthcheck.Finding {
	if paths.Repo == "" {
		return singleResult("remote", healthcheck.Result{OK: true, Found: "not in a git checkout"})
	}
	cfg, err := officeapp.GitConfig(paths, c, d.Env)
	if err != nil {
		return singleResult("remote", ErrorResult(err))
	}
	var out []healthcheck.Finding
	for _, known := range gitops.Checks(cfg, paths.Repo, online) {
		out = append(out, healthcheck.Finding{Name: known.Name, Result: known.Run(ctx)})
	}
	return out
}

// CheckForge reports where a pull request of a checkout would go, and which login it would use. It
// sends no request to the forge.
func (d *Checker) CheckForge(ctx context.Context, cfg config.Config, remote string) healthcheck.Result {
	f, choice, err := officeapp.OpenForges(nil, cfg, d.Logger, d.Env).ForRemote(ctx, remote)
	switch {
	case err != nil:
		return ErrorResult(err)
	case choice.Why != "":
		return healthcheck.Result{Warn: true, Found: choice.Kind + ": " + choice.Why,
			Needed: "nothing: the branch is pushed, and the pull request is kept as a page", Fix: choice.Fix}
	case choice.Kind == "local":
		return healthcheck.Result{OK: true, Found: "local: pull requests are kept as pages"}
	case cfg.Forge.AppID != 0:
		return healthcheck.Result{OK: true,
			Found: fmt.Sprintf("%s %s, as GitHub App %d", choice.Kind, choice.Repo, cfg.Forge.AppID)}
	}
	cred, err := f.Credential(ctx)
	if err != nil {
		return ErrorResult(err)
	}
	return healthcheck.Result{OK: true, Found: fmt.Sprintf("%s %s, login from %s", choice.Kind, choice.Repo, cred.Source)}
}

// checkForgeAccess asks the forge whether the login may push there, or to which fork. The request
// changes nothing.
func (d *Checker) checkForgeAccess(ctx context.Context, paths office.Paths, c config.Config) healthcheck.Result {
	remote := ""
	if paths.Repo != "" {
		if cfg, err := officeapp.GitConfig(paths, c, d.Env); err == nil {
			remote = gitops.RemoteAt(ctx, cfg, paths.Repo)
		}
	}
	f, choice, err := officeapp.OpenForges(nil, c, d.Logger, d.Env).ForRemote(ctx, remote)
	if err != nil {
		return ErrorResult(err)
	}
	if choice.Kind == "local" {
		return healthcheck.Result{OK: true, Found: "not used"}
	}
	access, err := f.Access(ctx)
	if err != nil {
		return ErrorResult(err)
	}
	return AccessResult(choice.Repo, access, officeapp.OpenForges(nil, c, d.Logger, d.Env).HowToLogIn(remote))
}

// AccessResult converts a login's permissions into a result for doctor.
func AccessResult(repo forge.Repo, may forge.Access, fix string) healthcheck.Result {
	lacks := strings.Join(may.MissingPermissions, ", ")
	switch {
	case lacks != "":
		return healthcheck.Result{Found: "the token lacks " + lacks + " on " + repo.String(),
			Needed: "a token with permission to push and to open pull requests", Fix: fix}
	case may.Push:
		return healthcheck.Result{OK: true, Found: "the login can push to " + repo.String()}
	case may.Fork != "":
		return healthcheck.Result{OK: true,
			Found: "the login cannot push to " + repo.String() + ": its fork " + gitops.Mask(may.Fork) + " is used"}
	}
	return healthcheck.Result{OK: true,
		Found: "the login cannot push to " + repo.String() + ": the first delivery forks it"}
}
