package folder

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// ListedName is the name by which the folder above path lists it. A disk that
// folds case opens it by other names, too. It is false where the folder cannot be listed,
// or lists nothing that is the same file.
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
	for _, e := range entries {
		if info, err := e.Info(); err == nil && os.SameFile(info, file) {
			return e.Name(), true
		}
	}
	return "", false
}
