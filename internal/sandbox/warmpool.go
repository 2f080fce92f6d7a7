package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/toolproto"
)

// warmPool keeps started containers ready for runs to come: a rack of them for each image
// that is asked for. A ready container carries the label run=pool-<n>, since labels cannot
// change.
type warmPool struct {
	mu     sync.Mutex
	racks  map[string]*rack // by the key of the image
	epoch  uint64
	used   int // containers of runs
	made   int
	closed bool
	jobs   sync.WaitGroup
}

// Warmth is how many containers of an image wait for runs, and how far they are prepared.
type Warmth struct {
	Containers int
	// LayOut has the work tree of the image's commit laid out in them. A run then changes
	// only the files that differ in its own commit.
	LayOut bool
}

// rack is the ready containers of one image.
type rack struct {
	want  Warmth
	ready []*pendingInstance
}

// pendingInstance is a container that is being started, or was.
type pendingInstance struct {
	done chan struct{}      // closed when it is known what became of it
	stop context.CancelFunc // ends the making of its tree
	box  *instance          // nil: it did not start
}

// hasFailed says whether it is known that the container did not start.
func (c *pendingInstance) hasFailed() bool {
	select {
	case <-c.done:
		return c.box == nil
	default:
		return false
	}
}

// Warm asks for ready containers of each image, by its key, in the given epoch;
// those of other images or of another epoch are ended. It returns at once. Without any
// image all are ended. No more are started than Config.Containers allows beside those in use.
func (s *Factory) Warm(epoch uint64, want map[string]Warmth) {
	r := &s.pool
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	for image, k := range r.racks {
		keep := 0
		if r.epoch == epoch {
			keep = min(want[image].Containers, len(k.ready))
		}
		s.discardInstances(k.ready[keep:])
		if k.ready = k.ready[:keep]; r.epoch != epoch || want[image].Containers == 0 {
			k.want.Containers = 0 // of one that is being started
			delete(r.racks, image)
		}
	}
	r.epoch = epoch
	for image, n := range want {
		k := r.racks[image]
		if k == nil {
			k = &rack{}
			if r.racks == nil {
				r.racks = map[string]*rack{}
			}
			r.racks[image] = k
		}
		k.want = n
		s.refillRack(image, k)
	}
}

// refillRack starts missing containers. The pool is locked.
func (s *Factory) refillRack(image string, k *rack) {
	r := &s.pool
	for !r.closed && len(k.ready) < k.want.Containers && s.countRoom() > 0 {
		r.made++
		laying, stop := context.WithCancel(context.Background())
		c := &pendingInstance{done: make(chan struct{}), stop: stop}
		k.ready = append(k.ready, c)
		labels := container.Labels{Office: s.Office, Run: fmt.Sprintf("pool-%d", r.made), Epoch: r.epoch, Role: "pool"}
		layOut := k.want.LayOut
		r.jobs.Go(func() {
			defer close(c.done)
			defer stop()
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			err := company.Guard("starting a warm container", func() (err error) {
				id, err := s.findImage(ctx, image)
				if err == nil {
					c.box, err = s.start(ctx, id, labels.Name(), labels, s.Limits)
				}
				if err == nil && layOut {
					c.box, err = s.layTree(laying, c.box)
				}
				return err
			})
			if err != nil {
				// Runs start cold then, and report the fault; trying again at
				// once would spin.
				s.Logger.Warn("no warm container", "err", err, "details", company.DetailsOf(err))
				r.mu.Lock()
				k.want.Containers = 0
				r.mu.Unlock()
			}
		})
	}
}

// layTree has the tree made of the commit that the image has. An instance in which git cannot
// make it is as good as before; one that is broken is ended. One that is to be discarded meanwhile is left to that.
func (s *Factory) layTree(ctx context.Context, b *instance) (*instance, error) {
	ctx, cancel := context.WithTimeout(ctx, toolproto.LayOutTimeout+time.Minute)
	defer cancel()
	_, err := b.tools.LayOut(ctx, s.bakedPath())
	refusal := (*toolproto.Refusal)(nil)
	switch {
	case err == nil || errors.Is(ctx.Err(), context.Canceled):
		return b, nil
	case errors.As(err, &refusal):
		s.Logger.Info("no work tree in a warm container", "err", err)
		return b, nil
	}
	b.close(context.WithoutCancel(ctx), s)
	return nil, err
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
		c.stop()
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
// still being started is waited for: it, and its tree, will be there before a cold one. Where
// git hangs over the tree this takes as long as that may. nil: there is none.
func (s *Factory) takeWarm(ctx context.Context, image string, epoch uint64) *instance {
	for {
		c := s.popWarm(image, epoch) //nolint:contextcheck // the one that replaces it outlives this run
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
			s.leaveRoom()
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
	k := r.racks[image]
	if r.closed || r.epoch != epoch || k == nil {
		return nil
	}
	if k.ready = slices.DeleteFunc(k.ready, (*pendingInstance).hasFailed); len(k.ready) == 0 {
		s.refillRack(image, k)
		return nil
	}
	c := k.ready[0]
	k.ready = k.ready[1:]
	r.used++
	s.refillRack(image, k)
	return c
}

// countRoom is how many more containers memory has room for. The pool is locked.
func (s *Factory) countRoom() int {
	if s.Containers <= 0 {
		return math.MaxInt
	}
	n := s.Containers - s.pool.used
	for _, k := range s.pool.racks {
		n -= len(k.ready)
	}
	return n
}

// RoomForWarm is how many containers may be ready: those that memory has room for beside the
// ones in use.
func (s *Factory) RoomForWarm() int {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if s.Containers <= 0 {
		return math.MaxInt
	}
	return max(0, s.Containers-s.pool.used)
}

// takeRoom counts the container that a run starts by itself. Where memory has room for no
// more, a warm one is ended first: one of the image that has the most.
func (s *Factory) takeRoom() {
	r := &s.pool
	r.mu.Lock()
	defer r.mu.Unlock()
	full := s.countRoom() <= 0
	r.used++
	if !full {
		return
	}
	var most *rack
	for _, image := range slices.Sorted(maps.Keys(r.racks)) {
		if k := r.racks[image]; len(k.ready) > 0 && (most == nil || len(k.ready) > len(most.ready)) {
			most = k
		}
	}
	if most != nil {
		last := len(most.ready) - 1
		s.discardInstances(most.ready[last:])
		most.ready, most.want.Containers = most.ready[:last], last
	}
}

// leaveRoom takes back that a run has a container.
func (s *Factory) leaveRoom() {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.pool.used--
}

// returnWarm ends an instance that is of no use.
func (s *Factory) returnWarm(c *pendingInstance) {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.pool.used--
	s.discardInstances([]*pendingInstance{c})
}

// Warmed counts the containers that are ready.
func (s *Factory) Warmed() int {
	r := &s.pool
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, k := range r.racks {
		for _, c := range k.ready {
			select {
			case <-c.done:
				if c.box != nil {
					n++
				}
			default:
			}
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
	for _, k := range r.racks {
		s.discardInstances(k.ready)
		k.ready = nil
	}
	r.mu.Unlock()
	r.jobs.Wait()
}
