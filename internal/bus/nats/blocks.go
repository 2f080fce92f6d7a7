package nats

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/lib/safedir"

	"github.com/minio/highwayhash"
)

// The server stores a stream's records in files, one after another. If a record does not match
// its checksum, the server truncates the file there at its start, and all later records of the
// file are lost. So the files are checked before each start.

const (
	streamsDir  = "jetstream/$G/streams"
	blockSuffix = ".blk"

	// A record is its length (4 bytes, the highest bit says that it has headers), sequence (8),
	// time (8), length of subject (2), subject, length of headers (4), headers, data and checksum (8).
	recordHead  = 22
	recordSum   = 8
	withHeaders = 1 << 31
	mostRecord  = 32 << 20
	deletedBits = 1<<63 | 1<<62 // bits of a sequence: the record is deleted, or records the deletion of another one
)

// damage is a place of a stream that differs from the written bytes.
type damage struct {
	file   string // path in the folder of the bus
	offset int
	torn   bool // an incomplete record at the end of the newest file, which was never acknowledged
}

// blockReader checks a file of a stream.
type blockReader struct{ sum hash.Hash }

// newBlockReader returns the reader for a file. The checksums of its records are keyed by its name.
func newBlockReader(stream, name string) (blockReader, error) {
	key := sha256.Sum256([]byte(stream + "-" + strings.TrimSuffix(path.Base(name), blockSuffix)))
	sum, err := highwayhash.New64(key[:])
	return blockReader{sum}, err
}

// checkRecord returns the size of the record at the start of raw. It returns false if the checksum
// does not match.
func (r blockReader) checkRecord(raw []byte) (size int, ok bool) {
	if len(raw) < recordHead+recordSum {
		return 0, false
	}
	length := binary.LittleEndian.Uint32(raw)
	size = int(length &^ withHeaders)
	subject := int(binary.LittleEndian.Uint16(raw[20:]))
	if size > min(len(raw), mostRecord) || recordHead+subject+recordSum > size {
		return 0, false
	}
	name, data := raw[recordHead:recordHead+subject], raw[recordHead+subject:size-recordSum]
	headers := 0
	if length&withHeaders != 0 {
		if len(data) < 4 {
			return 0, false
		}
		headers, data = int(binary.LittleEndian.Uint32(data)), data[4:]
	}
	if headers > len(data) {
		return 0, false
	}
	r.sum.Reset()
	for _, part := range [][]byte{raw[4:20], name, data} {
		_, _ = r.sum.Write(part)
	}
	seq := binary.LittleEndian.Uint64(raw[4:])
	deleted := seq&deletedBits != 0 || seq == 0
	return size, bytes.Equal(r.sum.Sum(nil), raw[size-recordSum:size]) &&
		isWellFormed(string(name), data[:headers], deleted)
}

// isWellFormed reports whether the parts of a record have the form that this package and the server
// write. The check is needed because the checksum does not cover the lengths of the parts.
func isWellFormed(subject string, header []byte, deleted bool) bool {
	switch {
	case len(header) > 0 &&
		!(bytes.HasPrefix(header, []byte("NATS/1.0\r\n")) && bytes.HasSuffix(header, []byte("\r\n\r\n"))):
		return false
	case subject == "":
		return deleted
	case strings.HasPrefix(subject, bus.ItemPrefix):
		return true
	}
	return bus.CheckSubject(subject) == nil
}

// hasRecord reports whether a record starts anywhere behind the first byte of raw.
func (r blockReader) hasRecord(raw []byte) bool {
	for index := 1; index+recordHead+recordSum <= len(raw); index++ {
		if _, ok := r.checkRecord(raw[index:]); ok {
			return true
		}
	}
	return false
}

// listBlocks lists the files of a stream, oldest first. A missing stream has no files.
func listBlocks(own *safedir.Folder, stream string) ([]string, error) {
	dir := path.Join(streamsDir, stream, "msgs")
	entries, err := own.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), blockSuffix) {
			names = append(names, path.Join(dir, entry.Name()))
		}
	}
	number := func(name string) int {
		n, _ := strconv.Atoi(strings.TrimSuffix(path.Base(name), blockSuffix))
		return n
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	return names, err
}

// findDamage returns the first damage of a stream, or nil.
func findDamage(ctx context.Context, own *safedir.Folder, stream string) (*damage, error) {
	names, err := listBlocks(own, stream)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		blockReader, err := newBlockReader(stream, name)
		if err != nil {
			return nil, err
		}
		raw, err := own.ReadFile(name, 0)
		if err != nil {
			return nil, err
		}
		for index := 0; index < len(raw); {
			if err := context.Cause(ctx); err != nil {
				return nil, err
			}
			size, ok := blockReader.checkRecord(raw[index:])
			if !ok {
				rest := raw[index:]
				torn := i == len(names)-1 && !isWhole(rest) && !blockReader.hasRecord(rest)
				return &damage{name, index, torn}, nil
			}
			index += size
		}
	}
	return nil, nil
}

// isWhole reports whether the last record of a file ends at the end of the file. Such a record was
// written completely and has changed since. A record that a power cut has truncated ends earlier.
func isWhole(raw []byte) bool {
	return len(raw) >= recordHead+recordSum && int(binary.LittleEndian.Uint32(raw)&^withHeaders) == len(raw)
}

// checkStreams checks all streams before a start of the server, which would truncate damaged ones. It
// calls aside for a damaged queue, which is filled again from the ledger. Damage of another stream is
// ELedger.
func checkStreams(ctx context.Context, own *safedir.Folder, aside func(d damage) error) error {
	for _, stream := range []string{ledgerStream, journalsStream, queueStream} {
		found, err := findDamage(ctx, own, stream)
		switch {
		case err != nil || found == nil:
		case found.torn:
			// With the index the server would treat the end as complete, and lose the subject of the
			// incomplete record: a ledger would silently be empty.
			err = own.Remove(path.Join(streamsDir, stream, "msgs", "index.db"))
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		case stream == queueStream:
			err = aside(*found)
		default:
			why := fmt.Sprintf("%s, byte %d: a record does not match its checksum", found.file, found.offset)
			err = company.E(company.ELedger, "the records of the bus are damaged").Because(why).NeedsPerson()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
