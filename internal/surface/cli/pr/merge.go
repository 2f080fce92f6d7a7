package pr

import (
	"context"
	"fmt"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/terminalio"
)

const mergeHelp = `Merges a pull request after you confirm it at a terminal. On a forge, the merge is
refused if the branch is no longer at the reviewed commit. Without a forge, your own
git merges it in the project's checkout, with your hooks and signature, and pushes
it if there is a remote. The checkout must be clean and on the base branch.

--yes skips the question but still needs a terminal. Without a terminal, the commands
to merge are printed instead. A pull request that is already merged is recorded as
merged. Without your confirmation, company never moves a base branch.`

// openPull reads a pull request and releases the office, because a person may need time for the
// next step.
func openPull(
	ctx context.Context, env *command.Environment, number string,
) (*company.Task, officeapp.PullReview, error) {
	pullRecord, conn, err := openPR(ctx, env, number)
	if err != nil {
		return nil, officeapp.PullReview{}, err
	}
	conn.Close()
	review, err := reviewOf(ctx, env, pullRecord)
	return pullRecord.Task(), review, err
}

// gitOf returns the person's git for a checkout.
func gitOf(env *command.Environment, dir string) officeapp.PersonGit {
	return officeapp.PersonGit{Dir: dir, Environ: env.Environ, In: env.In, Err: terminalio.FileOf(env.Err)}
}

func checkoutPR(ctx context.Context, env *command.Environment, number string) error {
	task, review, err := openPull(ctx, env, number)
	if err != nil {
		return err
	}
	dir, err := env.FindCheckout(review.Paths)
	if err != nil {
		return err
	}
	branch, err := review.Checkout(ctx, task, gitOf(env, dir))
	if err != nil {
		return err
	}
	if env.Output == "json" {
		return env.PrintJSON(
			env.Out, map[string]any{"schema_version": 1, "pull_request": task.PR.Number, "branch": branch, "head": task.PR.Head,
				"checkout": dir})
	}
	fmt.Fprintf(env.Out, "%s is on %s, at %s\n", dir, branch, task.PR.Head.Short())
	return nil
}

func mergePR(ctx context.Context, env *command.Environment, number string) error {
	task, review, err := openPull(ctx, env, number)
	if err != nil {
		return err
	}
	merged := company.OID("") // merged by this command; needs no second check
	if task.PR.State == company.PROpen {
		err = review.CheckMerged(ctx, task)
		if company.CodeOf(err) == company.EProtected && env.CanPrompt() {
			err = confirmMerge(ctx, env, task, review)
			merged = task.PR.Head
		}
		if err != nil {
			return err
		}
	}
	return settlePR(ctx, env, number, company.PRMerged, "", func(pullRecord view.PullRecord) (company.OID, error) {
		if merged != "" {
			return merged, nil
		}
		return pullRecord.Task().PR.Head, review.CheckMerged(ctx, pullRecord.Task())
	})
}

// confirmMerge merges a pull request after the person at the terminal confirms.
func confirmMerge(
	ctx context.Context, env *command.Environment, task *company.Task, review officeapp.PullReview,
) error {
	pullMerge, err := review.PrepareMerge(ctx, task, gitOf(env, task.Project.Path))
	if err != nil {
		return err
	}
	if env.Yes {
		env.PrintNote("%s yes", pullMerge.Question)
		return pullMerge.Do(ctx)
	}
	switch yes, err := env.Confirm(ctx, pullMerge.Question+" [y/N] "); {
	case err != nil:
		return err
	case !yes:
		return company.E(company.EWaiting, fmt.Sprintf("#%d not merged", task.PR.Number)).
			Fix(fmt.Sprintf("see company pr diff %d", task.PR.Number))
	}
	return pullMerge.Do(ctx)
}

// reviewOf returns the PullReview for a pull request of the office, with the config of the office.
func reviewOf(ctx context.Context, env *command.Environment, pullRecord view.PullRecord) (officeapp.PullReview, error) {
	paths, err := env.FindOffice()
	if err != nil {
		return officeapp.PullReview{}, err
	}
	loaded, err := env.LoadConfig(ctx, paths)
	return officeapp.PullReview{Paths: paths, Config: loaded.Config, Office: pullRecord.Office, Env: env.LookupEnv,
		Logger: env.Log}, err
}
