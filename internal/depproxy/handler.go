package depproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"company/internal/company"
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
}

// FetchReport is one answered request.
type FetchReport struct {
	Dependency company.Dependency
	Bytes      int64
	Cached     bool   // nothing was asked of the registry
	Why        string // of a refusal
	Withheld   error  // set where it was refused as not for this repository; see Upstreams.WhyWithheld
}

// NewPolicyHandler serves the registries below /go/, /npm/, /pypi/, /crates/
// and /debian/, by GET and HEAD, within a policy. A nil policy serves nothing.
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

// IsRegistryPath reports whether a path is one of a registry's, so that a
// server with other handlers can choose.
func IsRegistryPath(path string) bool {
	for _, e := range Ecosystems() {
		if strings.HasPrefix(path, "/"+e+"/") {
			return true
		}
	}
	return npmRootTarballRE.MatchString(path)
}

// npmPart is one part of a name, in a path.
const npmPart = `[A-Za-z0-9~][A-Za-z0-9._~-]{0,127}`

// npmRootTarballRE: npm asks at the root of the host for a tarball whose lock file
// names the public registry; it keeps the path and replaces the host only.
var npmRootTarballRE = regexp.MustCompile(`^/(@` + npmPart + `(/|%2[fF]))?` + npmPart + `/-/` + npmPart + `\.tgz$`)

type handler struct {
	HandlerOptions
	store    *Store
	requests atomic.Int64
	bytes    atomic.Int64
}

// request is one request on its way.
type request struct {
	*handler
	w    http.ResponseWriter
	r    *http.Request
	base string // where the client reaches us, for addresses that are rewritten
}

// hostRE is what a Environment header may be that is put into an answer.
var hostRE = regexp.MustCompile(`^(\[[0-9a-fA-F:]{2,39}\]|[A-Za-z0-9.-]{1,253})(:[0-9]{1,5})?$`)

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
	q.base = "http://" + r.Host
	// The path as it was sent: a slash that is written %2f belongs to a name.
	path := r.URL.EscapedPath()
	ecosystem, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case strings.ContainsAny(path, "\\\x00") || strings.Contains(path, "//") || strings.Contains(path, "/../") || strings.Contains(path, "/./"):
		q.writeText(http.StatusNotFound, "there is no such path")
	case !h.store.upstreams.Serves(ecosystem) && (ecosystem == Go || ecosystem == NPM || ecosystem == PyPI || ecosystem == Crates || ecosystem == Debian):
		if err := h.store.upstreams.WhyWithheld(company.Dependency{Ecosystem: ecosystem}); err != nil {
			if h.OnRefusal != nil {
				h.OnRefusal(FetchReport{Dependency: company.Dependency{Ecosystem: ecosystem}, Why: refusalLine(err), Withheld: err})
			}
			q.writeText(http.StatusForbidden, refusalLine(err))
			return
		}
		q.writeText(http.StatusNotFound, "this office has no "+ecosystem+" registry")
	case ecosystem == Go:
		q.serveGoProxy(rest)
	case ecosystem == NPM:
		q.serveNPM(rest)
	case ecosystem == PyPI:
		q.servePyPI(rest)
	case ecosystem == Crates:
		q.serveCrates(rest)
	case ecosystem == Debian:
		q.serveDebian(rest)
	case npmRootTarballRE.MatchString(path) && h.store.upstreams.Serves(NPM):
		q.serveNPM(strings.TrimPrefix(path, "/"))
	default:
		q.writeText(http.StatusNotFound, "there is no such path")
	}
}

// writeText answers with one line.
func (q *request) writeText(status int, line string) {
	q.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	q.w.Header().Set("X-Content-Type-Options", "nosniff")
	q.w.WriteHeader(status)
	_, _ = io.WriteString(q.w, line+"\n")
}

func (q *request) refuseOverLimit(why string) {
	if q.OnRefusal != nil {
		q.OnRefusal(FetchReport{Why: why})
	}
	q.writeText(http.StatusTooManyRequests, why)
}

// fetchRefusal says why d may not be fetched, and tells: the policy does not hold
// it, or it is not for this repository. "" means that it may.
func (q *request) fetchRefusal(d company.Dependency) string {
	if !q.Policy.Has(d.Ecosystem, d.Name) {
		return q.reportRefusal(d)
	}
	err := q.store.upstreams.WhyWithheld(d)
	if err == nil {
		return ""
	}
	if q.OnRefusal != nil {
		q.OnRefusal(FetchReport{Dependency: d, Why: refusalLine(err), Withheld: err})
	}
	return refusalLine(err)
}

// reportRefusal reports that the policy does not hold d, and tells. The caller
// answers in the way that its client shows to people.
func (q *request) reportRefusal(d company.Dependency) string {
	why := refusalText(d)
	if q.OnRefusal != nil {
		q.OnRefusal(FetchReport{Dependency: d, Why: why})
	}
	return why
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
	case errors.As(err, &h) && (h.status == http.StatusUnauthorized || h.status == http.StatusForbidden):
		return http.StatusBadGateway, fmt.Sprintf("the registry refuses the office (status %d): its credentials are the operator's to set", h.status)
	}
	// The text of a network error names hosts and proxies of the operator.
	return http.StatusBadGateway, "the registry cannot be reached now"
}

// writeFailure answers with what became of a request of ours, as text.
func (q *request) writeFailure(err error) {
	status, line := failureStatus(err)
	if status == http.StatusBadGateway {
		q.store.log.Warn("registry", "path", q.r.URL.Path, "err", err)
	}
	q.writeText(status, line)
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
	http.ServeContent(&countingWriter{q.w, q.handler}, q.r, "", time.Time{}, f)
}

// writeBody answers with text that was made here.
func (q *request) writeBody(text []byte, media string) {
	q.w.Header().Set("Content-Type", media)
	q.w.Header().Set("X-Content-Type-Options", "nosniff")
	q.w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	if q.r.Method == http.MethodHead {
		return
	}
	_, _ = (&countingWriter{q.w, q.handler}).Write(text)
}

// countingWriter counts the sent bytes.
type countingWriter struct {
	http.ResponseWriter
	h *handler
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.h.bytes.Add(int64(n))
	return n, err
}

// servePackageFile serves a package's file and tells of it.
func (q *request) servePackageFile(d company.Dependency, w fetchRequest, fail func(error)) {
	w.immutable = true
	if w.limit == 0 {
		w.limit = maxArtefact
	}
	o, err := q.store.get(q.r.Context(), w)
	if err != nil {
		fail(err)
		return
	}
	if q.OnFetch != nil && q.r.Method == http.MethodGet {
		q.OnFetch(FetchReport{Dependency: d, Bytes: o.meta.Size, Cached: o.cached})
	}
	q.serveEntry(o, "application/octet-stream")
}
