package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"company/internal/bus/localfiles"
	"company/internal/folder"
)

// Entry is a frame of the log as people see it.
type Entry struct {
	File    string // of the segment
	Offset  int64
	Kind    string // record, purge, mark or end
	Seq     uint64
	Time    time.Time
	Expires time.Time // zero: never
	Subject string
	ID      string
	Data    []byte // is overwritten by the next frame
}

var kindNames = map[kind]string{recordFrame: "record", purgeFrame: "purge", markFrame: "mark", endFrame: "end"}

// scanEntries calls fn for the frames of an open file, and returns how many bytes behind the last
// one cannot be read. The process that writes goes on meanwhile: it fills the room that was read
// as zeros, and cuts off the rest. So unreadable bytes are read again, after a pause.
func scanEntries(name string, file diskFile, fn func(Entry) error) (end, bad int64, err error) {
	size, err := file.Size()
	if err != nil {
		return 0, 0, err
	}
	raw := make([]byte, segmentHead)
	if err := readAll(file, raw, 0); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, 0, err
	}
	h, ok := parseHead(raw)
	if !ok {
		return 0, size, nil
	}
	var failed error // of fn
	emit := func(offset int64, f frame) error {
		failed = fn(Entry{File: name, Offset: offset, Kind: kindNames[f.kind], Seq: f.seq, Time: f.time, Expires: f.expires, Subject: f.subject, ID: f.id, Data: f.data})
		return failed
	}
	end = segmentHead
	first := size // what comes behind it came later
	for looks := 0; looks < maxLooks; looks++ {
		if looks > 1 {
			time.Sleep(lookPause << looks)
		}
		was := end
		end, err = scanFrames(file, h, was, size, emit)
		if failed != nil || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return end, 0, err
		}
		if end > was {
			looks = 0
		}
		if size, err = file.Size(); err != nil {
			return end, 0, err
		}
		used, err := localfiles.FindZeros(file, end, size)
		if err == nil && used <= end || end >= first {
			return end, 0, nil
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) { // the file was cut meanwhile
			return end, 0, err
		}
		bad = size - end
	}
	return end, bad, nil
}

const (
	maxLooks  = 8                    // how often bytes are looked at that cannot be read
	lookPause = 5 * time.Millisecond // doubled before each look: 1.3 s for a batch that is being written
)

// Scan calls fn for every frame of the log in a folder, from the first on. It takes
// no lock and changes nothing, so it also reads beside the process that writes, and
// a damaged log: where frames cannot be read it calls skip and goes on with the
// next segment.
func Scan(own *folder.Folder, fn func(Entry) error, skip func(file string, offset, bytes int64) error) error {
	wal, err := own.Sub(walName)
	if err != nil {
		return err
	}
	defer wal.Close()
	names, err := folderDisk{wal}.List()
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		if !strings.HasSuffix(name, suffix) {
			continue
		}
		file, err := wal.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // joined into one before it meanwhile
		}
		if err != nil {
			return err
		}
		end, bad, err := scanEntries(name, plainFile{file}, fn)
		if err == nil && bad > 0 {
			err = skip(name, end, bad)
		}
		if err := errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
