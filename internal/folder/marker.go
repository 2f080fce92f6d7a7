package folder

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	gitName = ".git"
	// markerHead makes git take a .git for a repository, of a branch without a commit.
	markerHead = "ref: refs/heads/office\n"
)

// markerNames are what a marker may hold: its own files and one that a git fetch leaves.
var markerNames = []string{"HEAD", "objects", "refs", "info", "FETCH_HEAD"}

// MarkForGit makes an empty repository in the folder. git clean passes a folder with a
// repository over unless it is forced twice (-ff), and git add takes no file of it.
func (f *Folder) MarkForGit() error {
	if info, err := f.Lstat(gitName + "/HEAD"); err == nil && info.Mode().IsRegular() {
		return nil
	}
	for _, dir := range []string{"objects", "refs", "info"} {
		if err := f.Mkdir(gitName + "/" + dir); err != nil {
			return err
		}
	}
	// git status in the folder shows no file of it as new.
	if err := f.WriteFile(gitName+"/info/exclude", []byte("*\n"), 0o600); err != nil {
		return err
	}
	return f.WriteFile(gitName+"/HEAD", []byte(markerHead), 0o600) // last: with it, it is a repository
}

// IsMarked reports whether the .git of a folder is a marker, or a part of one: a folder of
// ours that tracks nothing and configures nothing, whichever user made it.
func IsMarked(dir string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	return isMarked(root)
}

func isMarked(root *os.Root) bool {
	info, err := root.Lstat(gitName)
	if err != nil || !info.IsDir() || !OwnedByUs(info) {
		return false
	}
	// Some disks that fold case list HEAD as head.
	isMarker := func(name string) bool {
		return slices.ContainsFunc(markerNames, func(own string) bool { return strings.EqualFold(own, name) })
	}
	isForeign := func(name string) bool { return !isMarker(name) && !IsUnfinished(name, "HEAD") }
	if names, ok := listNames(root, gitName); !ok || slices.ContainsFunc(names, isForeign) {
		return false
	}
	for _, dir := range []string{"objects", "refs"} {
		info, err := root.Lstat(filepath.Join(gitName, dir))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil || !info.IsDir() {
			return false
		}
		if names, ok := listNames(root, filepath.Join(gitName, dir)); !ok || len(names) > 0 {
			return false
		}
	}
	return true
}

func listNames(root *os.Root, dir string) (names []string, ok bool) {
	entries, err := fs.ReadDir(root.FS(), filepath.ToSlash(dir))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err == nil
}
