package container

import "sync"

// Sizes are the limits of containers, by project. A project whose checks ran
// out of memory gets more, as far as the host has it: a limit is to hold a
// program that has gone wild, and not one that is large. The sizes are not
// stored; a new process learns them again.
type Sizes struct {
	base Limits
	most int64 // bytes of memory that a container may have; what base has: none grows

	mu   sync.Mutex
	need map[string]int64 // bytes, by project
}

// NewSizes begins with the same limits for all projects.
func NewSizes(base Limits, most int64) *Sizes {
	base = base.WithDefaults()
	return &Sizes{base: base, most: max(most, base.MemoryBytes), need: map[string]int64{}}
}

// Of are the limits of a project's containers.
func (s *Sizes) Of(project string) Limits {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.base
	l.MemoryBytes = max(l.MemoryBytes, s.need[project])
	return l
}

// Grow doubles the memory of a project whose container ran out of had bytes,
// and gives the new limits; ok is false when there is no more to be had.
func (s *Sizes) Grow(project string, had int64) (l Limits, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := max(s.base.MemoryBytes, s.need[project]); now <= had { // else another has asked before
		s.need[project] = min(2*had, s.most)
	}
	l = s.base
	l.MemoryBytes = max(l.MemoryBytes, s.need[project])
	return l, l.MemoryBytes > had
}
