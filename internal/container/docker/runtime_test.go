package docker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	dockercontainer "github.com/docker/docker/api/types/container"
	"golang.org/x/sync/errgroup"

	"company/internal/company"
	"company/internal/container"
)

func requireCode(t testing.TB, err error, code company.Code) *company.Error {
	t.Helper()
	var e *company.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("error %v, want %s", err, code)
	}
	return e
}

// CTR-1: the pipe of a dod container, both ways, half-closed, and its end.
func TestPipe(t *testing.T) {
	r := newRuntime(t)
	if r.Kind() != "dod" {
		t.Errorf("kind %q", r.Kind())
	}
	c := mustStart(t, r, newSpec("echo"))
	pipe := c.Pipe()

	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	wrote := make(chan error, 1)
	go func() {
		_, err := pipe.Write(big)
		if err == nil {
			err = pipe.(interface{ CloseWrite() error }).CloseWrite()
		}
		wrote <- err
	}()
	got, err := io.ReadAll(pipe)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, big) {
		t.Errorf("read back %d bytes, want the %d written", len(got), len(big))
	}
	exit, err := c.Wait(testContext(t))
	if err != nil || exit != (container.Exit{}) {
		t.Errorf("exit %+v, %v", exit, err)
	}
	if c.Stderr() != "echo is ready\n" {
		t.Errorf("stderr %q", c.Stderr())
	}
}

// A closed connection is what the container of a killed company sees.
func TestCloseEndsTheContainer(t *testing.T) {
	c := mustStart(t, newRuntime(t), newSpec("echo"))
	if err := c.Pipe().Close(); err != nil {
		t.Fatal(err)
	}
	if exit, err := c.Wait(testContext(t)); err != nil || exit.Code != 0 {
		t.Errorf("exit %+v, %v", exit, err)
	}
}

func TestKillAndRemoveAreIdempotent(t *testing.T) {
	ctx := testContext(t)
	r := newRuntime(t)
	c := mustStart(t, r, newSpec("hang"))
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := c.Kill(gone); err != nil { // cleaning up outlives cancellation
		t.Fatal(err)
	}
	if exit, err := c.Wait(ctx); err != nil || exit.Code != 137 || exit.OOMKilled {
		t.Errorf("exit %+v, %v", exit, err)
	}
	if err := c.Kill(ctx); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := c.Remove(gone); err != nil {
			t.Error(err)
		}
	}
	if exists(t, c.ID()) {
		t.Error("the container is still there")
	}
	if err := c.Kill(ctx); err != nil {
		t.Error(err)
	}
	if _, err := c.Pipe().Write([]byte("x")); err == nil {
		t.Error("the pipe of a removed container takes bytes")
	}
}

func TestWaitHonoursItsContext(t *testing.T) {
	c := mustStart(t, newRuntime(t), newSpec("hang"))
	ctx, cancel := context.WithCancel(testContext(t))
	cancel()
	_, err := c.Wait(ctx)
	requireCode(t, err, company.EDocker)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the cause is lost: %v", err)
	}
	if !exists(t, c.ID()) {
		t.Error("a wait that was given up removed the container")
	}
}

