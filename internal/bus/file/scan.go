package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"company/internal/lib/safedir"
)

// Entry is a frame of the log in a form for people.
type Entry struct {
	File    string // name of the segment's file
	Offset  int64
	Kind    string // record, purge, mark or end
	Seq     uint64
	Time    time.Time
	Expires time.Time // zero means never
	Subject string
	ID      string
	Data    []byte // valid until the next frame is read
}

var kindNames = map[kind]string{recordFrame: "record", purgeFrame: "purge", markFrame: "mark", endFrame: "end"}

// scanEntries calls fn for the frames of an open file, and skip for the unreadable bytes between them.
func scanEntries(name string, file diskFile, fn func(Entry) error, skip func(offset, bytes int64) error) error {
	size, err := file.Size()
	if err != nil {
		return err
	}
	raw := make([]byte, segmentHead)
	if err := readAll(file, raw, 0); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	head, ok := parseHead(raw)
	if !ok {
		return skip(0, size)
	}
	for at := int64(segmentHead); ; {
		end, bad, err := scanWhole(name, file, head, at, fn)
		if err != nil || bad == 0 {
			return err
		}
		next, _, found, err := findNext(file, head, end, end+bad)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) { // the file was truncated meanwhile
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

// scanWhole calls fn for the frames from an offset up to the first unreadable one, and returns the
// number of unreadable bytes after the last frame. Another process may be writing meanwhile: it fills
// room that was read as zeros, and truncates the rest. So unreadable bytes are read again after a
// pause, unless a later mark proves that they were once complete on disk.
func scanWhole(name string, file diskFile, h head, from int64, fn func(Entry) error) (end, bad int64, err error) {
	size, err := file.Size()
	if err != nil {
		return 0, 0, err
	}
	var failed error // error of fn
	emit := func(offset int64, f frame) error {
		failed = fn(
			Entry{File: name, Offset: offset, Kind: kindNames[f.kind], Seq: f.seq, Time: f.time, Expires: f.expires,
				Subject: f.subject, ID: f.id, Data: f.data})
		return failed
	}
	end = from
	first := size   // bytes after this offset were added during the scan
	marked := false // the unreadable bytes were complete once
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
		used, err := findZeros(file, end, size)
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
	maxLooks  = 8                    // how often unreadable bytes are read
	lookPause = 5 * time.Millisecond // doubled before each attempt: 1.3 s for a batch that is being written
)

// Scan calls fn for every frame of the log in a folder, oldest first. It takes no lock and changes no
// files, so it can read while another process writes. It can also read a damaged log: it calls skip
// for unreadable bytes and continues with the next valid frame.
func Scan(own *safedir.Folder, fn func(Entry) error, skip func(file string, offset, bytes int64) error) error {
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
			continue // merged into an earlier segment meanwhile
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
