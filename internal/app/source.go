package app

import (
	"company/internal/office"
	"company/internal/view"
)

// Source is what the views of this moment are made from.
func (h *App) Source() view.Source {
	return view.Source{
		State: h.View(), Now: h.Now(), Activities: h.Activities(), Folders: viewFolders(h.office.Paths),
		Models: officeAgents{cfg: h.loaded.Config},
	}
}

func viewFolders(p office.Paths) view.Folders {
	return view.Folders{Root: p.Root, Runs: p.Runs, Backlog: p.Backlog, Has: p.HasFile}
}
