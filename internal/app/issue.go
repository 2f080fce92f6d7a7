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

// FindIssue returns a function that reads the issue that a person names, by its number or its URL, from
// the forge of the checkout's remote. Where there is no such forge, that is its error. The office need not
// be there.
func FindIssue(ctx context.Context, checkout, name string, c config.Config, env func(string) (string, bool), log *slog.Logger) (read func(context.Context) (forge.Issue, error), err error) {
	elsewhere, number, err := forge.ParseIssueName(name)
	if err != nil {
		return nil, err
	}
	_, base, done, err := gitops.View(ctx, checkout, c.Git.Remote, "")
	if err != nil {
		return nil, err
	}
	done()
	forges := OpenForges(nil, c, log, env)
	f, choice, err := forges.ForRemote(ctx, base.RemoteURL)
	if err != nil {
		return nil, err
	}
	if choice.Kind == forge.LocalKind {
		return nil, noForge(choice)
	}
	if elsewhere != "" {
		if at, _ := forge.ParseRemote(elsewhere); at.Host != choice.Repo.Host {
			return nil, company.E(company.EInvalid, fmt.Sprintf("the issue is on %s, and the project on %s", safetext.EscapeLine(at.Host, 100), choice.Repo.Host)).
				Because("a login goes to its own forge alone").Fix("say what is to be done: company submit \"…\"").NeedsPerson()
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

// noForge is the error of an issue where the project is on no forge that is used.
func noForge(c forge.Choice) error {
	e := company.E(company.EForge, "there is no forge to read an issue from").NeedsPerson()
	if c.Why == "" {
		return e.Because("the project's remote is on none, or forge.kind is local").Fix("say what is to be done: company submit \"…\"")
	}
	return e.Because(c.Why).Fix(c.Fix)
}
