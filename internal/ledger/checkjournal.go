package ledger

import (
	"context"
	"errors"

	"company/internal/bus"
	"company/internal/company"
)

// JournalCheck says how far a journal can be read.
type JournalCheck struct {
	Records int    // from the first on, without a gap
	End     uint64 // sequence in the bus of the message that holds the last of them; 0 without records
	Sealed  bool   // the last of them is the seal of its holder
	Broken  bool   // a record behind them is missing or cannot be read
	Fence   uint64 // the highest of all records that can be read
}

// CheckJournal reads a journal and reports damage in it as a result, not as an error.
func (l *Ledger) CheckJournal(ctx context.Context, run company.RunID) (JournalCheck, error) {
	var c JournalCheck
	err := l.bus.Log().Read(ctx, journalPrefix+string(run), 0, func(m bus.Message) error {
		group, err := decodeRecords(m)
		if err != nil {
			c.Broken = true
			return nil
		}
		for i, rec := range group {
			c.Fence = max(c.Fence, rec.Fence)
			c.Broken = c.Broken || rec.N != c.Records+1+i
		}
		if !c.Broken {
			c.Records += len(group)
			c.End = m.Seq
			c.Sealed = group[len(group)-1].Kind == kindSealed
		}
		return nil
	})
	if company.CodeOf(err) == company.ELedger || errors.Is(err, bus.ErrDamaged) {
		c.Broken = true
		err = nil
	}
	return c, busError("check the journal of "+string(run), err)
}
