package bustest

import (
	"errors"
	"os"
	"time"

	"company/internal/lib/safedir"
)

// withBlob calls fn with the name of a blob's file in the folder at dir.
func withBlob(dir, hash string, fn func(own *safedir.Folder, file string) error) error {
	own, err := safedir.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(fn(own, "blobs/"+hash[:2]+"/"+hash[2:]), own.Close())
}

// CorruptBlob flips a bit of a stored blob behind the driver's back. A second call restores the blob.
func CorruptBlob(dir, hash string) error {
	return withBlob(dir, hash, func(own *safedir.Folder, name string) error {
		text, err := own.ReadFile(name, 0)
		if err != nil {
			return err
		}
		file, err := own.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		at := len(text) / 2
		_, err = file.WriteAt([]byte{text[at] ^ 1}, int64(at))
		return errors.Join(err, file.Close())
	})
}

// AgeBlob sets the time of the last put of a blob.
func AgeBlob(dir, hash string, at time.Time) error {
	return withBlob(dir, hash, func(own *safedir.Folder, name string) error { return own.Touch(name, at) })
}

// LoseBlob removes a blob behind the driver's back. restore puts it back.
func LoseBlob(dir, hash string) (restore func() error, err error) {
	restore = func() error {
		return withBlob(dir, hash, func(own *safedir.Folder, name string) error {
			return own.Rename(name+".aside", name)
		})
	}
	return restore, withBlob(dir, hash, func(own *safedir.Folder, name string) error {
		return own.Rename(name, name+".aside")
	})
}
