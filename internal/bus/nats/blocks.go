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
	"company/internal/folder"

	"github.com/minio/highwayhash"
)

// The server keeps a stream's records in files, one behind the other. Where a record of a file
// does not match its checksum, a start of the server cuts the file off there, and all later records
// of the file with it. So the files are read before each start.

const (
	streamsDir  = "jetstream/$G/streams"
	blockSuffix = ".blk"

	// A record is its length (4 bytes, the highest bit says that it has headers), sequence (8),
	// time (8), length of subject (2), subject, length of headers (4), headers, data and checksum (8).
	recordHead  = 22
	recordSum   = 8
	withHeaders = 1 << 31
	mostRecord  = 32 << 20
	deletedBits = 1<<63 | 1<<62 // of a sequence: the record is gone, or says that another one is

	// mostMended bounds the bytes of a record in which a changed bit is looked for: each bit costs
	// a checksum.
	mostMended = 32 << 10
)

// blockRecord is a record as it lies in a file. Header and data share the file's memory.
type blockRecord struct {
	seq     uint64
	deleted bool
	time    time.Time
	subject string
	header  []byte
	data    []byte
	size    int
}

// Damage is a part of a stream that cannot be read as it was written.
type Damage struct {
	Stream string
	File   string // in the folder of the bus
	Offset int64
	Bytes  int64
	Mended bool // one bit had changed, and is read as it was
	// After is the sequence of the newest record of the stream before the damage.
	After uint64

	torn bool // the end of the newest file, which was never written whole
}

// blockReader reads a file of a stream.
type blockReader struct{ sum hash.Hash }

// newBlockReader makes the reader of a file. The checksums of its records are keyed by its name.
func newBlockReader(stream, name string) (blockReader, error) {
	key := sha256.Sum256([]byte(stream + "-" + strings.TrimSuffix(path.Base(name), blockSuffix)))
	sum, err := highwayhash.New64(key[:])
	return blockReader{sum}, err
}

// parseRecord reads the record that begins raw. It reports false where its checksum does not match.
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
// write: the checksum does not cover the lengths of the parts.
func (rec blockRecord) isWellFormed() bool {
	switch {
	case len(rec.header) > 0 && !(bytes.HasPrefix(rec.header, []byte("NATS/1.0\r\n")) && bytes.HasSuffix(rec.header, []byte("\r\n\r\n"))):
		return false
	case rec.subject == "":
		return rec.deleted
	case strings.HasPrefix(rec.subject, casqueue.SubjectPrefix):
		return json.Valid(rec.data) || len(rec.data) == 0
	}
	return bus.CheckSubject(rec.subject) == nil
}

// findRecord finds the next record behind a bad one: where the length of the bad one says, or else
// byte by byte.
func (r blockReader) findRecord(raw []byte, bad int) (at int, found bool) {
	if len(raw)-bad >= 4 {
		at = bad + int(binary.LittleEndian.Uint32(raw[bad:])&^withHeaders)
		if at > bad && at < len(raw) {
			if _, ok := r.parseRecord(raw[at:]); ok {
				return at, true
			}
		}
	}
	for at = bad + 1; at+recordHead+recordSum <= len(raw); at++ {
		if _, ok := r.parseRecord(raw[at:]); ok {
			return at, true
		}
	}
	return len(raw), false
}

// mendRecord looks for the one bit that changed in a record, and changes it back in raw.
func (r blockReader) mendRecord(raw []byte) bool {
	if len(raw) > mostMended {
		return false
	}
	for at := range raw {
		for bit := range 8 {
			raw[at] ^= 1 << bit
			if rec, ok := r.parseRecord(raw); ok && rec.size == len(raw) {
				return true
			}
			raw[at] ^= 1 << bit
		}
	}
	return false
}

// listBlocks lists the files of a stream, oldest first. A stream that is not there has none.
func listBlocks(own *folder.Folder, stream string) ([]string, error) {
	dir := path.Join(streamsDir, stream, "msgs")
	entries, err := own.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), blockSuffix) {
			names = append(names, path.Join(dir, e.Name()))
		}
	}
	number := func(name string) int {
		n, _ := strconv.Atoi(strings.TrimSuffix(path.Base(name), blockSuffix))
		return n
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	return names, err
}

// readStream calls fn for each record of a stream with its place, and returns the damage between. The bytes at the end
// of the newest file that are no whole record were never acknowledged, and are no damage.
func readStream(ctx context.Context, own *folder.Folder, stream string, fn func(file string, offset int64, r blockRecord) error) (damage []Damage, err error) {
	names, err := listBlocks(own, stream)
	if err != nil {
		return nil, err
	}
	var last uint64
	for i, name := range names {
		r, err := newBlockReader(stream, name)
		if err != nil {
			return nil, err
		}
		raw, err := own.ReadFile(name, 0)
		if err != nil {
			return nil, err
		}
		for at := 0; at < len(raw); {
			if err := context.Cause(ctx); err != nil {
				return nil, err
			}
			rec, ok := r.parseRecord(raw[at:])
			if ok {
				if err := fn(name, int64(at), rec); err != nil {
					return nil, err
				}
				if !rec.deleted {
					last = rec.seq
				}
				at += rec.size
				continue
			}
			next, found := r.findRecord(raw, at)
			d := Damage{Stream: stream, File: name, Offset: int64(at), Bytes: int64(next - at), After: last}
			if d.Mended = r.mendRecord(raw[at:next]); d.Mended {
				damage = append(damage, d)
				continue
			}
			d.torn = !found && i == len(names)-1 && !isWhole(raw[at:])
			damage = append(damage, d)
			at = next
		}
	}
	return damage, nil
}

// isWhole reports whether the last record of a file ends where the file does: it was written, and has
// changed since. One that a power cut has torn ends before.
func isWhole(raw []byte) bool {
	return len(raw) >= recordHead+recordSum && int(binary.LittleEndian.Uint32(raw)&^withHeaders) == len(raw)
}

// readDamage is readStream for all records, without what a power cut has torn off the end: that was never
// acknowledged. torn says that there is some.
func readDamage(ctx context.Context, own *folder.Folder, stream string, fn func(file string, offset int64, r blockRecord) error) (damage []Damage, torn bool, err error) {
	damage, err = readStream(ctx, own, stream, fn)
	damage = slices.DeleteFunc(damage, func(d Damage) bool { torn = torn || d.torn; return d.torn })
	return damage, torn, err
}

// checkStreams reads all streams before a start of the server, which would cut damaged ones off.
// A queue that is damaged is put aside: it is filled again from the ledger. Damage of
// another stream is ELedger.
func checkStreams(ctx context.Context, own *folder.Folder, aside func(d Damage) error) error {
	for _, stream := range []string{LedgerStream, journalsStream, queueStream} {
		damage, torn, err := readDamage(ctx, own, stream, func(string, int64, blockRecord) error { return nil })
		if err == nil && torn {
			// With its index the server would believe that the end is whole, and lose the subject of
			// the torn record: a ledger would be empty, without an error.
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
