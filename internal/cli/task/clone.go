package task

import (
	"context"
	"errors"

	officeapp "company/internal/app"
	"company/internal/cli/command"
	"company/internal/company"
	"company/internal/config"
	"company/internal/office"
	"company/internal/safetext"
)

// cloneProject gives the office's own checkout of the repository at an address. What can
// never be submitted makes none.
func cloneProject(ctx context.Context, env *command.Environment, o submitOptions, paths office.Paths, c config.Config, address, text string) (path string, err error) {
	if o.project != "" {
		return "", company.E(company.EUsage, "--project and --repo at once").Because("--repo names the project already").Fix("use one of them")
	}
	if o.issue == "" {
		trial := company.Submit{Instruction: text, Project: company.Project{ID: "trial", Path: "/"}, Settings: officeapp.CompanySettings(c)}
		if err := trial.Validate(env.WallTime()); err != nil {
			return "", err
		}
	}
	off, err := env.OpenOffice(ctx, paths)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, off.Close()) }()
	done := env.NameSlowStep("fetching " + safetext.EscapeLine(address, 150))
	defer done()
	return officeapp.OpenClone(ctx, off, address, o.base, c, env.LookupEnv)
}
