package app

import (
	"context"
	"strings"

	"company/internal/company"
	"company/internal/config"
	"company/internal/view"
)

// Source is what the views of this moment are made from.
func (a *App) Source() view.Source {
	return view.Source{
		State: a.View(), Now: a.Now(), Activities: a.Activities(), Folders: a.viewFolders(),
		Models: configModels{a.loaded.Config}, Archives: a, Contents: a.ledger, Journals: a, Damage: a.verifier.Damage(),
	}
}

// configModels are the models of a config.
type configModels struct{ config.Config }

func (c configModels) ModelOf(role company.Role) string { return c.Agent(role).Model }

// Verify reads the whole ledger and every blob, and returns the damage.
func (a *App) Verify(ctx context.Context) (view.Verification, error) { return a.verifier.Run(ctx) }

// viewFolders are the folders of the office. Files of runs that are still to be written are
// awaited.
func (a *App) viewFolders() view.Folders {
	p := a.office.Paths
	return view.Folders{Root: p.Root, Runs: p.Runs, Backlog: p.Backlog, Has: func(dir, name string) bool {
		if run, file, ok := strings.Cut(name, "/"); ok && dir == p.Runs {
			return a.projector.HasRunFile(a.lifetime, company.RunID(run), file)
		}
		return p.HasFile(dir, name)
	}}
}
