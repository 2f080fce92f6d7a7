package sandbox

import (
	"context"
	"log/slog"
	"math"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/container"
	"company/internal/gitops/gitopstest"
	"company/test/safebuffer"
)

// noStart is a daemon that starts nothing: the image was removed, the name is
// taken, or our own code breaks over its answer.
type noStart struct {
	container.Runtime
	start func() error
}

func (n noStart) Start(context.Context, container.Spec) (container.Container, error) {
	return nil, n.start()
}

// TestContainerCannotBeStarted: that is an error of the one who asked, of a run
// and of the warm pool alike, and no more.
func TestContainerCannotBeStarted(t *testing.T) {
	p := gitopstest.New(t, map[string]string{"a.txt": "one\n"})
	gone := company.E(company.EImage, "the worker image is not on this host")
	s := &Factory{Config: Config{Runtime: noStart{start: func() error { return gone }}, Git: p.Store, Office: "abcd",
		Logger: slog.New(slog.DiscardHandler)}}
	defer s.Close()
	o := Spec{Mirror: p.Mirror, Run: run, Role: company.Worker, Epoch: 1, Fence: 1, Image: "sha256:gone", Base: p.Base,
		Start: p.Base, Branch: "agent/t1-01-x"}
	if b, err := s.Open(t.Context(), o); company.CodeOf(err) != company.EImage || b != nil {
		t.Errorf("a bench: %v, %v", b, err)
	}
	s.Warm(1, map[string]int{o.Image: 2})
	if b := s.takeWarm(t.Context(), o.Image, 1); b != nil {
		t.Errorf("a warm container: %+v", b)
	}
}

// TestWarmPoolBreaks: a goroutine of the pool that breaks says so with its
// stack; runs start cold then.
func TestWarmPoolBreaks(t *testing.T) {
	log := &safebuffer.Buffer{}
	s := &Factory{Config: Config{Runtime: noStart{start: func() error { panic("nil map") }}, Office: "abcd",
		Logger: slog.New(slog.NewTextHandler(log, nil))}}
	s.Warm(1, map[string]int{"sha256:any": 1})
	if b := s.takeWarm(t.Context(), "sha256:any", 1); b != nil {
		t.Errorf("a warm container: %+v", b)
	}
	s.Close()
	for _, want := range []string{"starting a warm container panicked: nil map", "broken_test.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, log)
		}
	}
}

// imagesByKey are the images of a daemon: ids by keys.
type imagesByKey map[string]string

func (m imagesByKey) FindLocal(_ context.Context, key string) (string, error) { return m[key], nil }

// startedImages keeps the images of which containers were to be started.
type startedImages struct {
	container.Runtime
	ids chan string
}

func (s startedImages) Start(_ context.Context, spec container.Spec) (container.Container, error) {
	s.ids <- spec.Image
	return nil, company.E(company.EDocker, "none is started here")
}

// TestWarmImagesAreFoundByKey: a warm container is made from the id that the daemon here
// has for a key, and none where it has no such image.
func TestWarmImagesAreFoundByKey(t *testing.T) {
	log, started := &safebuffer.Buffer{}, startedImages{ids: make(chan string, 8)}
	s := &Factory{Config: Config{Runtime: started, Office: "abcd", Images: imagesByKey{"key": "sha256:here"},
		Logger: slog.New(slog.NewTextHandler(log, nil))}}
	for _, key := range []string{"key", "gone"} {
		s.Warm(1, map[string]int{key: 1})
		if b := s.takeWarm(t.Context(), key, 1); b != nil {
			t.Errorf("a warm container: %+v", b)
		}
	}
	s.Close()
	close(started.ids)
	n := 0
	for id := range started.ids {
		if n++; id != "sha256:here" {
			t.Errorf("a container of %q was to be started", id)
		}
	}
	if n == 0 || !strings.Contains(log.String(), "the worker image is not on this host") {
		t.Errorf("%d were to be started:\n%s", n, log)
	}
}

// TestRackOfEachImage: each image that is asked for has containers of its own started, in
// their number, and an image that is no longer asked for has none.
func TestRackOfEachImage(t *testing.T) {
	started := startedImages{ids: make(chan string, 16)}
	s := &Factory{Config: Config{Runtime: started, Office: "abcd", Logger: slog.New(slog.DiscardHandler)}}
	s.Warm(1, map[string]int{"a": 1, "b": 2})
	s.pool.mu.Lock()
	for image, want := range map[string]int{"a": 1, "b": 2} {
		if got := len(s.pool.racks[image].ready); got != want {
			t.Errorf("%s has %d, not %d", image, got, want)
		}
	}
	s.pool.mu.Unlock()
	s.Warm(1, map[string]int{"b": 1})
	s.pool.mu.Lock()
	if got := len(s.pool.racks["b"].ready); len(s.pool.racks) != 1 || got < 1 || got > 2 {
		t.Errorf("%d racks, %d of b", len(s.pool.racks), got)
	}
	s.pool.mu.Unlock()
	s.Warm(2, nil)
	if len(s.pool.racks) != 0 {
		t.Errorf("%d racks of an epoch that is over", len(s.pool.racks))
	}
	s.Close()
	close(started.ids)
	ids := map[string]int{}
	for id := range started.ids {
		ids[id]++
	}
	if ids["a"] != 1 || ids["b"] < 2 {
		t.Errorf("started: %v", ids)
	}
}

