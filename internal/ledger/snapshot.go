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
	"company/internal/folder"
)

const snapshotVersion = 3

// snapshotName is the file of the snapshot in its folder.
const snapshotName = "snapshot"

// header is the part of a snapshot besides the caller's state. The file is the header in
// JSON, the state, and the hash of both in hexadecimal, the last on a line of its own.
//
// One file, replaced as a whole, and not a blob: blobs are never deleted, and
// a state of some megabytes every few minutes would fill the disk.
type header struct {
	Version  int    `json:"version"`
	At       link   `json:"at"`    // the last event that the state holds
	First    link   `json:"first"` // the end of the first record: tells ledgers apart
	Marks    []link `json:"marks,omitempty"`
	Commands []byte `json:"commands,omitempty"`

	Tasks map[company.TaskID][]byte `json:"tasks,omitempty"` // the records of each
}

// SaveSnapshot keeps the caller's state, which write writes, as it was when the ledger's
// head was at; the ledger may have moved on since. EInvalid: the ledger has no such
// point.
func (l *Ledger) SaveSnapshot(ctx context.Context, at Head, write func(io.Writer) error) error {
	if l.opts.Folder == nil {
		return company.E(company.EInvalid, "this ledger was opened without a place for snapshots")
	}
	l.mu.Lock()
	index := l.index.truncatedAt(at.LogSeq)
	l.mu.Unlock()
	point := link{Seq: at.Seq, Hash: at.Hash, Log: at.LogSeq}
	if stored, err := l.endOf(ctx, at.LogSeq); err != nil {
		return err
	} else if at.Seq == 0 || stored != point {
		return company.E(company.EInvalid, fmt.Sprintf("event %d with hash %.12s is no point of the ledger", at.Seq, at.Hash))
	}
	first, err := l.firstLink(ctx)
	if err != nil {
		return err
	}
	h := header{
		Version: snapshotVersion, At: point, First: first,
		Marks: index.marks, Commands: index.packCommands(), Tasks: index.packTasks(),
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

// replaceSnapshot writes the file whole or not at all. The state may be large, and is
// never in memory as a whole.
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

// removeUnfinished removes the snapshots that a kill has left half written: each is as large as
// the state. One process writes them, one at a time.
func (l *Ledger) removeUnfinished() error {
	entries, err := l.opts.Folder.List(".")
	for _, e := range entries {
		if folder.IsUnfinished(e.Name(), snapshotName) {
			err = errors.Join(err, l.opts.Folder.Remove(e.Name()))
		}
	}
	return err
}

// contextWriter takes nothing more when its context ends.
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

// firstLink is the end of the ledger's first record.
func (l *Ledger) firstLink(ctx context.Context) (end link, err error) {
	err = l.bus.Log().Read(ctx, subject, 0, func(m bus.Message) error {
		var err error
		if _, end, err = open(&link{}, m); err != nil {
			return err
		}
		return errDone
	})
	if errors.Is(err, errDone) {
		err = nil
	}
	return end, busError("read the ledger", err)
}

// endOf is the end of the record that stands there, or the zero link where
// none stands that can be read.
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

// LoadSnapshot returns the newest state that Open found to agree with the
// chain: every event after seq is still to be applied. ok is false when there
// is none; then all events are.
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
	h, state, err := l.readSnapshot()
	if err != nil || h.At != start.At {
		return 0, nil, false, nil // replaced or removed since; the events have it all
	}
	return h.At.Seq, state, true, nil
}

// readSnapshot reads the file and checks it in itself.
func (l *Ledger) readSnapshot() (*header, []byte, error) {
	file, err := l.opts.Folder.ReadFile(snapshotName, 0)
	if err != nil {
		return nil, nil, err
	}
	end := len(file) - 2*sha256.Size - 1
	if end < 0 || file[end] != '\n' {
		return nil, nil, errors.New("the file has no sum at its end")
	}
	rest, sum := file[:end], file[end+1:]
	if want := sha256.Sum256(rest); string(sum) != hex.EncodeToString(want[:]) {
		return nil, nil, errors.New("the file does not match its sum")
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

// resumeSnapshot starts at the snapshot if there is a good one. A snapshot that
// is damaged, or that is of another ledger, is ignored. One of this ledger that
// knows of a later event than the ledger holds is the only evidence of lost
// records, and is believed.
func (l *Ledger) resumeSnapshot(ctx context.Context) error {
	if l.opts.Folder == nil {
		return nil
	}
	h, state, err := l.readSnapshot()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	ignore := func(why string) error {
		l.opts.Logger.WarnContext(ctx, "snapshot ignored, replaying all events", "file", l.opts.Folder.Join(snapshotName), "why", why)
		return nil
	}
	if err != nil {
		return ignore(err.Error())
	}
	first, err := l.firstLink(ctx)
	if err != nil {
		return err
	}
	if first != h.First && first.Seq != 0 {
		return ignore("it is of another ledger")
	}
	last, err := l.bus.Log().Last(ctx, subject)
	if err != nil && !errors.Is(err, bus.ErrNotFound) {
		return busError("read the ledger", err)
	}
	if last.Seq < h.At.Log {
		return company.E(company.ELedger, fmt.Sprintf("the ledger has lost events up to %d", h.At.Seq)).
			Because("a snapshot knows of them").
			Fix(company.PutCopyBack("the office's state") + ", or delete " + l.opts.Folder.Join(snapshotName) + " to go on without them")
	}

	at, err := l.endOf(ctx, h.At.Log)
	if err != nil {
		return err
	}
	if at != h.At {
		return ignore("it does not match the ledger")
	}
	index, err := unpackIndex(h.Marks, h.Commands, h.Tasks)
	if err != nil {
		return ignore(err.Error())
	}
	l.head, l.index, l.start, l.startState = h.At, index, h, state
	l.start.Commands, l.start.Marks = nil, nil // held by the index
	return nil
}
