package depproxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"company/internal/ecosystem"
)

// Answer is the reply of one registry to AskRegistries.
type Answer struct {
	Kind   string
	Host   string
	Status int    // 0 if there was no reply
	Why    string // the reason why there was no reply, or why the reply is a refusal; "" if all is well
	// WantsLogin means that the registry refused the request without a login, or with the operator's login.
	WantsLogin bool
}

// AskRegistries sends one request to each registry of these kinds, to all of them at once, and waits at most timeout.
// Any reply counts, because the root of a registry may be missing. It follows no redirect and stores nothing.
func (u Upstreams) AskRegistries(ctx context.Context, timeout time.Duration, kinds []string) ([]Answer, error) {
	u.Patience = timeout
	transport, err := newTransport(u)
	if err != nil {
		return nil, err
	}
	defer transport.close()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var answers []Answer
	var mu sync.Mutex
	var wg sync.WaitGroup
	for kind, endpoint := range u.allEndpoints() {
		if !slices.Contains(kinds, kind) {
			continue
		}
		wg.Go(func() {
			if answer, ok := transport.askEndpoint(ctx, timeout, kind, endpoint); ok {
				mu.Lock()
				defer mu.Unlock()
				answers = append(answers, answer)
			}
		})
	}
	wg.Wait()
	slices.SortFunc(answers, func(a, b Answer) int {
		return slices.Compare([]string{a.Kind, a.Host, a.Why}, []string{b.Kind, b.Host, b.Why})
	})
	return slices.Compact(answers), nil
}

// askEndpoint sends one request to an endpoint. ok is false if the endpoint is a folder of this host.
func (t *transport) askEndpoint(
	ctx context.Context, timeout time.Duration, kind string, endpoint ecosystem.Endpoint,
) (answer Answer, ok bool) {
	r, err := http.NewRequestWithContext(withKind(ctx, kind), http.MethodHead, endpoint.URL+"/", nil)
	if err != nil || r.URL.Host == "" {
		return Answer{}, false
	}
	answer = Answer{Kind: kind, Host: endpoint.HostPort()}
	resp, err := t.RoundTrip(r)
	switch {
	case err != nil && (ctx.Err() != nil || errors.Is(err, errSilent)):
		answer.Why = fmt.Sprintf("no answer within %s", timeout)
	case err != nil:
		answer.Why = findRootCause(err).Error()
	default:
		_ = resp.Body.Close()
		answer.Status = resp.StatusCode
		// Some public registries refuse their root with 403, and 401 always asks for a login.
		if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden && needsLogin(endpoint) {
			answer.WantsLogin = true
			answer.Why = fmt.Sprintf("it answers %d without a login", resp.StatusCode)
			if needsLogin(endpoint) {
				answer.Why = fmt.Sprintf("it answers %d, so it refuses the login of this machine", resp.StatusCode)
			}
		}
	}
	return answer, true
}

// findRootCause returns the innermost error of a chain.
func findRootCause(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}
