package task

import (
	"context"
	"errors"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/surface/cli/command"
)

// cloneProject returns the office's own checkout of the repository at an address. It rejects an
// invalid submission before cloning.
func cloneProject(
	ctx context.Context, env *command.Environment, options submitOptions, paths office.Paths, cfg config.Config, address,
	text string,
) (path string, err error) {
	if options.project != "" {
		return "", company.E(company.EUsage, "--project and --repo cannot be used together").Because("--repo already names the project").
			Fix("use one of them")
	}
	if options.issue == "" {
		trial := company.Submit{Instruction: text, Project: company.Project{ID: "trial", Path: "/"},
			Settings: officeapp.CompanySettings(cfg)}
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
	return officeapp.OpenClone(ctx, off, address, options.base, cfg, env.LookupEnv)
}
