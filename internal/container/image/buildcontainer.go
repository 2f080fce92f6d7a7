package image

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/container/dockerapi"

	cerrdefs "github.com/containerd/errdefs"
	dockercontainer "github.com/docker/docker/api/types/container"
)

const cleanTimeout = 30 * time.Second

// startBuild starts the container of a build. The caller holds the lock on the layer, so no other
// builder uses the name. The returned function removes the container, even after ctx has ended.
func (b *Builder) startBuild(ctx context.Context, spec container.Spec) (container.Container, func(), error) {
	if b.runtime == nil {
		return nil, nil, company.E(company.EInternal, "a layer needs a container, but there is no container runtime")
	}
	spec.Name, spec.Labels = dockerapi.BuildPrefix+spec.Name, container.BuildLabels
	c, err := b.runtime.Start(ctx, spec)
	if company.CodeOf(err) == company.EConflict {
		return nil, nil, foreignContainer(spec.Name)
	}
	if err != nil {
		return nil, nil, err
	}
	return c, func() {
		err := company.Guard("removing a build container", func() error { return c.Remove(ctx) })
		if err != nil {
			b.log.WarnContext(ctx, "a build container stays until the next build", "container_id", c.ID(), "err", err)
		}
	}, nil
}

func foreignContainer(name string) error {
	return company.E(company.EImage, "a foreign container is named "+name).Fix("rename or remove it")
}

// withStillContainer creates a container that is never started, and calls use with its name to read or
// write its file system.
func (b *Builder) withStillContainer(
	ctx context.Context, s layerStep, image string, use func(name string) error,
) error {
	name := dockerapi.BuildPrefix + s.uniqueName()
	if err := b.sweepContainer(ctx, name); err != nil {
		return err
	}
	config := &dockercontainer.Config{Image: image, Cmd: []string{"/bin/true"}, Entrypoint: []string{},
		Labels: container.BuildLabels.Map()}
	if _, err := b.docker.ContainerCreate(
		ctx, config, &dockercontainer.HostConfig{NetworkMode: "none"}, nil, nil, name); err != nil {
		return dockerapi.WrapError("make a container of an image", err)
	}
	defer b.removeContainer(ctx, name)
	return use(name)
}

// sweepContainer removes a container with this name that a killed builder left. The lock on the layer
// guarantees that it is not in use.
func (b *Builder) sweepContainer(ctx context.Context, name string) error {
	info, err := b.docker.ContainerInspect(ctx, name)
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return dockerapi.WrapError("look for an old build container", err)
	}
	if info.Config == nil || info.Config.Labels[labelKind] == "" {
		return foreignContainer(name)
	}
	err = b.docker.ContainerRemove(ctx, name, dockercontainer.RemoveOptions{Force: true, RemoveVolumes: true})
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	return dockerapi.WrapError("remove an old build container", err)
}

// removeContainer deletes a container that this call created, even after ctx has ended.
func (b *Builder) removeContainer(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	err := b.docker.ContainerRemove(ctx, name, dockercontainer.RemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !cerrdefs.IsNotFound(err) {
		b.log.WarnContext(ctx, "a build container stays until the next build", "container_id", name, "err", err)
	}
}

// readTree calls each for every entry below a directory of a stopped container. The entries are
// untrusted: each must check their names.
func (b *Builder) readTree(ctx context.Context, name, dir string, each func(h *tar.Header, r io.Reader) error) error {
	body, _, err := b.docker.CopyFromContainer(ctx, name, dir)
	if err != nil {
		return dockerapi.WrapError("read a build container", err)
	}
	defer body.Close()
	return readArchive(body, dir+" of a build container", each)
}

// readArchive calls each for every entry of a tar. what describes the tar in errors.
func readArchive(from io.Reader, what string, each func(h *tar.Header, r io.Reader) error) error {
	tr := tar.NewReader(from)
	for {
		header, err := tr.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", what, err)
		}
		if err := each(header, tr); err != nil {
			return err
		}
	}
}
