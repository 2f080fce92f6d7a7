package github

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"

	"company/internal/forge"
)

// authTransport adds the login only to requests for the API's own host. A redirect or a link in a reply gets none
// (T21).
type authTransport struct {
	scheme     string // of the API: a login is never sent over a less secure scheme
	host       string
	credential func(context.Context) (forge.Credential, error)
	next       http.RoundTripper
}

type noLoginKey struct{}

// withoutLogin marks a request that must not get a login on any host.
func withoutLogin(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), noLoginKey{}, true))
}

func (a *authTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != a.scheme || r.URL.Host != a.host || r.Context().Value(noLoginKey{}) != nil {
		return a.next.RoundTrip(r)
	}
	cred, err := a.credential(r.Context())
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+cred.Secret.Reveal())
	return a.next.RoundTrip(r)
}

// Limits for the responses that are cached for conditional requests.
const (
	maxTagged     = 200
	maxTaggedBody = 1 << 20
)

// etagTransport sends the entity tag of a cached reply. A reply "not modified" does not count against the rate limit.
type etagTransport struct {
	next http.RoundTripper

	mu      sync.Mutex
	replies map[string]*keptReply
}

type keptReply struct {
	tag    string
	header http.Header
	body   []byte
}

func (t *etagTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet || r.Header.Get("Authorization") == "" {
		return t.next.RoundTrip(r)
	}
	key := r.URL.String() + " " + r.Header.Get("Accept")
	t.mu.Lock()
	have := t.replies[key]
	t.mu.Unlock()
	if have != nil {
		r = r.Clone(r.Context())
		r.Header.Set("If-None-Match", have.tag)
	}
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if have != nil && resp.StatusCode == http.StatusNotModified {
		_ = resp.Body.Close()
		for k, v := range have.header {
			if resp.Header.Get(k) == "" {
				resp.Header[k] = v
			}
		}
		resp.StatusCode, resp.Status = http.StatusOK, "200 OK"
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(have.body)), int64(len(have.body))
		return resp, nil
	}
	tag := resp.Header.Get("ETag")
	if resp.StatusCode != http.StatusOK || tag == "" {
		return resp, nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxTaggedBody+1))
	if err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	if len(body) > maxTaggedBody {
		resp.Body = &joinedBody{io.MultiReader(bytes.NewReader(body), resp.Body), resp.Body}
		return resp, nil
	}
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.replies == nil || len(t.replies) >= maxTagged {
		t.replies = map[string]*keptReply{}
	}
	t.replies[key] = &keptReply{tag, resp.Header.Clone(), body}
	return resp, nil
}

type joinedBody struct {
	io.Reader
	io.Closer
}

// timeoutTransport ends a request after forge.RequestTimeout, including the reading of its reply. http.Client's own
// timeout would leave a goroutine behind for each refused request, since go-github swaps the body before it is
// closed.
type timeoutTransport struct{ next http.RoundTripper }

func (t *timeoutTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), forge.RequestTimeout)
	resp, err := t.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &timedBody{resp.Body, cancel}
	return resp, nil
}

type timedBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.cancel()
	}
	return n, err
}

func (b *timedBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
