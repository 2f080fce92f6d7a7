package workbench

import (
	"context"
	"fmt"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/container"
)

// rack keeps started containers ready for runs to come, all of one image. A
// ready container carries the label run=pool-<n>, since labels cannot change.
type rack struct {
	mu     sync.Mutex
	image  string
	want   int // how many are to be ready
	epoch  uint64
	ready  []*coming
	made   int
	closed bool
	jobs   sync.WaitGroup
}

// coming is a container that is being started, or was.
type coming struct {
	done chan struct{} // closed when it is known what became of it
	box  *box          // nil: it did not start
}

// Warm asks for n ready containers of an image, in the given epoch; those of
// another image or epoch are ended. It returns at once. n = 0 ends all.
func (s *Shop) Warm(image string, epoch uint64, n int) {
	r := &s.rack
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.image == image && r.epoch == epoch && r.want == n {
		return
	}
	if r.image != image || r.epoch != epoch || n < len(r.ready) {
		s.drop(r.ready)
		r.ready = nil
	}
	r.image, r.epoch, r.want = image, epoch, n
	s.refill()
}

// refill starts what is missing. The rack is locked.
func (s *Shop) refill() {
	r := &s.rack
	for r.image != "" && !r.closed && len(r.ready) < r.want {
		r.made++
		c := &coming{done: make(chan struct{})}
		r.ready = append(r.ready, c)
		image, labels := r.image, container.Labels{Office: s.Office, Run: fmt.Sprintf("pool-%d", r.made), Epoch: r.epoch, Role: "pool"}
		r.jobs.Go(func() {
			defer close(c.done)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			err := company.Guard("starting a warm container", func() (err error) {
				c.box, err = s.start(ctx, image, labels.Name(), labels, s.Limits)
				return err
			})
			if err != nil {
				// Runs start cold then, and say what is wrong; trying again at
				// once would spin.
				s.Logger.Warn("no warm container", "err", err, "details", company.DetailsOf(err))
				r.mu.Lock()
				r.want = 0
				r.mu.Unlock()
			}
		})
	}
}

// drop ends boxes beside whatever else goes on. The rack is locked.
func (s *Shop) drop(all []*coming) {
	for _, c := range all {
		s.rack.jobs.Go(func() {
			<-c.done
			if c.box != nil {
				s.end(c.box)
			}
		})
	}
}

// end closes a box that nobody else holds.
func (s *Shop) end(b *box) {
	if err := company.Guard("ending a warm container", func() error { b.close(context.Background(), s); return nil }); err != nil {
		s.Logger.Error("warm container not ended", "err", err, "details", company.DetailsOf(err))
	}
}

// take gives a ready container of the image and has it replaced. One that is
// still being started is waited for: it will be there before a cold one. nil:
// there is none.
func (s *Shop) take(ctx context.Context, image string, epoch uint64) *box {
	for {
		c := s.pop(image, epoch)
		if c == nil {
			return nil
		}
		select {
		case <-c.done:
		case <-ctx.Done():
			s.giveBack(c)
			return nil
		}
		if c.box == nil {
			return nil
		}
		if !c.box.lost() {
			return c.box
		}
		s.giveBack(c)
	}
}

func (s *Shop) pop(image string, epoch uint64) *coming {
	r := &s.rack
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.image != image || r.epoch != epoch || len(r.ready) == 0 {
		return nil
	}
	c := r.ready[0]
	r.ready = r.ready[1:]
	s.refill()
	return c
}

// giveBack ends a box that is of no use.
func (s *Shop) giveBack(c *coming) {
	s.rack.mu.Lock()
	defer s.rack.mu.Unlock()
	s.drop([]*coming{c})
}

// Warmed counts the containers that are ready.
func (s *Shop) Warmed() int {
	r := &s.rack
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

// Close ends the ready containers and waits. Benches that are set up are
// their holders' to close.
func (s *Shop) Close() {
	r := &s.rack
	r.mu.Lock()
	r.closed = true
	s.drop(r.ready)
	r.ready = nil
	r.mu.Unlock()
	r.jobs.Wait()
}
