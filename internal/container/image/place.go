package image

import (
	"errors"
	"os"

	"company/internal/lib/safedir"
)

// placeFile syncs a finished file and moves it to its name in the cache. Without the sync, the name
// could reach the disk first. A file that a power cut left empty would then count as complete.
func placeFile(from, to string) error {
	file, err := os.OpenFile(from, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// placeTree does the same for a folder with its content. It syncs the whole disk instead of each of
// the thousands of files of a toolchain.
func placeTree(from, to string) error {
	if err := safedir.SyncDisk(from); err != nil {
		return err
	}
	return os.Rename(from, to)
}
