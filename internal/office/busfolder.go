package office

import (
	"path/filepath"
	"strings"

	"company/internal/company"
	"company/internal/lib/safedir"
	"company/internal/lib/shellquote"
)

// SettleBusFolder has the records of the office in a folder of its own below path, or in the state folder if path is
// empty. It moves no records: if the office has records elsewhere, it returns EConfig. Records that a person moved to
// the new place are used. records maps each driver to its folder within the bus folder.
func (o *Office) SettleBusFolder(path string, records map[string]string) error {
	standard := filepath.Join(o.State, "bus")
	wanted := standard
	if path != "" {
		wanted = filepath.Join(followLinks(path), filepath.Base(o.State))
	}
	if wanted == o.Bus && o.lostBus == nil {
		return nil
	}
	if o.inState(wanted) && wanted != standard {
		return company.E(company.EConfig, "bus.path is in the office's state folder: "+path).
			Fix("leave bus.path out, or name another folder").NeedsPerson()
	}
	if o.Repo != "" && strings.HasPrefix(wanted, o.Repo+string(filepath.Separator)) {
		return company.E(company.EConfig, "bus.path is in the checkout: "+path).
			Because("git clean would remove the ledger, and a repository could bring one along").
			Fix("name a folder outside of " + o.Repo).NeedsPerson()
	}
	if o.lostBus != nil { // only a folder with records may take its place
		if err := o.openBusFolder(wanted); err != nil || !hasAnyRecords(o.BusFolder, records) {
			return o.lostBus
		}
		o.lostBus = nil
	} else if err := o.makeBusFolder(wanted, records); err != nil {
		return err
	}
	recorded := wanted
	if wanted == standard {
		recorded = ""
	}
	return o.editOfficeFile(func(rec *officeFile) { rec.BusFolder = recorded })
}

// makeBusFolder makes and opens another folder for an office that has no records yet.
func (o *Office) makeBusFolder(wanted string, records map[string]string) error {
	if hasAnyRecords(o.BusFolder, records) {
		return company.E(company.EConfig, "the ledger of this office is in "+o.Bus+", but bus.path asks for "+wanted).
			Fix("keep bus.path as it was; or, while no company works, move the folder: " + moveFolder(o.Bus, wanted)).
			NeedsPerson()
	}
	if kind := fileSystemType(filepath.Dir(filepath.Dir(wanted))); kind != "" {
		return refuseNetwork("the ledger of the office", wanted, kind, "set bus.path to a folder on a disk of this machine")
	}
	made, err := safedir.Make(wanted)
	if err != nil {
		return folderError(wanted, "set bus.path to a folder that you may write", err)
	}
	if err := made.Close(); err != nil {
		return err
	}
	return o.openBusFolder(wanted)
}

// moveFolder returns the shell commands that move a folder. The target may exist as an empty folder.
func moveFolder(from, to string) string {
	first := "mkdir -p " + shellquote.QuoteArgument(filepath.Dir(to))
	if isDir(to) {
		first = "rmdir " + shellquote.QuoteArgument(to)
	}
	return first + " && mv " + shellquote.QuoteArgument(from) + " " + shellquote.QuoteArgument(to)
}

// hasAnyRecords reports whether a folder has records of any driver.
func hasAnyRecords(folder *safedir.Folder, records map[string]string) bool {
	for _, name := range records {
		if hasRecords(folder, name) {
			return true
		}
	}
	return false
}

// openBusFolder opens the folder of the records. It does not create it: on a disk that is not mounted, a new ledger
// would hide the office's own.
func (o *Office) openBusFolder(dir string) error {
	folder, err := safedir.Open(dir)
	if err != nil {
		return company.E(company.EConfig, "cannot open the folder of the ledger: "+dir).Wrap(err).
			Fix("mount its disk; or move the folder back there").NeedsPerson()
	}
	if info, err := folder.Stat(); err != nil || !safedir.OwnedByUs(info) {
		_ = folder.Close()
		return company.E(company.EConfig, "the folder of the ledger belongs to another user: "+dir).Wrap(err).
			Fix("take it over with chown, or set bus.path to a folder of yours").NeedsPerson()
	}
	_ = o.BusFolder.Close() // of the state folder, nothing was written through it
	o.BusFolder, o.Bus = folder, dir
	return nil
}
