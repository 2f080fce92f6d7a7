package ledger

import (
	"context"
	"fmt"

	"company/internal/bus"
)

// Verify reads the whole ledger and checks every link of it, and that it ends
// where this handle knows it to end or later.
func (l *Ledger) Verify(ctx context.Context) error {
	head := l.Head()
	var at link
	known := head.Seq == 0
	err := l.bus.Log().Read(ctx, subject, 0, func(m bus.Message) error {
		_, next, err := open(&at, m)
		if err != nil {
			return err
		}
		at = next
		known = known || next == link{Seq: head.Seq, Hash: head.Hash, Log: head.LogSeq}
		return nil
	})
	if err == nil && !known {
		err = damagedError(at.Seq+1, fmt.Sprintf("the ledger was known to hold event %d with another past", head.Seq))
	}
	return busError("verify the ledger", err)
}
