package ledger

import (
	"context"
	"errors"

	"company/internal/bus"
	"company/internal/company"
)

// JournalCheck reports how much of a journal can be read.
type JournalCheck struct {
	Records int    // readable records from the first on, without a gap
	End     uint64 // bus sequence of the message that holds the last of them; 0 without records
	Sealed  bool   // the last of them is the seal of its holder
	Broken  bool   // a record behind them is missing or cannot be read
	Fence   uint64 // highest fence of all readable records
}

// CheckJournal reads a journal and reports damage in it as a result, not as an error.
func (l *Ledger) CheckJournal(ctx context.Context, run company.RunID) (JournalCheck, error) {
	var journalCheck JournalCheck
	err := l.bus.Log().Read(ctx, journalPrefix+string(run), 0, func(message bus.Message) error {
		group, err := decodeRecords(message)
		if err != nil {
			journalCheck.Broken = true
			return nil
		}
		for i, rec := range group {
			journalCheck.Fence = max(journalCheck.Fence, rec.Fence)
			journalCheck.Broken = journalCheck.Broken || rec.N != journalCheck.Records+1+i
		}
		if !journalCheck.Broken {
			journalCheck.Records += len(group)
			journalCheck.End = message.Seq
			journalCheck.Sealed = group[len(group)-1].Kind == kindSealed
		}
		return nil
	})
	if company.CodeOf(err) == company.ELedger || errors.Is(err, bus.ErrDamaged) {
		journalCheck.Broken = true
		err = nil
	}
	return journalCheck, busError("check the journal of "+string(run), err)
}
