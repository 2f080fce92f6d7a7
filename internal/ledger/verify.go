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

// Verify reads the whole ledger and checks every link of it, and that it ends
// where this handle knows it to end or later.
func (l *Ledger) Verify(ctx context.Context) error {
	_, _, err := l.VerifySome(ctx, Head{}, math.MaxInt)
	return err
}

// errNoPoint means that the ledger does not hold the point that a verification was to
// go on from.
var errNoPoint = errors.New("ledger: no such point")

// VerifySome verifies at most a number of records behind a point, which an earlier call
// returned, and returns the point that it has come to; done: the ledger ends there, and
// holds all that this handle knows of. The zero point is the beginning. Where the ledger
// does not hold the point any more, it begins anew. ELedger: the ledger is damaged
// behind the returned point.
func (l *Ledger) VerifySome(ctx context.Context, from Head, most int) (at Head, done bool, err error) {
	at, done, err = l.verifyFrom(ctx, from, most)
	if errors.Is(err, errNoPoint) {
		at, done, err = l.verifyFrom(ctx, Head{}, most)
	}
	return at, done, busError("verify the ledger", err)
}

func (l *Ledger) verifyFrom(ctx context.Context, from Head, most int) (Head, bool, error) {
	head := l.Head().asLink()
	at := from.asLink()
	if at.Log > head.Log || at.Log == head.Log && at != head {
		return Head{}, false, errNoPoint
	}
	known, checked, n := at == head, at.Log == 0, 0
	err := l.bus.Log().Read(ctx, subject, at.Log, func(m bus.Message) error {
		if !checked {
			_, end, err := open(nil, m)
			if err != nil || end != at {
				return errNoPoint
			}
			checked = true
			return nil
		}
		if n == most {
			return errDone
		}
		_, next, err := open(&at, m)
		if err != nil {
			return err
		}
		at, n, known = next, n+1, known || next == head
		return nil
	})
	switch {
	case errors.Is(err, errDone):
		return at.asHead(), false, nil
	case err == nil && !checked:
		err = errNoPoint
	case err == nil && !known:
		err = damagedError(at.Seq+1, fmt.Sprintf("the ledger was known to hold event %d with another past", head.Seq))
	}
	return at.asHead(), err == nil, err
}

func (h Head) asLink() link { return link{Seq: h.Seq, Hash: h.Hash, Log: h.LogSeq} }

// Blobs calls fn for every blob whose name comes behind a name, in their order. An
// error of fn ends it and is returned as it is.
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

// CheckBlobs looks at what the store keeps beside the bytes of blobs, in the first part of it
// whose name comes behind a name. It calls fn for each damage and returns the name of the part;
// "": none is left. An error of fn ends it and is returned as it is.
func (l *Ledger) CheckBlobs(ctx context.Context, after string, fn func(bus.BlobDamage) error) (part string, err error) {
	var refused error
	part, err = l.bus.Blobs().Check(ctx, after, func(d bus.BlobDamage) error {
		refused = fn(d)
		return refused
	})
	if refused != nil {
		return part, refused
	}
	return part, busError("check the store of the blobs", err)
}

// VerifyBlob reads a blob to its end and holds it to its name. ELedger: it is damaged;
// ENotFound: there is none.
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

// RemoveBlob forgets a blob that was last put before a time, and reports whether it did.
// The caller knows that nothing names it.
func (l *Ledger) RemoveBlob(ctx context.Context, hash company.Hash, before time.Time) (bool, error) {
	removed, err := l.bus.Blobs().Remove(ctx, string(hash), before)
	return removed, busError("remove a blob", err)
}

// HasBlob reports whether there is a blob of that name, whatever is in it. ELedger: there is
// none, and damage may be why.
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
