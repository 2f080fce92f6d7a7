package docker

import (
	"fmt"
	"strconv"

	dockercontainer "github.com/docker/docker/api/types/container"
	dockernetwork "github.com/docker/docker/api/types/network"

	"company/internal/container"
	"company/internal/container/docker/seccomp"
)

const (
	hostname    = "company" // the default is the container's id
	openFiles   = 16384
	nanosPerCPU = 1_000_000_000
)

// buildCapabilities lists the capabilities that package tools need as root, in the daemon's spelling
// and order.
var buildCapabilities = []string{"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_SETGID",
	"CAP_SETUID"}

// Policy returns the complete body of the create request for spec. The limits are used as they are:
// defaults and the host's limits have been applied. All other fields stay empty, and Verify refuses a
// container that sets them.
func Policy(
	spec container.Spec, ws container.Workspace,
) (*dockercontainer.Config, *dockercontainer.HostConfig, *dockernetwork.NetworkingConfig) {
	uid, filter := container.UID, seccomp.Profile()
	var added []string
	if spec.Profile != container.Work {
		filter = seccomp.Preparation()
	}
	if spec.Profile == container.BuildRoot {
		uid, added = 0, buildCapabilities
	}
	config := &dockercontainer.Config{
		Hostname:     hostname,
		User:         fmt.Sprintf("%d:%d", uid, uid),
		AttachStdin:  true,
		AttachStdout: true,
		AttachStderr: true,
		OpenStdin:    true,
		StdinOnce:    true, // when our end closes, the container reads end of file
		Env:          spec.Env,
		Healthcheck:  &dockercontainer.HealthConfig{Test: []string{"NONE"}},
		Image:        spec.Image,
		WorkingDir:   container.WorkDir,
		// Use the whole command as entrypoint, so that the image's own
		// command is not appended.
		Entrypoint: spec.Command,
		Labels:     spec.Labels.Map(),
		// NetworkDisabled stays false: it would empty /etc/hosts and
		// ignore Dns. NetworkMode none disables the network.
	}
	pids := spec.Limits.Pids
	host := &dockercontainer.HostConfig{
		// json-file would copy all output to the host's disk.
		LogConfig:     dockercontainer.LogConfig{Type: "none"},
		NetworkMode:   "none",
		RestartPolicy: dockercontainer.RestartPolicy{Name: dockercontainer.RestartPolicyDisabled},
		CapAdd:        added,
		CapDrop:       []string{"ALL"},
		CgroupnsMode:  dockercontainer.CgroupnsModePrivate,
		DNS:           []string{"127.0.0.1"}, // otherwise resolv.conf would list the host's
		ExtraHosts:    localHosts(spec.Hosts),
		IpcMode:       dockercontainer.IPCModePrivate,
		SecurityOpt:   []string{"no-new-privileges", "seccomp=" + filter},
		ShmSize:       ws.Shm,
		Resources: dockercontainer.Resources{
			Memory:     spec.Limits.MemoryBytes,
			MemorySwap: spec.Limits.MemoryBytes, // the sum of both: no swap
			NanoCPUs:   int64(spec.Limits.CPUs * nanosPerCPU),
			PidsLimit:  &pids,
			Ulimits: []*dockercontainer.Ulimit{
				{Name: "core", Soft: 0, Hard: 0},
				{Name: "nofile", Soft: openFiles, Hard: openFiles},
			},
		},
		// MaskedPaths and ReadonlyPaths stay nil: an empty list unmasks.
	}
	host.ReadonlyRootfs = ws.Mode == container.ModeTmpfs
	if ws.Layer > 0 {
		host.StorageOpt = map[string]string{"size": strconv.FormatInt(ws.Layer, 10)}
	}
	if ws.File > 0 {
		host.Ulimits = append(host.Ulimits, &dockercontainer.Ulimit{Name: "fsize", Soft: ws.File, Hard: ws.File})
	}
	// Set exec, because builds cannot run with the daemon's default noexec.
	host.Tmpfs = map[string]string{}
	for _, dir := range []struct {
		path string
		size int64
		mode string
	}{{container.WorkDir, ws.Work, "0755"}, {container.HomeDir, ws.Home, "0755"}, {container.TmpDir, ws.Tmp, "1777"}} {
		if dir.size > 0 {
			host.Tmpfs[dir.path] = fmt.Sprintf("rw,exec,nosuid,nodev,size=%d,uid=%d,gid=%[2]d,mode=%s", dir.size, uid, dir.mode)
		}
	}
	return config, host, &dockernetwork.NetworkingConfig{}
}

// localHosts returns entries for /etc/hosts. All names resolve to 127.0.0.1.
func localHosts(names []string) (out []string) {
	for _, name := range names {
		out = append(out, name+":127.0.0.1")
	}
	return out
}
