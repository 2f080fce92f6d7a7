package ledger

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"company/internal/bus"
	"company/internal/company"
	"company/internal/lib/safedir"
)

const snapshotVersion = 4

// snapshotName is the file of the snapshot in its folder.
const snapshotName = "snapshot"

// header is the part of a snapshot besides the caller's state. The file consists of the header in
// JSON, the state, and the hash of both in hexadecimal on a line of its own.
//
// It is one file that is replaced as a whole. It is not a blob, because a new blob of
// some megabytes every few minutes would fill the disk until the old ones are removed.
type header struct {
	Version  int    `json:"version"`
	At       link   `json:"at"`    // the last event that the state holds
	First    link   `json:"first"` // the end of the first record; identifies the ledger
	Marks    []link `json:"marks,omitempty"`
	Commands []byte `json:"commands,omitempty"`

	Tasks map[company.TaskID]span `json:"tasks,omitempty"`
}

// SaveSnapshot stores the caller's state as of the head at. The function write writes the state. The
// ledger may have grown since then. SaveSnapshot returns EInvalid if at is not a point of the ledger.
func (l *Ledger) SaveSnapshot(ctx context.Context, at Head, write func(io.Writer) error) error {
	if l.opts.Folder == nil {
		return company.E(company.EInvalid, "this ledger was opened without a folder for snapshots")
	}
	l.mu.Lock()
	index := l.index.truncatedAt(at)
	l.mu.Unlock()
	point := link{Seq: at.Seq, Hash: at.Hash, Log: at.LogSeq}
	if stored, err := l.endOf(ctx, at.LogSeq); err != nil {
		return err
	} else if at.Seq == 0 || stored != point {
		return company.E(company.EInvalid, fmt.Sprintf("event %d with hash %.12s is not in the ledger", at.Seq, at.Hash))
	}
	first, err := l.firstLink(ctx)
	if err != nil {
		return err
	}
	h := header{
		Version: snapshotVersion, At: point, First: first,
		Marks: index.marks, Commands: index.packCommands(), Tasks: index.tasks,
	}
	text, err := json.Marshal(h)
	if err != nil {
		return snapshotError(err)
	}
	if err := l.replaceSnapshot(ctx, append(text, '\n'), write); err != nil {
		return snapshotError(err)
	}
	return nil
}

// replaceSnapshot writes the whole file or leaves the old one. It streams the state, which may be too
// large to hold in memory.
func (l *Ledger) replaceSnapshot(ctx context.Context, header []byte, write func(io.Writer) error) error {
	if err := l.removeUnfinished(); err != nil {
		return err
	}
	return l.opts.Folder.WriteStream(snapshotName, 0o600, func(file io.Writer) error {
		sum, buffered := sha256.New(), bufio.NewWriterSize(file, 64<<10)
		both := contextWriter{ctx, io.MultiWriter(buffered, sum)}
		if _, err := both.Write(header); err != nil {
			return err
		}
		if err := write(both); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(buffered, "\n%x", sum.Sum(nil)); err != nil {
			return err
		}
		return buffered.Flush()
	})
}

// removeUnfinished removes the partial snapshots that a killed process has left. Each is as large as
// the state. Only one process writes snapshots, one at a time.
func (l *Ledger) removeUnfinished() error {
	entries, err := l.opts.Folder.List(".")
	for _, entry := range entries {
		if safedir.IsUnfinished(entry.Name(), snapshotName) {
			err = errors.Join(err, l.opts.Folder.Remove(entry.Name()))
		}
	}
	return err
}

// contextWriter fails all writes after its context has ended.
type contextWriter struct {
	ctx context.Context
	to  io.Writer
}

func (w contextWriter) Write(p []byte) (int, error) {
	if err := context.Cause(w.ctx); err != nil {
		return 0, err
	}
	return w.to.Write(p)
}

func snapshotError(err error) error {
	return company.E(company.ELedger, "the snapshot cannot be written").
		Fix("check the office's disk; the ledger itself is not affected").Wrap(err)
}

// firstLink returns the end of the ledger's first record.
func (l *Ledger) firstLink(ctx context.Context) (end link, err error) {
	err = l.bus.Log().Read(ctx, subject, 0, func(message bus.Message) error {
		var err error
		if _, end, err = open(&link{}, message); err != nil {
			return err
		}
		return errDone
	})
	if errors.Is(err, errDone) {
		err = nil
	}
	return end, busError("read the ledger", err)
}

