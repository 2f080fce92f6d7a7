package setup

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/surface/cli/command"
)

// NewTrust returns the "company trust" command.
func NewTrust(env *command.Environment) *cobra.Command {
	logins, base := false, ""
	cmd := &cobra.Command{
		Use: "trust", Short: "Trust this repository's company.yaml",
		Example: "  company trust\n  less company.yaml && company trust --yes\n  company trust --logins",
		Long: `A company.yaml may have come with a clone or an archive. Its models, addresses, setup
commands and larger budgets are therefore refused until you trust the file. This
command shows these settings beside the current ones and asks; --yes answers. Files
written by company init or company config set, and your own config file, are trusted.

With container.dockerfile set, you are also asked to trust the Dockerfile or
devcontainer.json of the commit that a task would start from now. Workers' images
are built from it only after that.

Trust covers the exact content that was shown. A changed file must be trusted again.
It is recorded outside the repository.

--logins lets the repository's dependencies be fetched from package registries with
your own logins (.netrc, .npmrc, pip.conf and others), and lets Go modules that match
GOPRIVATE be fetched. Whatever the repository's files name then reaches its
containers and can be pushed from there. This applies to the current checkout, as
long as its origin does not change.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if logins {
				return trustLogins(c.Context(), env)
			}
			return runTrust(c.Context(), env, base)
		},
	}
	cmd.Flags().BoolVar(&logins, "logins", false,
		"fetch this repository's dependencies with your registry logins")
	cmd.Flags().StringVar(&base, "base", "", "branch whose Dockerfile to trust, with container.dockerfile set")
	return cmd
}

func runTrust(ctx context.Context, env *command.Environment, base string) error {
	paths, err := env.FindOffice()
	if err != nil {
		return err
	}
	review, missing := config.ReviewTrust(ctx, env.LoadOptions(paths, nil))
	if missing != nil && company.CodeOf(missing) != company.ENotFound {
		return missing
	}
	needsTrust := missing == nil && len(review.Requests) > 0
	if needsTrust && !review.Trusted {
		if err := askTrust(ctx, env, review); err != nil {
			return err
		}
		if err := config.OpenTrust(env.LookupEnv).Add(review.Hash, review.File); err != nil {
			return err
		}
	}
	// Trusting a file doesn't make its content valid.
	loaded, err := env.LoadConfig(ctx, paths)
	if err != nil {
		if needsTrust {
			env.PrintNote("trusted, but the config does not load:")
		}
		return err
	}
	file := loaded.Config.Container.Dockerfile
	if file == "" && !needsTrust && env.Output == "text" {
		_, err := fmt.Fprintln(env.Out, "nothing here needs your trust")
		return err
	}
	var texts officeapp.DockerfileReview
	if file != "" {
		if texts, err = trustDockerfile(ctx, env, paths, loaded.Config, base); err != nil {
			return err
		}
	}
	if env.Output == "json" {
		out := map[string]any{"schema_version": 1}
		if missing == nil {
			out["file"] = review.File
			out["hash"] = review.Hash
			out["was_trusted"] = review.Trusted
			out["asks"] = append([]config.TrustRequest{}, review.Requests...)
		}
		if file != "" {
			out["dockerfile"] = map[string]any{"path": file, "commit": texts.Commit, "was_trusted": texts.Trusted}
		}
		return env.PrintJSON(env.Out, out)
	}
	if needsTrust {
		_, err = fmt.Fprintf(env.Out, "trusted: %s (%.12s)\n", safetext.Escape(review.File), review.Hash)
	}
	if err == nil && file != "" {
		_, err = fmt.Fprintf(env.Out, "trusted: %s of commit %.12s\n", safetext.EscapeLine(file, 200), texts.Commit)
	}
	return err
}

// trustDockerfile shows the files that describe a repository's image, and trusts them after a yes.
func trustDockerfile(
	ctx context.Context, env *command.Environment, paths office.Paths, cfg config.Config, base string,
) (officeapp.DockerfileReview, error) {
	checkout, err := env.FindCheckout(paths)
	if err != nil {
		return officeapp.DockerfileReview{}, err
	}
	review, err := officeapp.ReviewDockerfile(ctx, cfg, env.LookupEnv, checkout, base)
	if err != nil || review.Trusted {
		return review, err
	}
	what := fmt.Sprintf("%s of commit %.12s", safetext.EscapeLine(cfg.Container.Dockerfile, 200), review.Commit)
	if env.Output == "text" {
		fmt.Fprint(env.Err, review.RenderText(what))
	}
	if err := confirmYes(ctx, env, what, "read the file, then: company trust --yes",
		"company trust asks again"); err != nil {
		return review, err
	}
	return review, review.Add(ctx)
}

// askTrust shows the keys that would become trusted, and continues only after a yes.
func askTrust(ctx context.Context, env *command.Environment, trustReview config.TrustReview) error {
	if env.Output == "text" {
		fmt.Fprint(env.Err, trustReview.RenderText())
	}
	return confirmYes(ctx, env, trustReview.File, "read the file, then: company trust --yes", "company trust asks again")
}

// confirmYes asks the person at the terminal, unless --yes answers.
func confirmYes(ctx context.Context, env *command.Environment, what, unasked, refused string) error {
	if env.Yes {
		return nil
	}
	if !env.CanPrompt() {
		return company.E(company.EUsage, "confirm that you trust "+what).Because("there is no terminal to ask on").
			Fix(unasked)
	}
	yes, err := env.Confirm(ctx, "trust this? [y/N]> ")
	if err == nil && !yes {
		return company.E(company.EWaiting, "not trusted: "+what).Fix(refused)
	}
	return err
}

// trustLogins permits fetching the checkout's dependencies with the operator's logins.
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

// askLogins shows the logins that the repository could use, and continues only after a yes.
func askLogins(ctx context.Context, env *command.Environment, checkout string, up officeapp.Logins) error {
	if env.Output == "text" {
		fmt.Fprint(env.Err, safetext.Escape(checkout)+"\n"+up.RenderText())
	}
	return confirmYes(ctx, env, checkout, "read what its files ask for, then: company trust --logins --yes",
		"company trust --logins asks again")
}
