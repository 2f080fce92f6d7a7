package mergertest

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/toolbox/toolproto"
)

// Containers is a container.Runtime for gates. Its containers run until the test ends them. It records the order
// of their starts and ends.
type Containers struct {
	container.Runtime
	t     *testing.T
	began chan string
	mu    sync.Mutex
	log   []string
	ends  map[string]chan int // exit codes for the gates of a tree, by its short id
}

// UseContainers makes the bundle's merger run its gates in simulated containers.
func (b *Bundle) UseContainers() *Containers {
	containers := &Containers{t: b.T, began: make(chan string, 100), ends: map[string]chan int{}}
	b.Merger.Runner.Runtime = containers
	return containers
}

// endOf returns the channel of the exit code for the gates of a tree.
func (c *Containers) endOf(short string) chan int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ends[short] == nil {
		c.ends[short] = make(chan int, 1)
	}
	return c.ends[short]
}

func (c *Containers) noteStep(what, short string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, what+" "+short)
}

// Log returns the events in order: begin, end or broken off, and the tree's short id.
func (c *Containers) Log() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.log...)
}

// Begins waits for the next gates to begin. They must be those of tree.
func (c *Containers) Begins(tree company.OID) {
	c.t.Helper()
	select {
	case short := <-c.began:
		if short != tree.Short() {
			c.t.Fatalf("the gates of %s begin, not those of %s", short, tree.Short())
		}
	case <-time.After(time.Minute):
		c.t.Fatalf("the gates of %s do not begin: %v", tree.Short(), c.Log())
	}
}

// End ends the gates of a tree, now or once they run.
func (c *Containers) End(tree company.OID, code int) { c.endOf(tree.Short()) <- code }

// Start starts the gate container with the tree of spec's name.
func (c *Containers) Start(_ context.Context, spec container.Spec) (container.Container, error) {
	_, rest, ok := strings.Cut(spec.Name, "-gate-")
	short, _, _ := strings.Cut(rest, "-")
	if !ok {
		return nil, company.E(company.EInternal, "no gate: "+spec.Name)
	}
	c.noteStep("begin", short)
	c.began <- short
	return gateContainer{of: c, short: short}, nil
}

// gateContainer is one gate.
type gateContainer struct {
	container.Container
	of    *Containers
	short string
}

func (g gateContainer) Pipe() io.ReadWriteCloser     { return deafPipe{} }
func (g gateContainer) Remove(context.Context) error { return nil }

// Output writes that the gate's command begins, as the toolbox does.
func (g gateContainer) Output(_, stderr io.Writer) error {
	_, err := io.WriteString(stderr, toolproto.CommandBegins)
	return err
}

func (g gateContainer) Wait(ctx context.Context) (container.Exit, error) {
	select {
	case code := <-g.of.endOf(g.short):
		g.of.noteStep("end", g.short)
		return container.Exit{Code: code}, nil
	case <-ctx.Done():
		g.of.noteStep("broken off", g.short)
		return container.Exit{}, context.Cause(ctx)
	}
}

// deafPipe discards writes and returns EOF on reads.
type deafPipe struct{}

func (deafPipe) Read([]byte) (int, error)    { return 0, io.EOF }
func (deafPipe) Write(p []byte) (int, error) { return len(p), nil }
func (deafPipe) Close() error                { return nil }
