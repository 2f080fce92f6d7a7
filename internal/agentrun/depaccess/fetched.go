package depaccess

import (
	"fmt"
	"time"

	"company/internal/company"
	"company/internal/ecosystem/depproxy"
	"company/internal/lib/safedir"
)

// Fetched is one package file in the journal's record "fetched".
type Fetched struct {
	company.Dependency
	Bytes  int64 `json:"bytes"`
	Cached bool  `json:"cached,omitempty"` // no request went to the registry
}

func (r *Run) onFetched(fetchReport depproxy.FetchReport) {
	r.mu.Lock()
	if len(r.fetchedItems) < maxGot {
		r.fetchedItems = append(r.fetchedItems,
			Fetched{Dependency: fetchReport.Dependency, Bytes: fetchReport.Bytes, Cached: fetchReport.Cached})
	}
	r.mu.Unlock()
	from := "fetched"
	if fetchReport.Cached {
		from = "from the cache"
	}
	r.logLine(fmt.Sprintf("%s %s (%d bytes)", from, fetchReport.Dependency, fetchReport.Bytes), !fetchReport.Cached)
}

// onRefused logs a refusal and returns the name of the package.
func (r *Run) onRefused(fetchReport depproxy.FetchReport) string {
	what := "a request"
	if fetchReport.Dependency.Name != "" {
		what = fetchReport.Dependency.String()
	}
	// The reason is written for an agent. For people the name is enough.
	if fetchReport.Dependency.Name == "" {
		what += ": " + fetchReport.Why
	}
	r.logLine("refused "+what, false)
	return what
}

// entry is one line of fetched.log.
type entry struct {
	Time time.Time `json:"time"`
	What string    `json:"what"`
}

func (r *Run) logLine(line string, tell bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.log != nil && r.wrote < maxLog {
		if text, err := safedir.Line(entry{time.Now().UTC().Truncate(time.Second), line}); err == nil {
			n, _ := r.log.Write(text)
			r.wrote += n
		}
	}
	if r.told++; tell && r.told <= toldEach {
		r.office.Watcher.WatchFetch(r.order.Run, line)
	}
}
