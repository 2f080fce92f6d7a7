package docker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	dockercontainer "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"

	"company/internal/company"
	"company/internal/container"
	"company/internal/container/dockerapi"
)

// List returns every container with our four labels of this office.
func (r *Runtime) List(ctx context.Context, office string) ([]container.Info, error) {
	// With an empty office name the filter below would match every container.
	if err := (container.Labels{Office: office, Run: "any", Role: "any"}).Validate(); err != nil {
		return nil, err
	}
	infos, err := r.listContainers(ctx, container.LabelOffice+"="+office)
	return slices.DeleteFunc(infos, func(i container.Info) bool { return i.Labels.Office != office }), err
}

// ListAll lists the containers of all offices. It is for display only, since the containers may belong
// to other offices.
func (r *Runtime) ListAll(ctx context.Context) ([]container.Info, error) {
	return r.listContainers(ctx, container.LabelOffice)
}

// listContainers returns the containers that match a filter and have all four labels. A container with
// only some of them is foreign.
func (r *Runtime) listContainers(ctx context.Context, label string) ([]container.Info, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	all, err := r.api.ContainerList(
		ctx, dockercontainer.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", label))})
	if err != nil {
		return nil, dockerapi.WrapError("list the containers", err)
	}
	var infos []container.Info
	for _, s := range all {
		labels, ok := container.ParseLabels(s.Labels)
		if !ok {
			continue
		}
		info := container.Info{
			ID: s.ID, Image: s.ImageID, Labels: labels, State: s.State,
			Created: time.Unix(s.Created, 0),
		}
		if len(s.Names) > 0 {
			info.Name = strings.TrimPrefix(s.Names[0], "/")
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// Remove kills and removes a container if all of its labels match.
func (r *Runtime) Remove(ctx context.Context, id string, want container.Labels) error {
	if err := want.Validate(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	got, err := r.api.ContainerInspect(ctx, id)
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return dockerapi.WrapError("inspect the container", err)
	}
	if got.ContainerJSONBase == nil || got.Config == nil {
		return dockerapi.WrapError("inspect the container", fmt.Errorf("half an answer for %s", id))
	}
	if labels, ok := container.ParseLabels(got.Config.Labels); !ok || labels != want {
		return company.E(company.EPolicy, fmt.Sprintf("the container %.64s is not ours to remove", id)).
			Because(fmt.Sprintf("its labels are not office %s, run %s, epoch %d, role %s", want.Office, want.Run, want.Epoch,
				want.Role))
	}
	// Use the inspected id, because the name may belong to another container by now.
	err = r.api.ContainerRemove(ctx, got.ID, dockercontainer.RemoveOptions{Force: true})
	switch {
	case err == nil, cerrdefs.IsNotFound(err):
		return nil
	case cerrdefs.IsConflict(err):
		// Another removal is in progress. Wait for its end.
		return r.awaitGone(ctx, got.ID)
	default:
		return dockerapi.WrapError("remove the container", err)
	}
}

// awaitGone waits until a removal in progress has ended.
func (r *Runtime) awaitGone(ctx context.Context, id string) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := r.api.ContainerInspect(ctx, id)
		if cerrdefs.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return dockerapi.WrapError("remove the container", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return dockerapi.WrapError("remove the container", ctx.Err())
		}
	}
}

// Sweep removes the containers for which keep returns false, eight at once.
func (r *Runtime) Sweep(ctx context.Context, office string, keep func(container.Info) bool) ([]container.Info, error) {
	infos, err := r.List(ctx, office)
	if err != nil {
		return nil, err
	}
	return inParallel(slices.DeleteFunc(infos, keep), func(i container.Info) error {
		return r.Remove(ctx, i.ID, i.Labels)
	})
}
