package orchestrator

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"company/internal/company"
)

// snapshot is a stored state with the name of the fold that created it.
type snapshot struct {
	Fold  string         `json:"fold"`
	State *company.State `json:"state"`
}

// write writes the snapshot as JSON. It streams the state in pieces.
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

// loadSnapshot loads the state from the snapshot, if the current version of the fold created it. Another version may
// keep less than this one needs; then all events are folded again.
func (o *Orchestrator) loadSnapshot(ctx context.Context) error {
	seq, raw, ok, err := o.cfg.Ledger.LoadSnapshot(ctx)
	if err != nil || !ok {
		return err
	}
	s := snapshot{State: company.NewState()}
	reason := "it cannot be read"
	if json.Unmarshal(raw, &s) == nil && s.State != nil {
		switch {
		case s.Fold != company.Fold():
			reason = "another version of company made it"
		case s.State.Seq != seq:
			reason = "it is of another event"
		default:
			o.ahead, o.snapSeq = s.State, seq
			return nil
		}
	}
	o.cfg.Logger.InfoContext(ctx, "snapshot not used, folding all events", "why", reason)
	return nil
}

// snapshotDue reports whether enough events happened since the newest snapshot. The interval grows with the ledger,
// because the whole state is written each time.
func (o *Orchestrator) snapshotDue() bool {
	seq := o.View().Seq
	return seq >= o.snapSeq+max(uint64(o.cfg.SnapshotEvery), seq/10)
}

// saveSnapshot saves the current state. It returns the event from which the next snapshot is counted. It uses no
// state of the loop, so it can run concurrently.
func (o *Orchestrator) saveSnapshot(ctx context.Context) uint64 {
	view := o.current.Load()
	state, at := view.state, view.at
	err := company.Guard("saving a snapshot", func() error {
		return o.cfg.Ledger.SaveSnapshot(ctx, at, snapshot{Fold: company.Fold(), State: state}.write)
	})
	if err != nil && ctx.Err() == nil {
		// All events are stored, so a start without the snapshot is only slower. It is retried after as many events again.
		o.cfg.Logger.WarnContext(ctx, "snapshot not saved", "err", err)
	}
	if err != nil && ctx.Err() != nil {
		return 0 // cut off by the shutdown, which saves a snapshot itself
	}
	return state.Seq
}
