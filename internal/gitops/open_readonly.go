package gitops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"company/internal/company"
	"company/internal/folder"
)

// ReadOnlyMirrors are the mirrors of a store that another process may own: a
// MirrorSource whose mirrors are only looked at.
type ReadOnlyMirrors struct {
	Root   string // of the store
	Remote string // git.remote
}

// MirrorOf looks at the mirror of a task's project.
func (r ReadOnlyMirrors) MirrorOf(_ context.Context, t *company.Task) (*Mirror, error) {
	return LookAt(r.Root, r.Remote, t.Project.ID, t.Project.Path)
}

// LookAt opens the mirror of a project beside the process that owns the store:
// it makes, cleans and configures nothing. What it gives is for reading, and
// for fetching a base, which git itself keeps apart from what the owner does.
// ENotFound: there is no mirror yet.
func LookAt(root, remote, projectID, sourcePath string) (*Mirror, error) {
	git, err := findGit()
	if err != nil {
		return nil, err
	}
	if !projectRE.MatchString(projectID) {
		return nil, company.E(company.EInvalid, fmt.Sprintf("%q is not a project id", projectID))
	}
	none := company.E(company.ENotFound, "nothing of "+projectID+" has been fetched yet")
	own, err := folder.Open(filepath.Clean(root))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, none.Wrap(err)
	}
	if err != nil {
		return nil, storeError("the git store cannot be read", err)
	}
	s := &Store{cfg: Config{Root: root, Remote: remote}, root: own.Path(), own: own, git: git, locks: map[string]*repoLock{}}
	m := &Mirror{s: s, dir: filepath.Join(s.root, projectID+".git"), source: sourcePath}
	if there, err := s.pathExists(m.dir); err != nil || !there {
		return nil, errors.Join(err, none)
	}
	return m, s.verifyRepo(m.dir)
}

// View tells what FetchBase would start from, with its refusals, and gives the
// objects of the checkout itself to read from: List, ReadFile and what else only
// looks. Nothing is fetched and nothing made that stays, and the Mirror is for
// nothing else. done ends it.
func View(ctx context.Context, checkoutPath, remote, ref string) (m *Mirror, info BaseInfo, done func(), err error) {
	git, err := findGit()
	if err != nil {
		return nil, info, nil, err
	}
	if ref != "" && !validRef("refs/heads/"+ref) {
		return nil, info, nil, company.E(company.EInvalid, fmt.Sprintf("%q cannot be a branch", ref)).Fix("list them with: git branch")
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
		return nil, info, nil, company.E(company.EGit, "there is no room to look at the repository").Wrap(err).Fix("make room in " + os.TempDir())
	}
	s := &Store{cfg: Config{Remote: remote}, root: root, git: git, locks: map[string]*repoLock{}}
	c, err := s.openCheckout(ctx, checkoutPath)
	if err != nil {
		return nil, info, nil, err
	}
	if info, err = c.readBase(ctx, ref); err != nil {
		return nil, info, nil, err
	}
	return &Mirror{s: s, dir: c.commonDir, source: checkoutPath}, info, remove, nil
}