// endOf returns the end of the record at sequence at of the bus, or the zero link if there is no
// readable record.
func (l *Ledger) endOf(ctx context.Context, at uint64) (end link, err error) {
	err = l.bus.Log().Read(ctx, subject, at, func(m bus.Message) error {
		if _, e, err := open(nil, m); err == nil && m.Seq == at {
			end = e
		}
		return errDone
	})
	if err != nil && !errors.Is(err, errDone) {
		return link{}, busError("read the ledger", err)
	}
	return end, nil
}

// LoadSnapshot returns the newest state that Open found to match the chain. The caller must apply
// every event after seq. ok is false if there is no such state; the caller must then apply all events.
func (l *Ledger) LoadSnapshot(ctx context.Context) (seq uint64, state []byte, ok bool, err error) {
	if err := context.Cause(ctx); err != nil {
		return 0, nil, false, err
	}
	l.mu.Lock()
	start, state := l.start, l.startState
	l.startState = nil
	l.mu.Unlock()
	switch {
	case start == nil:
		return 0, nil, false, nil
	case state != nil:
		return start.At.Seq, state, true, nil
	}
	header, state, err := l.readSnapshot()
	if err != nil || header.At != start.At {
		return 0, nil, false, nil // replaced or removed since; the caller replays all events
	}
	return header.At.Seq, state, true, nil
}

// readSnapshot reads the file and checks its sum and version.
func (l *Ledger) readSnapshot() (*header, []byte, error) {
	file, err := l.opts.Folder.ReadFile(snapshotName, 0)
	if err != nil {
		return nil, nil, err
	}
	end := len(file) - 2*sha256.Size - 1
	if end < 0 || file[end] != '\n' {
		return nil, nil, errors.New("the file has no checksum at its end")
	}
	rest, sum := file[:end], file[end+1:]
	if want := sha256.Sum256(rest); string(sum) != hex.EncodeToString(want[:]) {
		return nil, nil, errors.New("the file does not match its checksum")
	}
	text, state, _ := bytes.Cut(rest, []byte("\n"))
	var h header
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, nil, err
	}
	if h.Version != snapshotVersion {
		return nil, nil, fmt.Errorf("version %d", h.Version)
	}
	return &h, state, nil
}

// resumeSnapshot starts from the snapshot if it is valid. It ignores a snapshot that is damaged or
// belongs to another ledger. If a snapshot of this ledger knows of a later event than the ledger
// holds, records were lost. The snapshot is the only evidence of that, so this is an error.
func (l *Ledger) resumeSnapshot(ctx context.Context) error {
	if l.opts.Folder == nil {
		return nil
	}
	header, state, err := l.readSnapshot()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	ignore := func(reason string) error {
		l.opts.Logger.WarnContext(ctx, "snapshot ignored, replaying all events", "file", l.opts.Folder.Join(snapshotName),
			"why", reason)
		return nil
	}
	if err != nil {
		return ignore(err.Error())
	}
	first, err := l.firstLink(ctx)
	if err != nil {
		return err
	}
	if first != header.First && first.Seq != 0 {
		return ignore("it is of another ledger")
	}
	last, err := l.bus.Log().Last(ctx, subject)
	if err != nil && !errors.Is(err, bus.ErrNotFound) {
		return busError("read the ledger", err)
	}
	if last.Seq < header.At.Log {
		return company.E(company.ELedger, fmt.Sprintf("the ledger has lost events up to %d", header.At.Seq)).
			Because("a snapshot has seen them").
			Fix(company.PutCopyBack("the office's state") + ", or delete " + l.opts.Folder.Join(snapshotName) +
				" to go on without them")
	}

	link, err := l.endOf(ctx, header.At.Log)
	if err != nil {
		return err
	}
	if link != header.At {
		return ignore("it does not match the ledger")
	}
	index, err := unpackIndex(header)
	if err != nil {
		return ignore(err.Error())
	}
	l.head = header.At
	l.index = index
	l.start = header
	l.startState = state
	l.start.Commands, l.start.Marks = nil, nil // the index holds them
	l.start.Tasks = nil
	return nil
}