// CTR-5: nothing outlives the runtime that started it.
func TestCloseRemovesWhatIsLeft(t *testing.T) {
	ctx := testContext(t)
	r := newRuntime(t)
	ids := make([]string, 5)
	var g errgroup.Group
	for i := range ids {
		g.Go(func() error {
			c, err := r.Start(ctx, newSpec("hang"))
			if err == nil {
				ids[i] = c.ID()
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range ids {
		if exists(t, id) {
			t.Errorf("container %.12s is still there", id)
		}
	}
	_, err := r.Start(ctx, newSpec("hang"))
	requireCode(t, err, company.EStopped)
}

func TestStartRefusesTheSameNameTwice(t *testing.T) {
	r := newRuntime(t)
	spec := newSpec("hang")
	c := mustStart(t, r, spec)
	_, err := r.Start(testContext(t), spec)
	requireCode(t, err, company.EConflict)
	if !exists(t, c.ID()) {
		t.Error("the first container is gone")
	}
}

// TestStartReplacesALeftover: a container of our own that never ran, or has
// ended, stands in nobody's way; a foreign one of the same name does.
func TestStartReplacesALeftover(t *testing.T) {
	r := newRuntime(t)
	spec := newSpec("hang")
	left := create(t, spec.Name, spec.Labels.Map())
	c := mustStart(t, r, spec)
	if exists(t, left) || c.ID() == left {
		t.Error("the leftover is still there")
	}

	spec = newSpec("hang")
	other := spec.Labels
	other.Epoch++
	foreign := create(t, spec.Name, other.Map())
	_, err := r.Start(testContext(t), spec)
	requireCode(t, err, company.EConflict)
	if !exists(t, foreign) {
		t.Error("a foreign container was removed")
	}
}

// TestBuildReplacesALeftover: a build's caller holds its name alone, so what a
// killed builder left goes even while it runs.
func TestBuildReplacesALeftover(t *testing.T) {
	r := newRuntime(t)
	spec := newBuildSpec(container.Build, "hang")
	left := create(t, spec.Name, spec.Labels.Map())
	c := mustStart(t, r, spec)
	again := mustStart(t, newRuntime(t), spec)
	if exists(t, left) || exists(t, c.ID()) || !exists(t, again.ID()) {
		t.Error("a leftover is still there, or the newest is not")
	}
	if err := again.Remove(testContext(t)); err != nil {
		t.Fatal(err)
	}
	foreign := create(t, spec.Name, map[string]string{container.LabelImage: "setup"})
	_, err := r.Start(testContext(t), spec)
	requireCode(t, err, company.EConflict)
	if !exists(t, foreign) {
		t.Error("a foreign container was removed")
	}
}

// create makes a container that is never started.
func create(t *testing.T, name string, labels map[string]string) string {
	t.Helper()
	made, err := world.setup.ContainerCreate(
		testContext(t), &dockercontainer.Config{Image: world.image, Cmd: []string{"/bin/true"}, Labels: labels}, nil,
		nil, nil, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := world.setup.ContainerRemove(testContext(t), made.ID, dockercontainer.RemoveOptions{Force: true})
		if err != nil && !cerrdefs.IsNotFound(err) {
			t.Error(err)
		}
	})
	return made.ID
}

func TestStartCancelledLeavesNothing(t *testing.T) {
	r := newRuntime(t)
	for _, after := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond, 60 * time.Millisecond,
		120 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(context.Background(), after)
		spec := newSpec("hang")
		c, err := r.Start(ctx, spec)
		cancel()
		if err == nil { // fast enough: then it must live on
			if !exists(t, c.ID()) {
				t.Error("a started container ended with its start's context")
			}
			if err := c.Remove(context.Background()); err != nil {
				t.Error(err)
			}
			continue
		}
		if exists(t, spec.Name) {
			t.Errorf("after %s: %v left the container behind", after, err)
		}
	}
}

func TestStartRefusesBadSpecs(t *testing.T) {
	r := newRuntime(t)
	for name, c := range map[string]struct {
		code   company.Code
		change func(*container.Spec)
	}{
		"tag for an image": {company.EInvalid, func(s *container.Spec) { s.Image = "debian:12" }},
		"absent image":     {company.EImage, func(s *container.Spec) { s.Image = "sha256:" + strings.Repeat("ab", 32) }},
		"image VOLUME":     {company.EPolicy, func(s *container.Spec) { s.Image = world.volumeImage }},
		"image EXPOSE":     {company.EPolicy, func(s *container.Spec) { s.Image = world.portImage }},
		"no such program":  {company.EDocker, func(s *container.Spec) { s.Command = []string{"/nowhere"} }},
		"disk too large":   {company.EDocker, func(s *container.Spec) { s.Limits.DiskBytes = 10 * container.GiB }},
		"memory too small": {company.EDocker, func(s *container.Spec) { s.Limits.MemoryBytes = container.GiB }},
	} {
		t.Run(name, func(t *testing.T) {
			spec := newSpec("hang")
			c.change(&spec)
			_, err := r.Start(testContext(t), spec)
			e := requireCode(t, err, c.code)
			t.Log(e)
			if exists(t, spec.Name) {
				t.Error("the container was left behind")
			}
		})
	}
}

// Foreign containers survive everything: without our labels, with some of
// them, or of another office.
func TestSweepTouchesOnlyOurs(t *testing.T) {
	ctx := testContext(t)
	r := newRuntime(t)
	ours := container.Labels{Office: world.office, Run: "t9-01.1", Epoch: 7, Role: "worker"}
	foreign := map[string]map[string]string{
		"no label":     {},
		"office only":  {container.LabelOffice: world.office},
		"without role": {container.LabelOffice: world.office, container.LabelRun: "t9-01.1", container.LabelEpoch: "7"},
		"epoch is words": {container.LabelOffice: world.office, container.LabelRun: "t9-01.1", container.LabelEpoch: "seven",
			container.LabelRole: "worker"},
		"other office": container.Labels{Office: world.office + "x", Run: "t9-01.1", Epoch: 7, Role: "worker"}.Map(),
	}
	ids := map[string]string{}
	for name, labels := range foreign {
		labels["company.test"] = world.office
		res, err := world.setup.ContainerCreate(
			ctx, &dockercontainer.Config{Image: world.image, Entrypoint: []string{"/usr/local/bin/probe", "hang"},
				Labels: labels}, &dockercontainer.HostConfig{NetworkMode: "none"}, nil, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = res.ID
		t.Cleanup(func() {
			if err := world.setup.ContainerRemove(
				context.Background(), res.ID, dockercontainer.RemoveOptions{Force: true}); err != nil {
				t.Error(err)
			}
		})
	}
	if err := world.setup.ContainerStart(ctx, ids["no label"], dockercontainer.StartOptions{}); err != nil {
		t.Fatal(err)
	}

	kept := mustStart(t, r, newSpec("hang"))
	swept := mustStart(t, r, newSpec("hang"))
	stopped := newSpec("exit", "0")
	dead := mustStart(t, r, stopped)
	if _, err := dead.Wait(ctx); err != nil {
		t.Fatal(err)
	}

	infos, err := r.List(ctx, world.office)
	if err != nil {
		t.Fatal(err)
	}
	if len(infos) != 3 {
		t.Fatalf("listed %+v, want 3", infos)
	}
	for _, i := range infos {
		if i.Labels.Office != world.office || i.Name != i.Labels.Name() || i.Image != world.image || i.State == "" ||
			time.Since(i.Created) > time.Hour {
			t.Errorf("listed %+v", i)
		}
	}
	everyone, err := r.ListAll(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range infos {
		if !slices.ContainsFunc(everyone, func(o container.Info) bool { return o.ID == i.ID && o.Labels == i.Labels }) {
			t.Errorf("%s is not among all of ours", i.Name)
		}
	}
	for name, id := range ids {
		if slices.ContainsFunc(everyone, func(o container.Info) bool { return o.ID == id && o.Labels.Validate() != nil }) {
			t.Errorf("%s: listed without labels of ours", name)
		}
	}
	removed, err := r.Sweep(ctx, world.office, func(i container.Info) bool { return i.ID == kept.ID() })
	if err != nil || len(removed) != 2 {
		t.Fatalf("removed %+v, %v", removed, err)
	}
	if exists(t, swept.ID()) || exists(t, dead.ID()) || !exists(t, kept.ID()) {
		t.Error("the wrong containers were swept")
	}
	for name, id := range ids {
		if !exists(t, id) {
			t.Errorf("%s: a foreign container was swept", name)
		}
		requireCode(t, r.Remove(ctx, id, ours), company.EPolicy)
		if !exists(t, id) {
			t.Errorf("%s: a foreign container was removed", name)
		}
	}

	other := ours
	other.Epoch++
	requireCode(t, r.Remove(ctx, kept.ID(), other), company.EPolicy)
	if err := r.Remove(ctx, strings.Repeat("ab", 32), ours); err != nil {
		t.Errorf("removing what is not there: %v", err)
	}
	if _, err := r.List(ctx, ""); err == nil {
		t.Error("an office without a name was listed")
	}
}

// CTR-11: an absent daemon, a silent one and nonsense settings.
func TestOpenWithoutDaemon(t *testing.T) {
	t.Run("no socket", func(t *testing.T) {
		t.Setenv("DOCKER_HOST", "unix://"+filepath.Join(t.TempDir(), "docker.sock"))
		_, err := Open(testContext(t), Options{})
		if e := requireCode(t, err, company.EDocker); e.Hint == "" || e.Class != company.HumanRequired {
			t.Errorf("no help in %+v", e)
		}
	})
	t.Run("silent", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		t.Setenv("DOCKER_HOST", "tcp://"+l.Addr().String())
		ctx, cancel := context.WithTimeout(testContext(t), 200*time.Millisecond)
		defer cancel()
		_, err = Open(ctx, Options{})
		if e := requireCode(t, err, company.EDocker); e.Hint == "" {
			t.Errorf("no help in %+v", e)
		}
	})
	t.Run("nonsense", func(t *testing.T) {
		t.Setenv("DOCKER_HOST", "nonsense")
		_, err := Open(testContext(t), Options{})
		if e := requireCode(t, err, company.EDocker); e.Hint == "" {
			t.Errorf("no help in %+v", e)
		}
	})
}
