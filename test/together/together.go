// Package together has the workers of a scripted company work at the same time
// for certain, however slow the machine is: the first of them to be ready waits
// for the others.
//
// It owns no script. It promises that the first replies of so many worker runs
// are given when all of these runs have asked, or after a limit.
package together

import (
	"sync"
	"time"

	"company/internal/adapters/scripted"
	"company/internal/company"
)

// Brain gives the replies of b. The first n worker runs that ask wait for one
// another, up to limit each; later ones do not.
func Brain(b scripted.Responder, n int, limit time.Duration) scripted.Responder {
	m := &meeting{seats: n, runs: map[company.RunID]bool{}, full: make(chan struct{})}
	return scripted.BrainFunc(func(x scripted.Exchange) scripted.Reply {
		if x.Header.Role == company.Worker && x.Turn == 0 {
			select {
			case <-m.joined(x.Header.Run):
			case <-time.After(limit):
			}
		}
		return b.Reply(x)
	})
}

// meeting is of the first runs that ask.
type meeting struct {
	mu    sync.Mutex
	seats int
	runs  map[company.RunID]bool
	full  chan struct{} // closed when all seats are taken
}

func (m *meeting) joined(run company.RunID) (full <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.runs[run] && len(m.runs) < m.seats {
		m.runs[run] = true
		if len(m.runs) == m.seats {
			close(m.full)
		}
	}
	return m.full
}
