package sandbox

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/container"
)

// warmPool keeps started containers ready for later runs, in a rack for each requested image. A ready container
// has the label run=pool-<n>, because labels cannot change.
type warmPool struct {
	mu     sync.Mutex
	racks  map[string]*rack // by the key of the image
	epoch  uint64
	used   int // containers of runs
	made   int
	closed bool
	jobs   sync.WaitGroup
}

// rack holds the ready containers of one image.
type rack struct {
	want  int
	ready []*pendingInstance
}

// pendingInstance is a container that is starting or has started.
type pendingInstance struct {
	done chan struct{} // closed when the start succeeded or failed
	box  *instance     // nil if it did not start
}

// hasFailed reports whether the container is known to have failed to start.
func (c *pendingInstance) hasFailed() bool {
	select {
	case <-c.done:
		return c.box == nil
	default:
		return false
	}
}

// Warm requests ready containers of each image, by its key, in the given epoch. It ends containers of other
// images or of another epoch, so an empty map ends all. It starts no more than Config.Containers allows beside
// those in use. It returns at once.
func (s *Factory) Warm(epoch uint64, want map[string]int) {
	warmPool := &s.pool
	warmPool.mu.Lock()
	defer warmPool.mu.Unlock()
	if warmPool.closed {
		return
	}
	for image, k := range warmPool.racks {
		keep := 0
		if warmPool.epoch == epoch {
			keep = min(want[image], len(k.ready))
		}
		s.discardInstances(k.ready[keep:])
		if k.ready = k.ready[:keep]; warmPool.epoch != epoch || want[image] == 0 {
			k.want = 0 // its containers may still be starting
			delete(warmPool.racks, image)
		}
	}
	warmPool.epoch = epoch
	for image, containers := range want {
		k := warmPool.racks[image]
		if k == nil {
			k = &rack{}
			if warmPool.racks == nil {
				warmPool.racks = map[string]*rack{}
			}
			warmPool.racks[image] = k
		}
		k.want = containers
		s.refillRack(image, k)
	}
}

// refillRack starts missing containers. The pool is locked.
func (s *Factory) refillRack(image string, k *rack) {
	warmPool := &s.pool
	for !warmPool.closed && len(k.ready) < k.want && s.countRoom() > 0 {
		warmPool.made++
		instance := &pendingInstance{done: make(chan struct{})}
		k.ready = append(k.ready, instance)
		labels := container.Labels{Office: s.Office, Run: fmt.Sprintf("pool-%d", warmPool.made), Epoch: warmPool.epoch,
			Role: "pool"}
		warmPool.jobs.Go(func() {
			defer close(instance.done)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			err := company.Guard("starting a warm container", func() (err error) {
				id, err := s.findImage(ctx, image)
				if err == nil {
					instance.box, err = s.start(ctx, id, labels.Name(), labels, s.Limits)
				}
				return err
			})
			if err != nil {
				// Runs then start cold and report the fault. An immediate retry would spin.
				s.Logger.Warn("no warm container", "err", err, "details", company.DetailsOf(err))
				warmPool.mu.Lock()
				k.want = 0
				warmPool.mu.Unlock()
			}
		})
	}
}

// findImage returns the id of the image with a key.
func (s *Factory) findImage(ctx context.Context, key string) (id string, err error) {
	if s.Images == nil {
		return key, nil
	}
	if id, err = s.Images.FindLocal(ctx, key); err == nil && id == "" {
		err = company.E(company.EImage, "the worker image is not on this host").Because("it was removed in the meantime").
			Fix("nothing to do: the next run builds it again")
	}
	return id, err
}

// discardInstances ends instances in the background. The pool is locked.
func (s *Factory) discardInstances(all []*pendingInstance) {
	for _, instance := range all {
		s.pool.jobs.Go(func() {
			<-instance.done
			if instance.box != nil {
				s.closeInstance(instance.box)
			}
		})
	}
}

// closeInstance closes an instance that has no other holder.
func (s *Factory) closeInstance(b *instance) {
	if err := company.Guard("ending a warm container",
		func() error { b.close(context.Background(), s); return nil }); err != nil {
		s.Logger.Error("warm container not ended", "err", err, "details", company.DetailsOf(err))
	}
}

// takeWarm returns a ready container of the image and starts a replacement. It waits for a container that is
// still starting, because that is faster than a cold start. It returns nil if no container is available.
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
	warmPool := &s.pool
	warmPool.mu.Lock()
	defer warmPool.mu.Unlock()
	rack := warmPool.racks[image]
	if warmPool.closed || warmPool.epoch != epoch || rack == nil {
		return nil
	}
	if rack.ready = slices.DeleteFunc(rack.ready, (*pendingInstance).hasFailed); len(rack.ready) == 0 {
		s.refillRack(image, rack)
		return nil
	}
	instance := rack.ready[0]
	rack.ready = rack.ready[1:]
	warmPool.used++
	s.refillRack(image, rack)
	return instance
}

// countRoom returns the number of further containers that fit into memory. The pool is locked.
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

// RoomForWarm returns the number of containers that may be ready: those that fit into memory beside the ones in
// use.
func (s *Factory) RoomForWarm() int {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if s.Containers <= 0 {
		return math.MaxInt
	}
	return max(0, s.Containers-s.pool.used)
}

// takeRoom counts a container that a run starts itself. If memory is full, it ends a warm container of the image
// that has the most.
func (s *Factory) takeRoom() {
	warmPool := &s.pool
	warmPool.mu.Lock()
	defer warmPool.mu.Unlock()
	full := s.countRoom() <= 0
	warmPool.used++
	if !full {
		return
	}
	var most *rack
	for _, image := range slices.Sorted(maps.Keys(warmPool.racks)) {
		if k := warmPool.racks[image]; len(k.ready) > 0 && (most == nil || len(k.ready) > len(most.ready)) {
			most = k
		}
	}
	if most != nil {
		last := len(most.ready) - 1
		s.discardInstances(most.ready[last:])
		most.ready, most.want = most.ready[:last], last
	}
}

// leaveRoom uncounts a container of a run.
func (s *Factory) leaveRoom() {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.pool.used--
}

// returnWarm discards an instance that was taken for a run but is unusable.
func (s *Factory) returnWarm(instance *pendingInstance) {
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.pool.used--
	s.discardInstances([]*pendingInstance{instance})
}

// Close ends the ready containers and waits for that. Open sandboxes are closed by their holders.
func (s *Factory) Close() {
	warmPool := &s.pool
	warmPool.mu.Lock()
	warmPool.closed = true
	for _, rack := range warmPool.racks {
		s.discardInstances(rack.ready)
		rack.ready = nil
	}
	warmPool.mu.Unlock()
	warmPool.jobs.Wait()
}
