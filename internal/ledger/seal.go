package ledger

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"company/internal/bus"
	"company/internal/company"
)

// SealJournal ends a run's journal: its holder cannot write to it any more. It stores the records as
// one blob with one line of JSON per record, and returns the blob's hash and the number of records.
// Until the purge it may be repeated. The result is the same unless a higher fence has opened the
// journal again. A run that never opened its journal has an empty one.
func (l *Ledger) SealJournal(ctx context.Context, run company.RunID) (company.Hash, int, error) {
	if !run.Valid() {
		return "", 0, company.E(company.EInvalid, fmt.Sprintf("invalid run id %q", run))
	}
	if err := l.closeJournal(ctx, run); err != nil {
		return "", 0, err
	}
	hash, n, err := l.putJournal(ctx, run)
	if err != nil {
		return "", 0, err
	}
	return hash, n, nil
}

// closeJournal writes the seal. No holder can append after it.
func (l *Ledger) closeJournal(ctx context.Context, run company.RunID) error {
	subject := journalPrefix + string(run)
	for {
		rec, message, err := l.lastRecord(ctx, subject)
		if err != nil || rec.Kind == kindSealed {
			return err
		}
		text, err := json.Marshal(Record{
			N: rec.N + 1, Time: l.opts.Clock().UTC().Round(0), Fence: max(rec.Fence, 1), Kind: kindSealed,
		})
		if err != nil {
			return company.E(company.EInternal, "seal "+subject).Wrap(err)
		}
		_, err = l.bus.Log().Append(ctx, subject, text, message.Seq, sealID(run, message.Seq))
		if errors.Is(err, bus.ErrConflict) && ctx.Err() == nil {
			continue // the holder was quicker; its record belongs to the journal
		}
		return busError("seal "+subject, err)
	}
}

// sealID returns the message id of the seal that follows the record with sequence behind.
func sealID(run company.RunID, behind uint64) string { return fmt.Sprintf("%s/sealed/%d", run, behind) }

// newLineEncoder returns an encoder for a sealed journal, which has one line of JSON per record.
func newLineEncoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// putJournal streams the records into a blob. It returns the blob's hash and the number of records.
func (l *Ledger) putJournal(ctx context.Context, run company.RunID) (company.Hash, int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, w := io.Pipe()
	n := 0
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewWriter(w)
		encoder := newLineEncoder(lines)
		err := l.ReadJournal(ctx, run, func(rec Record) error {
			n++
			return encoder.Encode(rec)
		})
		if err == nil {
			err = lines.Flush()
		}
		w.CloseWithError(err) // a nil err ends the blob normally
	}()
	hash, _, err := l.PutBlob(ctx, r)
	// A failed Put stops reading early. Closing the pipe ends the goroutine above.
	r.CloseWithError(io.ErrClosedPipe)
	cancel()
	<-read
	return hash, n, err
}

// PurgeJournal removes the records of a sealed journal after it has checked that their blob is
// complete. It does nothing if the journal has no records, so it may be repeated. It returns EInvalid
// if the journal is not sealed.
func (l *Ledger) PurgeJournal(ctx context.Context, run company.RunID) error {
	subject := journalPrefix + string(run)
	rec, _, err := l.lastRecord(ctx, subject)
	if err != nil || rec.N == 0 {
		return err
	}
	if rec.Kind != kindSealed {
		return company.E(company.EInvalid, "the journal of run "+string(run)+" is not sealed").
			Fix("seal it first; nothing was purged")
	}
	// Storing the blob again is cheap and ensures that no record is purged that is not in a blob.
	hash, n, err := l.putJournal(ctx, run)
	if err != nil {
		return err
	}
	kept := 0
	if err := l.ReadSealed(ctx, hash, func(Record) error { kept++; return nil }); err != nil {
		return err
	}
	if kept != n {
		return company.E(company.ELedger, fmt.Sprintf("the sealed journal of run %s holds %d of %d records", run, kept, n))
	}
	return busError("purge "+subject, l.bus.Log().Purge(ctx, subject))
}

// CopyJournal writes the records of a journal as they are stored, one per line, even if they are damaged.
func (l *Ledger) CopyJournal(ctx context.Context, run company.RunID, to io.Writer) error {
	err := l.bus.Log().Read(ctx, journalPrefix+string(run), 0, func(m bus.Message) error {
		_, err := to.Write(append(bytes.Clone(m.Data), '\n'))
		return err
	})
	return busError("copy the journal of "+string(run), err)
}

// DropJournal removes the records of a journal, sealed or not.
func (l *Ledger) DropJournal(ctx context.Context, run company.RunID) error {
	return busError("purge the journal of "+string(run), l.bus.Log().Purge(ctx, journalPrefix+string(run)))
}

// ReadSealed calls fn for every record of a sealed journal, as ReadJournal did before the seal. It
// returns ELedger if the blob is damaged; fn may have been called for earlier records by then.
func (l *Ledger) ReadSealed(ctx context.Context, hash company.Hash, fn func(Record) error) error {
	blob, err := l.OpenBlob(ctx, hash)
	if err != nil {
		return err
	}
	defer blob.Close()
	lines := bufio.NewReader(blob)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return nil
		}
		if err != nil {
			return blobError(hash, err)
		}
		var rec Record
		if err := json.Unmarshal(line, &rec); err != nil {
			return blobError(hash, err)
		}
		if err := fn(rec); err != nil {
			return err
		}
	}
}

// PutBlob streams r into the blob store, synced, and returns the blob's hash and size.
func (l *Ledger) PutBlob(ctx context.Context, r io.Reader) (company.Hash, int64, error) {
	hash, size, err := l.bus.Blobs().Put(ctx, r)
	if err != nil {
		return "", 0, busError("put a blob", err)
	}
	return company.Hash(hash), size, nil
}

// OpenBlob opens a blob for streaming. The reader fails at the end if the bytes do not match the hash.
// If the blob does not exist, OpenBlob returns ENotFound.
func (l *Ledger) OpenBlob(ctx context.Context, hash company.Hash) (io.ReadCloser, error) {
	r, err := l.bus.Blobs().Get(ctx, string(hash))
	if err != nil {
		return nil, blobError(hash, err)
	}
	return r, nil
}

// GetBlob reads a whole blob of at most limit bytes. It returns EInvalid if the blob is larger,
// ENotFound if it does not exist and ELedger if it is damaged.
func (l *Ledger) GetBlob(ctx context.Context, hash company.Hash, limit int64) ([]byte, error) {
	r, err := l.OpenBlob(ctx, hash)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if limit < math.MaxInt64 {
		limit++ // one byte more detects a larger blob
	}
	var data bytes.Buffer
	n, err := io.Copy(&data, io.LimitReader(r, limit))
	if err != nil {
		return nil, blobError(hash, err)
	}
	if n == limit && limit < math.MaxInt64 {
		return nil, company.E(company.EInvalid, fmt.Sprintf("blob %s has more than %d bytes", hash, limit-1)).
			Fix("stream it")
	}
	return data.Bytes(), nil
}

func blobError(hash company.Hash, err error) error {
	switch {
	case errors.Is(err, bus.ErrNotFound):
		return company.E(company.ENotFound, fmt.Sprintf("there is no blob %.80s", hash)).Wrap(err)
	case errors.Is(err, bus.ErrClosed), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return busError("read a blob", err)
	}
	return company.E(company.ELedger, fmt.Sprintf("blob %.80s is damaged", hash)).
		Fix("company doctor --deep names each damage; where it is needed, " +
			company.PutCopyBack("the office's state")).Wrap(err)
}
