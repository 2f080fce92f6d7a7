package gates

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/gitops/gitopstest"
	"company/internal/toolbox/toolproto"
)

// scripted is a runtime whose containers end in given ways, one after the other; the last way
// repeats.
type scripted struct {
	container.Runtime
	ends   []scriptedEnd
	limits []container.Limits // of those that were started
}

type scriptedEnd struct {
	exit    container.Exit
	prints  string
	hangs   bool
	unbegun bool  // the toolbox does not come to the script
	refuses error // what writing its input fails with
}

func (r *scripted) Start(_ context.Context, s container.Spec) (container.Container, error) {
	end := r.ends[min(len(r.limits), len(r.ends)-1)]
	r.limits = append(r.limits, s.Limits)
	return &scriptedContainer{scriptedEnd: end, asked: make(chan struct{}), killed: make(chan struct{})}, nil
}

type scriptedContainer struct {
	container.Container
	scriptedEnd
	asked  chan struct{} // closed once the input was refused
	killed chan struct{}
}

// drain takes what the container is given, or refuses it.
type drain struct{ io.Writer }

type refuser struct {
	err   error
	asked chan struct{}
}

func (r refuser) Write([]byte) (int, error) {
	close(r.asked)
	return 0, r.err
}

func (drain) Read([]byte) (int, error) { return 0, io.EOF }
func (drain) Close() error             { return nil }

func (c *scriptedContainer) Pipe() io.ReadWriteCloser {
	if c.refuses != nil {
		return drain{refuser{c.refuses, c.asked}}
	}
	return drain{io.Discard}
}

func (c *scriptedContainer) Output(_, stderr io.Writer) error {
	prints := toolproto.CommandBegins + c.prints
	if c.unbegun {
		prints = c.prints
	}
	_, err := io.WriteString(stderr, prints)
	return err
}

func (c *scriptedContainer) Wait(ctx context.Context) (container.Exit, error) {
	if c.hangs {
		select {
		case <-ctx.Done():
			return container.Exit{}, context.Cause(ctx)
		case <-c.killed:
			return container.Exit{Code: 137}, nil
		}
	}
	if c.refuses != nil {
		<-c.asked
	}
	return c.exit, nil
}

func (c *scriptedContainer) Kill(context.Context) error {
	close(c.killed)
	return nil
}

func (c *scriptedContainer) Remove(context.Context) error { return nil }

// What the host or the size of a container caused is no outcome of a generator: it is not
// kept, and tried in a larger container where the host has one. What the commands did
// themselves is kept (SUB-19).
func TestAccidentsOfAGeneratorMayPass(t *testing.T) {
	t.Parallel()
	p := gitopstest.New(t, map[string]string{"out": "o\n"})
	g := generation{of: p.Commit("one", map[string]string{"a": "1\n"}), files: map[string]string{"out": "make out"},
		commands: []string{"make out"}}
	exits := func(code int, prints string) scriptedEnd {
		return scriptedEnd{exit: container.Exit{Code: code}, prints: prints}
	}
	unbegun := func(code int, prints string) scriptedEnd {
		return scriptedEnd{exit: container.Exit{Code: code}, prints: prints, unbegun: true}
	}
	outOfMemory := scriptedEnd{exit: container.Exit{Code: 137, OOMKilled: true}}
	const full = "make: out: No space left on device\n"
	for name, c := range map[string]struct {
		ends    []scriptedEnd
		small   bool // this host has no more
		why     string
		mayPass bool
		fails   string
		runs    int
		same    bool // the second run is the first one again
	}{
		"its own failure": {ends: []scriptedEnd{exits(2, "boom\n")}, why: "failed (exit code 2): boom", runs: 1},
		"no such program": {ends: []scriptedEnd{exits(127, "")}, why: "failed (exit code 127)", runs: 1},
		"time":            {ends: []scriptedEnd{{hangs: true}}, why: "was ended after 50ms", mayPass: true, runs: 1},
		"killed":          {ends: []scriptedEnd{exits(137, "")}, why: "failed (exit code 137)", mayPass: true, runs: 1},
		"no tree": {ends: []scriptedEnd{unbegun(125, "the archive is truncated\n")}, fails: "could not start",
			runs: 2, same: true},
		"125": {ends: []scriptedEnd{exits(125, "")}, why: "failed (exit code 125)", runs: 1},
		"a service": {ends: []scriptedEnd{
			unbegun(119, "a warning\n"+toolproto.ServiceFailed+"redis did not start\nlog\n")},
			fails: "the service redis did not start", runs: 1},
		"119": {ends: []scriptedEnd{exits(119, toolproto.ServiceFailed)},
			why: "failed (exit code 119)", runs: 1},
		"time for a tree": {ends: []scriptedEnd{{hangs: true, unbegun: true}}, fails: "could not start", runs: 1},
		"a tree too large": {ends: []scriptedEnd{unbegun(125, full)}, why: "had no room for the tree",
			mayPass: true, runs: 2},
		"memory": {ends: []scriptedEnd{outOfMemory, outOfMemory, exits(2, "boom\n")},
			why: "failed (exit code 2)", runs: 3},
		"memory, no more": {ends: []scriptedEnd{outOfMemory}, small: true, why: "ran out of memory", mayPass: true, runs: 1},
		"disk":            {ends: []scriptedEnd{exits(1, full), exits(2, "boom\n")}, why: "failed (exit code 2)", runs: 2},
		"disk, again":     {ends: []scriptedEnd{exits(1, full)}, why: "No space left on device", mayPass: true, runs: 2},
		"disk, no more": {ends: []scriptedEnd{exits(1, full)}, small: true, why: "No space left on device",
			mayPass: true, runs: 1},
		"prints of a disk": {ends: []scriptedEnd{exits(0, full)}, why: "did not make out", runs: 1},
	} {
		rt := &scripted{ends: c.ends}
		most := int64(64) << 30
		if c.small {
			most = 1
		}
		r := &Runner{Runtime: rt, Office: "o", Logger: slog.New(slog.DiscardHandler), Timeout: time.Minute,
			LimitsByProject: container.NewSizes(container.Limits{}, most)}
		if c.ends[0].hangs {
			r.Timeout = 50 * time.Millisecond
		}
		got, err := r.runGenerators(t.Context(), &company.State{},
			&company.Task{ID: "t1", Prepared: &company.TaskPrepared{Image: "i"}}, p.Mirror, g)
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v", name, err)
		}
		if (got.Why == "") != (c.why == "") || !strings.Contains(got.Why, c.why) || got.MayPass != c.mayPass ||
			len(rt.limits) != c.runs {
			t.Errorf("%s: %+v after %d runs", name, got, len(rt.limits))
		}
		for i := 1; i < len(rt.limits); i++ {
			if was, now := rt.limits[i-1], rt.limits[i]; !c.same && now.MemoryBytes <= was.MemoryBytes &&
				now.LeastDisk <= was.LeastDisk {
				t.Errorf("%s: run %d had no more: %+v", name, i, now)
			}
		}
	}
}
