package prepare

import (
	"cmp"
	"context"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/gitops"
)

// startEarly gives the workers of a task another image if its own takes long: one without compiled parts of the base.
// They can read and edit meanwhile. stop ends this and waits for it.
func (in *Intake) startEarly(ctx context.Context, task *company.Task, mirror *gitops.Mirror) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(cmp.Or(in.EarlyAfter, company.EarlyAfter)):
		}
		err := company.Guard("making an image that has nothing compiled",
			func() error { return in.makeEarly(ctx, task, mirror) })
		if err != nil && ctx.Err() == nil {
			// The image itself will fail too, or workers wait for it.
			in.Watcher.WatchImage(task.ID, "workers wait for the image: one that has nothing compiled cannot be made")
		}
	})
	return func() {
		cancel()
		beside.Wait()
	}
}

// makeEarly makes the image without compiled parts and starts the workers in it.
func (in *Intake) makeEarly(ctx context.Context, task *company.Task, m *gitops.Mirror) error {
	req, _, err := in.resolveImage(ctx, task, m)
	if err != nil {
		return err
	}
	img, ok, err := in.Images.EnsureUncompiled(ctx, req)
	if err != nil || !ok {
		return err
	}
	_, err = in.Decider.Do(ctx, company.Company,
		company.StartEarly{Task: task.ID,
			EarlyStart: company.EarlyStart{Base: task.Prepared.Base.OID, Image: string(img.Key)}})
	return err
}
