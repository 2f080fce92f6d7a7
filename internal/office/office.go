package office

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"company/internal/company"
	"company/internal/lib/safedir"
)

var errNotDir = syscall.ENOTDIR

// Office is an opened office. Its folders exist and belong to it.
type Office struct {
	Paths
	// ID has four letters that distinguish this office from a colleague's. Branch names contain it.
	ID string
	// Notices are messages for people, shown once.
	Notices []string
	lostBus error // why the recorded folder of the ledger cannot be opened
	// Folders are the office's own folders, opened once. Access all files of the office only through them.
	Folders
}

// Folders are the open folders of an office.
type Folders struct {
	StateFolder    *safedir.Folder
	BusFolder      *safedir.Folder
	GitFolder      *safedir.Folder
	LogsFolder     *safedir.Folder
	RunsFolder     *safedir.Folder
	TasksFolder    *safedir.Folder
	ReportsFolder  *safedir.Folder
	TaskLogsFolder *safedir.Folder
	BacklogFolder  *safedir.Folder
}

// Close closes the folders.
func (f *Folders) Close() error {
	var errs []error
	for _, one := range f.folderSlots() {
		errs = append(errs, (*one.folder).Close()) // nil is closed
		*one.folder = nil
	}
	return errors.Join(errs...)
}

// folderSlot is a folder with the variable that holds it.
type folderSlot struct {
	folder **safedir.Folder
	dir    func(Paths) string
}

func (f *Folders) folderSlots() []folderSlot {
	return []folderSlot{
		{&f.StateFolder, func(p Paths) string { return p.State }},
		{&f.BusFolder, func(p Paths) string { return p.Bus }},
		{&f.GitFolder, func(p Paths) string { return p.Git }},
		{&f.LogsFolder, func(p Paths) string { return p.Logs }},
		{&f.RunsFolder, func(p Paths) string { return p.Runs }},
		{&f.TasksFolder, func(p Paths) string { return p.Tasks }},
		{&f.ReportsFolder, func(p Paths) string { return p.Reports }},
		{&f.TaskLogsFolder, func(p Paths) string { return p.TaskLogs }},
		{&f.BacklogFolder, func(p Paths) string { return p.Backlog }},
	}
}

// Open creates the missing parts of an office and opens its folders. Several processes may call it at once. It does
// not change a complete office. It makes git ignore the folders for people, and keeps a copy of an untracked
// company.yaml.
func Open(ctx context.Context, paths Paths) (*Office, error) {
	base, err := safedir.Open(paths.parentDir)
	if err != nil {
		return nil, paths.readableError(err)
	}
	defer base.Close()
	state, err := paths.openState()
	if err != nil {
		return nil, err
	}
	office := &Office{Paths: paths}
	office.StateFolder = state
	if err := office.openFolders(base); err != nil {
		return nil, errors.Join(err, office.Close())
	}
	err = office.ensureID()
	if err == nil {
		if err = office.hideFromGit(base); err != nil {
			err = paths.readableError(err)
		}
	}
	if err == nil && paths.Repo != "" {
		err = office.keepConfig(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, office.Close())
	}
	return office, nil
}

// openFolders opens the folders of the office besides its state, and creates those for people.
func (o *Office) openFolders(base *safedir.Folder) error {
	if err := o.makeReadable(base); err != nil {
		return o.readableError(err)
	}
	for _, one := range o.folderSlots()[1:] {
		dir := one.dir(o.Paths)
		if o.inState(dir) {
			sub, err := o.StateFolder.Sub(relativePath(o.State, dir))
			if err != nil {
				return o.stateError(err)
			}
			*one.folder = sub
			continue
		}
		sub, err := base.Sub(relativePath(o.parentDir, dir))
		if err != nil {
			return o.readableError(err)
		}
		sub.KeepThere(func() (*safedir.Folder, error) { return o.remakeReadable(dir) })
		*one.folder = sub
	}
	return nil
}

// makeReadable creates the folders for people.
func (o *Office) makeReadable(base *safedir.Folder) error {
	for _, dir := range o.readableFolders() {
		if err := base.Mkdir(dir); err != nil {
			return err
		}
	}
	return nil
}

// remakeReadable creates the folders for people again, as after git clean, and opens one of them.
func (o *Office) remakeReadable(dir string) (*safedir.Folder, error) {
	base, err := safedir.Open(o.parentDir)
	if err != nil {
		return nil, err
	}
	defer base.Close()
	if err := errors.Join(o.makeReadable(base), o.hideFromGit(base)); err != nil {
		return nil, err
	}
	return base.Sub(relativePath(o.parentDir, dir))
}

// inState reports whether a folder of the office is in its state folder.
func (p Paths) inState(dir string) bool {
	return dir == p.State || strings.HasPrefix(dir, p.State+string(filepath.Separator))
}

// Folder opens one of the office's folders (such as p.Runs) for reading, without opening the office. The error is
// fs.ErrNotExist if the folder does not exist. The caller closes it.
func (p Paths) Folder(dir string) (*safedir.Folder, error) {
	root := p.parentDir
	if dir == p.Bus && !p.inState(dir) {
		return safedir.Open(dir)
	}
	if p.inState(dir) {
		root = p.State
	}
	base, err := safedir.Open(root)
	if err != nil {
		return nil, err
	}
	defer base.Close()
	return base.Sub(relativePath(root, dir))
}

// readableError returns the error for folders for people that cannot be created.
func (p Paths) readableError(err error) error {
	return folderError(p.ownDir, "create the office in your own folder, company init --office DIR, and name it with "+
		"--office DIR or COMPANY_OFFICE", err)
}

// folderError returns the error for a folder of the office that cannot be created or written. elsewhere says how to
// use another one.
func folderError(dir, elsewhere string, err error) error {
	fault := company.E(company.EConfig, "cannot create or write the office's folder "+dir).Wrap(err)
	var own *company.Error
	switch {
	case errors.As(err, &own):
		return err
	case isFull(err):
		return fault.Because("no space left").
			Fix("free space there (df and df -i show it); or " + elsewhere)
	case errors.Is(err, syscall.EROFS):
		return fault.Because("the disk is read-only").
			Fix("find out why (dmesg: failing disks become read-only), and mount it for writing again; or " + elsewhere)
	case errors.Is(err, fs.ErrPermission):
		return fault.Because("you may not write there").Fix(elsewhere)
	}
	return fault.Fix("check that you own the folder and that the disk has space")
}

// isFull reports whether a disk is full or the user's quota is exceeded.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// chooseFix returns the hint for a file that cannot be written.
func chooseFix(err error, otherwise string) string {
	if isFull(err) {
		return "free space on its disk (df and df -i show it), and try again"
	}
	return otherwise
}
