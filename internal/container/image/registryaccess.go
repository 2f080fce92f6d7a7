package image

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"company/internal/company"
	"company/internal/ecosystem/depproxy"
)

// registryAccess controls the access to registries for a build container or for the host's go command.
type registryAccess struct {
	store  *depproxy.Store
	policy *depproxy.Policy

	mu       sync.Mutex
	withheld error             // first refusal of a package that this repository may not use
	failure  *depproxy.Failure // first failure of a registry
	// cancelStep ends the running client. It is nil if no client is running, or if the client
	// can do without packages of an unreachable registry.
	cancelStep context.CancelCauseFunc
}

// errRegistryAway ends a client whose registry is unreachable. The client would otherwise request each
// of its packages, with pauses of minutes.
var errRegistryAway = errors.New("the registry is unavailable")

func (f *registryAccess) newHandler() http.Handler {
	if f == nil || f.store == nil || f.policy == nil {
		return http.NotFoundHandler()
	}
	return f.store.NewHandler(depproxy.HandlerOptions{Policy: f.policy, OnRefusal: func(fetchReport depproxy.FetchReport) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.withheld == nil {
			f.withheld = fetchReport.Withheld
		}
	}, OnFailure: f.noteFailure})
}

// noteFailure stores the first failure of a registry. A failure that shows that the registry is
// unreachable takes precedence and ends the client.
func (f *registryAccess) noteFailure(r depproxy.Failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failure == nil || r.Away && !f.failure.Away {
		f.failure = &r
	}
	if r.Away && f.cancelStep != nil {
		f.cancelStep(errRegistryAway)
	}
}

// watchStep returns a context that ends when a registry is found to be unreachable. The caller calls
// stop when the client has ended. f may be nil.
func (f *registryAccess) watchStep(ctx context.Context) (_ context.Context, stop func()) {
	if f == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failure != nil && f.failure.Away {
		cancel(errRegistryAway)
	}
	f.cancelStep = cancel
	return ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.cancelStep = nil
		cancel(nil)
	}
}

// isAway reports whether a registry was found to be unreachable.
func (f *registryAccess) isAway() bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failure != nil && f.failure.Away
}

// startAhead fetches packages while the container of their client starts.
func (f *registryAccess) startAhead(ctx context.Context, dependencies []company.Dependency) (stop func()) {
	if f == nil || f.store == nil || f.policy == nil || len(dependencies) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = company.Guard("fetching packages ahead", func() error {
			f.store.FetchAhead(ctx, f.policy, dependencies)
			return nil
		})
	}()
	return func() {
		cancel()
		<-ended
	}
}

// explainError adds the cause to a client's failure. The cause is our refusal of a package, which
// clients do not always show, or a failure of the registry. Clients do not distinguish a failing
// registry from one that lacks the package, but after the former another attempt may succeed. A registry
// that cannot be reached needs a person: the mirror has tried again already.
func (f *registryAccess) explainError(err error) error {
	if f == nil || err == nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var fault *company.Error
	if errors.As(f.withheld, &fault) {
		return fault.Wrap(err)
	}
	if f.failure == nil || !errors.As(err, &fault) || fault.Code != company.EImage {
		return err
	}
	c := *fault
	c.Class, c.Err = company.Recoverable, nil
	if f.failure.Lasts || f.failure.Unreachable {
		c.Class = company.HumanRequired
	}
	told := c.Because(f.failure.Why).Fix(f.failure.Fix)
	if f.failure.Without != "" {
		return told.MendedBy(company.ConfigLine{Key: "deps.without", Value: f.failure.Without, Why: f.failure.Why})
	}
	return told
}
