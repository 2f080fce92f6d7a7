package bustest

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"company/internal/folder"
)

// storedBlob is where a driver with a folder keeps a blob.
type storedBlob struct {
	file   string
	at     int64 // of its bytes
	size   int64
	packed bool // behind a head, in a file of many
}

// The head of a blob in a pack: see internal/bus/localfiles.
const (
	blobHead  = 64
	headState = 4 // a byte; three of zero behind it have it taken as it is
	headSize  = 16
	headSum   = 32
)

// withBlob calls fn with a blob that a driver keeps in the folder at dir.
func withBlob(dir, hash string, fn func(*folder.Folder, storedBlob) error) error {
	own, err := folder.Open(dir)
	if err != nil {
		return err
	}
	b, err := findBlob(own, hash)
	if err == nil {
		err = fn(own, b)
	}
	return errors.Join(err, own.Close())
}

func findBlob(own *folder.Folder, hash string) (storedBlob, error) {
	file := "blobs/" + hash[:2] + "/" + hash[2:]
	info, err := own.Lstat(file)
	if err == nil {
		return storedBlob{file: file, size: info.Size()}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return storedBlob{}, err
	}
	sum, err := hex.DecodeString(hash)
	if err != nil {
		return storedBlob{}, err
	}
	packs, err := own.List("blobs/packs")
	if err != nil {
		return storedBlob{}, err
	}
	for _, pack := range packs {
		file := "blobs/packs/" + pack.Name()
		text, err := own.ReadFile(file, 0)
		if err != nil {
			return storedBlob{}, err
		}
		if i := bytes.Index(text, sum); i >= headSum && i%blobHead == headSum {
			head := text[i-headSum:]
			return storedBlob{file, int64(i - headSum + blobHead), int64(binary.LittleEndian.Uint32(head[headSize:])), true}, nil
		}
	}
	return storedBlob{}, fmt.Errorf("blob %s: %w", hash, fs.ErrNotExist)
}

// writeAt writes bytes into the file of a blob.
func (b storedBlob) writeAt(own *folder.Folder, data []byte, at int64) error {
	file, err := own.OpenFile(b.file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(data, at)
	return errors.Join(err, file.Close())
}

// CorruptBlob flips a bit of a stored blob behind the driver's back; once more, and the
// blob is whole again.
func CorruptBlob(dir, hash string) error {
	return withBlob(dir, hash, func(own *folder.Folder, b storedBlob) error {
		text, err := own.ReadFile(b.file, 0)
		if err != nil {
			return err
		}
		at := b.at + b.size/2
		return b.writeAt(own, []byte{text[at] ^ 1}, at)
	})
}

// FlipHead flips a bit of the head of a stored blob in a pack, behind the driver's back, and
// restore flips it back. Bit 35 made a live blob a removed one before states had a check.
func FlipHead(dir, hash string, bit int) (restore func() error, err error) {
	err = withBlob(dir, hash, func(own *folder.Folder, b storedBlob) error {
		if !b.packed {
			return fmt.Errorf("blob %s is in no pack", hash)
		}
		text, err := own.ReadFile(b.file, 0)
		if err != nil {
			return err
		}
		at := b.at - blobHead + int64(bit/8)
		restore = func() error {
			back, err := folder.Open(dir)
			if err != nil {
				return err
			}
			return errors.Join(b.writeAt(back, text[at:at+1], at), back.Close())
		}
		return b.writeAt(own, []byte{text[at] ^ 1<<(bit%8)}, at)
	})
	return restore, err
}

// AgeBlob sets when a blob was last put.
func AgeBlob(dir, hash string, at time.Time) error {
	return withBlob(dir, hash, func(own *folder.Folder, b storedBlob) error {
		if !b.packed {
			return own.Touch(b.file, at)
		}
		state := binary.LittleEndian.AppendUint64([]byte{'L', 0, 0, 0}, uint64(at.UnixNano()))
		return b.writeAt(own, state, b.at-blobHead+headState)
	})
}

// LoseBlob takes a blob away, and restore puts it back.
func LoseBlob(dir, hash string) (restore func() error, err error) {
	err = withBlob(dir, hash, func(own *folder.Folder, b storedBlob) error {
		aside := b.file + ".aside"
		restore = func() error {
			back, err := folder.Open(dir)
			if err != nil {
				return err
			}
			defer back.Close()
			if !b.packed {
				return back.Rename(aside, b.file)
			}
			return b.writeAt(back, []byte{'L', 0, 0, 0}, b.at-blobHead+headState)
		}
		if !b.packed {
			return own.Rename(b.file, aside)
		}
		return b.writeAt(own, []byte{'D', 0, 0, 0}, b.at-blobHead+headState)
	})
	return restore, err
}
