package app

import (
	"context"
	"strings"

	"company/internal/company"
	"company/internal/office/config"
	"company/internal/present/view"
)

// Source returns the data for views of the current state.
func (a *App) Source() view.Source {
	state, activities := a.View(), a.Activities()
	runtime := ""
	if a.atWork.Load() {
		runtime = a.runtime.Kind()
	}
	return view.Source{
		State: state, Now: a.Now(), AtWork: a.atWork.Load(), Active: a.loaded.Config.Limits.ConcurrentTasks,
		Runtime:    runtime,
		Activities: activities, Begun: a.listInterrupted(state, activities),
		Folders: a.viewFolders(),
		Models:  configModels{a.loaded.Config}, Archives: a, Contents: a.ledger, Journals: a,
		Prompts: a,
	}
}

// configModels returns the models of a config by role.
type configModels struct{ config.Config }

func (c configModels) ModelOf(role company.Role) string { return c.Agent(role).Model }

// Verify reads the whole ledger and every blob, and returns the damage.
func (a *App) Verify(ctx context.Context) (view.Verification, error) { return a.verifier.Run(ctx) }

// viewFolders returns the folders of the office. A lookup waits for pending files of runs.
func (a *App) viewFolders() view.Folders {
	paths := a.office.Paths
	has := func(dir, name string) bool {
		if run, file, ok := strings.Cut(name, "/"); ok && dir == paths.Runs {
			return a.projector.HasRunFile(a.lifetime, company.RunID(run), file)
		}
		return paths.HasFile(dir, name)
	}
	return view.Folders{Root: paths.Root, Runs: paths.Runs, Reports: paths.Reports, Backlog: paths.Backlog, Has: has}
}
