// Package foldertest opens folders for tests, and closes them when the test
// ends. It is for tests of the rooms that keep files of an office.
package foldertest

import (
	"testing"

	"company/internal/folder"
)

// Open makes and opens the folder at a path.
func Open(t testing.TB, dir string) *folder.Folder {
	t.Helper()
	f, err := folder.Make(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}
