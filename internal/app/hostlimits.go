package app

import (
	"fmt"
	"os"
	"runtime"

	"company/internal/config"
	"company/internal/container"
)

// containerLimits are the limits of one container.
func (a *App) containerLimits(c config.Config) container.Limits {
	return container.Limits{
		MemoryBytes: int64(c.Workers.Memory), CPUs: min(c.Workers.CPUs, float64(runtime.NumCPU())),
		Pids: int64(c.Workers.PIDs), DiskBytes: int64(max(0, c.Workers.Disk)),
	}
}

// maxMemory is what a container may grow to: three quarters of the host's
// memory, but where the config says how much a container gets.
func (a *App) maxMemory(c config.Config) int64 {
	if a.loaded.Origin["workers.memory"] != config.OriginDefault {
		return int64(c.Workers.Memory)
	}
	return int64(HostMemory()) / 4 * 3
}

// maxBuildMemory is what a container that makes a layer of an image may grow to: three
// quarters of the host's memory, or what the config gives to a container.
func maxBuildMemory(c config.Config) int64 {
	return max(int64(HostMemory())/4*3, int64(c.Workers.Memory))
}

// maxParallelGates is how many gates may run at once: what the host's memory leaves
// beside the workers, at most one for each processor, and one in any case.
func maxParallelGates(c config.Config, memory config.Size, cpus int) int {
	if memory <= 0 || c.Workers.Memory <= 0 {
		return 0
	}
	left := int(memory/c.Workers.Memory) - c.Workers.Max
	return max(1, min(left, cpus))
}

// containersBesideGates is how many containers the host's memory holds beside those of the
// gates: of workers, of the agents that look at their work, and warm ones. It is one in any
// case, and 0 where the memory is not known.
func containersBesideGates(c config.Config, memory config.Size, cpus int) int {
	gates := maxParallelGates(c, memory, cpus)
	if gates == 0 {
		return 0
	}
	return max(1, int(memory/c.Workers.Memory)-gates)
}

// HostMemory is what this machine has, in bytes; 0 where that is not known.
func HostMemory() config.Size {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	var kib int64
	if _, err := fmt.Sscanf(string(text), "MemTotal: %d kB", &kib); err != nil {
		return 0
	}
	return config.Size(kib << 10)
}
