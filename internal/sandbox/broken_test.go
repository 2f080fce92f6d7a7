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
	s.Warm(o.Image, 1, 2)
	if b := s.takeWarm(t.Context(), o.Image, 1); b != nil {
		t.Errorf("a warm container: %+v", b)
	}
}

// TestWarmPoolBreaks: a goroutine of the pool that breaks says so with its
// stack; runs start cold then.
func TestWarmPoolBreaks(t *testing.T) {
	log := &safebuffer.Buffer{}
	s := &Factory{Config: Config{Runtime: noStart{start: func() error { panic("nil map") }}, Office: "abcd", Logger: slog.New(slog.NewTextHandler(log, nil))}}
	s.Warm("sha256:any", 1, 1)
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
