package image

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"company/internal/company"

	cerrdefs "github.com/containerd/errdefs"
	dockercontainer "github.com/docker/docker/api/types/container"
)

// Limits of a build container. They are wider than a worker's: the compiler
// sees a whole project at once.
const (
	buildMemory  = 7 << 30
	buildPids    = 2048
	buildFile    = 4 << 30 // largest single file
	buildWork    = "rw,exec,nosuid,nodev,size=2g,uid=65532,gid=65532,mode=0755"
	buildTmp     = "rw,exec,nosuid,nodev,size=3g,mode=1777"
	cleanTimeout = 30 * time.Second
)

// buildJob is one command in a build container.
type buildJob struct {
	name    string    // of the container, without prefix
	image   string    // id
	files   io.Reader // tar, unpacked at / before the start
	script  string    // for /bin/sh -c
	root    bool      // as root with the few capabilities that package tools need; else as the agent with none
	timeout time.Duration
}

// runBuild runs a job without network, mounts, or a way to more rights. After
// it ended, collect (nil = none) may read the stopped container by its name.
// The exit code is the daemon's; a job that ran out of time is killed, and is
// an error.
func (b *Builder) runBuild(ctx context.Context, j buildJob, collect func(ctx context.Context, name string, exit int64) error) error {
	name := containerPrefix + j.name
	if err := b.sweepContainer(ctx, name); err != nil {
		return err
	}
	config, host := b.buildContainerConfig(j.image, j.root)
	config.Cmd = []string{"/bin/sh", "-c", j.script}
	if _, err := b.docker.ContainerCreate(ctx, config, host, nil, nil, name); err != nil {
		return daemonError("make a build container", err)
	}
	defer b.removeContainer(ctx, name)
	if j.files != nil {
		if err := b.docker.CopyToContainer(ctx, name, "/", j.files, dockercontainer.CopyToContainerOptions{}); err != nil {
			return daemonError("fill a build container", err)
		}
	}
	exit, err := b.startAndWait(ctx, name, j.timeout)
	if err != nil || collect == nil {
		return err
	}
	return collect(ctx, name, exit)
}

// buildContainerConfig is the policy of every build container.
func (b *Builder) buildContainerConfig(image string, root bool) (*dockercontainer.Config, *dockercontainer.HostConfig) {
	opts := []string{"no-new-privileges"}
	if b.seccomp != "" {
		opts = append(opts, "seccomp="+b.seccomp)
	}
	pids := int64(buildPids)
	config := &dockercontainer.Config{
		Image: image, WorkingDir: "/work",
		User: fmt.Sprintf("%d:%d", agentID, agentID), Labels: map[string]string{labelKind: "build"},
	}
	host := &dockercontainer.HostConfig{
		NetworkMode: "none", CapDrop: []string{"ALL"}, SecurityOpt: opts,
		IpcMode: "private", CgroupnsMode: "private", DNS: []string{"127.0.0.1"},
		LogConfig: dockercontainer.LogConfig{Type: "none"},
		Tmpfs:     map[string]string{"/work": buildWork, "/tmp": buildTmp},
		Resources: dockercontainer.Resources{
			Memory: buildMemory, MemorySwap: buildMemory, PidsLimit: &pids,
			Ulimits: []*dockercontainer.Ulimit{{Name: "core"}, {Name: "fsize", Soft: buildFile, Hard: buildFile}},
		},
	}
	if root {
		config.User = "0:0"
		host.CapAdd = []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "SETUID", "SETGID"}
		host.Tmpfs = map[string]string{"/tmp": buildTmp}
	}
	return config, host
}

// startAndWait starts a container and waits for its end.
func (b *Builder) startAndWait(ctx context.Context, name string, timeout time.Duration) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ended, failed := b.docker.ContainerWait(ctx, name, dockercontainer.WaitConditionNextExit)
	if err := b.docker.ContainerStart(ctx, name, dockercontainer.StartOptions{}); err != nil {
		return 0, daemonError("start a build container", err)
	}
	select {
	case r := <-ended:
		if r.Error != nil {
			return 0, company.E(company.EDocker, "the daemon lost a build container").Because(r.Error.Message)
		}
		return r.StatusCode, nil
	case err := <-failed:
		return 0, daemonError("wait for a build container", err)
	}
}

// sweepContainer removes a container of this name that a killed builder left. The lock
// on the layer says that nobody uses it.
func (b *Builder) sweepContainer(ctx context.Context, name string) error {
	info, err := b.docker.ContainerInspect(ctx, name)
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return daemonError("look for an old build container", err)
	}
	if info.Config == nil || info.Config.Labels[labelKind] == "" {
		return company.E(company.EImage, "a container that is not ours is called "+name).Fix("rename or remove it")
	}
	err = b.docker.ContainerRemove(ctx, name, dockercontainer.RemoveOptions{Force: true, RemoveVolumes: true})
	if cerrdefs.IsNotFound(err) {
		return nil
	}
	return daemonError("remove an old build container", err)
}

// removeContainer deletes a container that this call made, also after a cancel.
func (b *Builder) removeContainer(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	err := b.docker.ContainerRemove(ctx, name, dockercontainer.RemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !cerrdefs.IsNotFound(err) {
		b.log.WarnContext(ctx, "a build container stays until the next build", "container_id", name, "err", err)
	}
}

// readTree calls each for every entry below a directory of a stopped
// container. What comes from there is data: names are checked by each.
func (b *Builder) readTree(ctx context.Context, name, dir string, each func(h *tar.Header, r io.Reader) error) error {
	body, _, err := b.docker.CopyFromContainer(ctx, name, dir)
	if err != nil {
		return daemonError("read a build container", err)
	}
	defer body.Close()
	tr := tar.NewReader(body)
	for {
		h, err := tr.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s of a build container: %w", dir, err)
		}
		if err := each(h, tr); err != nil {
			return err
		}
	}
}

// readTail is the end of a text file in a stopped container, for error messages.
func (b *Builder) readTail(ctx context.Context, name, file string) string {
	const limit = 4096
	var text []byte
	_ = b.readTree(ctx, name, file, func(_ *tar.Header, r io.Reader) error {
		if rs, err := io.ReadAll(io.LimitReader(r, 16<<20)); err == nil {
			text = rs
		}
		return nil
	})
	if len(text) > limit {
		text = text[len(text)-limit:]
	}
	return strings.ToValidUTF8(strings.TrimSpace(string(text)), "?")
}
