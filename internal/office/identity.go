package office

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"company/internal/company"
	"company/internal/config"
	"company/internal/folder"
	"company/internal/lazyregexp"
)

const (
	officeName    = "office.json"
	maxOfficeFile = 64 << 10
	// layoutVersion is the arrangement of folders that this version makes.
	layoutVersion = 2
)

// officeFile is state/office.json. Fields beyond the first three were added
// later: an office of before has none of them.
type officeFile struct {
	Version    int                   `json:"version"`
	ID         string                `json:"id"`
	Created    time.Time             `json:"created"`
	Layout     int                   `json:"layout,omitempty"`
	Readable   *config.ReadablePaths `json:"paths,omitempty"` // where an office of before keeps its readable files
	Location   *location             `json:"seat,omitempty"`
	CopiedFrom []string              `json:"formerly,omitempty"`
	Bus        string                `json:"bus,omitempty"` // the driver that has the ledger
}

// location is where a state folder is. A copy of an office has the original's id
// in its files, and is known by being elsewhere.
type location struct {
	Host  string `json:"host,omitempty"`
	Inode uint64 `json:"inode"`
	Path  string `json:"path"`
}

var idRE = lazyregexp.New(`^[a-z2-7]{4}$`)

// ensureID reads the office's id, and makes one where there is none or where
// the one that is there is another office's.
func (o *Office) ensureID() error {
	state := o.StateFolder
	unlock, err := state.Lock()
	if err != nil {
		return idError(state, err)
	}
	defer unlock()
	here, err := readLocation(state)
	if err != nil {
		return idError(state, err)
	}
	rec, known, err := readOfficeFile(state)
	if err != nil {
		return err
	}
	was := rec
	switch {
	case !known:
		rec = officeFile{Version: 1, ID: newID(), Created: time.Now().UTC().Truncate(time.Second), Layout: layoutVersion}
	case rec.Location != nil && rec.Location.wasCopiedTo(here, rec.ID):
		rec.CopiedFrom = append([]string{rec.ID}, rec.CopiedFrom...)
		rec.ID = newID()
		o.Notices = append(o.Notices, "this office is a copy of "+was.ID+" ("+rec.Location.Path+"): it is "+rec.ID+" from now on, and leaves what was under way to the original")
	}
	rec.Location = &here
	if rec.Layout == 0 {
		rec.Layout = layoutVersion
		if o.isLegacy {
			rec.Readable = &config.ReadablePaths{Runtime: pathDir(o.relativePath(o.Runs)), Backlog: o.relativePath(o.Backlog)}
			o.Notices = append(o.Notices, "this office keeps its readable files where it began to, in "+rec.Readable.Runtime+"/ and "+rec.Readable.Backlog+
				"/; a new one keeps them in .company/ (paths in company.yaml says where)")
		}
	}
	o.ID, o.CopiedFrom = rec.ID, rec.CopiedFrom
	data, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	if before, err := json.Marshal(was); err == nil && string(before) == string(data) {
		return nil
	}
	return writeOfficeFile(state, rec)
}

// writeOfficeFile replaces office.json.
func writeOfficeFile(state *folder.Folder, rec officeFile) error {
	data, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	if err := state.WriteFile(officeName, append(data, '\n'), 0o600); err != nil {
		return idError(state, err)
	}
	return state.Sync(".")
}

func idError(state *folder.Folder, err error) error {
	var own *company.Error
	if errors.As(err, &own) {
		return err
	}
	return company.E(company.EConfig, "the office's id cannot be kept in "+state.Path()).Wrap(err).Fix("see that the folder is yours and has space")
}

// StoredID returns the id of the office at p, without opening it. It is empty where there is no
// office yet, where its file cannot be read, and where the office is a copy that gets another id.
func StoredID(p Paths) string {
	state, err := folder.Open(p.State)
	if err != nil {
		return ""
	}
	defer state.Close()
	here, err := readLocation(state)
	if err != nil {
		return ""
	}
	rec, known, err := readOfficeFile(state)
	if err != nil || !known || rec.Location != nil && rec.Location.wasCopiedTo(here, rec.ID) {
		return ""
	}
	return rec.ID
}

// readOfficeFile reads office.json; known is false where there is none.
func readOfficeFile(state *folder.Folder) (rec officeFile, known bool, err error) {
	data, err := state.ReadFile(officeName, maxOfficeFile)
	if errors.Is(err, fs.ErrNotExist) {
		return officeFile{}, false, nil
	}
	var own *company.Error
	if errors.As(err, &own) {
		return officeFile{}, false, err
	}
	if err != nil {
		return officeFile{}, false, company.E(company.EConfig, state.Join(officeName)+" cannot be read").Wrap(err).Fix("see that it is a plain file of yours")
	}
	if err := json.Unmarshal(data, &rec); err != nil || rec.Version != 1 || !idRE.MatchString(rec.ID) {
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

// readLocation is where a state folder is.
func readLocation(state *folder.Folder) (location, error) {
	info, err := state.Stat()
	if err != nil {
		return location{}, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return location{}, errors.ErrUnsupported
	}
	return location{Host: hostID(), Inode: st.Ino, Path: state.Path()}, nil
}

// wasCopiedTo reports whether the office of this id was at s and is copied to
// here. A folder that is moved keeps its inode; a backup that is put back has
// its old path. Where neither decides, the office that is not at the recorded
// path is the copy.
func (s location) wasCopiedTo(here location, id string) bool {
	switch {
	case s.Inode != here.Inode:
		return s.Path != here.Path || s.Host == "" || s.Host != here.Host
	case s.Path != here.Path:
		return otherOfficeAt(s.Path, here.Path, id)
	}
	return false
}

// otherOfficeAt reports whether an office of this id, and not the one that is here,
// has its state at a path.
func otherOfficeAt(path, here, id string) bool {
	there, err := folder.Open(path)
	if err != nil {
		return false
	}
	defer there.Close()
	self, err := folder.Open(here)
	if err != nil {
		return false
	}
	defer self.Close()
	a, err1 := there.Stat()
	b, err2 := self.Stat()
	if err1 != nil || err2 != nil || os.SameFile(a, b) {
		return false
	}
	rec, known, err := readOfficeFile(there)
	return err == nil && known && rec.ID == id
}

// hostID names this machine by a hash that does not reveal it. It is empty
// where the machine has no name that stays, as in many containers.
func hostID() string {
	for _, file := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		if text, err := os.ReadFile(file); err == nil && len(strings.TrimSpace(string(text))) >= 16 {
			sum := sha256.Sum256([]byte("office of company " + strings.TrimSpace(string(text))))
			return hex.EncodeToString(sum[:8])
		}
	}
	return ""
}
