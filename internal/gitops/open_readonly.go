package gitops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"company/internal/company"
	"company/internal/gitops/gitlogin"
	"company/internal/lib/safedir"
)

// ReadOnlyMirrors opens mirrors of a store that another process may own. It is a MirrorSource whose mirrors are only
// read.
type ReadOnlyMirrors struct {
	Root     string           // of the store
	Remote   string           // git.remote
	Personal *gitlogin.Logins // see Config.Personal
}

// MirrorOf opens the mirror of a task's project for reading.
func (r ReadOnlyMirrors) MirrorOf(_ context.Context, t *company.Task) (*Mirror, error) {
	return lookAt(Config{Root: r.Root, Remote: r.Remote, Personal: r.Personal}, t.Project.ID, t.Project.Path)
}

// LookAt opens the mirror of a project beside the process that owns the store. It creates, cleans and configures no
// files. The mirror may be read, and a base may be fetched into it; git itself separates that from the owner's work.
// It fails with ENotFound if there is no mirror yet.
func LookAt(root, remote, projectID, sourcePath string) (*Mirror, error) {
	return lookAt(Config{Root: root, Remote: remote}, projectID, sourcePath)
}

func lookAt(cfg Config, projectID, sourcePath string) (*Mirror, error) {
	git, err := findGit()
	if err != nil {
		return nil, err
	}
	if !projectRE.MatchString(projectID) {
		return nil, company.E(company.EInvalid, fmt.Sprintf("invalid project id %q", projectID))
	}
	none := company.E(company.ENotFound, "nothing of "+projectID+" has been fetched yet")
	own, err := safedir.Open(filepath.Clean(cfg.Root))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, none.Wrap(err)
	}
	if err != nil {
		return nil, storeError("the git store cannot be read", err)
	}
	store := &Store{cfg: cfg, root: own.Path(), own: own, git: git,
		locks: map[string]*repoLock{}}
	mirror := &Mirror{s: store, dir: filepath.Join(store.root, projectID+".git"), source: sourcePath}
	if there, err := store.pathExists(mirror.dir); err != nil || !there {
		return nil, errors.Join(err, none)
	}
	return mirror, store.verifyRepo(mirror.dir)
}

// View returns the base that FetchBase would start from, or its error, and a Mirror that reads the checkout's own
// objects. It fetches no objects and leaves no files. Use the Mirror only for List, ReadFile and other reads. The
// caller must call done.
func View(ctx context.Context, checkoutPath, remote, ref string) (m *Mirror, info BaseInfo, done func(), err error) {
	return ViewAs(ctx, nil, checkoutPath, remote, ref)
}

// ViewAs is like View, and reads the address of the remote with the president's git configuration.
func ViewAs(
	ctx context.Context, personal *gitlogin.Logins, checkoutPath, remote, ref string,
) (m *Mirror, info BaseInfo, done func(), err error) {
	git, err := findGit()
	if err != nil {
		return nil, info, nil, err
	}
	if ref != "" && !validRef("refs/heads/"+ref) {
		return nil, info, nil, company.E(company.EInvalid, fmt.Sprintf("invalid branch name %q", ref)).
			Fix("list them with: git branch")
	}
	root, err := os.MkdirTemp("", "company-look-")
	if err == nil {
		err = os.Mkdir(filepath.Join(root, "home"), 0o700)
	}
	remove := func() { _ = os.RemoveAll(root) } // an empty folder of the system's temporary files
	defer func() {
		if err != nil {
			remove()
		}
	}()
	if err != nil {
		return nil, info, nil, company.E(company.EGit, "cannot create a folder to read the repository").Wrap(err).
			Fix("free space in " + os.TempDir())
	}
	store := &Store{cfg: Config{Remote: remote, Personal: personal}, root: root, git: git, locks: map[string]*repoLock{}}
	checkout, err := store.openCheckout(ctx, checkoutPath)
	if err != nil {
		return nil, info, nil, err
	}
	if info, err = checkout.readBase(ctx, ref); err != nil {
		return nil, info, nil, err
	}
	return &Mirror{s: store, dir: checkout.commonDir, source: checkoutPath}, info, remove, nil
}
