package app

import (
	"context"
	"fmt"
	"log/slog"

	"company/internal/company"
	"company/internal/config"
	"company/internal/forge"
	"company/internal/gitops"
	"company/internal/safetext"
)

// ReadIssue reads the issue that a person names, by its number or its URL, from the forge of
// the checkout's remote. The office need not be there.
func ReadIssue(ctx context.Context, checkout, name string, c config.Config, env func(string) (string, bool), log *slog.Logger) (forge.Issue, error) {
	elsewhere, number, err := forge.ParseIssueName(name)
	if err != nil {
		return forge.Issue{}, err
	}
	_, base, done, err := gitops.View(ctx, checkout, c.Git.Remote, "")
	if err != nil {
		return forge.Issue{}, err
	}
	done()
	forges := OpenForges(nil, c, log, env)
	f, choice, err := forges.ForRemote(ctx, base.RemoteURL)
	if err != nil {
		return forge.Issue{}, err
	}
	if choice.Kind == "local" {
		return forge.Issue{}, noForge(choice)
	}
	if elsewhere == "" {
		return f.Issue(ctx, number)
	}
	if at, _ := forge.ParseRemote(elsewhere); at.Host != choice.Repo.Host {
		return forge.Issue{}, company.E(company.EInvalid, fmt.Sprintf("the issue is on %s, and the project on %s", safetext.EscapeLine(at.Host, 100), choice.Repo.Host)).
			Because("a login goes to its own forge alone").Fix("say what is to be done: company submit \"…\"").NeedsPerson()
	}
	if f, choice, err = forges.ForRemote(ctx, elsewhere); err != nil {
		return forge.Issue{}, err
	}
	if choice.Kind == "local" {
		return forge.Issue{}, noForge(choice)
	}
	return f.Issue(ctx, number)
}

// noForge is the error of an issue where the project is on no forge that is used.
func noForge(c forge.Choice) error {
	e := company.E(company.EForge, "there is no forge to read an issue from").NeedsPerson()
	if c.Why == "" {
		return e.Because("the project's remote is on none, or forge.kind is local").Fix("say what is to be done: company submit \"…\"")
	}
	return e.Because(c.Why).Fix(c.Fix)
}
