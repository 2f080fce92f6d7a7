package api

import (
	"sync"
	"time"
)

// usage records when a server was last used.
type usage struct {
	mu      sync.Mutex
	running int       // requests
	ended   time.Time // when the last request ended, or the server was made
}

// beginRequest records the start of a request. Call done when the request has ended.
func (u *usage) beginRequest() (done func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.running++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.running--
		u.ended = time.Now()
	}
}

// countRunning returns the number of requests that are running.
func (u *usage) countRunning() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.running
}

// IsUnused reports whether no request is running, and none has ended within span.
func (s *Server) IsUnused(span time.Duration) bool {
	s.usage.mu.Lock()
	defer s.usage.mu.Unlock()
	return s.usage.running == 0 && time.Since(s.usage.ended) >= span
}
