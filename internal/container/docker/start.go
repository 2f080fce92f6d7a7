package docker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	dockercontainer "github.com/docker/docker/api/types/container"

	"company/internal/company"
	"company/internal/container"
	"company/internal/container/dockerapi"
)

// Start starts a container in these steps: create, inspect and Verify, attach, wait, start. If a step
// after the create fails, the container is removed.
func (r *Runtime) Start(ctx context.Context, spec container.Spec) (container.Container, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if err := r.beginStart(); err != nil {
		return nil, err
	}
	defer r.starts.Done()

	spec, ws, err := spec.Plan(r.info.NCPU, r.sized.Load())
	if err != nil {
		return nil, err
	}
	caller := ctx // limits the copying of files
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()

	want, err := r.expectContainer(ctx, spec, ws)
	if err != nil {
		return nil, err
	}
	id, err := r.createContainer(ctx, want)
	if err != nil && ws.Mode == container.ModeStorageOpt && company.CodeOf(err) == company.EDocker && ctx.Err() == nil {
		// Only this error shows that xfs lacks pquota. Use tmpfs from now on.
		var perr error
		if want.workspace, perr = container.PlanWorkspace(spec.Limits, false); perr != nil {
			return nil, perr
		}
		if id, err = r.createContainer(ctx, want); err == nil {
			r.sized.Store(false)
		}
	}
	if err != nil {
		return nil, err
	}
	var c *instance
	if err = r.verifyCreated(ctx, id, want); err == nil && spec.Files != nil {
		err = dockerapi.WrapError("fill the container",
			r.api.CopyToContainer(caller, spec.Name, "/", spec.Files, dockercontainer.CopyToContainerOptions{}))
		again, done := context.WithTimeout(caller, requestTimeout)
		defer done()
		ctx = again
	}
	if err == nil {
		c, err = r.launchContainer(ctx, id, want)
	}
	if err != nil {
		if rerr := r.discardContainer(ctx, id, spec.Labels); rerr != nil {
			r.log.ErrorContext(ctx, "container left behind", "container_id", id, "run_id", spec.Labels.Run, "err", rerr)
		}
		return nil, err
	}
	return c, nil
}

// expectContainer inspects the image and returns the expected properties of its container.
func (r *Runtime) expectContainer(
	ctx context.Context, spec container.Spec, ws container.Workspace,
) (expectation, error) {
	image, err := r.api.ImageInspect(ctx, spec.Image)
	if cerrdefs.IsNotFound(err) {
		return expectation{}, company.E(
			company.EImage, fmt.Sprintf("the worker image %.19s is not on this host", spec.Image)).
			Because("images are never pulled during a run").Fix("prepare the worker image again")
	}
	if err != nil {
		return expectation{}, dockerapi.WrapError("inspect the worker image", err)
	}
	if err := verifyImage(spec.Image, image); err != nil {
		return expectation{}, err
	}
	if spec.Profile == container.Work && image.Config != nil {
		spec.Hosts = container.ParseHosts(
			strings.Join(append(slices.Clone(spec.Hosts), image.Config.Labels[container.LabelHosts]), " "))
	}
	return expectation{spec: spec, workspace: ws, image: image, runtime: r.info.DefaultRuntime}, nil
}

// createContainer continues when ctx ends. The daemon creates the container even if we stop waiting,
// and a container that appears after the cleanup would remain. launchContainer notices the ended ctx.
func (r *Runtime) createContainer(ctx context.Context, want expectation) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", dockerapi.WrapError("create the container "+want.spec.Name, err)
	}
	ctx, cancel := newTimeout(ctx, requestTimeout)
	defer cancel()
	config, host, network := Policy(want.spec, want.workspace)
	res, err := r.api.ContainerCreate(ctx, config, host, network, nil, want.spec.Name)
	if cerrdefs.IsConflict(err) && r.dropLeftover(ctx, want.spec) {
		res, err = r.api.ContainerCreate(ctx, config, host, network, nil, want.spec.Name)
	}
	if err == nil {
		for _, w := range res.Warnings {
			r.log.WarnContext(ctx, "docker create", "container_id", res.ID, "warning", w)
		}
		return res.ID, nil
	}
	if cerrdefs.IsConflict(err) {
		fault := company.E(company.EConflict, fmt.Sprintf("a container named %s exists already", want.spec.Name)).Wrap(err).
			Fix("remove the leftover: the office does so itself when it starts")
		return "", fault
	}
	// The answer may have been lost after the container was created.
	if rerr := r.discardContainer(ctx, want.spec.Name, want.spec.Labels); rerr != nil {
		r.log.WarnContext(ctx, "container perhaps left behind", "name", want.spec.Name, "run_id", want.spec.Labels.Run,
			"err", rerr)
	}
	return "", dockerapi.WrapError("create the container "+want.spec.Name, err)
}

// dropLeftover removes the existing container with the wanted name if it has exactly the wanted labels
// and is not running. Such a container was left by a start whose answer was lost. A running container
// has an owner, except for builds (see container.Build). A container with other labels is foreign.
func (r *Runtime) dropLeftover(ctx context.Context, spec container.Spec) bool {
	got, err := r.api.ContainerInspect(ctx, spec.Name)
	if err != nil || got.ContainerJSONBase == nil || got.State == nil || got.Config == nil {
		return false
	}
	if labels, ok := container.ParseLabels(got.Config.Labels); !ok || labels != spec.Labels ||
		spec.Profile == container.Work && (got.State.Running || got.State.Paused) {
		return false
	}
	if err := r.Remove(ctx, got.ID, spec.Labels); err != nil {
		r.log.WarnContext(ctx, "leftover container not removed", "container_id", got.ID, "err", err)
		return false
	}
	r.log.InfoContext(ctx, "leftover container removed", "container_id", got.ID, "name", spec.Name)
	return true
}

// verifyCreated compares the created container with the policy.
func (r *Runtime) verifyCreated(ctx context.Context, id string, want expectation) error {
	got, err := r.api.ContainerInspect(ctx, id)
	if err != nil {
		return dockerapi.WrapError("inspect the container", err)
	}
	return Verify(got, want)
}

// launchContainer attaches to a verified container, watches for its exit, and starts it.
func (r *Runtime) launchContainer(ctx context.Context, id string, want expectation) (*instance, error) {
	stream, err := r.api.Attach(ctx, id)
	if err != nil {
		return nil, dockerapi.WrapError("attach to the container", err)
	}
	c := newInstance(r, id, want.spec.Labels, stream)
	if err := c.watchExit(ctx); err != nil {
		c.detachStreams()
		return nil, err
	}
	if err := r.api.ContainerStart(ctx, id, dockercontainer.StartOptions{}); err != nil {
		c.detachStreams()
		return nil, dockerapi.WrapError("start the container", err)
	}
	r.trackInstance(c)
	return c, nil
}

// discardContainer removes the container of a failed start, even if ctx has ended.
func (r *Runtime) discardContainer(ctx context.Context, id string, labels container.Labels) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cleanup)
	defer cancel()
	return r.Remove(ctx, id, labels)
}

// newTimeout returns a context for cleanup that does not end with ctx.
func newTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), d)
}
