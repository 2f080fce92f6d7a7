package agent

import (
	"context"

	"company/internal/company"
)

// backgroundSave is a state of the workspace that is being kept while the model
// thinks about the results that led to it. Those are in the journal already: until
// the state's own record is there, the next holder of the run does their calls
// again. Nothing changes the workspace meanwhile, so that the state is the one
// that the results tell of.
type backgroundSave struct {
	done chan struct{}
	err  error // set before done is closed
}

// startSave begins to keep the state that the newest results have left.
func (r *runner) startSave(ctx context.Context) {
	if r.cfg.Workspace == nil {
		return
	}
	save := &backgroundSave{done: make(chan struct{})}
	r.saving = save
	turn, at := r.conv.turns, r.utcNow()
	go func() {
		defer close(save.done)
		save.err = company.Guard("keeping the state of the work", func() error {
			saved, err := r.saveWorkspace(ctx, turn)
			if err != nil || saved == nil {
				return err
			}
			return r.appendRecord(ctx, kindSaved, savedRecord{At: at, Saved: saved})
		})
	}()
}

// awaitSave waits until no state is being kept any more. Its error is that of the
// newest one.
func (r *runner) awaitSave() error {
	save := r.saving
	if save == nil {
		return nil
	}
	r.saving = nil
	<-save.done
	return save.err
}
