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
	"company/internal/gitops/gitindex"
	"company/internal/lib/safedir"
	"company/internal/office/config"
)

// gitlink is the mode of a submodule in git's index, and linkMode that of a symbolic link.
const (
	gitlink  = "160000"
	linkMode = "120000"
)

// refuseForeign refuses an office whose own folders may come from elsewhere. At, above (up to the folder that contains
// .company/) or below one of them it refuses links, folders of other users, nested repositories, submodules and files
// that git tracks. A README.md in an own folder is allowed, because it makes git keep the folder. It reports whether
// git tracks the company.yaml beside them.
func (p Paths) refuseForeign(ctx context.Context) (tracksConfig bool, err error) {
	if err := p.refuseOddPlaces(); err != nil {
		return false, err
	}
	// Check the index first, so that a submodule is reported as such and not as a nested repository.
	if tracksConfig, err = p.refuseTracked(ctx, p.allFolders()); err != nil {
		return false, err
	}
	return tracksConfig, p.refuseNestedRepositories()
}

// refuseOddFolders does the checks of refuseForeign that do not need git.
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
			return refusedState(path).Wrap(err).Fix("check that you own the folder")
		case info.Mode()&fs.ModeSymlink != 0:
			return refusedState(path).Because("it is a symbolic link").
				Fix("remove the link; the office's folders are plain folders")
		case !info.IsDir():
			return refusedState(path).Because("it is not a folder").Fix("move it away")
		case !safedir.OwnedByUs(info):
			return refusedState(path).Because("it belongs to another user").Fix("take it over with chown, or use another office")
		}
		if name, ok := safedir.ListedName(path); ok && name != filepath.Base(path) {
			return refusedState(path).
				Because("its folder lists it as " + strconv.Quote(name) + ", so it may be somebody else's").
				Fix("move it away, or use another office with --office")
		}
	}
	return nil
}

func (p Paths) refuseNestedRepositories() error {
	for _, rel := range p.allFolders() {
		path := filepath.Join(p.parentDir, rel)
		_, err := os.Lstat(filepath.Join(path, ".git"))
		if errors.Is(err, fs.ErrNotExist) || safedir.IsMarked(path) {
			continue
		}
		if err != nil {
			return refusedState(path).Because("it cannot be read").Wrap(err).
				Fix("check that you may read it: ls -ld " + path)
		}
		if path == p.ownDir {
			return refusedState(path).Because("its .git is a repository that is not empty").
				Fix("move " + filepath.Join(path, ".git") +
					" away: company makes an empty one, which keeps git clean off the folder")
		}
		return refusedState(path).Because("it is a git repository").Fix("move it away, or use another office with --office")
	}
	return nil
}

// CheckFolders refuses an office whose own folders may come from elsewhere, as Open does, without creating any files.
func CheckFolders(ctx context.Context, p Paths) error {
	_, err := p.refuseForeign(ctx)
	return err
}

// shortNames are names that Windows treats as .company: its short names, and names with an ending that it drops. Git
// would write through them into the folder.
var shortNames = []string{"COMPAN~1", "COMPAN~2", "COMPAN~3", "COMPAN~4", companyDir + ".", companyDir + " "}

// refuseTracked looks up the office's folders and their parents in git's index, ignoring case: on a case-insensitive
// disk .Company is .company. It also reports whether git tracks company.yaml.
func (p Paths) refuseTracked(ctx context.Context, dirs []string) (tracksConfig bool, err error) {
	tracked, err := gitindex.Tracked(ctx, p.parentDir, slices.Concat(dirs, shortNames, []string{config.ConfigName})...)
	if err != nil {
		return false, err
	}
	own := slices.Concat(p.ownFolders(), shortNames)
	for _, entry := range tracked {
		path := filepath.Join(p.parentDir, filepath.FromSlash(entry.Path))
		switch {
		case entry.Path == config.ConfigName:
			tracksConfig = true
			continue
		case containsFolded(dirs, entry.Path): // the index does not list folders
			if entry.Mode == gitlink {
				return false, refusedState(path).Because("it is a submodule of the repository").
					Fix("if you do not need it: git submodule deinit -f " + entry.Path + " && git rm -f " + entry.Path +
						", and commit; else use another office with --office")
			}
		case !slices.ContainsFunc(own, func(dir string) bool { return isBelowFolded(entry.Path, dir) }):
			continue // belongs to the repository
		case entry.Mode != gitlink && entry.Mode != linkMode && slices.Contains(own, pathDir(entry.Path)) &&
			pathBase(entry.Path) == "README.md":
			continue
		}
		return false, refusedState(path).Because("git tracks it, so it may be somebody else's").
			Fix("git rm --cached " + entry.Path + ", or use another office with --office")
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
