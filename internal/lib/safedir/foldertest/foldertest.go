// Package foldertest opens folders for tests, and closes them when the test ends. It is for packages that store files
// of an office.
package foldertest

import (
	"testing"

	"company/internal/lib/safedir"
)

// Open opens the folder at a path, and creates it if it is missing.
func Open(t testing.TB, dir string) *safedir.Folder {
	t.Helper()
	folder, err := safedir.Make(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := folder.Close(); err != nil {
			t.Error(err)
		}
	})
	return folder
}
