package depproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/lib/lazyregexp"
)

// HandlerOptions is a policy with limits and callbacks.
type HandlerOptions struct {
	Policy *Policy // nil allows no package
	// MaxRequests and MaxBytes limit the total number of served requests and bytes. 0 means no limit.
	MaxRequests int64
	MaxBytes    int64
	// OnFetch is called for every served package file, and OnRefusal for every request that the policy or a limit
	// stopped. They are called from many goroutines and must be quick. Either may be nil.
	OnFetch   func(FetchReport)
	OnRefusal func(FetchReport)
	// OnFailure is called for failed requests to a registry, in the same way as OnFetch. It may be nil.
	OnFailure func(Failure)
}

// FetchReport describes one answered request.
type FetchReport struct {
	Dependency company.Dependency
	Bytes      int64
	Cached     bool   // no file was downloaded
	Why        string // the reason of a refusal
	Withheld   error  // the reason if the package is withheld from this repository; see Upstreams.WhyWithheld
}

// NewPolicyHandler returns a handler that serves each kind of registry below its name, by GET and HEAD, within a
// policy. A nil policy allows no package.
func (s *Store) NewPolicyHandler(p *Policy) http.Handler {
	return s.NewHandler(HandlerOptions{Policy: p})
}

// NewHandler is NewPolicyHandler with limits and callbacks.
func (s *Store) NewHandler(options HandlerOptions) http.Handler {
	if options.Policy == nil {
		options.Policy = NewPolicy()
	}
	return &handler{store: s, HandlerOptions: options}
}

// IsRegistryPath reports whether a path belongs to a registry that projects may use. A server with other handlers can
// use it for routing.
func IsRegistryPath(path string) bool {
	for _, e := range catalog.Of[ecosystem.Client]() {
		if r := e.Registry(); strings.HasPrefix(path, "/"+r.Name+"/") || isRootPath(r, path) {
			return true
		}
	}
	return false
}

func isRootPath(r ecosystem.Registry, path string) bool {
	return r.RootPath != nil && r.RootPath.MatchString(path)
}

// findProtocol returns the protocol for a path, and the rest of the path.
func (u Upstreams) findProtocol(path string) (_ ecosystem.Proxied, rest string, ok bool) {
	kind, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if e, ok := findRegistry[ecosystem.Proxied](kind); ok {
		return e, rest, true
	}
	for _, proxied := range catalog.Of[ecosystem.Proxied]() {
		if r := proxied.Registry(); u.Serves(r.Name) && isRootPath(r, path) {
			return proxied, strings.TrimPrefix(path, "/"), true
		}
	}
	return nil, "", false
}

type handler struct {
	HandlerOptions
	store    *Store
	requests atomic.Int64
	bytes    atomic.Int64
}

// request is one request in progress. It implements ecosystem.Gate.
type request struct {
	*handler
	w        http.ResponseWriter
	r        *http.Request
	registry ecosystem.Registry
	brought  atomic.Int64 // bytes that were downloaded for it and are already counted
}

// chargeBytes counts a file that is downloaded for the request.
func (q *request) chargeBytes(bytes int64) {
	q.brought.Add(bytes)
	q.bytes.Add(bytes)
}

