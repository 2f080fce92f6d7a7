package app

import (
	"context"

	"company/internal/office"
	"company/internal/view"
)

// Source is what the views of this moment are made from.
func (a *App) Source() view.Source {
	return view.Source{
		State: a.View(), Now: a.Now(), Activities: a.Activities(), Folders: viewFolders(a.office.Paths),
		Models: officeAgents{cfg: a.loaded.Config}, Archives: a, Damage: a.verifier.Damage(),
	}
}

// Verify reads the whole ledger and every blob, and returns the damage.
func (a *App) Verify(ctx context.Context) (view.Verification, error) { return a.verifier.Run(ctx) }

func viewFolders(p office.Paths) view.Folders {
	return view.Folders{Root: p.Root, Runs: p.Runs, Backlog: p.Backlog, Has: p.HasFile}
}
