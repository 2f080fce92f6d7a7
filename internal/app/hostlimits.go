package app

import (
	"fmt"
	"os"
	"runtime"

	"company/internal/container"
	"company/internal/office/config"
)

// containerLimits returns the limits of one container.
func (a *App) containerLimits(cfg config.Config) container.Limits {
	return container.Limits{
		MemoryBytes: int64(cfg.Workers.Memory), CPUs: min(cfg.Workers.CPUs, float64(runtime.NumCPU())),
		Pids: int64(cfg.Workers.PIDs), DiskBytes: int64(max(0, cfg.Workers.Disk)),
	}
}

// maxMemory returns the limit up to which a container's memory may grow: three quarters of the
// host's memory, unless the config sets the memory of a container.
func (a *App) maxMemory(cfg config.Config) int64 {
	if a.loaded.Origin["workers.memory"] != config.OriginDefault {
		return int64(cfg.Workers.Memory)
	}
	return int64(HostMemory()) / 4 * 3
}

// maxBuildMemory returns the memory limit for a container that builds an image layer: three
// quarters of the host's memory, or the config's limit for a container if that is larger.
func maxBuildMemory(c config.Config) int64 {
	return max(int64(HostMemory())/4*3, int64(c.Workers.Memory))
}

// maxParallelGates returns how many gates may run in parallel: as many as the host's memory holds
// besides the workers, at most one per processor and at least one. It returns 0 if the memory is
// unknown.
func maxParallelGates(cfg config.Config, memory config.Size, cpus int) int {
	if memory <= 0 || cfg.Workers.Memory <= 0 {
		return 0
	}
	left := int(memory/cfg.Workers.Memory) - cfg.Workers.Max
	return max(1, min(left, cpus))
}

// containersBesideGates returns how many containers the host's memory holds besides those of
// gates. These are the containers of workers, of agents that inspect their work, and warm ones.
// The result is at least one, or 0 if the memory is unknown.
func containersBesideGates(cfg config.Config, memory config.Size, cpus int) int {
	gates := maxParallelGates(cfg, memory, cpus)
	if gates == 0 {
		return 0
	}
	return max(1, int(memory/cfg.Workers.Memory)-gates)
}

// HostMemory returns this machine's memory in bytes, or 0 if it is unknown.
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
