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
	"company/internal/lazyregexp"
)

// HandlerOptions is a policy with its bounds and reports.
type HandlerOptions struct {
	Policy *Policy // nil: nothing
	// MaxRequests and MaxBytes bound the served requests and bytes in all; 0:
	// no bound.
	MaxRequests int64
	MaxBytes    int64
	// OnFetch gets every package file that was served, and OnRefusal every
	// request that the policy or a bound stopped. They are called from many
	// goroutines and must be quick. Either may be nil.
	OnFetch   func(FetchReport)
	OnRefusal func(FetchReport)
	// OnFailure gets what a registry failed at. It is called like OnFetch, and may be
	// nil.
	OnFailure func(Failure)
}

// FetchReport is one answered request.
type FetchReport struct {
	Dependency company.Dependency
	Bytes      int64
	Cached     bool   // nothing was asked of the registry
	Why        string // of a refusal
	Withheld   error  // set where it was refused as not for this repository; see Upstreams.WhyWithheld
}

// NewPolicyHandler serves each kind of registry below its name, by GET and HEAD,
// within a policy. A nil policy serves nothing.
func (s *Store) NewPolicyHandler(p *Policy) http.Handler {
	return s.NewHandler(HandlerOptions{Policy: p})
}

// NewHandler is NewPolicyHandler with bounds and reports.
func (s *Store) NewHandler(a HandlerOptions) http.Handler {
	if a.Policy == nil {
		a.Policy = NewPolicy()
	}
	return &handler{store: s, HandlerOptions: a}
}

// IsRegistryPath reports whether a path is one of a registry's that a project may
// use, so that a server with other handlers can choose.
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

