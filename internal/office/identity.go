package office

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safedir"
)

const (
	officeName    = "office.json"
	maxOfficeFile = 64 << 10
)

// officeFile is the content of office.json in the state folder.
type officeFile struct {
	Version int       `json:"version"` // format of the office's records
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	Dir     string    `json:"dir"`           // the .company folder in which the office was last opened
	Folder  string    `json:"folder"`        // identifyFolder of the folder that contains it
	Bus     string    `json:"bus,omitempty"` // driver of the ledger
	// BusFolder is the folder of the records if it is not in the state folder (bus.path).
	BusFolder string `json:"bus_folder,omitempty"`
	// Migrated is the format of complete records that company migrate has yet to move into place.
	Migrated int `json:"migrated,omitempty"`
}

var idRE = lazyregexp.New(`^[a-z2-7]{4}$`)

// ensureID reads the office's id, or makes one, and records where the office is.
func (o *Office) ensureID() error {
	state := o.StateFolder
	unlock, err := state.Lock()
	if err != nil {
		return idError(state, err)
	}
	defer unlock()
	rec, known, err := readOfficeFile(state)
	if err != nil {
		return err
	}
	was := rec
	if !known {
		if name := readPointer(o.ownDir); name == filepath.Base(o.State) {
			o.Notices = append(o.Notices, "the office's state is gone from "+o.State+"; a new office begins")
		} else if name != "" {
			o.Notices = append(o.Notices, "this folder came with the pointer of another office, "+name+
				"; it has an office of its own from now on")
		}
		rec = officeFile{Version: newestFormat(), ID: newID(), Created: time.Now().UTC().Truncate(time.Second)}
	} else if !isSameFolder(rec.Dir, o.ownDir) {
		o.Notices = append(o.Notices, "the office of "+filepath.Dir(rec.Dir)+" moved here with its folder")
	}
	if format := (Format{Stored: rec.Version, Newest: newestFormat()}); !o.migrates {
		if err := format.RequireNewest(); err != nil {
			return err
		}
	}
	if rec.BusFolder != "" {
		o.lostBus = o.openBusFolder(rec.BusFolder)
	}
	rec.Dir, rec.Folder = o.ownDir, identifyFolder(o.parentDir)
	o.ID = rec.ID
	if rec == was {
		return nil
	}
	return writeOfficeFile(state, rec)
}

// ReadID returns the id of an office without opening it, or "" if it has none.
func ReadID(p Paths) string {
	rec, _ := peekOfficeFile(p.State)
	return rec.ID
}

// writeOfficeFile replaces office.json.
func writeOfficeFile(state *safedir.Folder, rec officeFile) error {
	data, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	if err := state.WriteFile(officeName, append(data, '\n'), 0o600); err != nil {
		return idError(state, err)
	}
	return state.Sync(".")
}

func idError(state *safedir.Folder, err error) error {
	var own *company.Error
	if errors.As(err, &own) {
		return err
	}
	return company.E(company.EConfig, "cannot store the office's id in "+state.Path()).Wrap(err).
		Fix("check that you own the folder and that the disk has space")
}

// StoredID returns the id of the office at p without opening it. It returns "" if there is no office yet, or its file
// cannot be read.
func StoredID(p Paths) string {
	rec, _ := peekOfficeFile(p.State)
	return rec.ID
}

// readOfficeFile reads office.json. known is false if the file does not exist.
func readOfficeFile(state *safedir.Folder) (rec officeFile, known bool, err error) {
	data, err := state.ReadFile(officeName, maxOfficeFile)
	if errors.Is(err, fs.ErrNotExist) {
		return officeFile{}, false, nil
	}
	var own *company.Error
	if errors.As(err, &own) {
		return officeFile{}, false, err
	}
	if err != nil {
		return officeFile{}, false, company.E(company.EConfig, state.Join(officeName)+" cannot be read").Wrap(err).
			Fix("check that it is a plain file that you own")
	}
	if err := json.Unmarshal(data, &rec); err != nil || rec.Version < 1 || !idRE.MatchString(rec.ID) {
		return officeFile{}, false, company.E(company.EConfig, state.Join(officeName)+" is damaged").Wrap(err).
			Fix(company.PutCopyBack("it") + "; branches carry the id in it")
	}
	return rec, true, nil
}

func newID() string {
	var raw [8]byte
	_, _ = rand.Read(raw[:]) // never fails
	return strings.ToLower(base32.StdEncoding.EncodeToString(raw[:]))[:4]
}
