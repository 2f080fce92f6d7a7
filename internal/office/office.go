package office

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"company/internal/company"
	"company/internal/folder"
	"company/internal/gitindex"
)

var errNotDir = syscall.ENOTDIR

// Office is an office whose folders exist and are its own.
type Office struct {
	Paths
	// ID is four letters that tell this office from a colleague's; branches
	// carry it.
	ID string
	// CopiedFrom are the ids of the offices that this one is a copy of, the last
	// one first. Tasks of its ledger that bear one are the original's to do.
	CopiedFrom []string
	// Notices are messages for people, shown once.
	Notices []string
	// Folders are the own folders, opened once. All files of the office are
	// reached through them and in no other way.
	Folders
}

// Folders are the folders of an office, held open.
type Folders struct {
	StateFolder   *folder.Folder
	BusFolder     *folder.Folder
	GitFolder     *folder.Folder
	LogsFolder    *folder.Folder
	RunsFolder    *folder.Folder
	TasksFolder   *folder.Folder
	BacklogFolder *folder.Folder
}

// Close lets go of the folders.
func (f *Folders) Close() error {
	var errs []error
	for _, one := range f.folderSlots() {
		errs = append(errs, (*one.folder).Close())
		*one.folder = nil
	}
	return errors.Join(errs...)
}

// folderSlot is a folder with where it is kept.
type folderSlot struct {
	folder **folder.Folder
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

// Open makes the missing parts of an office and opens its folders. It may be
// called by several processes at once and changes nothing of an office that is
// complete. In a git checkout it adds the office's folders to
// .git/info/exclude, marks .company for git clean to pass over, keeps a copy of
// a company.yaml that git does not track, and touches nothing else.
//
// State that a repository may have brought along is refused, before anything
// is made: see refuseForeign.
func Open(ctx context.Context, p Paths) (*Office, error) {
	// Git is asked for the exclude file meanwhile.
	var exclude string
	var excludeErr error
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		exclude, excludeErr = p.findExcludeFile(ctx)
	}()
	defer func() { <-asked }()
	index := gitindex.ReadStamp(p.parentDir)
	tracksConfig, err := p.refuseForeign(ctx)
	if err != nil {
		return nil, err
	}
	base, err := folder.Open(p.parentDir)
	if err != nil {
		return nil, p.folderError(err)
	}
	defer base.Close()
	for _, dir := range p.allFolders() {
		if err := base.Mkdir(dir); err != nil {
			return nil, p.folderError(err)
		}
	}
	o := &Office{Paths: p}
	if err := o.Folders.open(base, p); err != nil {
		return nil, p.folderError(errors.Join(err, o.Close()))
	}
	// Another process may have put a folder there since the check above. The
	// folders that are open by now stay the same. Git is asked again only where its
	// index is another one by now.
	if gitindex.ReadStamp(p.parentDir).IsSameAs(index) {
		err = p.refuseOddFolders()
	} else {
		tracksConfig, err = p.refuseForeign(ctx)
	}
	for _, f := range []*folder.Folder{o.StateFolder, o.LogsFolder} {
		if err == nil {
			if err = f.Chmod(0o700); err != nil {
				err = p.folderError(err)
			}
		}
	}
	if err == nil {
		<-asked
		if err = excludeErr; err == nil && exclude != "" {
			_, _, err = p.excludeFolders(exclude)
		}
	}
	if err == nil && p.Repo != "" {
		err = p.markForGit(base)
	}
	if err == nil {
		err = o.ensureID()
	}
	if err == nil && p.Repo != "" {
		err = o.keepConfig(tracksConfig)
	}
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// open opens the folders, on their way from the one that holds .company/.
func (f *Folders) open(base *folder.Folder, p Paths) error {
	for _, one := range f.folderSlots() {
		sub, err := base.Sub(p.relativePath(one.dir(p)))
		if err != nil {
			return err
		}
		*one.folder = sub
	}
	return nil
}

// Folder opens one of the office's folders (p.Runs, say) to read, without
// opening the office; fs.ErrNotExist where it was never made. The caller closes
// it.
func (p Paths) Folder(dir string) (*folder.Folder, error) {
	base, err := folder.Open(p.parentDir)
	if err != nil {
		return nil, err
	}
	defer base.Close()
	return base.Sub(p.relativePath(dir))
}

// folderError is the error where the folders cannot be made.
func (p Paths) folderError(err error) error {
	e := company.E(company.EConfig, "the office's folders cannot be made or written in "+p.parentDir).Wrap(err)
	var own *company.Error
	switch {
	case errors.As(err, &own):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return e.Because("there is no space left").Fix("make room there, or make the office elsewhere: company init --office DIR")
	case errors.Is(err, syscall.EROFS):
		return e.Because("the disk can only be read").
			Fix("see why (dmesg: a disk that fails is mounted so), mount it for writing again, and nothing is lost; or make the office elsewhere: company init --office DIR")
	case errors.Is(err, fs.ErrPermission):
		return e.Because("you may not write there").
			Fix("make the office in a folder of yours, company init --office DIR, and name it with --office DIR or COMPANY_OFFICE")
	}
	return e.Fix("see that the folder is yours and has space")
}
