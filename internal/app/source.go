package app

import (
	"company/internal/company"
	"company/internal/office"
	"company/internal/view"
)

// Source is what the views of this moment are made from.
func (h *App) Source() view.Source {
	return view.Source{
		State: h.View(), Now: h.Now(), Activities: h.Activities(), Folders: ViewFolders(h.office.Paths),
		Model: func(role company.Role) string { return h.loaded.Config.Agent(role).Model },
	}
}

// ViewFolders are the folders of an office as views name them.
func ViewFolders(p office.Paths) view.Folders {
	has := func(dir, name string) bool {
		own, err := p.Folder(dir)
		if err != nil {
			return false
		}
		defer own.Close()
		info, err := own.Lstat(name)
		return err == nil && info.Mode().IsRegular()
	}
	return view.Folders{Root: p.Root, Runs: p.Runs, Backlog: p.Backlog, Has: has}
}
