package cli

import (
	"context"
	"errors"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/config"
	"company/internal/gates"
	"company/internal/gitops"
)

// repoCheck is what there is to see of a repository before anything is made: where
// a task would start from, and what its checks would be there.
type repoCheck struct {
	base          gitops.BaseInfo
	project       gates.Project
	gatesError    error    // why the checks could not be looked for; the task will tell more
	model         string   // the model that stands for the default, where the config names none
	modelWarnings []string // models that their servers do not list
}

// checkRepo looks at the objects of a checkout.
func checkRepo(ctx context.Context, c config.Config, repo, ref string) (repoCheck, error) {
	m, base, done, err := gitops.View(ctx, repo, c.Git.Remote, ref)
	if err != nil {
		return repoCheck{}, addGitHint(err)
	}
	defer done()
	s := repoCheck{base: base}
	s.project, s.gatesError = gates.Detect(ctx, m, base.OID, gates.Options{Lint: officeapp.ToOverride(c.Gates.Lint), Test: officeapp.ToOverride(c.Gates.Test), Paths: c.Git.Paths})
	return s, nil
}

// addGitHint says what to do about a repository that git cannot read, where the
// error does not: trying again goes no better.
func addGitHint(err error) error {
	var e *company.Error
	if !errors.As(err, &e) || e.Code != company.EGit || e.Hint != "" {
		return err
	}
	return e.Fix("git status and git fsck name the fault; mend it, or clone it anew").NeedsPerson()
}
