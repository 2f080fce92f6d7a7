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

// scanEntries calls fn for the frames of an open file, and skip for the bytes between that cannot
// be read.
func scanEntries(name string, file diskFile, fn func(Entry) error, skip func(offset, bytes int64) error) error {
	size, err := file.Size()
	if err != nil {
		return err
	}
	raw := make([]byte, segmentHead)
	if err := readAll(file, raw, 0); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	h, ok := parseHead(raw)
	if !ok {
		return skip(0, size)
	}
	for at := int64(segmentHead); ; {
		end, bad, err := scanWhole(name, file, h, at, fn)
		if err != nil || bad == 0 {
			return err
		}
		next, _, found, err := findNext(file, h, end, end+bad)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) { // the file was cut meanwhile
			return err
		}
		if !found {
			return skip(end, bad)
		}
		if err := skip(end, next-end); err != nil {
			return err
		}
		at = next
	}
}

// scanWhole calls fn for the frames from an offset on up to the first that cannot be read, and returns
// how many bytes cannot be read behind the last one. The process that writes goes on meanwhile: it
// fills the room that was read as zeros, and cuts off the rest. So unreadable bytes are read again,
// after a pause, unless a mark says that they were whole on the disk once.
func scanWhole(name string, file diskFile, h head, from int64, fn func(Entry) error) (end, bad int64, err error) {
	size, err := file.Size()
	if err != nil {
		return 0, 0, err
	}
	var failed error // of fn
	emit := func(offset int64, f frame) error {
		failed = fn(Entry{File: name, Offset: offset, Kind: kindNames[f.kind], Seq: f.seq, Time: f.time, Expires: f.expires, Subject: f.subject, ID: f.id, Data: f.data})
		return failed
	}
	end = from
	first := size   // what comes behind it came later
	marked := false // the unreadable bytes were whole once
	for looks := 0; looks < maxLooks; looks++ {
		if looks > 1 && !marked {
			time.Sleep(lookPause << looks)
		}
		was := end
		end, err = scanFrames(file, h, was, size, emit)
		if failed != nil || err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return end, 0, err
		}
		if end > was {
			looks = 0
			marked = false
		} else if marked {
			break
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
		bad = max(used, end+1) - end
		if _, _, marked, err = findFrame(file, h, end+1, end+bad, markFrame); err != nil {
			marked = false // the file was cut meanwhile
		}
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
// next whole frame.
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
		err = scanEntries(name, plainFile{file}, fn, func(offset, bytes int64) error { return skip(name, offset, bytes) })
		if err := errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
