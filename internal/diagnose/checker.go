package diagnose

import (
	"context"
	"log/slog"
	"sync"
	"time"

	officeapp "company/internal/app"
	"company/internal/config"
	"company/internal/health"
	"company/internal/office"
)

// Check is one part of doctor: it may give several results.
type Check struct {
	name string
	run  func(ctx context.Context) []health.Finding
}

func singleResult(name string, r health.Result) []health.Finding {
	return []health.Finding{{Name: name, Result: r}}
}

// Subject is the object of the checks.
type Subject struct {
	Paths       office.Paths
	PathsErr    error         // why no office was found
	Config      config.Loaded // the default's, where ConfigErr is set
	ConfigErr   error
	Checkout    string // that one stands in
	CheckoutErr error
}

// Checker has what the checks need of this process.
type Checker struct {
	Env     func(string) (string, bool)
	Logger  *slog.Logger
	Version string
	Commit  string // that the program was built from; empty: it is not known
	Opener  Opener
}

// Opener opens offices.
type Opener interface {
	// OpenFolders opens the folders of an office.
	OpenFolders(ctx context.Context, paths office.Paths) (*office.Office, error)
	// OpenOffice opens an office whose lock this process has. It takes over off
	// and lock, also when it fails.
	OpenOffice(ctx context.Context, off *office.Office, lock *office.Lock, loaded config.Loaded) (*officeapp.App, error)
}

// envValue is a variable of the environment; empty where it is not set.
func (d *Checker) envValue(name string) string {
	v, _ := d.Env(name)
	return v
}

// Run runs checks at once, until ctx ends. A check that does not end in time
// is unknown.
func Run(ctx context.Context, checks []Check) []health.Finding {
	results := make([][]health.Finding, len(checks))
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, c := range checks {
		wg.Go(func() {
			got := c.run(ctx)
			mu.Lock()
			defer mu.Unlock()
			results[i] = got
		})
	}
	finished := make(chan struct{})
	go func() { wg.Wait(); close(finished) }() // a check that hangs ends with the process
	select {
	case <-finished:
	case <-ctx.Done():
		// Let those that saw the end of their time say so.
		select {
		case <-finished:
		case <-time.After(100 * time.Millisecond):
		}
	}
	mu.Lock()
	defer mu.Unlock()
	var all []health.Finding
	for i, c := range checks {
		if results[i] == nil {
			results[i] = []health.Finding{{Name: c.name, Unknown: true, Result: health.Result{Found: "no answer in time", Fix: "try again, or look at it yourself"}}}
		}
		for _, v := range results[i] {
			if v.Status = v.Label(); v.OK {
				v.Warn, v.Fix, v.Lines = false, "", nil // there is nothing to do
			}
			all = append(all, v)
		}
	}
	return all
}