// hostRE matches the Host headers that may be copied into an answer.
var hostRE = lazyregexp.New(`^(\[[0-9a-fA-F:]{2,39}\]|[A-Za-z0-9.-]{1,253})(:[0-9]{1,5})?$`)

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &request{handler: h, w: w, r: r}
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		q.writeText(http.StatusMethodNotAllowed, "registries are served for reading only")
		return
	case !hostRE.MatchString(r.Host):
		q.writeText(http.StatusBadRequest, "the Host header is not one")
		return
	case h.MaxRequests > 0 && h.requests.Add(1) > h.MaxRequests:
		q.refuseOverLimit(fmt.Sprintf("this run has used its %d registry requests", h.MaxRequests))
		return
	case h.MaxBytes > 0 && h.bytes.Load() >= h.MaxBytes:
		q.refuseOverLimit(fmt.Sprintf("this run has used its %d MiB of registry downloads", h.MaxBytes>>20))
		return
	}
	path := r.URL.EscapedPath() // as it was sent
	proxied, rest, ok := h.store.upstreams.findProtocol(path)
	if !ok || strings.ContainsAny(path, "\\\x00") || strings.Contains(path, "//") || strings.Contains(path, "/../") ||
		strings.Contains(path, "/./") {
		q.writeText(http.StatusNotFound, "there is no such path")
		return
	}
	kind := proxied.Registry().Name
	if !h.store.upstreams.Serves(kind) {
		dependency := company.Dependency{Ecosystem: kind}
		if err := h.store.upstreams.WhyWithheld(dependency); err != nil {
			q.writeText(http.StatusForbidden,
				q.reportRefusal(FetchReport{Dependency: dependency, Why: refusalLine(err), Withheld: err}))
			return
		}
		q.writeText(http.StatusNotFound, "this office has no "+kind+" registry")
		return
	}
	q.registry = proxied.Registry()
	fetcher := h.store.fetcherOf(kind, q.chargeBytes)
	defer fetcher.endRequest()
	q.writeAnswer(proxied.Serve(r.Context(), ecosystem.Request{
		Fetcher: fetcher, Gate: q, Path: rest, Base: "http://" + r.Host, Accept: r.Header.Get("Accept"),
		Client: r.UserAgent(),
	}))
}

// writeAnswer writes the answer of a protocol, or the failure of a request to the registry.
func (q *request) writeAnswer(answer *ecosystem.Answer, err error) {
	if reply := (*ecosystem.Reply)(nil); errors.As(err, &reply) {
		q.writeLine(reply.Status, reply.Line)
		return
	}
	if err != nil {
		status, line := failureStatus(err)
		if status == http.StatusBadGateway || isOwnFault(err) {
			q.store.log.Warn("registry", "path", q.r.URL.Path, "err", err)
			if q.OnFailure != nil {
				failure := q.store.explainFailure(q.registry.Name, err)
				if !isOwnFault(err) && !failure.Away { // if only this package fails, name it
					failure.Why += fmt.Sprintf(" (asked for %s)", ecosystem.PrintablePath(strings.TrimPrefix(q.r.URL.Path, "/")))
				}
				q.OnFailure(failure)
			}
		}
		q.writeLine(status, line)
		return
	}
	o, ok := answer.File.(*cacheEntry)
	if !ok {
		q.writeBody(answer.Text, answer.Media)
		return
	}
	if q.OnFetch != nil && q.r.Method == http.MethodGet && answer.Package.Name != "" {
		q.OnFetch(FetchReport{Dependency: answer.Package, Bytes: o.meta.Size, Cached: o.cached})
	}
	q.serveEntry(o, answer.Media)
}

// writeLine writes one line, in the form that the registry's clients show.
func (q *request) writeLine(status int, line string) {
	if q.registry.ErrorField == "" {
		q.writeText(status, line)
		return
	}
	text, _ := json.Marshal(map[string]string{q.registry.ErrorField: line})
	q.w.Header().Set("Content-Type", "application/json")
	q.w.WriteHeader(status)
	_, _ = q.w.Write(text)
}

// writeText writes one line as plain text.
func (q *request) writeText(status int, line string) {
	q.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	q.w.Header().Set("X-Content-Type-Options", "nosniff")
	q.w.WriteHeader(status)
	_, _ = io.WriteString(q.w, line+"\n")
}

func (q *request) refuseOverLimit(reason string) {
	q.writeText(http.StatusTooManyRequests, q.reportRefusal(FetchReport{Why: reason}))
}

// reportRefusal calls OnRefusal and returns the reason.
func (q *request) reportRefusal(fetchReport FetchReport) string {
	if q.OnRefusal != nil {
		q.OnRefusal(fetchReport)
	}
	return fetchReport.Why
}

