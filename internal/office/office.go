package office

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"company/internal/company"
	"company/internal/gitops/gitindex"
	"company/internal/lib/safedir"
)

var errNotDir = syscall.ENOTDIR

// Office is an opened office. Its folders exist and belong to it.
type Office struct {
	Paths
	// ID has four letters that distinguish this office from a colleague's. Branch names contain it.
	ID string
	// CopiedFrom are the ids of the offices that this one is a copy of, the most recent first. Tasks of its ledger with
	// such an id belong to the original.
	CopiedFrom []string
	// Notices are messages for people, shown once.
	Notices []string
	// Folders are the office's own folders, opened once. Access all files of the office only through them.
	Folders
}

// Folders are the open folders of an office.
type Folders struct {
	StateFolder   *safedir.Folder
	BusFolder     *safedir.Folder
	GitFolder     *safedir.Folder
	LogsFolder    *safedir.Folder
	RunsFolder    *safedir.Folder
	TasksFolder   *safedir.Folder
	BacklogFolder *safedir.Folder
}

// Close closes the folders.
func (f *Folders) Close() error {
	var errs []error
	for _, one := range f.folderSlots() {
		errs = append(errs, (*one.folder).Close())
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
		{&f.BacklogFolder, func(p Paths) string { return p.Backlog }},
	}
}

// Open creates the missing parts of an office and opens its folders. Several processes may call it at once. It does
// not change a complete office. In a git checkout it adds the office's folders to .git/info/exclude, marks .company so
// that git clean skips it, and keeps a copy of an untracked company.yaml.
//
// It refuses state that may have come with a repository, before it creates any file: see refuseForeign.
func Open(ctx context.Context, paths Paths) (*Office, error) {
	// Look up the exclude file in the meantime.
	var exclude string
	var excludeErr error
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		exclude, excludeErr = paths.findExcludeFile(ctx)
	}()
	defer func() { <-asked }()
	index := gitindex.ReadStamp(paths.parentDir)
	tracksConfig, err := paths.refuseForeign(ctx)
	if err != nil {
		return nil, err
	}
	base, err := safedir.Open(paths.parentDir)
	if err != nil {
		return nil, paths.folderError(err)
	}
	defer base.Close()
	for _, dir := range paths.allFolders() {
		if err := base.Mkdir(dir); err != nil {
			return nil, paths.folderError(err)
		}
	}
	office := &Office{Paths: paths}
	if err := office.Folders.open(base, paths); err != nil {
		return nil, paths.folderError(errors.Join(err, office.Close()))
	}
	// Another process may have created a folder there since the check above. Open folders stay the same from here on. Git
	// is asked again only if its index has changed.
	if gitindex.ReadStamp(paths.parentDir).IsSameAs(index) {
		err = paths.refuseOddFolders()
	} else {
		tracksConfig, err = paths.refuseForeign(ctx)
	}
	for _, folder := range []*safedir.Folder{office.StateFolder, office.LogsFolder} {
		if err == nil {
			if err = folder.Chmod(0o700); err != nil {
				err = paths.folderError(err)
			}
		}
	}
	if err == nil {
		<-asked
		if err = excludeErr; err == nil && exclude != "" {
			_, _, err = paths.excludeFolders(exclude)
		}
	}
	if err == nil && paths.Repo != "" {
		err = paths.markForGit(base)
	}
	if err == nil {
		err = office.ensureID()
	}
	if err == nil && paths.Repo != "" {
		err = office.keepConfig(tracksConfig)
	}
	if err != nil {
		return nil, errors.Join(err, office.Close())
	}
	return office, nil
}

// open opens the folders, starting at the one that contains .company/.
func (f *Folders) open(base *safedir.Folder, paths Paths) error {
	for _, one := range f.folderSlots() {
		sub, err := base.Sub(paths.relativePath(one.dir(paths)))
		if err != nil {
			return err
		}
		*one.folder = sub
	}
	return nil
}

// Folder opens one of the office's folders (such as p.Runs) for reading, without opening the office. The error is
// fs.ErrNotExist if the folder does not exist. The caller closes it.
func (p Paths) Folder(dir string) (*safedir.Folder, error) {
	base, err := safedir.Open(p.parentDir)
	if err != nil {
		return nil, err
	}
	defer base.Close()
	return base.Sub(p.relativePath(dir))
}

// folderError returns the error for folders that cannot be created.
func (p Paths) folderError(err error) error {
	fault := company.E(company.EConfig, "cannot create or write the office's folders in "+p.parentDir).Wrap(err)
	var own *company.Error
	switch {
	case errors.As(err, &own):
		return err
	case isFull(err):
		return fault.Because("no space left").
			Fix("free space there (df and df -i show it), or create the office elsewhere: company init --office DIR")
	case errors.Is(err, syscall.EROFS):
		return fault.Because("the disk is read-only").
			Fix("find out why (dmesg: failing disks become read-only), and mount it for writing again; or create " +
				"the office elsewhere: company init --office DIR")
	case errors.Is(err, fs.ErrPermission):
		return fault.Because("you may not write there").
			Fix("create the office in your own folder, company init --office DIR, and name it with --office DIR or " +
				"COMPANY_OFFICE")
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
