package diagnose

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/lib/healthcheck"
	"company/internal/office"
	"company/internal/office/config"
)

// Check is one check of doctor. It may return several results.
type Check struct {
	name string
	run  func(ctx context.Context) []healthcheck.Finding
}

func singleResult(name string, r healthcheck.Result) []healthcheck.Finding {
	return []healthcheck.Finding{{Name: name, Result: r}}
}

// Subject holds the inputs of the checks.
type Subject struct {
	Paths       office.Paths
	PathsErr    error         // reason why no office was found
	Config      config.Loaded // default config if ConfigErr is set
	ConfigErr   error
	Checkout    string // current checkout
	CheckoutErr error
}

// isNowhere reports whether doctor runs where there is neither an office nor a repository.
func (s Subject) isNowhere() bool {
	return company.CodeOf(s.PathsErr) == company.ENotFound && s.CheckoutErr != nil
}

// Checker holds the process state that checks need.
type Checker struct {
	Env     func(string) (string, bool)
	Logger  *slog.Logger
	Version string
	Commit  string // commit that the program was built from, empty if unknown
	// Connect connects to an office. The caller closes the client.
	Connect func(ctx context.Context, paths office.Paths) (*client.Office, error)
}

// envValue returns the value of an environment variable, or "" if it is not set.
func (d *Checker) envValue(name string) string {
	v, _ := d.Env(name)
	return v
}

// Run runs checks concurrently until ctx ends. A check that does not finish in time is reported as
// unknown.
func Run(ctx context.Context, checks []Check) []healthcheck.Finding {
	results := make([][]healthcheck.Finding, len(checks))
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, check := range checks {
		wg.Go(func() {
			got := check.run(ctx)
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
		// Give checks that noticed the timeout a moment to report it.
		select {
		case <-finished:
		case <-time.After(100 * time.Millisecond):
		}
	}
	mu.Lock()
	defer mu.Unlock()
	var findings []healthcheck.Finding
	for i, check := range checks {
		if results[i] == nil {
			results[i] = []healthcheck.Finding{
				{Name: check.name, Unknown: true,
					Result: healthcheck.Result{Found: "no answer in time", Fix: "try again, or check it yourself"}}}
		}
		for _, finding := range results[i] {
			if finding.Status = finding.Label(); finding.OK {
				finding.Warn = false
				finding.Fix = ""
				finding.Lines = nil // no fix is needed
			}
			findings = append(findings, finding)
		}
	}
	return findings
}
