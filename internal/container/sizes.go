package container

import "sync"

// Sizes are the limits of containers, by project. A project whose checks ran out of
// memory or of room gets more, as far as the host has it, and so does one whose tree
// is large: a limit is to hold a program that has gone wild, and not one that is
// large. The sizes are not stored here; a verdict holds what its checks were given,
// and a new process learns it from there.
type Sizes struct {
	base Limits
	most int64 // bytes of memory that a container may have; what base has: none grows

	mu   sync.Mutex
	need map[string]Need
}

// Need is what the containers of a project must have, in bytes.
type Need struct {
	Memory int64
	Disk   int64 // of the work space
}

// NewSizes begins with the same limits for all projects.
func NewSizes(base Limits, most int64) *Sizes {
	base = base.WithDefaults()
	return &Sizes{base: base, most: max(most, base.MemoryBytes), need: map[string]Need{}}
}

// Of are the limits of a project's containers.
func (s *Sizes) Of(project string) Limits {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limitsFor(s.need[project])
}

// limitsFor is called with the lock held.
func (s *Sizes) limitsFor(n Need) Limits {
	l := s.base
	l.MemoryBytes = max(l.MemoryBytes, n.Memory)
	if l.DiskBytes == 0 {
		l.LeastDisk = max(l.LeastDisk, n.Disk)
	}
	return l
}

// Grow doubles the memory of a project whose container ran out of had bytes,
// and gives the new limits; ok is false when there is no more to be had.
func (s *Sizes) Grow(project string, had int64) (l Limits, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.need[project]
	if now := max(s.base.MemoryBytes, n.Memory); now <= had { // else another has asked before
		n.Memory = min(2*had, s.most)
		s.need[project] = n
	}
	l = s.limitsFor(n)
	return l, l.MemoryBytes > had
}

// GrowDisk doubles the work space of a project whose container had no room left, and
// gives the new limits; ok is false when there is no more to be had, or where the
// config gives the size.
func (s *Sizes) GrowDisk(project string, had Limits) (l Limits, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	room := max(defaultTmpfs, had.LeastDisk)
	s.raiseNeed(project, Need{Disk: 2 * room})
	l = s.limitsFor(s.need[project])
	return l, l.DiskBytes == 0 && max(defaultTmpfs, l.LeastDisk) > room
}

// Learn takes in what the containers of a project needed before, or will: of a
// tree's size, or of a verdict on it.
func (s *Sizes) Learn(project string, n Need) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raiseNeed(project, n)
}

// raiseNeed is called with the lock held. A work space that lies in memory gets at most
// half of it, so a larger one comes with more memory.
func (s *Sizes) raiseNeed(project string, n Need) {
	if s.base.DiskBytes != 0 {
		n.Disk = 0
	}
	if n.Disk = min(n.Disk, s.most/2); n.Disk > defaultTmpfs {
		n.Memory = max(n.Memory, 2*n.Disk)
	} else {
		n.Disk = 0 // everybody gets as much
	}
	was := s.need[project]
	s.need[project] = Need{Memory: max(was.Memory, min(n.Memory, s.most)), Disk: max(was.Disk, n.Disk)}
}

// Beyond is what limits have that those of everybody have not.
func (s *Sizes) Beyond(l Limits) (n Need) {
	if l.MemoryBytes > s.base.MemoryBytes {
		n.Memory = l.MemoryBytes
	}
	if l.LeastDisk > s.base.LeastDisk {
		n.Disk = l.LeastDisk
	}
	return n
}

// treeCopies is how many times the size of a tree its work space holds: the files,
// and what is built of them.
const treeCopies = 3

// NeedOfTree is what containers need that work on a tree of so many bytes.
func NeedOfTree(bytes int64) Need {
	return Need{Disk: min(bytes, 1<<40)*treeCopies + 512*MiB}
}
