package office

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"company/internal/company"
	"company/internal/lib/safedir"
	"company/internal/office/config"
)

// companyDir is the name of the folder for an office's own files.
const companyDir = ".company"

// Paths holds the paths of an office. All are absolute and free of symbolic links (STA-15).
//
// What the company itself reads again is in the state folder, below the user's home (home.go). Files for people are in
// .company/, whether or not there is a company.yaml beside it, or in the folders that company.yaml names under paths.
type Paths struct {
	Root      string // the office: the folder of company.yaml, or the .company folder
	Repo      string // top of the git checkout that contains the office, if any
	Config    string // path of company.yaml, which may not exist
	State     string // state of the company, with the next four folders in it; 0700
	Bus       string // state of the embedded bus
	Git       string // mirrors and quarantines
	Cache     string // files that can be regenerated
	Logs      string // logs of processes
	Runs      string // a readable folder per run
	Tasks     string // a readable file per task
	Reports   string // the reports of tasks
	TaskLogs  string // the logs of tasks, with their index
	Backlog   string // a readable file per subtask
	ownDir    string // the .company folder
	parentDir string // the folder that contains ownDir and all other folders for people
	migrates  bool   // Open accepts an office with pending migrations
}

// Run returns the folder of a run's readable files.
func (p Paths) Run(id company.RunID) string { return filepath.Join(p.Runs, string(id)) }

// WithReadable returns the paths with the folders for readable files that a config sets.
func (p Paths) WithReadable(paths config.ReadablePaths) Paths {
	runtime := filepath.Join(p.parentDir, filepath.FromSlash(paths.Runtime))
	p.Runs, p.Tasks = filepath.Join(runtime, "runs"), filepath.Join(runtime, "state")
	p.Reports, p.TaskLogs = filepath.Join(runtime, "reports"), filepath.Join(runtime, "logs")
	p.Backlog = filepath.Join(p.parentDir, filepath.FromSlash(paths.Backlog))
	return p
}

// Lock returns the path of the file that the holder of the office locks.
func (p Paths) Lock() string { return filepath.Join(p.State, lockName) }

// Exists reports whether the office was ever opened. It returns true if permission is denied, such as for another
// user's office: opening it then reports why.
func (p Paths) Exists() bool {
	state, err := p.Folder(p.State)
	if err == nil {
		defer state.Close()
		_, err = state.Lstat(officeName)
	}
	return err == nil || errors.Is(err, fs.ErrPermission)
}

// HasFile reports whether a folder of the office contains a regular file of this name.
func (p Paths) HasFile(dir, name string) bool {
	own, err := p.Folder(dir)
	if err != nil {
		return false
	}
	defer own.Close()
	info, err := own.Lstat(name)
	return err == nil && info.Mode().IsRegular()
}

// ReadRunFile reads a file of at most limit bytes in a run's folder. The error is fs.ErrNotExist if there is no such
// file.
func (p Paths) ReadRunFile(run company.RunID, name string, limit int64) ([]byte, error) {
	runs, err := p.Folder(p.Runs)
	if err != nil {
		return nil, err
	}
	defer runs.Close()
	return runs.ReadFile(string(run)+"/"+name, limit)
}

// FindOptions configure the search for an office.
type FindOptions struct {
	Dir    string                      // start of the search; empty means the working directory
	Office string                      // --office
	Env    func(string) (string, bool) // environment of the process
}

