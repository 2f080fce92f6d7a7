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
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safedir"
)

const (
	officeName    = "office.json"
	maxOfficeFile = 64 << 10
)

// officeFile is the content of state/office.json.
type officeFile struct {
	Version    int       `json:"version"`
	ID         string    `json:"id"`
	Created    time.Time `json:"created"`
	Location   *location `json:"seat,omitempty"`
	CopiedFrom []string  `json:"formerly,omitempty"`
	Bus        string    `json:"bus,omitempty"` // driver of the ledger
}

// location identifies the place of a state folder. A copy of an office contains the original's id, and is recognized
// by its different location.
type location struct {
	Host  string `json:"host,omitempty"`
	Inode uint64 `json:"inode"`
	Path  string `json:"path"`
}

var idRE = lazyregexp.New(`^[a-z2-7]{4}$`)

// ensureID reads the office's id. It makes a new id if there is none, or if the office is a copy of another one.
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
		rec = officeFile{Version: 1, ID: newID(), Created: time.Now().UTC().Truncate(time.Second)}
	case rec.Location != nil && rec.Location.wasCopiedTo(here, rec.ID):
		rec.CopiedFrom = append([]string{rec.ID}, rec.CopiedFrom...)
		rec.ID = newID()
		o.Notices = append(o.Notices, "this office is a copy of "+was.ID+" ("+rec.Location.Path+"): it is "+rec.ID+
			" from now on, and leaves what was under way to the original")
	}
	rec.Location = &here
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

// StoredID returns the id of the office at p without opening it. It returns "" if there is no office yet, its file
// cannot be read, or the office is a copy that will get a new id.
func StoredID(p Paths) string {
	state, err := safedir.Open(p.State)
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

// readLocation returns the location of a state folder.
func readLocation(state *safedir.Folder) (location, error) {
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

// wasCopiedTo reports whether the office with this id was at s and was copied to here. A moved folder keeps its inode,
// and a restored backup has its old path. If both fail to decide, the office that is not at the recorded path is the
// copy.
func (s location) wasCopiedTo(here location, id string) bool {
	switch {
	case s.Inode != here.Inode:
		return s.Path != here.Path || s.Host == "" || s.Host != here.Host
	case s.Path != here.Path:
		return otherOfficeAt(s.Path, here.Path, id)
	}
	return false
}

// otherOfficeAt reports whether a path is the state folder of an office with this id, other than the one at here.
func otherOfficeAt(path, here, id string) bool {
	there, err := safedir.Open(path)
	if err != nil {
		return false
	}
	defer there.Close()
	self, err := safedir.Open(here)
	if err != nil {
		return false
	}
	defer self.Close()
	info, err1 := there.Stat()
	b, err2 := self.Stat()
	if err1 != nil || err2 != nil || os.SameFile(info, b) {
		return false
	}
	rec, known, err := readOfficeFile(there)
	return err == nil && known && rec.ID == id
}

// hostID identifies this machine by a hash that does not reveal its id. It returns "" if the machine has no permanent
// id, as in many containers.
func hostID() string {
	for _, file := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		if text, err := os.ReadFile(file); err == nil && len(strings.TrimSpace(string(text))) >= 16 {
			sum := sha256.Sum256([]byte("office of company " + strings.TrimSpace(string(text))))
			return hex.EncodeToString(sum[:8])
		}
	}
	return ""
}
