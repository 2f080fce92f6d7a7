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

// scanEntries calls fn for the frames of an open file.
func scanEntries(name string, file diskFile, fn func(Entry) error) (end, size int64, err error) {
	if size, err = file.Size(); err != nil {
		return 0, 0, err
	}
	raw := make([]byte, segmentHead)
	if err := readAll(file, raw, 0); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, size, err
	}
	h, ok := parseHead(raw)
	if !ok {
		return 0, size, nil
	}
	end, err = scanFrames(file, h, size, func(offset int64, f frame) error {
		return fn(Entry{File: name, Offset: offset, Kind: kindNames[f.kind], Seq: f.seq, Time: f.time, Expires: f.expires, Subject: f.subject, ID: f.id, Data: f.data})
	})
	return end, size, err
}

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
		end, size, err := scanEntries(name, plainFile{file}, fn)
		if err == nil && end < size {
			var used int64
			if used, err = localfiles.FindZeros(file, end, size); err == nil && used > end {
				err = skip(name, end, size-end)
			}
		}
		if err := errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
