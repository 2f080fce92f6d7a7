package image

import (
	"errors"
	"os"

	"company/internal/folder"
)

// placeFile gives a finished file its name in the cache. Its bytes are synced before: the kernel may
// bring a name to the disk first, and a file that a power cut left empty would count as made.
func placeFile(from, to string) error {
	f, err := os.OpenFile(from, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// placeTree is placeFile for a folder with all below it. Of the thousands of files of a toolchain
// each is not synced by itself: their disk is.
func placeTree(from, to string) error {
	if err := folder.SyncDisk(from); err != nil {
		return err
	}
	return os.Rename(from, to)
}
