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
	hostname    = "company" // the default would be the container's id
	openFiles   = 16384
	nanosPerCPU = 1_000_000_000
)

// Policy is the whole body of a create request for spec. Limits are taken as
// they are: defaults and the host's bounds have been applied. All other fields
// stay empty, and Verify refuses a container that has them.
func Policy(spec container.Spec, ws container.Workspace) (*dockercontainer.Config, *dockercontainer.HostConfig, *dockernetwork.NetworkingConfig) {
	config := &dockercontainer.Config{
		Hostname:     hostname,
		User:         fmt.Sprintf("%d:%d", container.UID, container.UID),
		AttachStdin:  true,
		AttachStdout: true,
		AttachStderr: true,
		OpenStdin:    true,
		StdinOnce:    true, // our end closes: the container reads end of file
		Env:          spec.Env,
		Healthcheck:  &dockercontainer.HealthConfig{Test: []string{"NONE"}},
		Image:        spec.Image,
		WorkingDir:   container.WorkDir,
		// All of the command is the entrypoint: with an entrypoint given,
		// the image's own command is not appended.
		Entrypoint: spec.Command,
		Labels:     spec.Labels.Map(),
		// NetworkDisabled stays false: it would empty /etc/hosts and
		// ignore Dns. NetworkMode none is what cuts the network.
	}
	pids := spec.Limits.Pids
	host := &dockercontainer.HostConfig{
		// json-file would copy the whole link to the host's disk.
		LogConfig:     dockercontainer.LogConfig{Type: "none"},
		NetworkMode:   "none",
		RestartPolicy: dockercontainer.RestartPolicy{Name: dockercontainer.RestartPolicyDisabled},
		CapDrop:       []string{"ALL"},
		CgroupnsMode:  dockercontainer.CgroupnsModePrivate,
		DNS:           []string{"127.0.0.1"}, // else resolv.conf shows the host's
		IpcMode:       dockercontainer.IPCModePrivate,
		SecurityOpt:   []string{"no-new-privileges", "seccomp=" + seccomp.Profile()},
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
	switch ws.Mode {
	case container.ModeStorageOpt:
		host.StorageOpt = map[string]string{"size": strconv.FormatInt(ws.Layer, 10)}
	default:
		host.ReadonlyRootfs = true
		host.Tmpfs = map[string]string{
			container.WorkDir: tmpfsOptions(ws.Work, "0755"),
			container.HomeDir: tmpfsOptions(ws.Home, "0755"),
			container.TmpDir:  tmpfsOptions(ws.Tmp, "1777"),
		}
	}
	return config, host, &dockernetwork.NetworkingConfig{}
}

// tmpfsOptions is the mount options for a sized, executable directory of the
// worker's: the daemon's default would be noexec, and no build would run.
func tmpfsOptions(size int64, mode string) string {
	return fmt.Sprintf("rw,exec,nosuid,nodev,size=%d,uid=%d,gid=%d,mode=%s", size, container.UID, container.UID, mode)
}
