package app

import (
	"cmp"
	"context"
	"errors"

	"company/internal/company"
	"company/internal/config"
	mirrors "company/internal/depproxy"
	"company/internal/feed"
	"company/internal/intake"
	"company/internal/safetext"
	"company/internal/secret"
)

// projectSettings read what the config of a task's project says of its images and
// gates.
type projectSettings struct {
	configs    ConfigSource
	registries *mirrors.Stores
	setupEnv   map[string]secret.Value // the office's own
	trust      config.Trust
	path       string // of the checkout whose settings count; empty: the task's own
}

func (s projectSettings) SettingsOf(ctx context.Context, t *company.Task) (intake.Project, error) {
	path := cmp.Or(s.path, t.Project.Path)
	loaded, err := s.configs.ConfigFor(ctx, path)
	if err == nil {
		err = loaded.CheckKeyFiles()
	}
	var ce *company.Error
	if errors.As(err, &ce) {
		return intake.Project{}, ce.NeedsPerson() // no second try mends a file
	}
	if err != nil {
		return intake.Project{}, err
	}
	p := intakeProject(loaded.Config, s.setupEnv)
	p.Trust = s.trust.ForCheckout(path)
	p.Paths, p.Logins = t.Settings.Paths, s.registries.MayUseLogins(ctx, path)
	return p, nil
}

// intakeProject is the config of a project as its intake has it, for all of its
// folders and without logins.
func intakeProject(c config.Config, setupEnv map[string]secret.Value) intake.Project {
	return intake.Project{
		Image: c.Container.Image, Dockerfile: c.Container.Dockerfile, Setup: c.Container.Setup, SetupEnv: setupEnv, Offline: c.Container.Deps == "off", Scripts: c.Deps.Scripts, Without: c.Deps.Without,
		Services: c.ServiceNames(),
		Lint:     ToOverride(c.Gates.Lint), Types: ToOverride(c.Gates.Types), Build: ToOverride(c.Gates.Build), Test: ToOverride(c.Gates.Test),
	}
}

// WatchImage passes on what the image of a task lacks.
func (a *App) WatchImage(t company.TaskID, note string) {
	a.publishItem(feed.Item{Task: t, Kind: "image", Mark: feed.Info, Text: safetext.EscapeLine(note, 300)})
}
