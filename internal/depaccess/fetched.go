package depaccess

import (
	"fmt"
	"time"

	"company/internal/company"
	"company/internal/depproxy"
	"company/internal/folder"
)

// Fetched is one package file of the journal's record "fetched".
type Fetched struct {
	company.Dependency
	Bytes  int64 `json:"bytes"`
	Cached bool  `json:"cached,omitempty"` // nothing was asked of the registry
}

func (r *Run) onFetched(f depproxy.FetchReport) {
	r.mu.Lock()
	if len(r.fetchedItems) < maxGot {
		r.fetchedItems = append(r.fetchedItems, Fetched{Dependency: f.Dependency, Bytes: f.Bytes, Cached: f.Cached})
	}
	r.mu.Unlock()
	from := "fetched"
	if f.Cached {
		from = "from the cache"
	}
	r.logLine(fmt.Sprintf("%s %s (%d bytes)", from, f.Dependency, f.Bytes), !f.Cached)
}

// onRefused notes a refusal and names the package.
func (r *Run) onRefused(f depproxy.FetchReport) string {
	what := "a request"
	if f.Dependency.Name != "" {
		what = f.Dependency.String()
	}
	// The text is for an agent; for people the name is enough.
	if f.Dependency.Name == "" {
		what += ": " + f.Why
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
		if text, err := folder.Line(entry{time.Now().UTC().Truncate(time.Second), line}); err == nil {
			n, _ := r.log.Write(text)
			r.wrote += n
		}
	}
	if r.told++; tell && r.told <= toldEach {
		r.office.Watcher.WatchFetch(r.order.Run, line)
	}
}
