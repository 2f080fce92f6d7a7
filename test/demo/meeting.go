package demo

import (
	"sync"
	"time"

	"company/internal/adapters/scripted"
	"company/internal/company"
)

// workTogether gives the replies of b. The first three worker runs that ask wait for one
// another, up to a minute each; later ones do not. So the workers of a demo work at the same
// time for certain, however slow the machine is.
func workTogether(b scripted.Responder) scripted.Responder {
	m := &meeting{seats: 3, runs: map[company.RunID]bool{}, full: make(chan struct{})}
	return scripted.BrainFunc(func(x scripted.Exchange) scripted.Reply {
		if x.Header.Role == company.Worker && x.Turn == 0 {
			select {
			case <-m.takeSeat(x.Header.Run):
			case <-time.After(time.Minute):
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

// takeSeat gives a run a seat, if one is left. The channel closes when all are taken.
func (m *meeting) takeSeat(run company.RunID) (full <-chan struct{}) {
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