// TestFailedStartHidesNoOther: a request for a ready container passes over one that did not
// start.
func TestFailedStartHidesNoOther(t *testing.T) {
	s := &Factory{Config: Config{Office: "abcd", Logger: slog.New(slog.DiscardHandler)}}
	over := make(chan struct{})
	close(over)
	there := &pendingInstance{done: over, box: &instance{}}
	s.pool.racks = map[string]*rack{"a": {ready: []*pendingInstance{{done: over}, there}}}
	if c := s.popWarm("a", 0); c != there {
		t.Errorf("it got %+v", c)
	}
	if c := s.popWarm("a", 0); c != nil {
		t.Errorf("there is no other, and it got %+v", c)
	}
}

// TestWarmOnesMakeRoom: warm containers are started while memory has room beside the ones in
// use. One that a run takes is replaced while there is room, and a run that starts its own
// where there is none ends a warm one first, of the image that has the most.
func TestWarmOnesMakeRoom(t *testing.T) {
	for name, c := range map[string]struct {
		containers, used, a, b int // how many of each image are ready
		do                     string
		wantA, wantB, wantUsed int
		room                   int // for warm ones, afterwards
	}{
		"asked for, with room":               {5, 1, 0, 0, "warm", 2, 1, 1, 4},
		"asked for, with room for two":       {3, 1, 0, 0, "warm", -1, -1, 1, 2}, // which two is all the same
		"asked for, without room":            {3, 3, 0, 0, "warm", 0, 0, 3, 0},
		"asked for, without a bound":         {0, 9, 0, 0, "warm", 2, 1, 9, math.MaxInt},
		"one is taken, with room":            {4, 0, 2, 1, "take", 2, 1, 1, 3},
		"one is taken, without room":         {3, 0, 2, 1, "take", 1, 1, 1, 2},
		"a run starts its own, with room":    {4, 0, 2, 1, "start", 2, 1, 1, 3},
		"a run starts its own, without room": {3, 0, 2, 1, "start", 1, 1, 1, 2},
		"of two with as many, the first":     {3, 1, 1, 1, "start", 0, 1, 2, 1},
		"nothing is left to end":             {2, 2, 0, 0, "start", 0, 0, 3, 0},
		"nothing is bounded":                 {0, 9, 2, 1, "start", 2, 1, 10, math.MaxInt},
	} {
		started := startedImages{ids: make(chan string, 64)}
		s := &Factory{Config: Config{Runtime: started, Office: "abcd", Containers: c.containers,
			Logger: slog.New(slog.DiscardHandler)}}
		stays := make(chan struct{}) // until then the ready ones are being started
		ready := func(n, want int) *rack {
			k := &rack{want: want}
			for range n {
				k.ready = append(k.ready, &pendingInstance{done: stays})
			}
			return k
		}
		s.pool.racks, s.pool.used = map[string]*rack{"a": ready(c.a, 2), "b": ready(c.b, 1)}, c.used
		switch c.do {
		case "warm":
			s.Warm(0, map[string]int{"a": 2, "b": 1})
		case "take":
			if s.popWarm("a", 0) == nil {
				t.Errorf("%s: none was there", name)
			}
		case "start":
			s.takeRoom()
		}
		s.pool.mu.Lock()
		a, b, used := len(s.pool.racks["a"].ready), len(s.pool.racks["b"].ready), s.pool.used
		s.pool.mu.Unlock()
		if c.wantA < 0 {
			if a+b != c.room {
				t.Errorf("%s: %d and %d", name, a, b)
			}
		} else if a != c.wantA || b != c.wantB {
			t.Errorf("%s: %d of a and %d of b, not %d and %d", name, a, b, c.wantA, c.wantB)
		}
		if room := s.RoomForWarm(); used != c.wantUsed || room != c.room {
			t.Errorf("%s: %d in use, room for %d; not %d, %d", name, used, room, c.wantUsed, c.room)
		}
		close(stays)
		s.Close()
	}
}

// TestContainersOfRunsAreCounted: a run's container counts from its start to its end, however
// often it is closed, and one that cannot be started does not count.
func TestContainersOfRunsAreCounted(t *testing.T) {
	s := &Factory{
		Config: Config{Runtime: noStart{start: func() error { return company.E(company.EDocker, "none is started here") }},
			Office: "abcd", Containers: 2, Logger: slog.New(slog.DiscardHandler)}}
	defer s.Close()
	if b, err := s.acquireInstance(t.Context(), Spec{Run: run, Role: company.Worker, Image: "a"}); err == nil ||
		s.RoomForWarm() != 2 {
		t.Errorf("%+v, room for %d", b, s.RoomForWarm())
	}
	over := make(chan struct{})
	close(over)
	s.pool.racks = map[string]*rack{"a": {ready: []*pendingInstance{{done: over, box: &instance{}}}}}
	c := s.popWarm("a", 0)
	s.returnWarm(c)
	if room := s.RoomForWarm(); room != 2 {
		t.Errorf("one that was of no use counts: room for %d", room)
	}
	s.takeRoom()
	b := &instance{}
	b.used.Store(true)
	for _, want := range []int{2, 2} {
		if b.close(t.Context(), s); s.RoomForWarm() != want {
			t.Errorf("room for %d, not %d", s.RoomForWarm(), want)
		}
	}
}
