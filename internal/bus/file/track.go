package file

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"company/internal/company"
)

const suffix = ".log"

// track says where the records of a subject are. It is kept in memory and rebuilt from the file at each
// start. Bus.mu guards what changes.
type track struct {
	subject string
	mark    mark
	records []place
	size    int64  // of the file, up to the end of the last record
	lastID  string // of the last record
}

// place is the location of a record.
type place struct {
	seq    uint64
	offset int64
}

func newTrack(subject string) *track {
	t := &track{subject: subject}
	_, _ = rand.Read(t.mark[:]) // never fails
	return t
}

// parseName returns an empty track for the name of a file.
func parseName(name string) (t *track, ok bool) {
	stem, ok := strings.CutSuffix(name, suffix)
	at := strings.LastIndexByte(stem, '-')
	if !ok || at < 0 {
		return nil, false
	}
	raw, err := hex.DecodeString(stem[at+1:])
	if err != nil || len(raw) != markSize {
		return nil, false
	}
	return &track{subject: stem[:at], mark: mark(raw)}, true
}

func (t *track) fileName() string { return t.subject + "-" + hex.EncodeToString(t.mark[:]) + suffix }

// add adds a record that ends the file at a size.
func (t *track) add(f frame, offset, size int64) {
	t.records = append(t.records, place{f.seq, offset})
	t.size, t.lastID = size, f.id
}

func (t *track) lastRecord() place { return t.records[len(t.records)-1] }

// findRecord returns the place of the first record with at least this sequence.
func (t *track) findRecord(seq uint64) (place, bool) {
	at, _ := slices.BinarySearchFunc(t.records, seq, func(p place, seq uint64) int { return cmp.Compare(p.seq, seq) })
	if at == len(t.records) {
		return place{}, false
	}
	return t.records[at], true
}

// damagedError returns the error for a file whose bytes have changed. The caller knows the office's
// folders and adds the fix.
func damagedError(name string, offset int64, reason string) error {
	return company.E(company.ELedger, "the log of the bus is damaged").
		Because(fmt.Sprintf("%s, byte %d: %s", path.Join(logName, name), offset, reason)).NeedsPerson()
}
