package office

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"company/internal/company"
	"company/internal/config"
	"company/internal/folder"
)

// companyDir is the folder of an office's own files.
const companyDir = ".company"

// Paths are the places of an office. All are absolute and free of symbolic
// links (STA-15).
//
// All that an office owns lies in .company/, beside a company.yaml or not. The
// readable files alone may lie elsewhere, where company.yaml names the folders
// under paths.
type Paths struct {
	Root      string // the office: the folder of company.yaml, or the .company folder
	Repo      string // top of the git checkout that the office is in; empty for none
	Config    string // company.yaml, which need not exist
	State     string // state of the company; 0700
	Bus       string // state of the embedded bus
	Git       string // mirrors and quarantines
	Cache     string // what can be made again
	Logs      string // logs of processes
	Runs      string // a folder per run, to look at
	Tasks     string // a file per task, to look at
	Backlog   string // a file per subtask, to look at
	ownDir    string // the .company folder
	parentDir string // what holds it, and all other folders of the office
	isLegacy  bool   // made before there was paths, with readable files beside company.yaml
}

// Run is the folder of a run's readable files.
func (p Paths) Run(id company.RunID) string { return filepath.Join(p.Runs, string(id)) }

// WithReadable are the paths with the readable files where a config says.
func (p Paths) WithReadable(r config.ReadablePaths) Paths {
	runtime := filepath.Join(p.parentDir, filepath.FromSlash(r.Runtime))
	p.Runs, p.Tasks = filepath.Join(runtime, "runs"), filepath.Join(runtime, "state")
	p.Backlog = filepath.Join(p.parentDir, filepath.FromSlash(r.Backlog))
	return p
}

// Lock is the file that the holder of the office locks.
func (p Paths) Lock() string { return filepath.Join(p.State, lockName) }

// Exists reports whether the office was ever opened. One that may not be looked into, such
// as another user's, was: opening it tells why it cannot be.
func (p Paths) Exists() bool {
	state, err := p.Folder(p.State)
	if err == nil {
		defer state.Close()
		_, err = state.Lstat(officeName)
	}
	return err == nil || errors.Is(err, fs.ErrPermission)
}

