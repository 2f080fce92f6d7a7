package orchestrator

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"company/internal/company"
	"company/internal/marks"
)

// snapshot is a stored state with the name of the fold that made it.
type snapshot struct {
	Fold  string         `json:"fold"`
	State *company.State `json:"state"`
}

// write writes the snapshot as JSON, of the state one piece after the other.
func (s snapshot) write(w io.Writer) error {
	if _, err := fmt.Fprintf(w, `{"fold":%q,"state":`, s.Fold); err != nil {
		return err
	}
	if err := s.State.WriteJSON(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "}")
	return err
}

// loadSnapshot takes the state from the snapshot, if there is one that today's fold
// has made. Another fold may keep more than that one did: then everything is
// folded anew.
func (o *Orchestrator) loadSnapshot(ctx context.Context) error {
	seq, raw, ok, err := o.cfg.Ledger.LoadSnapshot(ctx)
	if err != nil || !ok {
		return err
	}
	s := snapshot{State: company.NewState()}
	why := "it cannot be read"
	place := marks.Place{Owner: marks.Ledger, Doing: marks.Snapshot, N: int(seq)} //nolint:gosec // a sequence of events
	mark := o.enterSnapshot(place)
	defer mark.Pass()
	if mark == nil && o.cfg.Marks != nil {
		why = "the company died at it again and again"
	} else if json.Unmarshal(raw, &s) == nil && s.State != nil {
		switch {
		case s.Fold != company.Fold():
			why = "another version of company made it"
		case s.State.Seq != seq:
			why = "it is of another event"
		default:
			o.ahead, o.snapSeq = s.State, seq
			return nil
		}
	}
	o.cfg.Logger.InfoContext(ctx, "snapshot not used, folding all events", "why", why)
	return nil
}

// enterSnapshot marks a snapshot that is read. It returns nil for one that is set aside. Deaths at other snapshots, which
// are gone, are forgotten.
func (o *Orchestrator) enterSnapshot(place marks.Place) *marks.Mark {
	for _, d := range o.cfg.Marks.SetAside(marks.Ledger) {
		if d.Place == place {
			return nil
		}
	}
	o.cfg.Marks.ForgetOthers(place)
	return o.cfg.Marks.Enter(place)
}

// snapshotDue says whether enough has happened since the newest snapshot. The
// whole state is written each time, so a long ledger is given longer.
func (o *Orchestrator) snapshotDue() bool {
	seq := o.View().Seq
	return seq >= o.snapSeq+max(uint64(o.cfg.SnapshotEvery), seq/10)
}

// saveSnapshot saves the state as it is now, and gives the event that the next
// one is counted from. It touches nothing of the loop's, so that it can take
// its time beside it.
func (o *Orchestrator) saveSnapshot(ctx context.Context) uint64 {
	view := o.current.Load()
	s, at := view.state, view.at
	err := company.Guard("saving a snapshot", func() error {
		return o.cfg.Ledger.SaveSnapshot(ctx, at, snapshot{Fold: company.Fold(), State: s}.write)
	})
	if err != nil && ctx.Err() == nil {
		// The events are all there: a start without it is only slower. It is
		// tried again when as much has happened once more.
		o.cfg.Logger.WarnContext(ctx, "snapshot not saved", "err", err)
	}
	if err != nil && ctx.Err() != nil {
		return 0 // cut off by the end, which saves one by itself
	}
	return s.Seq
}
