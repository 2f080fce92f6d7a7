package nats

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"company/internal/bus"
	"company/internal/bus/casqueue"
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

	// mostMended limits the size of a record in which a changed bit is searched, because each bit
	// costs a checksum.
	mostMended = 32 << 10
)

// blockRecord is a record in a file. Header and data share the file's memory.
type blockRecord struct {
	seq     uint64
	deleted bool
	time    time.Time
	subject string
	header  []byte
	data    []byte
	size    int
}

// Damage is a part of a stream that differs from the written bytes.
type Damage struct {
	Stream string
	File   string // path in the folder of the bus
	Offset int64
	Bytes  int64
	Mended bool // a single bit had changed, and is corrected while reading
	// After is the sequence of the newest record of the stream before the damage.
	After uint64

	torn bool // an incomplete record at the end of the newest file
}

// blockReader reads a file of a stream.
type blockReader struct{ sum hash.Hash }

// newBlockReader returns the reader for a file. The checksums of its records are keyed by its name.
func newBlockReader(stream, name string) (blockReader, error) {
	key := sha256.Sum256([]byte(stream + "-" + strings.TrimSuffix(path.Base(name), blockSuffix)))
	sum, err := highwayhash.New64(key[:])
	return blockReader{sum}, err
}

// parseRecord parses the record at the start of raw. It returns false if the checksum does not match.
func (r blockReader) parseRecord(raw []byte) (rec blockRecord, ok bool) {
	if len(raw) < recordHead+recordSum {
		return rec, false
	}
	length := binary.LittleEndian.Uint32(raw)
	size, subject := int(length&^withHeaders), int(binary.LittleEndian.Uint16(raw[20:]))
	if size > min(len(raw), mostRecord) || recordHead+subject+recordSum > size {
		return rec, false
	}
	rest := raw[recordHead : size-recordSum]
	rec = blockRecord{size: size, subject: string(rest[:subject]), data: rest[subject:],
		seq: binary.LittleEndian.Uint64(raw[4:]), time: time.Unix(0, int64(binary.LittleEndian.Uint64(raw[12:]))).UTC()}
	rec.deleted = rec.seq&deletedBits != 0 || rec.seq == 0
	rec.seq &^= deletedBits
	r.sum.Reset()
	_, _ = r.sum.Write(raw[4:20])
	_, _ = r.sum.Write(rest[:subject])
	if length&withHeaders != 0 {
		if len(rec.data) < 4 {
			return rec, false
		}
		headers := int(binary.LittleEndian.Uint32(rec.data))
		rec.data = rec.data[4:]
		if headers > len(rec.data) {
			return rec, false
		}
		rec.header = rec.data[:headers]
		_, _ = r.sum.Write(rec.data)
		rec.data = rec.data[headers:]
	} else {
		_, _ = r.sum.Write(rec.data)
	}
	return rec, bytes.Equal(r.sum.Sum(nil), raw[size-recordSum:size]) && rec.isWellFormed()
}

// isWellFormed reports whether the parts of a record have the form that this package and the server
// write. The check is needed because the checksum does not cover the lengths of the parts.
func (rec blockRecord) isWellFormed() bool {
	switch {
	case len(rec.header) > 0 &&
		!(bytes.HasPrefix(rec.header, []byte("NATS/1.0\r\n")) && bytes.HasSuffix(rec.header, []byte("\r\n\r\n"))):
		return false
	case rec.subject == "":
		return rec.deleted
	case strings.HasPrefix(rec.subject, casqueue.SubjectPrefix):
		return json.Valid(rec.data) || len(rec.data) == 0
	}
	return bus.CheckSubject(rec.subject) == nil
}