// HasFile reports whether a regular file lies in a folder of the office.
func (p Paths) HasFile(dir, name string) bool {
	own, err := p.Folder(dir)
	if err != nil {
		return false
	}
	defer own.Close()
	info, err := own.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// ReadRunFile reads a file of a run's folder, of most bytes at most. Its error is
// fs.ErrNotExist where there is none.
func (p Paths) ReadRunFile(run company.RunID, name string, most int64) ([]byte, error) {
	runs, err := p.Folder(p.Runs)
	if err != nil {
		return nil, err
	}
	defer runs.Close()
	return runs.ReadFile(string(run)+"/"+name, most)
}

// FindOptions says where to look for an office.
type FindOptions struct {
	Dir    string                      // where one stands; empty for the working directory
	Office string                      // --office
	Env    func(string) (string, bool) // for COMPANY_OFFICE; nil for none
}

// Find tells which office is meant: --office, else COMPANY_OFFICE, else the
// nearest folder at or above Dir with a company.yaml or a .company folder,
// else a .company folder (to be made by Open) in the git checkout that Dir is
// in. It makes nothing.
func Find(o FindOptions) (Paths, error) {
	if o.Dir == "" {
		wd, err := os.Getwd()
		if err != nil {
			return Paths{}, company.E(company.ENotFound, "the working directory is gone").Wrap(err).Fix("go to a folder that exists")
		}
		o.Dir = wd
	}
	named, by := o.Office, "--office"
	if named == "" && o.Env != nil {
		named, _ = o.Env("COMPANY_OFFICE")
		by = "COMPANY_OFFICE"
	}
	if named != "" {
		if !filepath.IsAbs(named) {
			named = filepath.Join(o.Dir, named)
		}
		dir, err := canonicalPath(named)
		if err != nil {
			return Paths{}, company.E(company.EConfig, by+" names a folder that does not exist: "+named).Wrap(err).Fix("name the folder of a company.yaml")
		}
		switch {
		case isFile(filepath.Join(dir, config.ConfigName)) || filepath.Base(dir) == companyDir:
			return pathsAt(dir)
		case isDir(filepath.Join(dir, companyDir)):
			return pathsAt(filepath.Join(dir, companyDir))
		}
		return Paths{}, company.E(company.EConfig, by+" names a folder that is no office: "+dir).
			Because("it has no company.yaml and no .company folder").Fix("name the folder of a company.yaml")
	}
	start, err := canonicalPath(o.Dir)
	if err != nil {
		return Paths{}, company.E(company.ENotFound, "no such folder: "+o.Dir).Wrap(err).Fix("go to a folder that exists")
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if isFile(filepath.Join(dir, config.ConfigName)) || filepath.Base(dir) == companyDir && isDir(filepath.Join(dir, "state")) {
			return pathsAt(dir)
		}
		if isDir(filepath.Join(dir, companyDir, "state")) {
			return pathsAt(filepath.Join(dir, companyDir))
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil && !folder.IsMarked(dir) {
			// The checkout's own office, unless a folder above says otherwise.
			if up, ok := findOfficeAbove(filepath.Dir(dir)); ok {
				return pathsAt(up)
			}
			return pathsAt(filepath.Join(dir, companyDir))
		}
		if dir == filepath.Dir(dir) {
			if bare, ok := FindBareRepo(start); ok {
				return Paths{}, BareRepoError(bare)
			}
			return Paths{}, company.E(company.ENotFound, "there is no office here, and no git repository to make one in: "+start).
				Fix("go into a git repository, or name an office with --office")
		}
	}
}

// FindBareRepo finds the bare repository that a folder is, or is in.
func FindBareRepo(dir string) (string, bool) {
	for ; ; dir = filepath.Dir(dir) {
		if isFile(filepath.Join(dir, "HEAD")) && isDir(filepath.Join(dir, "objects")) && isDir(filepath.Join(dir, "refs")) {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

// BareRepoError says why a bare repository is no place for an office.
func BareRepoError(dir string) error {
	return company.E(company.EGit, dir+" is a bare repository").Because("the company works on checkouts").
		Fix("clone it, and go into the clone: git clone " + dir)
}

// findOfficeAbove is the nearest folder at or above dir with a company.yaml.
func findOfficeAbove(dir string) (string, bool) {
	for {
		if isFile(filepath.Join(dir, config.ConfigName)) {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
		dir = filepath.Dir(dir)
	}
}

// pathsAt lays the paths of the office with this root out.
func pathsAt(root string) (Paths, error) {
	p := Paths{Root: root, Config: filepath.Join(root, config.ConfigName), ownDir: filepath.Join(root, companyDir)}
	if filepath.Base(root) == companyDir {
		p.ownDir = root
	}
	// A company.yaml that another user put into a folder above, /tmp say, would
	// decide which commands run here.
	if info, err := os.Stat(p.Config); err == nil && !folder.OwnedByUs(info) {
		return Paths{}, company.E(company.EConfig, p.Config+" belongs to another user").Fix("name your own office with --office, or take the file over with chown")
	}
	p.parentDir = filepath.Dir(p.ownDir)
	p.State = filepath.Join(p.ownDir, "state")
	p.Bus = filepath.Join(p.State, "bus")
	p.Git = filepath.Join(p.State, "git")
	p.Cache = filepath.Join(p.ownDir, "cache")
	p.Logs = filepath.Join(p.ownDir, "logs")
	p.placeReadable()
	for dir := root; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil && filepath.Base(dir) != companyDir {
			p.Repo = dir
			break
		}
	}
	return p, nil
}

// ownFolders are the folders that only the office writes to, relative to base,
// with slashes.
func (p Paths) ownFolders() []string {
	var out []string
	for _, dir := range []string{p.State, p.Cache, p.Logs, p.Runs, p.Tasks, p.Backlog} {
		out = append(out, p.relativePath(dir))
	}
	return out
}

// allFolders are all folders of the office with those above them, parents first,
// relative to base, with slashes.
func (p Paths) allFolders() []string {
	seen := map[string]bool{".": true}
	var out []string
	for _, dir := range append(p.ownFolders(), p.relativePath(p.Bus), p.relativePath(p.Git)) {
		var chain []string
		for ; !seen[dir]; dir = pathDir(dir) {
			seen[dir] = true
			chain = append([]string{dir}, chain...)
		}
		out = append(out, chain...)
	}
	return out
}

// relativePath is a folder of the office relative to base.
func (p Paths) relativePath(dir string) string {
	r, err := filepath.Rel(p.parentDir, dir)
	if err != nil {
		panic(err) // both are absolute
	}
	return filepath.ToSlash(r)
}

// canonicalPath makes a path absolute and follows its symbolic links.
func canonicalPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", real)
	}
	return real, err
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	// A path that cannot be looked at counts as there: Load reports the fault.
	return err == nil && !info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotDir)
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
