package app

import (
	"context"
	"fmt"
	"log/slog"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/gitops/gitlogin"
	"company/internal/lib/safetext"
	"company/internal/office/config"
)

// FindIssue returns a function that reads an issue by its number or its URL from the forge of the
// checkout's remote. Without such a forge the function returns an error. The office need not
// exist.
func FindIssue(
	ctx context.Context, checkout, name string, cfg config.Config, env func(string) (string, bool), log *slog.Logger,
) (read func(context.Context) (forge.Issue, error), err error) {
	elsewhere, number, err := forge.ParseIssueName(name)
	if err != nil {
		return nil, err
	}
	_, base, done, err := gitops.ViewAs(ctx, gitlogin.New(env), checkout, cfg.Git.Remote, "")
	if err != nil {
		return nil, err
	}
	done()
	forges := OpenForges(nil, cfg, log, env)
	f, choice, err := forges.ForRemote(ctx, base.RemoteURL)
	if err != nil {
		return nil, err
	}
	if choice.Kind == forge.LocalKind {
		return nil, noForge(choice)
	}
	if elsewhere != "" {
		if repo, _ := forges.ParseRemote(elsewhere); repo.Host != choice.Repo.Host {
			return nil, company.E(company.EInvalid,
				fmt.Sprintf("the issue is on %s, but the project is on %s", safetext.EscapeLine(repo.Host, 100), choice.Repo.Host)).
				Because("a login is only sent to its own forge").Fix("say what is to be done: company submit \"…\"").NeedsPerson()
		}
		if f, choice, err = forges.ForRemote(ctx, elsewhere); err != nil {
			return nil, err
		}
		if choice.Kind == forge.LocalKind {
			return nil, noForge(choice)
		}
	}
	return func(ctx context.Context) (forge.Issue, error) { return f.Issue(ctx, number) }, nil
}

// noForge returns the error for an issue of a project without a usable forge.
func noForge(choice forge.Choice) error {
	fault := company.E(company.EForge, "there is no forge to read an issue from").NeedsPerson()
	if choice.Why == "" {
		return fault.Because("the project has no remote on a forge, or forge.kind is local").
			Fix("say what is to be done: company submit \"…\"")
	}
	return fault.Because(choice.Why).Fix(choice.Fix)
}
