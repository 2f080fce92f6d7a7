package container

import (
	"cmp"
	"fmt"

	"company/internal/company"
)

// Mode is how the size of a work space is bounded.
type Mode string

const (
	// ModeStorageOpt: the storage driver bounds the container's layer.
	ModeStorageOpt Mode = "storage-opt"
	// ModeTmpfs: sized tmpfs over a read-only root.
	ModeTmpfs Mode = "tmpfs"
	// ModeBuild: the writable layer, which becomes part of an image, holds files
	// of bounded size; sized tmpfs beside it.
	ModeBuild Mode = "build"
)

// Workspace is where a container may write, and how much, in bytes.
type Workspace struct {
	Mode  Mode
	Layer int64 // ModeStorageOpt: size of the writable layer
	Work  int64 // size of WorkDir's tmpfs; 0: none
	Tmp   int64 // size of TmpDir's tmpfs; 0: none
	Home  int64 // size of HomeDir's tmpfs; 0: none
	Shm   int64 // /dev/shm, always a tmpfs
	File  int64 // ModeBuild: size of the largest file
}

const (
	shmBytes      = 64 * MiB
	processMemory = 1 * GiB // what tmpfs must leave to processes
	defaultLayer  = 10 * GiB
	defaultTmpfs  = 2 * GiB
	minTmpfs      = 32 * MiB // a smaller /tmp or home is of no use
)

// PlanWorkspace chooses the first mode that fits: the driver's size option,
// else tmpfs. tmpfs counts as memory and outlives its writer, so all of it
// together stays 1 GiB below the memory limit: a full disk must be ENOSPC for
// the writer and never the death of PID 1. A size that neither can bound is an
// EDocker error: an unbounded work space is never the answer.
func PlanWorkspace(l Limits, sizeOption bool) (Workspace, error) {
	l = l.WithDefaults()
	if sizeOption {
		w := Workspace{Mode: ModeStorageOpt, Layer: l.DiskBytes, Shm: shmBytes}
		w.Layer = cmp.Or(w.Layer, max(defaultLayer, l.LeastDisk))
		return w, nil
	}

	budget := l.MemoryBytes - processMemory - shmBytes
	work := l.DiskBytes
	if work == 0 {
		// At the default of 4 GiB this is 2 GiB.
		work = min(max(defaultTmpfs, floorMiB(l.LeastDisk)), l.MemoryBytes/2, floorMiB(budget*7/10))
	}
	rest := budget - work
	tmp := floorMiB(rest * 8 / 15)
	home := floorMiB(rest - tmp)
	if work > l.MemoryBytes/2 || work < minTmpfs || min(tmp, home) < minTmpfs {
		return Workspace{}, company.E(company.EDocker,
			fmt.Sprintf("this host cannot bound a work space of %s beside %s of memory", workspaceSize(l.DiskBytes), Size(l.MemoryBytes))).
			Because("the storage driver has no size option, and a tmpfs work space may take half of the memory and leave 1 GiB to processes").
			Fix("lower workers.disk (auto fits by itself) or raise workers.memory; or give Docker a data root on xfs mounted with pquota").NeedsPerson() // the numbers are the same at a second try
	}
	return Workspace{Mode: ModeTmpfs, Work: work, Tmp: tmp, Home: home, Shm: shmBytes}, nil
}

// planBuildSpace is the work space of a build: of its memory two parts in seven for the
// tree, or as much as that needs, and three for temporary files.
func planBuildSpace(l Limits) Workspace {
	memory := cmp.Or(l.MemoryBytes, BuildMemory)
	work := max(floorMiB(memory*2/7), min(floorMiB(l.LeastDisk), memory/2))
	return Workspace{Mode: ModeBuild, Work: work, Tmp: max(minTmpfs, min(floorMiB(memory*3/7), memory-work-processMemory)), Shm: shmBytes, File: max(4*GiB, work)}
}

func floorMiB(n int64) int64 { return n / MiB * MiB }

// workspaceSize is Size, of a work space.
func workspaceSize(n int64) string {
	if n == 0 {
		return "automatic size"
	}
	return Size(n)
}

// Size writes bytes for people.
func Size(n int64) string {
	if n%GiB == 0 {
		return fmt.Sprintf("%d GiB", n/GiB)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/float64(MiB))
}