// Find returns the paths of the selected office. The order is: --office, COMPANY_OFFICE, the nearest folder at or
// above Dir with a company.yaml or a pointer in .company, and last the git checkout that contains Dir. Find changes
// no files.
func Find(findOptions FindOptions) (Paths, error) {
	if findOptions.Dir == "" {
		wd, err := os.Getwd()
		if err != nil {
			return Paths{}, company.E(company.ENotFound, "the working directory is gone").Wrap(err).
				Fix("go to a folder that exists")
		}
		findOptions.Dir = wd
	}
	named, by := findOptions.Office, "--office"
	if named == "" {
		named, _ = findOptions.Env("COMPANY_OFFICE")
		by = "COMPANY_OFFICE"
	}
	if named != "" {
		if !filepath.IsAbs(named) {
			named = filepath.Join(findOptions.Dir, named)
		}
		dir, err := canonicalPath(named)
		if err != nil {
			return Paths{}, company.E(company.EConfig, by+" names a folder that does not exist: "+named).Wrap(err).
				Fix("name the folder of a company.yaml")
		}
		switch {
		case isFile(filepath.Join(dir, config.ConfigName)) || filepath.Base(dir) == companyDir:
			return pathsAt(dir, findOptions.Env)
		case isDir(filepath.Join(dir, companyDir)):
			return pathsAt(filepath.Join(dir, companyDir), findOptions.Env)
		}
		return Paths{}, company.E(company.EConfig, by+" names a folder that is not an office: "+dir).
			Because("it has no company.yaml and no .company folder").Fix("name the folder of a company.yaml")
	}
	start, err := canonicalPath(findOptions.Dir)
	if err != nil {
		return Paths{}, company.E(company.ENotFound, "there is no folder "+findOptions.Dir).Wrap(err).
			Fix("name one that exists with --repo; company submit --repo also takes an address")
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if isFile(filepath.Join(dir, config.ConfigName)) ||
			filepath.Base(dir) == companyDir && readPointer(dir) != "" {
			return pathsAt(dir, findOptions.Env)
		}
		if readPointer(filepath.Join(dir, companyDir)) != "" {
			return pathsAt(filepath.Join(dir, companyDir), findOptions.Env)
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			// Use the checkout's own office, unless a folder above has a company.yaml.
			if up, ok := findOfficeAbove(filepath.Dir(dir)); ok {
				return pathsAt(up, findOptions.Env)
			}
			return pathsAt(filepath.Join(dir, companyDir), findOptions.Env)
		}
		if dir == filepath.Dir(dir) {
			if bare, ok := FindBareRepo(start); ok {
				return Paths{}, BareRepoError(bare)
			}
			return Paths{}, company.E(company.ENotFound,
				"there is no office here, and no git repository to make one in: "+start).
				Fix("go to a git repository, or name an office with --office")
		}
	}
}

// FindBareRepo finds a bare repository at or above dir.
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

// BareRepoError returns the error for an office in a bare repository.
func BareRepoError(dir string) error {
	return company.E(company.EGit, dir+" is a bare repository").Because("the company needs a checkout").
		Fix("clone it, and go into the clone: git clone " + dir)
}

// findOfficeAbove returns the nearest folder at or above dir with a company.yaml.
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

// pathsAt returns the paths of the office with this root.
func pathsAt(root string, env func(string) (string, bool)) (Paths, error) {
	paths := Paths{Root: root, Config: filepath.Join(root, config.ConfigName), ownDir: filepath.Join(root, companyDir)}
	if filepath.Base(root) == companyDir {
		paths.ownDir = root
	}
	// A company.yaml that another user put into a parent folder, such as /tmp, could choose the commands that run here.
	if info, err := os.Stat(paths.Config); err == nil && !safedir.OwnedByUs(info) {
		return Paths{}, company.E(company.EConfig, paths.Config+" belongs to another user").
			Fix("name your own office with --office, or take the file over with chown")
	}
	paths.parentDir = filepath.Dir(paths.ownDir)
	for dir := root; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil && filepath.Base(dir) != companyDir {
			paths.Repo = dir
			break
		}
	}
	if err := paths.findState(env); err != nil {
		return Paths{}, err
	}
	paths.Bus = filepath.Join(paths.State, "bus")
	paths.Git = filepath.Join(paths.State, "git")
	paths.Cache = filepath.Join(paths.State, "cache")
	paths.Logs = filepath.Join(paths.State, "logs")
	return paths.WithReadable(config.LoadReadablePaths(paths.Config)), nil
}

// readableFolders returns the folders for people, relative to parentDir, with slashes.
func (p Paths) readableFolders() []string {
	var out []string
	for _, dir := range []string{p.ownDir, p.Runs, p.Tasks, p.Reports, p.TaskLogs, p.Backlog} {
		out = append(out, relativePath(p.parentDir, dir))
	}
	return out
}

// relativePath returns a folder relative to another one that contains it, with slashes.
func relativePath(base, dir string) string {
	r, err := filepath.Rel(base, dir)
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
	// A path that cannot be examined counts as existing: Load reports the fault.
	return err == nil && !info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotDir)
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
