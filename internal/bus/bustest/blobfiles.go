package bustest

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"time"

	"company/internal/lib/safedir"
)

// storedBlob is the location of a blob in a driver's folder.
type storedBlob struct {
	file   string
	at     int64 // offset of its bytes
	size   int64
	packed bool // after a head, in a pack
}

// The head of a blob in a pack: see internal/bus/localfiles.
const (
	blobHead  = 64
	headState = 4 // a byte, its checksum in three bytes, and the time in eight
	headSize  = 16
	headSum   = 32
)

// withBlob calls fn with the location of a blob in the folder at dir.
func withBlob(dir, hash string, fn func(*safedir.Folder, storedBlob) error) error {
	own, err := safedir.Open(dir)
	if err != nil {
		return err
	}
	b, err := findBlob(own, hash)
	if err == nil {
		err = fn(own, b)
	}
	return errors.Join(err, own.Close())
}

func findBlob(own *safedir.Folder, hash string) (storedBlob, error) {
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
func (b storedBlob) writeAt(own *safedir.Folder, data []byte, at int64) error {
	file, err := own.OpenFile(b.file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(data, at)
	return errors.Join(err, file.Close())
}

// CorruptBlob flips a bit of a stored blob behind the driver's back. A second call restores the blob.
func CorruptBlob(dir, hash string) error {
	return withBlob(dir, hash, func(own *safedir.Folder, b storedBlob) error {
		text, err := own.ReadFile(b.file, 0)
		if err != nil {
			return err
		}
		at := b.at + b.size/2
		return b.writeAt(own, []byte{text[at] ^ 1}, at)
	})
}

// FlipHead flips a bit in the head of a packed blob behind the driver's back. restore flips it back.
// Before states had a checksum, bit 35 turned a live blob into a removed one.
func FlipHead(dir, hash string, bit int) (restore func() error, err error) {
	err = withBlob(dir, hash, func(own *safedir.Folder, b storedBlob) error {
		if !b.packed {
			return fmt.Errorf("blob %s is in no pack", hash)
		}
		text, err := own.ReadFile(b.file, 0)
		if err != nil {
			return err
		}
		at := b.at - blobHead + int64(bit/8)
		restore = func() error {
			back, err := safedir.Open(dir)
			if err != nil {
				return err
			}
			return errors.Join(b.writeAt(back, text[at:at+1], at), back.Close())
		}
		return b.writeAt(own, []byte{text[at] ^ 1<<(bit%8)}, at)
	})
	return restore, err
}

// AgeBlob sets the time of the last put of a blob.
func AgeBlob(dir, hash string, at time.Time) error {
	return withBlob(dir, hash, func(own *safedir.Folder, b storedBlob) error {
		if !b.packed {
			return own.Touch(b.file, at)
		}
		return b.writeAt(own, encodeState('L', uint64(at.UnixNano())), b.at-blobHead+headState)
	})
}

// encodeState encodes the part of a head that holds the state and the time of the last put.
func encodeState(state byte, put uint64) []byte {
	b := binary.LittleEndian.AppendUint64([]byte{state, 0, 0, 0}, put)
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(crc32.Checksum(b[:1], table), table, b[4:])
	b[1], b[2], b[3] = byte(sum), byte(sum>>8), byte(sum>>16)|0xc0
	return b
}

// LoseBlob removes a blob behind the driver's back. restore puts it back.
func LoseBlob(dir, hash string) (restore func() error, err error) {
	var put uint64
	err = withBlob(dir, hash, func(own *safedir.Folder, b storedBlob) error {
		aside := b.file + ".aside"
		restore = func() error {
			back, err := safedir.Open(dir)
			if err != nil {
				return err
			}
			defer back.Close()
			if !b.packed {
				return back.Rename(aside, b.file)
			}
			return b.writeAt(back, encodeState('L', put), b.at-blobHead+headState)
		}
		if !b.packed {
			return own.Rename(b.file, aside)
		}
		text, err := own.ReadFile(b.file, 0)
		if err != nil {
			return err
		}
		put = binary.LittleEndian.Uint64(text[b.at-blobHead+headState+4:])
		return b.writeAt(own, encodeState('D', put), b.at-blobHead+headState)
	})
	return restore, err
}