// findProtocol is the protocol that a path belongs to, and the path below it.
func (u Upstreams) findProtocol(path string) (_ ecosystem.Proxied, rest string, ok bool) {
	kind, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if e, ok := findRegistry[ecosystem.Proxied](kind); ok {
		return e, rest, true
	}
	for _, e := range catalog.Of[ecosystem.Proxied]() {
		if r := e.Registry(); u.Serves(r.Name) && isRootPath(r, path) {
			return e, strings.TrimPrefix(path, "/"), true
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

// request is one request on its way: an ecosystem.Gate.
type request struct {
	*handler
	w        http.ResponseWriter
	r        *http.Request
	registry ecosystem.Registry
	brought  atomic.Int64 // bytes that came into the cache for it, which are counted
}

// chargeBytes counts a file that comes into the cache for the request.
func (q *request) chargeBytes(bytes int64) {
	q.brought.Add(bytes)
	q.bytes.Add(bytes)
}

// hostRE is what a Host header may be that is put into an answer.
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
		q.refuseOverLimit(fmt.Sprintf("this run has made its %d requests of registries", h.MaxRequests))
		return
	case h.MaxBytes > 0 && h.bytes.Load() >= h.MaxBytes:
		q.refuseOverLimit(fmt.Sprintf("this run has had its %d MiB of registries", h.MaxBytes>>20))
		return
	}
	path := r.URL.EscapedPath() // as it was sent
	e, rest, ok := h.store.upstreams.findProtocol(path)
	if !ok || strings.ContainsAny(path, "\\\x00") || strings.Contains(path, "//") || strings.Contains(path, "/../") || strings.Contains(path, "/./") {
		q.writeText(http.StatusNotFound, "there is no such path")
		return
	}
	kind := e.Registry().Name
	if !h.store.upstreams.Serves(kind) {
		d := company.Dependency{Ecosystem: kind}
		if err := h.store.upstreams.WhyWithheld(d); err != nil {
			q.writeText(http.StatusForbidden, q.reportRefusal(FetchReport{Dependency: d, Why: refusalLine(err), Withheld: err}))
			return
		}
		q.writeText(http.StatusNotFound, "this office has no "+kind+" registry")
		return
	}
	q.registry = e.Registry()
	f := h.store.fetcherOf(kind, q.chargeBytes)
	defer f.endRequest()
	q.writeAnswer(e.Serve(r.Context(), ecosystem.Request{
		Fetcher: f, Gate: q, Path: rest, Base: "http://" + r.Host, Accept: r.Header.Get("Accept"),
	}))
}

// writeAnswer answers with what a protocol says, or with what became of a request
// of ours.
func (q *request) writeAnswer(a *ecosystem.Answer, err error) {
	if reply := (*ecosystem.Reply)(nil); errors.As(err, &reply) {
		q.writeLine(reply.Status, reply.Line)
		return
	}
	if err != nil {
		status, line := failureStatus(err)
		if status == http.StatusBadGateway || isOwnFault(err) {
			q.store.log.Warn("registry", "path", q.r.URL.Path, "err", err)
			if q.OnFailure != nil {
				f := q.store.explainFailure(q.registry.Name, err)
				if !isOwnFault(err) && !f.Away { // of a thousand packages, which one
					f.Why += fmt.Sprintf(" (asked for %s)", ecosystem.PrintablePath(strings.TrimPrefix(q.r.URL.Path, "/")))
				}
				q.OnFailure(f)
			}
		}
		q.writeLine(status, line)
		return
	}
	o, ok := a.File.(*cacheEntry)
	if !ok {
		q.writeBody(a.Text, a.Media)
		return
	}
	if q.OnFetch != nil && q.r.Method == http.MethodGet && a.Package.Name != "" {
		q.OnFetch(FetchReport{Dependency: a.Package, Bytes: o.meta.Size, Cached: o.cached})
	}
	q.serveEntry(o, a.Media)
}

// writeLine answers with one line, in the form that the registry's clients show.
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

// writeText answers with one line.
func (q *request) writeText(status int, line string) {
	q.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	q.w.Header().Set("X-Content-Type-Options", "nosniff")
	q.w.WriteHeader(status)
	_, _ = io.WriteString(q.w, line+"\n")
}

func (q *request) refuseOverLimit(why string) {
	q.writeText(http.StatusTooManyRequests, q.reportRefusal(FetchReport{Why: why}))
}

// reportRefusal tells of a refusal, and gives why.
func (q *request) reportRefusal(f FetchReport) string {
	if q.OnRefusal != nil {
		q.OnRefusal(f)
	}
	return f.Why
}

// refusal reports a refusal, and gives it as its client understands it.
func (q *request) refusal(f FetchReport) error {
	status := http.StatusForbidden
	if q.registry.RefusedAsNotFound {
		status = http.StatusNotFound
	}
	return &ecosystem.Reply{Status: status, Line: q.reportRefusal(f)}
}

// Check refuses d where the policy does not hold its name, or where it is not for
// this repository.
func (q *request) Check(d company.Dependency) error {
	if !q.Policy.Has(d.Ecosystem, d.Name) {
		return q.Refuse(d, "")
	}
	if err := q.store.upstreams.WhyWithheld(d); err != nil {
		return q.refusal(FetchReport{Dependency: d, Why: refusalLine(err), Withheld: err})
	}
	return nil
}

// Refuse refuses d; without a reason, as one that the policy does not hold.
func (q *request) Refuse(d company.Dependency, why string) error {
	if why == "" {
		why = refusalText(d)
	}
	return q.refusal(FetchReport{Dependency: d, Why: why})
}

// Allows, AllowsPart, LockedFile, Follows and AllowNeeds are the policy's.
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

// failureStatus says what became of a request of ours, as a status and a line.
func failureStatus(err error) (int, string) {
	var h *httpError
	switch {
	case notFound(err):
		return http.StatusNotFound, "the registry does not have it"
	case errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable, "the request was given up"
	case errors.Is(err, errTooLarge), errors.Is(err, errDigestMismatch), errors.Is(err, errPrivateAddress), errors.Is(err, errWrongKind):
		return http.StatusBadGateway, err.Error()
	case diskFull(err):
		return http.StatusInsufficientStorage, "the host's disk is full"
	case isOwnFault(err):
		return http.StatusInsufficientStorage, "the office's cache of packages cannot be used now"
	case errors.As(err, &h) && (h.status == http.StatusUnauthorized || h.status == http.StatusForbidden):
		return http.StatusBadGateway, fmt.Sprintf("the registry refuses the office (status %d): its credentials are the operator's to set", h.status)
	}
	// The text of a network error names hosts and proxies of the operator.
	return http.StatusBadGateway, "the registry cannot be reached now"
}

// serveEntry answers with the body of an object.
func (q *request) serveEntry(o *cacheEntry, media string) {
	f, err := os.Open(o.path)
	if err != nil {
		q.writeText(http.StatusBadGateway, "the file left the cache; ask again")
		return
	}
	defer f.Close()
	q.w.Header().Set("Content-Type", media)
	q.w.Header().Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(&countingWriter{q.w, q}, q.r, "", time.Time{}, f)
}

// writeBody answers with text that was made here.
func (q *request) writeBody(text []byte, media string) {
	q.w.Header().Set("Content-Type", media)
	q.w.Header().Set("X-Content-Type-Options", "nosniff")
	q.w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	if q.r.Method == http.MethodHead {
		return
	}
	_, _ = (&countingWriter{q.w, q}).Write(text)
}

// countingWriter counts the sent bytes, but for those that were counted when they came.
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

// Unwrap gives an http.ResponseController what the connection can do.
func (c *countingWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }
