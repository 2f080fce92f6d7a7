package office

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safedir"
	"company/internal/office/config"
)

// The state folder of an office is in the user's home, because anybody who writes into a repository also writes into
// its checkouts. A pointer in .company names it. The name contains a hash that nobody else can guess, so a pointer
// that came with a repository names no office of this machine. git clean removes the pointer. Then the office is
// found by the checkout that its office.json records.

// pointerName is the file in .company that names the office's state folder.
const pointerName = "office"

var stateNameRE = lazyregexp.New(`^[A-Za-z0-9._-]{1,40}-[0-9a-f]{16}$`)

// makeStateName returns the name for the state folder of a new office with this .company folder.
func makeStateName(ownDir string) string {
	base := strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", r) {
			return r
		}
		return '-'
	}, filepath.Base(filepath.Dir(ownDir)))
	base = strings.TrimLeft(base[:min(len(base), 40)], ".-")
	sum := sha256.Sum256([]byte(ownDir + "\x00" + identifyFolder(filepath.Dir(ownDir))))
	return cmp.Or(base, "office") + "-" + hex.EncodeToString(sum[:8])
}

// identifyFolder returns what stays the same about a folder while it is on its disk: its inode and, where the disk
// records it, the time at which it was created. It returns "" if the folder does not exist.
func identifyFolder(dir string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d-%d", st.Ino, birthTime(dir, st))
}

// findState sets the path of the office's state folder, which may not exist.
func (p *Paths) findState(env func(string) (string, bool)) error {
	home, ok := config.StateHome(env)
	if !ok {
		return company.E(company.EConfig, "there is no folder for the office's state").
			Because("neither HOME nor XDG_STATE_HOME names one").
			Fix("set HOME, or set XDG_STATE_HOME to a folder of yours")
	}
	home = followLinks(home)
	if p.Repo != "" && (home == p.Repo || strings.HasPrefix(home, p.Repo+string(filepath.Separator))) {
		return company.E(company.EConfig, "the office's state would be in the checkout: "+home).
			Because("git clean would remove it, and a repository could bring one along").
			Fix("set XDG_STATE_HOME to a folder outside of " + p.Repo)
	}
	own := filepath.Join(home, makeStateName(p.ownDir))
	p.State = own
	if name := readPointer(p.ownDir); name != "" && name != filepath.Base(own) {
		p.State = filepath.Join(home, name)
		if rec, ok := peekOfficeFile(p.State); ok && !rec.isElsewhere(p.ownDir, name) {
			return nil
		}
		p.State = own
	}
	if !p.Exists() {
		if recorded := findRecorded(home, p.ownDir); recorded != "" {
			p.State = recorded
		}
	}
	return nil
}

// isElsewhere reports whether the office is still where it was last opened, so that ownDir is a copy of its folder.
func (f officeFile) isElsewhere(ownDir, pointer string) bool {
	if isSameFolder(f.Dir, ownDir) {
		return false
	}
	there := identifyFolder(filepath.Dir(f.Dir))
	return there != "" && there == f.Folder || readPointer(f.Dir) == pointer
}

// isSameFolder reports whether two paths lead to one folder, as with a bind mount.
func isSameFolder(a, b string) bool {
	first, err1 := os.Stat(a)
	second, err2 := os.Stat(b)
	return a == b || err1 == nil && err2 == nil && os.SameFile(first, second)
}

// findRecorded returns the state folder of the office that was last opened in this .company folder. It returns "" if
// there is none, or if another folder has taken that path since.
func findRecorded(home, ownDir string) string {
	offices, err := safedir.Open(home)
	if err != nil {
		return ""
	}
	defer offices.Close()
	entries, _ := offices.List(".") // a folder that cannot be listed has no office for us
	folder := identifyFolder(filepath.Dir(ownDir))
	for _, entry := range entries {
		if !stateNameRE.MatchString(entry.Name()) {
			continue
		}
		dir := filepath.Join(home, entry.Name())
		if rec, ok := peekOfficeFile(dir); ok && rec.Dir == ownDir && rec.Folder == folder {
			return dir
		}
	}
	return ""
}

// followLinks follows the links of the part of a path that exists.
func followLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(followLinks(dir), filepath.Base(path))
	}
	return path
}

// readPointer returns the name of the state folder that a .company folder points to. It returns "" if there is no such
// file, if it does not hold a name, or if the folder is a link or belongs to another user.
func readPointer(ownDir string) string {
	if info, err := os.Lstat(ownDir); err != nil || !info.IsDir() || !safedir.OwnedByUs(info) {
		return ""
	}
	own, err := safedir.Open(ownDir)
	if err != nil {
		return ""
	}
	defer own.Close()
	text, err := own.ReadFile(pointerName, 4096)
	name := strings.TrimSpace(string(text))
	if err != nil || !stateNameRE.MatchString(name) {
		return ""
	}
	return name
}

// peekOfficeFile reads the office file of a state folder. ok is false if it cannot be read.
func peekOfficeFile(dir string) (rec officeFile, ok bool) {
	state, err := safedir.Open(dir)
	if err != nil {
		return rec, false
	}
	defer state.Close()
	rec, known, err := readOfficeFile(state)
	return rec, err == nil && known
}

// openState creates the missing folders of the state, and opens it.
func (p Paths) openState() (*safedir.Folder, error) {
	info, err := os.Lstat(p.State)
	if err == nil && !safedir.OwnedByUs(info) {
		return nil, company.E(company.EConfig, "the state of the office belongs to another user: "+p.State).
			Fix("run as that user, take the folder over with chown, or set XDG_STATE_HOME to a folder of yours")
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, p.stateError(err)
	}
	state, err := safedir.Make(p.State)
	if err != nil {
		return nil, p.stateError(err)
	}
	err = state.Chmod(0o700)
	for _, dir := range []string{p.Bus, p.Git, p.Cache, p.Logs} {
		if err == nil {
			err = state.Mkdir(relativePath(p.State, dir))
		}
	}
	if err != nil {
		return nil, p.stateError(errors.Join(err, state.Close()))
	}
	return state, nil
}

// stateError returns the error for a state folder that cannot be created or written.
func (p Paths) stateError(err error) error {
	return folderError(p.State, "set XDG_STATE_HOME to a folder that you may write", err)
}

// hideFromGit makes git ignore the folders for people, and writes the pointer.
func (o *Office) hideFromGit(base *safedir.Folder) error {
	for _, dir := range o.readableFolders() {
		if strings.HasPrefix(dir, companyDir+"/") {
			continue // that of .company hides it
		}
		if _, err := base.Lstat(dir + "/.gitignore"); err == nil && dir != companyDir {
			continue // people may have decided what git tracks there
		}
		if err := writeOnce(base, dir+"/.gitignore", "*\n"); err != nil {
			return err
		}
	}
	return writeOnce(base, companyDir+"/"+pointerName, filepath.Base(o.State)+"\n")
}

// writeOnce writes a file unless it has this text already.
func writeOnce(base *safedir.Folder, name, text string) error {
	if have, err := base.ReadFile(name, 4096); err == nil && string(have) == text {
		return nil
	}
	if err := base.WriteFile(name, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", base.Join(name), err)
	}
	return nil
}