// findRecord finds the next record after a bad one. It tries the length of the bad record first, and
// then searches byte by byte.
func (r blockReader) findRecord(raw []byte, bad int) (index int, found bool) {
	if len(raw)-bad >= 4 {
		index = bad + int(binary.LittleEndian.Uint32(raw[bad:])&^withHeaders)
		if index > bad && index < len(raw) {
			if _, ok := r.parseRecord(raw[index:]); ok {
				return index, true
			}
		}
	}
	for index = bad + 1; index+recordHead+recordSum <= len(raw); index++ {
		if _, ok := r.parseRecord(raw[index:]); ok {
			return index, true
		}
	}
	return len(raw), false
}

// mendRecord searches for a single changed bit in a record, and corrects it in raw.
func (r blockReader) mendRecord(raw []byte) bool {
	if len(raw) > mostMended {
		return false
	}
	for index := range raw {
		for bit := range 8 {
			raw[index] ^= 1 << bit
			if rec, ok := r.parseRecord(raw); ok && rec.size == len(raw) {
				return true
			}
			raw[index] ^= 1 << bit
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

// readStream calls fn for each record of a stream with its location, and returns the damage. An
// incomplete record at the end of the newest file was never acknowledged; it is returned with torn
// set.
func readStream(
	ctx context.Context, own *safedir.Folder, stream string, fn func(file string, offset int64, r blockRecord) error,
) (damage []Damage, err error) {
	names, err := listBlocks(own, stream)
	if err != nil {
		return nil, err
	}
	var last uint64
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
			rec, ok := blockReader.parseRecord(raw[index:])
			if ok {
				if err := fn(name, int64(index), rec); err != nil {
					return nil, err
				}
				if !rec.deleted {
					last = rec.seq
				}
				index += rec.size
				continue
			}
			next, found := blockReader.findRecord(raw, index)
			d := Damage{Stream: stream, File: name, Offset: int64(index), Bytes: int64(next - index), After: last}
			if d.Mended = blockReader.mendRecord(raw[index:next]); d.Mended {
				damage = append(damage, d)
				continue
			}
			d.torn = !found && i == len(names)-1 && !isWhole(raw[index:])
			damage = append(damage, d)
			index = next
		}
	}
	return damage, nil
}

// isWhole reports whether the last record of a file ends at the end of the file. Such a record was
// written completely and has changed since. A record that a power cut has truncated ends earlier.
func isWhole(raw []byte) bool {
	return len(raw) >= recordHead+recordSum && int(binary.LittleEndian.Uint32(raw)&^withHeaders) == len(raw)
}

// readDamage does the same as readStream, but omits an incomplete record at the end, which was never
// acknowledged. torn reports whether there was one.
func readDamage(
	ctx context.Context, own *safedir.Folder, stream string, fn func(file string, offset int64, r blockRecord) error,
) (damage []Damage, torn bool, err error) {
	damage, err = readStream(ctx, own, stream, fn)
	damage = slices.DeleteFunc(damage, func(d Damage) bool { torn = torn || d.torn; return d.torn })
	return damage, torn, err
}

// checkStreams checks all streams before a start of the server, which would truncate damaged ones. It
// calls aside for a damaged queue, which is filled again from the ledger. Damage of another stream is
// ELedger.
func checkStreams(ctx context.Context, own *safedir.Folder, aside func(d Damage) error) error {
	for _, stream := range []string{LedgerStream, journalsStream, queueStream} {
		damage, torn, err := readDamage(ctx, own, stream, func(string, int64, blockRecord) error { return nil })
		if err == nil && torn {
			// With the index the server would treat the end as complete, and lose the subject of the
			// incomplete record: a ledger would silently be empty.
			err = own.Remove(path.Join(streamsDir, stream, "msgs", "index.db"))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		switch {
		case len(damage) == 0:
		case stream == queueStream:
			if err := aside(damage[0]); err != nil {
				return err
			}
		default:
			d := damage[0]
			return company.E(company.ELedger, "the records of the bus are damaged").
				Because(fmt.Sprintf("%s, byte %d: a record does not match its checksum", d.File, d.Offset)).NeedsPerson()
		}
	}
	return nil
}
