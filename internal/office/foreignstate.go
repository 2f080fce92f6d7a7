package office

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/config"
	"company/internal/folder"
	"company/internal/gitindex"
)

// gitlink is the mode of a submodule in git's index; linkMode of a symbolic link.
const (
	gitlink  = "160000"
	linkMode = "120000"
)

// refuseForeign refuses an office whose own folders may come from elsewhere:
// at, above (up to the folder that holds .company/) or below one of them is a
// link, another user's folder, a nested repository, a submodule, or anything
// that git tracks. A README.md in an own folder is let be: it is how git keeps
// the folder.
// It reports whether git tracks the company.yaml beside them.
func (p Paths) refuseForeign(ctx context.Context) (tracksConfig bool, err error) {
	if err := p.refuseOddPlaces(); err != nil {
		return false, err
	}
	// What git's index says is a submodule is called one, and no nested repository.
	if tracksConfig, err = p.refuseTracked(ctx, p.allFolders()); err != nil {
		return false, err
	}
	return tracksConfig, p.refuseNestedRepositories()
}

// refuseOddFolders is the part of refuseForeign that needs no git.
func (p Paths) refuseOddFolders() error {
	if err := p.refuseOddPlaces(); err != nil {
		return err
	}
	return p.refuseNestedRepositories()
}

func (p Paths) refuseOddPlaces() error {
	for _, rel := range p.allFolders() {
		path := filepath.Join(p.parentDir, rel)
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		switch {
		case err != nil:
			return refusedState(path).Wrap(err).Fix("see that the folder is yours")
		case info.Mode()&fs.ModeSymlink != 0:
			return refusedState(path).Because("it is a symbolic link").Fix("remove the link; the office's folders are plain folders")
		case !info.IsDir():
			return refusedState(path).Because("it is not a folder").Fix("move it away")
		case !folder.OwnedByUs(info):
			return refusedState(path).Because("it belongs to another user").Fix("take it over with chown, or use another office")
		}
		if name, ok := folder.ListedName(path); ok && name != filepath.Base(path) {
			return refusedState(path).Because("its folder lists it as " + strconv.Quote(name) + ", so it may be somebody else's").
				Fix("move it away, or use another office with --office")
		}
	}
	return nil
}

func (p Paths) refuseNestedRepositories() error {
	for _, rel := range p.allFolders() {
		path := filepath.Join(p.parentDir, rel)
		_, err := os.Lstat(filepath.Join(path, ".git"))
		if errors.Is(err, fs.ErrNotExist) || folder.IsMarked(path) {
			continue
		}
		if err != nil {
			return refusedState(path).Because("it cannot be looked into").Wrap(err).Fix("see that you may read it: ls -ld " + path)
		}
		if path == p.ownDir {
			return refusedState(path).Because("its .git is a repository that holds something").
				Fix("move " + filepath.Join(path, ".git") + " away: company makes an empty one, which keeps git clean off the folder")
		}
		return refusedState(path).Because("it is a git repository").Fix("move it away, or use another office with --office")
	}
	return nil
}

// CheckFolders refuses an office whose own folders may come from elsewhere, as
// Open does, and makes nothing.
func CheckFolders(ctx context.Context, p Paths) error {
	_, err := p.refuseForeign(ctx)
	return err
}

// shortNames are names that Windows takes for .company: its short ones, and those with an
// end that it cuts off. Git would write through them into the folder.
var shortNames = []string{"COMPAN~1", "COMPAN~2", "COMPAN~3", "COMPAN~4", companyDir + ".", companyDir + " "}

// refuseTracked asks git's index about the own folders and those above them, in each case
// of their letters: on a disk that folds case .Company is .company. In the same question
// it learns whether git tracks company.yaml.
func (p Paths) refuseTracked(ctx context.Context, dirs []string) (tracksConfig bool, err error) {
	tracked, err := gitindex.Tracked(ctx, p.parentDir, slices.Concat(dirs, shortNames, []string{config.ConfigName})...)
	if err != nil {
		return false, err
	}
	own := slices.Concat(p.ownFolders(), shortNames)
	for _, e := range tracked {
		path := filepath.Join(p.parentDir, filepath.FromSlash(e.Path))
		switch {
		case e.Path == config.ConfigName:
			tracksConfig = true
			continue
		case containsFolded(dirs, e.Path): // a folder is not in the index as such
			if e.Mode == gitlink {
				return false, refusedState(path).Because("it is a submodule of the repository").
					Fix("if you do not need it: git submodule deinit -f " + e.Path + " && git rm -f " + e.Path + ", and commit; else use another office with --office")
			}
		case !slices.ContainsFunc(own, func(dir string) bool { return isBelowFolded(e.Path, dir) }):
			continue // of the repository's own, beside ours
		case e.Mode != gitlink && e.Mode != linkMode && slices.Contains(own, pathDir(e.Path)) && pathBase(e.Path) == "README.md":
			continue
		}
		return false, refusedState(path).Because("git tracks it, so it may be somebody else's").
			Fix("git rm --cached " + e.Path + ", or use another office with --office")
	}
	return tracksConfig, nil
}

func containsFolded(list []string, path string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, path) })
}

func isBelowFolded(path, dir string) bool {
	return len(path) > len(dir) && path[len(dir)] == '/' && strings.EqualFold(path[:len(dir)], dir)
}

func refusedState(path string) *company.Error {
	return company.E(company.EConfig, "state of the office is refused: "+path)
}

func pathDir(name string) string  { return filepath.ToSlash(filepath.Dir(filepath.FromSlash(name))) }
func pathBase(name string) string { return filepath.Base(filepath.FromSlash(name)) }
