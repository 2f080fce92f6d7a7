package container

import (
	"cmp"
	"fmt"

	"company/internal/company"
)

// Mode is the way in which the size of a work space is limited.
type Mode string

const (
	// ModeStorageOpt means that the storage driver limits the container's layer.
	ModeStorageOpt Mode = "storage-opt"
	// ModeTmpfs means sized tmpfs mounts over a read-only root.
	ModeTmpfs Mode = "tmpfs"
	// ModeBuild means a writable layer, which becomes part of an image, with
	// limited file sizes, and sized tmpfs mounts beside it.
	ModeBuild Mode = "build"
)

// Workspace describes where a container may write, and how much, in bytes.
type Workspace struct {
	Mode  Mode
	Layer int64 // ModeStorageOpt: size of the writable layer
	Work  int64 // size of WorkDir's tmpfs; 0 if there is none
	Tmp   int64 // size of TmpDir's tmpfs; 0 if there is none
	Home  int64 // size of HomeDir's tmpfs; 0 if there is none
	Shm   int64 // /dev/shm, always a tmpfs
	File  int64 // ModeBuild: size of the largest file
}

const (
	shmBytes      = 64 * MiB
	processMemory = 1 * GiB // minimum memory that tmpfs leaves for processes
	defaultLayer  = 10 * GiB
	defaultTmpfs  = 2 * GiB
	minTmpfs      = 32 * MiB // a smaller /tmp or home is useless
)

// PlanWorkspace chooses the first mode that fits: the driver's size option, else tmpfs. tmpfs counts
// as memory and outlives its writer. So all tmpfs mounts together stay 1 GiB below the memory limit: a
// full disk must be ENOSPC for the writer and never kill PID 1. PlanWorkspace returns EDocker if
// neither mode can limit the size. A work space is never unlimited.
func PlanWorkspace(limits Limits, sizeOption bool) (Workspace, error) {
	limits = limits.WithDefaults()
	if sizeOption {
		workspace := Workspace{Mode: ModeStorageOpt, Layer: limits.DiskBytes, Shm: shmBytes}
		workspace.Layer = cmp.Or(workspace.Layer, max(defaultLayer, limits.LeastDisk))
		return workspace, nil
	}

	budget := limits.MemoryBytes - processMemory - shmBytes
	work := limits.DiskBytes
	if work == 0 {
		// At the default of 4 GiB this is 2 GiB.
		work = min(max(defaultTmpfs, floorMiB(limits.LeastDisk)), limits.MemoryBytes/2, floorMiB(budget*7/10))
	}
	rest := budget - work
	tmp := floorMiB(rest * 8 / 15)
	home := floorMiB(rest - tmp)
	if work > limits.MemoryBytes/2 || work < minTmpfs || min(tmp, home) < minTmpfs {
		return Workspace{}, company.E(company.EDocker,
			fmt.Sprintf("this host cannot limit a work space to %s with %s of memory", workspaceSize(limits.DiskBytes),
				Size(limits.MemoryBytes))).
			Because("the storage driver has no size option, and a tmpfs work space may take half of the memory and leave 1 " +
				"GiB to processes").
			// a second attempt would have the same numbers
			Fix("lower workers.disk (auto fits by itself) or raise workers.memory; or give Docker a data root on xfs mounted " +
				"with pquota").NeedsPerson()
	}
	return Workspace{Mode: ModeTmpfs, Work: work, Tmp: tmp, Home: home, Shm: shmBytes}, nil
}

// planBuildSpace plans the work space of a build. The tree gets two sevenths of the memory, or as much
// as it needs up to half. Temporary files get three sevenths at most.
func planBuildSpace(limits Limits) Workspace {
	memory := cmp.Or(limits.MemoryBytes, BuildMemory)
	work := max(floorMiB(memory*2/7), min(floorMiB(limits.LeastDisk), memory/2))
	return Workspace{Mode: ModeBuild, Work: work, Tmp: max(minTmpfs, min(floorMiB(memory*3/7), memory-work-processMemory)),
		Shm: shmBytes, File: max(4*GiB, work)}
}

func floorMiB(n int64) int64 { return n / MiB * MiB }

// workspaceSize formats the size of a work space. Zero is the automatic size.
func workspaceSize(n int64) string {
	if n == 0 {
		return "automatic size"
	}
	return Size(n)
}

// Size formats a number of bytes for people.
func Size(n int64) string {
	if n%GiB == 0 {
		return fmt.Sprintf("%d GiB", n/GiB)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/float64(MiB))
}
