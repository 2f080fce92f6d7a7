package sandbox

import (
	"context"
	"fmt"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/container"
)

// warmPool keeps started containers ready for runs to come, all of one image. A
// ready container carries the label run=pool-<n>, since labels cannot change.
type warmPool struct {
	mu     sync.Mutex
	image  string // its key
	want   int    // how many are to be ready
	epoch  uint64
	ready  []*pendingInstance
	made   int
	closed bool
	jobs   sync.WaitGroup
}

// pendingInstance is a container that is being started, or was.
type pendingInstance struct {
	done chan struct{} // closed when it is known what became of it
	box  *instance     // nil: it did not start
}

// Warm asks for n ready containers of the image with a key, in the given epoch; those of
// another image or epoch are ended. It returns at once. n = 0 ends all.
func (s *Factory) Warm(image string, epoch uint64, n int) {
	r := &s.pool
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.image == image && r.epoch == epoch && r.want == n {
		return
	}
	if r.image != image || r.epoch != epoch || n < len(r.ready) {
		s.discardInstances(r.ready)
		r.ready = nil
	}
	r.image, r.epoch, r.want = image, epoch, n
	s.refillPool()
}

// refillPool starts missing containers. The pool is locked.
func (s *Factory) refillPool() {
	r := &s.pool
	for r.image != "" && !r.closed && len(r.ready) < r.want {
		r.made++
		c := &pendingInstance{done: make(chan struct{})}
		r.ready = append(r.ready, c)
		image, labels := r.image, container.Labels{Office: s.Office, Run: fmt.Sprintf("pool-%d", r.made), Epoch: r.epoch, Role: "pool"}
		r.jobs.Go(func() {
			defer close(c.done)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			err := company.Guard("starting a warm container", func() (err error) {
				id, err := s.findImage(ctx, image)
				if err == nil {
					c.box, err = s.start(ctx, id, labels.Name(), labels, s.Limits)
				}
				return err
			})
			if err != nil {
				// Runs start cold then, and report the fault; trying again at
				// once would spin.
				s.Logger.Warn("no warm container", "err", err, "details", company.DetailsOf(err))
				r.mu.Lock()
				r.want = 0
				r.mu.Unlock()
			}
		})
	}
}

// findImage is the id of the image that a key names.
func (s *Factory) findImage(ctx context.Context, key string) (id string, err error) {
	if s.Images == nil {
		return key, nil
	}
	if id, err = s.Images.FindLocal(ctx, key); err == nil && id == "" {
		err = company.E(company.EImage, "the worker image is not on this host").Because("it was removed since").Fix("nothing: the next run has it made again")
	}
	return id, err
}

// discardInstances ends instances in the background. The pool is locked.
func (s *Factory) discardInstances(all []*pendingInstance) {
	for _, c := range all {
		s.pool.jobs.Go(func() {
			<-c.done
			if c.box != nil {
				s.closeInstance(c.box)
			}
		})
	}
}

// closeInstance closes an instance that has no other holder.
func (s *Factory) closeInstance(b *instance) {
	if err := company.Guard("ending a warm container", func() error { b.close(context.Background(), s); return nil }); err != nil {
		s.Logger.Error("warm container not ended", "err", err, "details", company.DetailsOf(err))
	}
}

// takeWarm gives a ready container of the image and has it replaced. One that is
// still being started is waited for: it will be there before a cold one. nil:
// there is none.
func (s *Factory) takeWarm(ctx context.Context, image string, epoch uint64) *instance {
	for {
		c := s.popWarm(image, epoch)
		if c == nil {
			return nil
		}
		select {
		case <-c.done:
		case <-ctx.Done():
			s.returnWarm(c)
			return nil
		}
		if c.box == nil {
			return nil
		}
		if !c.box.isDisconnected() {
			return c.box
		}
		s.returnWarm(c)
	}
}

func (s *Factory) popWarm(image string, epoch uint64) *pendingInstance {
	r := &s.pool
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.image != image || r.epoch != epoch || len(r.ready) == 0 {
		return nil
	}
	c := r.ready[0]
	r.ready = r.ready[1:]
	s.refillPool()
	return c
}

// returnWarm ends an instance that is of no use.
func (s *Factory) returnWarm(c *pendingInstance) {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.discardInstances([]*pendingInstance{c})
}

// Warmed counts the containers that are ready.
func (s *Factory) Warmed() int {
	r := &s.pool
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, c := range r.ready {
		select {
		case <-c.done:
			if c.box != nil {
				n++
			}
		default:
		}
	}
	return n
}

// Close ends the ready containers and waits. Their holders close the sandboxes
// that are set up.
func (s *Factory) Close() {
	r := &s.pool
	r.mu.Lock()
	r.closed = true
	s.discardInstances(r.ready)
	r.ready = nil
	r.mu.Unlock()
	r.jobs.Wait()
}
