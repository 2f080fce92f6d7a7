package intake

import (
	"cmp"
	"context"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/gitops"
)

// startEarly gives the workers of a task another image while its own is made, where that takes
// long: one that has nothing compiled of the base. They read and edit meanwhile. stop ends
// that, and waits for it.
func (in *Intake) startEarly(ctx context.Context, t *company.Task, m *gitops.Mirror) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(cmp.Or(in.EarlyAfter, company.EarlyAfter)):
		}
		err := company.Guard("making an image that has nothing compiled", func() error { return in.makeEarly(ctx, t, m) })
		if err != nil && ctx.Err() == nil {
			// The image itself will fail alike, or workers wait for it.
			in.Watcher.WatchImage(t.ID, "workers wait for the image: one that has nothing compiled cannot be made")
		}
	})
	return func() {
		cancel()
		beside.Wait()
	}
}

// makeEarly makes the image that has nothing compiled, and has the workers begin in it.
func (in *Intake) makeEarly(ctx context.Context, t *company.Task, m *gitops.Mirror) error {
	req, _, err := in.resolveImage(ctx, t, m)
	if err != nil {
		return err
	}
	img, ok, err := in.Images.EnsureUncompiled(ctx, req)
	if err != nil || !ok {
		return err
	}
	_, err = in.Decider.Do(ctx, company.Company, company.StartEarly{Task: t.ID, EarlyStart: company.EarlyStart{Base: t.Prepared.Base.OID, Image: string(img.Key)}})
	return err
}
