package docker

import (
	"context"
	"io"
	"sync"

	cerrdefs "github.com/containerd/errdefs"
	dockercontainer "github.com/docker/docker/api/types/container"

	"company/internal/company"
	"company/internal/container"
	"company/internal/container/dockerapi"
)

// instance is one started container.
type instance struct {
	rt     *Runtime
	id     string
	labels container.Labels
	stream *dockerapi.Stream

	stopWatch context.CancelFunc
	exited    chan struct{} // closed when exit or waitErr is set
	exit      container.Exit
	waitErr   error

	removing sync.Mutex
	removed  bool
}

var _ container.Container = (*instance)(nil)

func newInstance(r *Runtime, id string, labels container.Labels, stream *dockerapi.Stream) *instance {
	return &instance{rt: r, id: id, labels: labels, stream: stream, exited: make(chan struct{})}
}

// watchExit asks the daemon to report the next exit. It must be called before the start, so that no
// exit is missed. It starts a goroutine for which detachStreams and Remove wait.
func (c *instance) watchExit(ctx context.Context) error {
	// The wait outlives the start. Until the daemon has confirmed the wait,
	// the start's context can still end it.
	wctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.stopWatch = cancel
	unlink := context.AfterFunc(ctx, cancel)
	results, errs := c.rt.api.ContainerWait(wctx, c.id, dockercontainer.WaitConditionNextExit)
	if !unlink() {
		// Not confirmed in time. The channels must still be drained.
		go c.collectExit(wctx, results, errs)
		return dockerapi.WrapError("wait for the container", ctx.Err())
	}
	select {
	case err := <-errs:
		cancel()
		close(c.exited)
		return dockerapi.WrapError("wait for the container", err)
	default:
	}
	go c.collectExit(wctx, results, errs)
	return nil
}

// collectExit receives the daemon's answer.
func (c *instance) collectExit(ctx context.Context, results <-chan dockercontainer.WaitResponse, errs <-chan error) {
	defer close(c.exited)
	select {
	case err := <-errs:
		c.waitErr = dockerapi.WrapError("wait for the container", err)
	case res := <-results:
		if res.Error != nil && res.Error.Message != "" {
			c.waitErr = company.E(company.EDocker, "the Docker daemon lost the container").Because(res.Error.Message)
			return
		}
		c.exit.Code = int(res.StatusCode)
		// Only inspect shows whether the memory limit was the cause.
		ictx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		got, err := c.rt.api.ContainerInspect(ictx, c.id)
		switch {
		case err == nil && got.State != nil:
			c.exit.OOMKilled = got.State.OOMKilled
		case cerrdefs.IsNotFound(err) || ctx.Err() != nil:
			// The container was removed meanwhile, so whether it ran out of
			// memory is not known.
		default:
			c.waitErr = dockerapi.WrapError("inspect the container after its exit", err)
		}
	}
}

// detachStreams closes the streams and ends the wait for the exit.
func (c *instance) detachStreams() {
	_ = c.stream.Close()
	if c.stopWatch != nil {
		c.stopWatch()
		<-c.exited
	}
}

func (c *instance) ID() string               { return c.id }
func (c *instance) Pipe() io.ReadWriteCloser { return c.stream }
func (c *instance) Stderr() string           { return c.stream.Stderr() }

func (c *instance) Output(stdout, stderr io.Writer) error {
	return c.stream.CopyOutput(stdout, stderr)
}

func (c *instance) Wait(ctx context.Context) (container.Exit, error) {
	select {
	case <-c.exited:
		return c.exit, c.waitErr
	default:
	}
	select {
	case <-c.exited:
		return c.exit, c.waitErr
	case <-ctx.Done():
		return container.Exit{}, dockerapi.WrapError("wait for the container", context.Cause(ctx))
	}
}

func (c *instance) Kill(ctx context.Context) error {
	ctx, cancel := newTimeout(ctx, c.rt.cleanup)
	defer cancel()
	err := c.rt.api.ContainerKill(ctx, c.id, "SIGKILL")
	if cerrdefs.IsNotFound(err) || cerrdefs.IsConflict(err) { // gone, or not running
		return nil
	}
	return dockerapi.WrapError("kill the container", err)
}

func (c *instance) Remove(ctx context.Context) error {
	c.removing.Lock()
	defer c.removing.Unlock()
	if c.removed {
		return nil
	}
	ctx, cancel := newTimeout(ctx, c.rt.cleanup)
	defer cancel()
	err := c.rt.Remove(ctx, c.id, c.labels)
	c.detachStreams() // also after an error, to free the resources on the host
	if err != nil {
		return err
	}
	c.removed = true
	c.rt.untrackInstance(c)
	return nil
}