// refusal reports a refusal and returns it with the status that the client understands.
func (q *request) refusal(fetchReport FetchReport) error {
	status := http.StatusForbidden
	if q.registry.RefusedAsNotFound {
		status = http.StatusNotFound
	}
	return &ecosystem.Reply{Status: status, Line: q.reportRefusal(fetchReport)}
}

// Check refuses a dependency if its name is not in the policy or it is withheld from this repository.
func (q *request) Check(dependency company.Dependency) error {
	if !q.Policy.Has(dependency.Ecosystem, dependency.Name) {
		return q.Refuse(dependency, "")
	}
	if err := q.store.upstreams.WhyWithheld(dependency); err != nil {
		return q.refusal(FetchReport{Dependency: dependency, Why: refusalLine(err), Withheld: err})
	}
	return nil
}

// Refuse refuses a dependency. Without a reason, the refusal states that the policy does not hold it.
func (q *request) Refuse(dependency company.Dependency, reason string) error {
	if reason == "" {
		reason = refusalText(dependency)
	}
	return q.refusal(FetchReport{Dependency: dependency, Why: reason})
}

// Allows, AllowsPart, LockedFile, Follows and AllowNeeds call the policy.
func (q *request) Allows(d company.Dependency) bool { return q.Policy.Allows(d) }

func (q *request) AllowsPart(part string) bool { return q.Policy.allowsPart(q.registry.Name, part) }

func (q *request) LockedFile(d company.Dependency) (ecosystem.Digest, bool) {
	return q.Policy.lockedFile(d)
}

func (q *request) Follows(d company.Dependency) bool { return q.Policy.isAdded(d) }

func (q *request) AllowNeeds(needs []company.Dependency, err error) {
	if err != nil {
		q.store.log.Info("what a package needs is not known", "path", q.r.URL.Path, "err", err)
		return
	}
	q.Policy.allowTransitive(needs)
}

// failureStatus returns the status and message for a failed request to a registry.
func failureStatus(err error) (int, string) {
	var h *httpError
	switch {
	case notFound(err):
		return http.StatusNotFound, "the registry does not have it"
	case errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable, "the request was given up"
	case errors.Is(err, errTooLarge), errors.Is(err, errDigestMismatch), errors.Is(err, errPrivateAddress),
		errors.Is(err, errWrongKind):
		return http.StatusBadGateway, err.Error()
	case diskFull(err):
		return http.StatusInsufficientStorage, "the host's disk is full"
	case isOwnFault(err):
		return http.StatusInsufficientStorage, "the office's cache of packages cannot be used now"
	case errors.As(err, &h) && (h.status == http.StatusUnauthorized || h.status == http.StatusForbidden):
		return http.StatusBadGateway, fmt.Sprintf(
			"the registry refuses the office (status %d): its credentials are the operator's to set", h.status)
	}
	// The text of a network error names hosts and proxies of the operator.
	return http.StatusBadGateway, "the registry cannot be reached now"
}

// serveEntry writes the body of a cached file.
func (q *request) serveEntry(o *cacheEntry, media string) {
	file, err := os.Open(o.path)
	if err != nil {
		q.writeText(http.StatusBadGateway, "the file left the cache; ask again")
		return
	}
	defer file.Close()
	q.w.Header().Set("Content-Type", media)
	q.w.Header().Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(&countingWriter{q.w, q}, q.r, "", time.Time{}, file)
}

// writeBody writes a text that was made here.
func (q *request) writeBody(text []byte, media string) {
	q.w.Header().Set("Content-Type", media)
	q.w.Header().Set("X-Content-Type-Options", "nosniff")
	q.w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	if q.r.Method == http.MethodHead {
		return
	}
	_, _ = (&countingWriter{q.w, q}).Write(text)
}

// countingWriter counts the sent bytes, except those that were counted when they were downloaded.
type countingWriter struct {
	http.ResponseWriter
	q *request
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.q.bytes.Add(max(0, int64(n)-max(0, c.q.brought.Load())))
	c.q.brought.Add(-int64(n))
	return n, err
}

// Unwrap lets an http.ResponseController reach the connection.
func (c *countingWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }
