package safedir

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	gitName = ".git"
	// markerHead makes git treat a .git as a repository whose branch has no commit.
	markerHead = "ref: refs/heads/office\n"
)

// markerNames are the allowed entries of a marker: its own files and one that git fetch creates.
var markerNames = []string{"HEAD", "objects", "refs", "info", "FETCH_HEAD"}

// MarkForGit creates an empty repository in the folder. git clean skips a folder with a repository unless it is forced
// twice (-ff), and git add adds no file in it.
func (f *Folder) MarkForGit() error {
	if info, err := f.Lstat(gitName + "/HEAD"); err == nil && info.Mode().IsRegular() {
		return nil
	}
	for _, dir := range []string{"objects", "refs", "info"} {
		if err := f.Mkdir(gitName + "/" + dir); err != nil {
			return err
		}
	}
	// git status in the folder then shows no file as new.
	if err := f.WriteFile(gitName+"/info/exclude", []byte("*\n"), 0o600); err != nil {
		return err
	}
	return f.WriteFile(gitName+"/HEAD", []byte(markerHead), 0o600) // last, because this file makes it a repository
}

// IsMarked reports whether the .git of a folder is a complete or partial marker. Such a folder belongs to us, and
// tracks and configures no files.
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
	// Some case-insensitive disks list HEAD as head.
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
