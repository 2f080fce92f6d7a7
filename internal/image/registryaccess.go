package image

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"company/internal/company"
	"company/internal/depproxy"
)

// registryAccess is what a build container, or the host's go command, may have of
// registries.
type registryAccess struct {
	store  *depproxy.Store
	policy *depproxy.Policy

	mu       sync.Mutex
	withheld error             // the first refusal of a package that is not for this repository
	failure  *depproxy.Failure // the first one of a registry
	// cancelStep ends the client that is running. Nil means that none is, or that it does
	// without what a registry that is away does not have.
	cancelStep context.CancelCauseFunc
}

// errRegistryAway is the end of a client whose registry is away. The client would ask for
// each of its packages, with pauses of minutes.
var errRegistryAway = errors.New("the registry is away")

func (f *registryAccess) newHandler() http.Handler {
	if f == nil || f.store == nil || f.policy == nil {
		return http.NotFoundHandler()
	}
	return f.store.NewHandler(depproxy.HandlerOptions{Policy: f.policy, OnRefusal: func(r depproxy.FetchReport) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.withheld == nil {
			f.withheld = r.Withheld
		}
	}, OnFailure: f.noteFailure})
}

// noteFailure keeps the first failure of a registry, or the first that says that it is away,
// and ends the client then.
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

// watchStep ends ctx when a registry turns out to be away. The caller calls stop when the
// client has ended. It may be called on a nil registryAccess.
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

// isAway reports whether a registry turned out to be away.
func (f *registryAccess) isAway() bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failure != nil && f.failure.Away
}

// startAhead fetches packages while the container of their client starts.
func (f *registryAccess) startAhead(ctx context.Context, all []company.Dependency) (stop func()) {
	if f == nil || f.store == nil || f.policy == nil || len(all) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = company.Guard("fetching packages ahead", func() error {
			f.store.FetchAhead(ctx, f.policy, all)
			return nil
		})
	}()
	return func() {
		cancel()
		<-ended
	}
}

// explainError adds our refusal of a package that is not for this repository to
// a client's failure: clients do not always show it. Nor do they tell a
// registry that is away from one without the package: after the former another
// try may succeed.
func (f *registryAccess) explainError(err error) error {
	if f == nil || err == nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var e *company.Error
	if errors.As(f.withheld, &e) {
		return e.Wrap(err)
	}
	if f.failure == nil || !errors.As(err, &e) || e.Code != company.EImage {
		return err
	}
	c := *e
	c.Class, c.Err = company.Recoverable, nil
	if f.failure.Lasts {
		c.Class = company.HumanRequired
	}
	told := c.Because(f.failure.Why).Fix(f.failure.Fix)
	if f.failure.Without != "" {
		return told.MendedBy(company.ConfigLine{Key: "deps.without", Value: f.failure.Without, Why: f.failure.Why})
	}
	return told
}
