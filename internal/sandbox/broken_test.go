package sandbox

import (
	"context"
	"log/slog"
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
	s := &Factory{Config: Config{Runtime: noStart{start: func() error { return gone }}, Git: p.Store, Office: "abcd", Logger: slog.New(slog.DiscardHandler)}}
	defer s.Close()
	o := Spec{Mirror: p.Mirror, Run: run, Role: company.Worker, Epoch: 1, Fence: 1, Image: "sha256:gone", Base: p.Base, Start: p.Base, Branch: "agent/t1-01-x"}
	if b, err := s.Open(t.Context(), o); company.CodeOf(err) != company.EImage || b != nil {
		t.Errorf("a bench: %v, %v", b, err)
	}
	if end, err := s.StartContainer(t.Context(), o); company.CodeOf(err) != company.EImage || end != nil {
		t.Errorf("a ready container: %v", err)
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
	s := &Factory{Config: Config{Runtime: noStart{start: func() error { panic("nil map") }}, Office: "abcd", Logger: slog.New(slog.NewTextHandler(log, nil))}}
	s.Warm(1, map[string]int{"sha256:any": 1})
	if b := s.takeWarm(t.Context(), "sha256:any", 1); b != nil {
		t.Errorf("a warm container: %+v", b)
	}
	s.Close()
	for _, want := range []string{"starting a warm container broke: nil map", "broken_test.go"} {
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
	s := &Factory{Config: Config{Runtime: started, Office: "abcd", Images: imagesByKey{"key": "sha256:here"}, Logger: slog.New(slog.NewTextHandler(log, nil))}}
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
