package docker

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/system"

	"company/internal/container"
	"company/internal/container/dockerapi"
	"company/internal/lib/lazyregexp"
)

// sizeOption reports whether the storage driver can limit a container's layer. overlay2 can do so only
// on xfs. Without pquota the daemon refuses the option there, and Start falls back to tmpfs.
func sizeOption(info system.Info) bool {
	switch info.Driver {
	case "btrfs", "zfs":
		return true
	case "overlay2":
		return slices.Contains(info.DriverStatus, [2]string{"Backing Filesystem", "xfs"})
	default:
		return false
	}
}

// Check returns the facts about the daemon for doctor. It queries the daemon again, because it may
// have been replaced after Open.
func (r *Runtime) Check(ctx context.Context) ([]container.Fact, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	info, err := r.api.Info(ctx)
	if err != nil {
		return nil, dockerapi.WrapError("ask the Docker daemon", err)
	}
	version, err := r.api.ServerVersion(ctx)
	if err != nil {
		return nil, dockerapi.WrapError("ask the Docker daemon", err)
	}
	return daemonFacts(r.host, r.api.ClientVersion(), r.sized.Load(), info, version), nil
}

// daemonFacts returns the facts for the daemon's answers. It does not contact the daemon.
func daemonFacts(host, apiVersion string, sized bool, info system.Info, version types.Version) []container.Fact {
	fs := []container.Fact{
		{Name: "docker", Value: fmt.Sprintf("%s at %s", info.ServerVersion, host), Level: container.OK},
		{Name: "docker api", Value: fmt.Sprintf("%s (the daemon's: %s)", apiVersion, version.APIVersion),
			Level: container.OK},
		{Name: "storage driver", Value: storageDriver(info), Level: container.OK},
		{Name: "cgroup", Value: fmt.Sprintf("v%s, %s", orDefault(info.CgroupVersion, "1"), info.CgroupDriver),
			Level: container.OK},
		runcFact(version),
		requiredFact("seccomp", hasSecurityOption(info, "seccomp"),
			"the daemon was built without seccomp, or the kernel lacks it: workers cannot be locked in"),
		requiredFact("memory limit", info.MemoryLimit,
			"enable the memory cgroup: cgroup_enable=memory on the kernel's command line"),
		requiredFact("swap limit", info.SwapLimit, "enable swap accounting: swapaccount=1 on the kernel's command line"),
		requiredFact("pids limit", info.PidsLimit, "enable the pids cgroup of the kernel"),
		requiredFact("cpu limit", info.CPUCfsQuota, "the kernel lacks CONFIG_CFS_BANDWIDTH"),
	}
	return append(fs, workspaceFact(info, sized))
}

func storageDriver(info system.Info) string {
	for _, s := range info.DriverStatus {
		if s[0] == "Backing Filesystem" {
			return info.Driver + " on " + s[1]
		}
	}
	return info.Driver
}

// workspaceFact reports how the default work space is limited on this host.
func workspaceFact(info system.Info, sized bool) container.Fact {
	fact := container.Fact{Name: "work space", Level: container.OK}
	ws, err := container.PlanWorkspace(container.Limits{}, sized)
	switch {
	case err != nil:
		fact.Level = container.Fail
		fact.Value = "none"
		fact.Hint = err.Error()
	case ws.Mode == container.ModeStorageOpt:
		fact.Value = fmt.Sprintf("%s, %d GiB by default", ws.Mode, ws.Layer/container.GiB)
	default:
		fact.Value = fmt.Sprintf("%s, %d MiB by default", ws.Mode, ws.Work/container.MiB)
	}
	if need := container.DefaultMemory; info.MemTotal < need {
		fact.Level = container.Warn
		fact.Hint = fmt.Sprintf("the host has %d MiB of memory, one worker may use %d MiB: lower workers.memory",
			info.MemTotal/container.MiB, need/container.MiB)
	}
	return fact
}

func requiredFact(name string, there bool, hint string) container.Fact {
	if there {
		return container.Fact{Name: name, Value: "supported", Level: container.OK}
	}
	return container.Fact{Name: name, Value: "missing", Level: container.Fail, Hint: hint}
}

func hasSecurityOption(info system.Info, name string) bool {
	return slices.ContainsFunc(info.SecurityOptions, func(o string) bool {
		return o == name || o == "name="+name || strings.HasPrefix(o, "name="+name+",")
	})
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// runcFact warns about versions of runc without the fixes for the escapes of November 2025
// (CVE-2025-31133, -52565, -52881).
func runcFact(version types.Version) container.Fact {
	fact := container.Fact{Name: "runc", Value: "unknown", Level: container.Warn,
		Hint: "make sure that it is at least 1.2.8, 1.3.3 or 1.4.0-rc.3"}
	for _, c := range version.Components {
		if c.Name != "runc" {
			continue
		}
		fact.Value = c.Version
		if runcFixed(c.Version) {
			fact.Level, fact.Hint = container.OK, ""
		} else {
			fact.Hint = "install its security updates (apt-get update && apt-get install --only-upgrade runc containerd.io); " +
				"escapes known since November 2025 are closed in 1.2.8, 1.3.3 and 1.4.0-rc.3, and distributions mend older " +
				"numbers, too"
		}
	}
	return fact
}

var runcRE = lazyregexp.New(`^v?([0-9]+)\.([0-9]+)\.([0-9]+)(?:-rc\.([0-9]+))?`)

// runcFixed compares a version with the fixed version of its release line. It returns false for a
// version that cannot be parsed.
func runcFixed(v string) bool {
	m := runcRE.FindStringSubmatch(v)
	if m == nil {
		return false
	}
	n := make([]int, 4)
	for i := range n {
		n[i], _ = strconv.Atoi(m[i+1]) // digits only; absent is 0
	}
	candidate := m[4] != ""
	switch line := [2]int{n[0], n[1]}; {
	case line == [2]int{1, 2}:
		return n[2] > 8 || n[2] == 8 && !candidate
	case line == [2]int{1, 3}:
		return n[2] > 3 || n[2] == 3 && !candidate
	case line == [2]int{1, 4} && n[2] == 0 && candidate:
		return n[3] >= 3
	default:
		return n[0] > 1 || n[0] == 1 && n[1] >= 4
	}
}
