package pr

import (
	"context"
	"fmt"

	officeapp "company/internal/app"
	"company/internal/cli/command"
	"company/internal/company"
	"company/internal/console"
	"company/internal/view"
)

const mergeHelp = `Merges a pull request when you confirm it at a terminal: on its forge, which holds
the merge against the commit that was reviewed; else with your own git, hooks and
signature in the project's checkout, which must be clean and on the base branch,
and is pushed where there is a remote. --yes spares the question, not the terminal.

What is merged already, in whichever way, is noted as merged. Without a terminal
nothing is merged: the commands that do it are printed. The company itself never
moves a base branch.`

// openPull reads a pull request, and lets go of the office: a person may take time over
// the next step.
func openPull(ctx context.Context, env *command.Environment, number string) (*company.Task, officeapp.PullReview, error) {
	r, conn, err := openPR(ctx, env, number)
	if err != nil {
		return nil, officeapp.PullReview{}, err
	}
	conn.Close()
	review, err := reviewOf(ctx, env, r)
	return r.Task(), review, err
}

// gitOf is the person's git in a checkout.
func gitOf(env *command.Environment, dir string) officeapp.PersonGit {
	return officeapp.PersonGit{Dir: dir, Environ: env.Environ, In: env.In, Err: console.FileOf(env.Err)}
}

func checkoutPR(ctx context.Context, env *command.Environment, number string) error {
	t, review, err := openPull(ctx, env, number)
	if err != nil {
		return err
	}
	dir, err := env.FindCheckout(review.Paths)
	if err != nil {
		return err
	}
	branch, err := review.Checkout(ctx, t, gitOf(env, dir))
	if err != nil {
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(env.Out, map[string]any{"schema_version": 1, "pull_request": t.PR.Number, "branch": branch, "head": t.PR.Head, "checkout": dir})
	}
	fmt.Fprintf(env.Out, "%s is on %s, at %s\n", dir, branch, t.PR.Head.Short())
	return nil
}

func mergePR(ctx context.Context, env *command.Environment, number string) error {
	t, review, err := openPull(ctx, env, number)
	if err != nil {
		return err
	}
	merged := company.OID("") // by this command, which needs no second look
	if t.PR.State == company.PROpen {
		err = review.CheckMerged(ctx, t)
		if company.CodeOf(err) == company.EProtected && env.CanPrompt() {
			err = confirmMerge(ctx, env, t, review)
			merged = t.PR.Head
		}
		if err != nil {
			return err
		}
	}
	return settlePR(ctx, env, number, company.PRMerged, "", func(r view.PullRecord) (company.OID, error) {
		if merged != "" {
			return merged, nil
		}
		return r.Task().PR.Head, review.CheckMerged(ctx, r.Task())
	})
}

// confirmMerge merges a pull request once the person at the terminal has confirmed it.
func confirmMerge(ctx context.Context, env *command.Environment, t *company.Task, review officeapp.PullReview) error {
	m, err := review.PrepareMerge(ctx, t, gitOf(env, t.Project.Path))
	if err != nil {
		return err
	}
	if env.Yes {
		env.PrintNote("%s yes", m.Question)
		return m.Do(ctx)
	}
	switch yes, err := env.Confirm(ctx, m.Question+" [y/N] "); {
	case err != nil:
		return err
	case !yes:
		return company.E(company.EWaiting, fmt.Sprintf("#%d is not merged", t.PR.Number)).Fix(fmt.Sprintf("see company pr diff %d", t.PR.Number))
	}
	return m.Do(ctx)
}

// reviewOf asks what became of a pull request of the office.
func reviewOf(ctx context.Context, env *command.Environment, r view.PullRecord) (officeapp.PullReview, error) {
	paths, err := env.FindOffice()
	if err != nil {
		return officeapp.PullReview{}, err
	}
	loaded, err := env.LoadConfig(ctx, paths)
	return officeapp.PullReview{Paths: paths, Config: loaded.Config, Office: r.Office, Env: env.LookupEnv, Logger: env.Log}, err
}
