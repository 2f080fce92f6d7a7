package container

import "sync"

// Sizes holds the limits of containers by project. A project gets higher limits if its checks ran out
// of memory or disk space, or if its tree is large. The host limits the increase. A limit should stop
// a runaway program, not a large project. Sizes are not stored here. A verdict records the limits of
// its checks, and a new process learns them from it.
type Sizes struct {
	base Limits
	most int64 // maximum memory of a container in bytes; equal to base's if none may grow

	mu   sync.Mutex
	need map[string]Need
}

// Need is the minimum that the containers of a project require, in bytes.
type Need struct {
	Memory int64
	Disk   int64 // of the work space
}

// NewSizes starts with the same limits for all projects. limit is the maximum memory in bytes.
func NewSizes(base Limits, limit int64) *Sizes {
	base = base.WithDefaults()
	return &Sizes{base: base, most: max(limit, base.MemoryBytes), need: map[string]Need{}}
}

// Of returns the limits of a project's containers.
func (s *Sizes) Of(project string) Limits {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limitsFor(s.need[project])
}

// limitsFor returns the limits for a need. The caller holds the lock.
func (s *Sizes) limitsFor(need Need) Limits {
	limits := s.base
	limits.MemoryBytes = max(limits.MemoryBytes, need.Memory)
	if limits.DiskBytes == 0 {
		limits.LeastDisk = max(limits.LeastDisk, need.Disk)
	}
	return limits
}

// Grow doubles the memory of a project whose container ran out of memory with the limit had, in bytes.
// It returns the new limits. ok is false if no more memory is available.
func (s *Sizes) Grow(project string, had int64) (limits Limits, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	need := s.need[project]
	if now := max(s.base.MemoryBytes, need.Memory); now <= had { // otherwise another caller has raised it already
		need.Memory = min(2*had, s.most)
		s.need[project] = need
	}
	limits = s.limitsFor(need)
	return limits, limits.MemoryBytes > had
}

// GrowDisk doubles the work space of a project whose container ran out of disk space, and returns the
// new limits. ok is false if no more space is available or if the config sets the size.
func (s *Sizes) GrowDisk(project string, had Limits) (limits Limits, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	room := max(defaultTmpfs, had.LeastDisk)
	s.raiseNeed(project, Need{Disk: 2 * room})
	limits = s.limitsFor(s.need[project])
	return limits, limits.DiskBytes == 0 && max(defaultTmpfs, limits.LeastDisk) > room
}

// Learn raises the need of a project to that known from a tree's size or from an earlier verdict.
func (s *Sizes) Learn(project string, need Need) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raiseNeed(project, need)
}

// raiseNeed raises the need of a project. The caller holds the lock. A work space in memory gets at
// most half of the memory, so a larger one also needs more memory.
func (s *Sizes) raiseNeed(project string, need Need) {
	if s.base.DiskBytes != 0 {
		need.Disk = 0
	}
	if need.Disk = min(need.Disk, s.most/2); need.Disk > defaultTmpfs {
		need.Memory = max(need.Memory, 2*need.Disk)
	} else {
		need.Disk = 0 // every project gets this much
	}
	was := s.need[project]
	s.need[project] = Need{Memory: max(was.Memory, min(need.Memory, s.most)), Disk: max(was.Disk, need.Disk)}
}

// Beyond returns the memory and disk of limits that exceed the base, or zero where they do not.
func (s *Sizes) Beyond(limits Limits) (need Need) {
	if limits.MemoryBytes > s.base.MemoryBytes {
		need.Memory = limits.MemoryBytes
	}
	if limits.LeastDisk > s.base.LeastDisk {
		need.Disk = limits.LeastDisk
	}
	return need
}

// treeCopies is the number of times that a work space must hold the size of its tree: for the files
// and for build output.
const treeCopies = 3

// NeedOfTree returns the need of containers that work on a tree of this size.
func NeedOfTree(bytes int64) Need {
	return Need{Disk: min(bytes, 1<<40)*treeCopies + 512*MiB}
}
