package app

import (
	"cmp"
	"context"
	"errors"

	"company/internal/company"
	mirrors "company/internal/ecosystem/depproxy"
	"company/internal/lib/safetext"
	"company/internal/lib/secret"
	"company/internal/office/config"
	"company/internal/prepare"
	"company/internal/present/feed"
)

// projectSettings reads the settings for images and gates from the config of a task's project.
type projectSettings struct {
	configs    ConfigSource
	registries *mirrors.Stores
	setupEnv   map[string]secret.Value // the office's own
	trust      config.Trust
	path       string // checkout whose settings apply (empty means the task's own)
}

func (s projectSettings) SettingsOf(ctx context.Context, task *company.Task) (prepare.Project, error) {
	path := cmp.Or(s.path, task.Project.Path)
	loaded, err := s.configs.ConfigFor(ctx, path)
	if err == nil {
		err = loaded.CheckKeyFiles()
	}
	var ce *company.Error
	if errors.As(err, &ce) {
		return prepare.Project{}, ce.NeedsPerson() // a retry cannot fix a file
	}
	if err != nil {
		return prepare.Project{}, err
	}
	project := intakeProject(loaded.Config, s.setupEnv)
	project.Trust = s.trust.ForCheckout(path)
	project.Paths, project.Logins = task.Settings.Paths, s.registries.MayUseLogins(ctx, path)
	return project, nil
}

// intakeProject returns a project's settings for its intake, for all of its folders and without
// logins.
func intakeProject(cfg config.Config, setupEnv map[string]secret.Value) prepare.Project {
	return prepare.Project{
		Image: cfg.Container.Image, Dockerfile: cfg.Container.Dockerfile, Setup: cfg.Container.Setup, SetupEnv: setupEnv,
		Offline: cfg.Container.Deps == "off", Scripts: cfg.Deps.Scripts, Without: cfg.Deps.Without,
		Services: cfg.ServiceNames(),
		Lint:     ToOverride(cfg.Gates.Lint), Types: ToOverride(cfg.Gates.Types), Build: ToOverride(cfg.Gates.Build),
		Test: ToOverride(cfg.Gates.Test), BranchPrefix: cfg.Git.IntegrationBranch,
	}
}

// branchPrefix returns the present git.integration_branch of a task's project.
func (s projectSettings) branchPrefix(ctx context.Context, task *company.Task) (string, error) {
	loaded, err := s.configs.ConfigFor(ctx, cmp.Or(s.path, task.Project.Path))
	return loaded.Config.Git.IntegrationBranch, err
}

// WatchImage publishes a note about a task's image.
func (a *App) WatchImage(t company.TaskID, note string) {
	a.publishItem(feed.Item{Task: t, Kind: "image", Mark: feed.Info, Text: safetext.EscapeLine(note, 300)})
}
