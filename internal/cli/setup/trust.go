package setup

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	officeapp "company/internal/app"

	"github.com/spf13/cobra"

	"company/internal/cli/command"
	"company/internal/company"
	"company/internal/config"
	"company/internal/safetext"
)

// NewTrust makes company trust.
func NewTrust(env *command.Environment) *cobra.Command {
	logins := false
	c := &cobra.Command{
		Use: "trust", Short: "Let a company.yaml that git tracks count in full",
		Example: "  company trust\n  less company.yaml && company trust --yes\n  company trust --logins",
		Long: `What a repository's own company.yaml asks for (models, addresses, set-up
commands, larger budgets) is refused until you have seen it and trust the file.
This command shows all of that, beside what holds without the file, and asks;
--yes answers.

The trust is in the bytes that were shown: a change needs it anew. It is noted
outside of the repository.

With --logins it is about the repository's dependencies instead: they may then be
fetched from package registries with your own logins (.netrc, .npmrc, pip.conf
and the like), and Go modules that GOPRIVATE names may be fetched at all. What
the repository's files name then comes into its containers, and can be pushed
from there. This holds for the checkout you stand in, as long as its origin
stays the same.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if logins {
				return trustLogins(c.Context(), env)
			}
			return runTrust(c.Context(), env)
		},
	}
	c.Flags().BoolVar(&logins, "logins", false, "let this repository's dependencies be fetched with your logins to registries")
	return c
}

func runTrust(ctx context.Context, env *command.Environment) error {
	paths, err := env.FindOffice()
	if err != nil {
		return err
	}
	review, err := config.ReviewTrust(ctx, env.LoadOptions(paths, nil))
	if err != nil {
		return err
	}
	if !review.Trusted {
		if err := askTrust(ctx, env, review); err != nil {
			return err
		}
		if err := config.OpenTrust(env.LookupEnv).Add(review.Hash, review.File); err != nil {
			return err
		}
	}
	// Trust lets a file count; it does not make it right.
	if _, err := env.LoadConfig(ctx, paths); err != nil {
		env.PrintNote("trusted, but it does not load:")
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{
			"schema_version": 1, "file": review.File, "hash": review.Hash, "tracked": review.Tracked, "was_trusted": review.Trusted,
			"asks": append([]config.TrustRequest{}, review.Requests...),
		})
	}
	_, err = fmt.Fprintf(env.Out, "trusted: %s (%.12s)\n", safetext.Escape(review.File), review.Hash)
	return err
}

// askTrust shows what would count, and goes on only with a yes.
func askTrust(ctx context.Context, env *command.Environment, r config.TrustReview) error {
	if env.Output == "text" {
		fmt.Fprintf(env.Err, "%s (%.12s)\n", safetext.Escape(r.File), r.Hash)
		if !r.Tracked {
			fmt.Fprintln(env.Err, "git does not track it: it counts without your trust, too")
		}
		if len(r.Requests) == 0 {
			fmt.Fprintln(env.Err, "it asks for nothing that needs trust")
		} else {
			fmt.Fprintln(env.Err, "asks for:")
			table := tabwriter.NewWriter(env.Err, 0, 0, 2, ' ', 0)
			for _, ask := range r.Requests {
				before := ask.Before
				if before == "" {
					before = "not set"
				}
				fmt.Fprintf(table, "  %s\t%s\t(now: %s)\n", safetext.Escape(ask.Key), safetext.EscapeLine(ask.After, 300), safetext.EscapeLine(before, 100))
			}
			_ = table.Flush() // stderr was closed on purpose
		}
	}
	return confirmYes(ctx, env, r.File, "read the file, then: company trust --yes", "company trust asks again")
}

// confirmYes asks the person at the terminal, unless --yes answers.
func confirmYes(ctx context.Context, env *command.Environment, what, unasked, refused string) error {
	if env.Yes {
		return nil
	}
	if !env.CanPrompt() {
		return company.E(company.EUsage, "you have to say whether you trust "+what).Because("nobody can be asked here").Fix(unasked)
	}

	answer, err := env.PromptLine(ctx, "let this count? [y/N]> ")
	if err != nil {
		return err
	}
	if word := strings.ToLower(answer); word != "y" && word != "yes" {
		return company.E(company.EWaiting, "not trusted: "+what).Fix(refused)
	}
	return nil
}

// trustLogins lets the checkout's dependencies be fetched with the operator's
// logins.
func trustLogins(ctx context.Context, env *command.Environment) error {
	paths, err := env.FindOffice()
	if err != nil {
		return err
	}
	checkout, err := env.FindCheckout(paths)
	if err != nil {
		return err
	}
	up, err := officeapp.LoadLogins(ctx)
	if err != nil {
		return err
	}
	trust := config.OpenTrust(env.LookupEnv)
	was := trust.MayUseLogins(ctx, checkout)
	if !was {
		if err := askLogins(ctx, env, checkout, up); err != nil {
			return err
		}
		if err := trust.AllowLogins(ctx, checkout); err != nil {
			return err
		}
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{
			"schema_version": 1, "checkout": checkout, "was_trusted": was, "logins": up.Hosts, "go_private": up.GoPrivate,
		})
	}
	_, err = fmt.Fprintf(env.Out, "the dependencies of %s may be fetched with your logins\n", safetext.Escape(checkout))
	return err
}

// askLogins shows what the repository could have, and goes on only with a yes.
func askLogins(ctx context.Context, env *command.Environment, checkout string, up officeapp.Logins) error {
	if env.Output == "text" {
		fmt.Fprintln(env.Err, safetext.Escape(checkout))
		if len(up.Hosts) > 0 {
			fmt.Fprintln(env.Err, "could have packages with your logins at: "+safetext.Escape(strings.Join(up.Hosts, ", ")))
		}
		if up.GoPrivate != "" {
			fmt.Fprintln(env.Err, "could have the Go modules that you call private: "+safetext.EscapeLine(up.GoPrivate, 300))
		}
		if len(up.Hosts) == 0 && up.GoPrivate == "" {
			fmt.Fprintln(env.Err, "no package registry of this host is set to a login now, and GOPRIVATE is empty")
		}
	}
	return confirmYes(ctx, env, checkout, "read what its files ask for, then: company trust --logins --yes", "company trust --logins asks again")
}
