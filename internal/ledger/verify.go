package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"company/internal/bus"
	"company/internal/company"
)

// Verify reads the whole ledger and checks every link. It also checks that the ledger contains the
// head that this handle knows.
func (l *Ledger) Verify(ctx context.Context) error {
	_, _, err := l.VerifySome(ctx, Head{}, math.MaxInt)
	return err
}

// errNoPoint means that the ledger does not hold the point from which a verification was to continue.
var errNoPoint = errors.New("ledger: no such point")

// VerifySome verifies at most limit records after the point from, and returns the point that it has
// reached. Pass the point of an earlier call, or the zero point for the beginning. If the ledger does
// not hold the point any more, VerifySome starts from the beginning. done means that the ledger ends
// there and contains the head that this handle knows. ELedger means that the ledger is damaged after
// the returned point.
func (l *Ledger) VerifySome(ctx context.Context, from Head, limit int) (at Head, done bool, err error) {
	at, done, err = l.verifyFrom(ctx, from, limit)
	if errors.Is(err, errNoPoint) {
		at, done, err = l.verifyFrom(ctx, Head{}, limit)
	}
	return at, done, busError("verify the ledger", err)
}

func (l *Ledger) verifyFrom(ctx context.Context, from Head, limit int) (Head, bool, error) {
	head := l.Head().asLink()
	link := from.asLink()
	if link.Log > head.Log || link.Log == head.Log && link != head {
		return Head{}, false, errNoPoint
	}
	known, checked, n := link == head, link.Log == 0, 0
	err := l.bus.Log().Read(ctx, subject, link.Log, func(message bus.Message) error {
		if !checked {
			_, end, err := open(nil, message)
			if err != nil || end != link {
				return errNoPoint
			}
			checked = true
			return nil
		}
		if n == limit {
			return errDone
		}
		_, next, err := open(&link, message)
		if err != nil {
			return err
		}
		link, n, known = next, n+1, known || next == head
		return nil
	})
	switch {
	case errors.Is(err, errDone):
		return link.asHead(), false, nil
	case err == nil && !checked:
		err = errNoPoint
	case err == nil && !known:
		err = damagedError(link.Seq+1, fmt.Sprintf("the ledger was known to hold event %d with another past", head.Seq))
	}
	return link.asHead(), err == nil, err
}

func (h Head) asLink() link { return link{Seq: h.Seq, Hash: h.Hash, Log: h.LogSeq} }

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
