package ledger

import (
	"context"
	"fmt"
	"io"
	"time"

	"company/internal/bus"
	"company/internal/company"
)

// Verify reads the whole ledger and checks every link. It also checks that the ledger contains the
// head that this handle knows.
func (l *Ledger) Verify(ctx context.Context) error {
	_, err := l.FindLastIntact(ctx)
	return err
}

// FindLastIntact verifies the ledger like Verify, and returns the last event before any damage.
func (l *Ledger) FindLastIntact(ctx context.Context) (Head, error) {
	head := l.Head()
	var at link
	found := head == at.asHead()
	err := l.bus.Log().Read(ctx, subject, 0, func(message bus.Message) error {
		_, next, err := open(&at, message)
		if err == nil {
			at, found = next, found || next.asHead() == head
		}
		return err
	})
	if err == nil && !found {
		err = damagedError(at.Seq+1, fmt.Sprintf("the ledger held event %d with another history before", head.Seq))
	}
	return at.asHead(), busError("verify the ledger", err)
}

// Blobs calls fn in order for every blob whose name sorts after the given one. An error of fn ends it
// and is returned unchanged.
func (l *Ledger) Blobs(ctx context.Context, after company.Hash, fn func(bus.BlobInfo) error) error {
	var refused error
	err := l.bus.Blobs().List(ctx, string(after), func(b bus.BlobInfo) error {
		refused = fn(b)
		return refused
	})
	if refused != nil {
		return refused
	}
	return busError("list the blobs", err)
}

// VerifyBlob reads a blob to its end and checks it against its hash. It returns ELedger if the blob is
// damaged and ENotFound if it does not exist.
func (l *Ledger) VerifyBlob(ctx context.Context, hash company.Hash) error {
	r, err := l.OpenBlob(ctx, hash)
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := io.Copy(io.Discard, r); err != nil {
		return blobError(hash, err)
	}
	return nil
}

// RemoveBlob removes a blob that was last put before a time, and reports whether it did. The caller
// must know that no record refers to it.
func (l *Ledger) RemoveBlob(ctx context.Context, hash company.Hash, before time.Time) (bool, error) {
	removed, err := l.bus.Blobs().Remove(ctx, string(hash), before)
	return removed, busError("remove a blob", err)
}

// HasBlob reports whether a blob with this name exists. It does not check the content.
func (l *Ledger) HasBlob(ctx context.Context, hash company.Hash) (bool, error) {
	r, err := l.OpenBlob(ctx, hash)
	switch {
	case company.CodeOf(err) == company.ENotFound:
		return false, nil
	case err != nil:
		return false, err
	}
	return true, r.Close()
}
