package agent

import (
	"context"

	"company/internal/company"
)

// backgroundSave saves a state of the workspace while the model thinks about the results that led to it. Those
// results are in the journal already. Until the state has a record too, the next holder of the run repeats their
// calls. The workspace does not change during the save, so the state matches the results.
type backgroundSave struct {
	done chan struct{}
	err  error // set before done is closed
}

// startSave starts to save the current state of the workspace in the background.
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

// awaitSave waits for the save in the background, if there is one, and returns its error.
func (r *runner) awaitSave() error {
	save := r.saving
	if save == nil {
		return nil
	}
	r.saving = nil
	<-save.done
	return save.err
}
