package safedir

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// ListedName returns the name under which the parent folder lists a path. A case-insensitive disk also opens it by
// other names. ok is false if the folder cannot be listed, or lists no entry for the same file.
func ListedName(path string) (name string, ok bool) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return "", false
	}
	name = filepath.Base(path)
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name }) {
		return name, true
	}
	file, err := os.Lstat(path)
	if err != nil {
		return "", false
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && os.SameFile(info, file) {
			return entry.Name(), true
		}
	}
	return "", false
}
