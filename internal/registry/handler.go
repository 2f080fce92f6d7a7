package registry

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

// Access says who is served what.
type Access struct {
	Policy *Policy // nil: nothing
	// MaxRequests and MaxBytes bound what is served in all; 0: no bound.
	MaxRequests int64
	MaxBytes    int64
	// Fetched is told of every package file that was served, and Refused of
	// every request that the policy or a bound stopped. They are called from
	// many goroutines and must be quick. Either may be nil.
	Fetched func(Fetch)
	Refused func(Fetch)
}

// Fetch is one answered request.
type Fetch struct {
	Dependency company.Dependency
	Bytes      int64
	Cached     bool   // nothing was asked of the registry
	Why        string // of a refusal
	Withheld   error  // set where it was refused as not for this repository; see Upstreams.Withheld
}

// Handler serves the registries below /go/, /npm/, /pypi/, /crates/
// and /debian/, by GET and HEAD, within a policy. A nil policy serves nothing.
func (s *Store) Handler(p *Policy) http.Handler { return s.Serve(Access{Policy: p}) }

// Serve is Handler with bounds, and with somebody who is told.
func (s *Store) Serve(a Access) http.Handler {
	if a.Policy == nil {
		a.Policy = Nothing()
	}
	return &handler{store: s, Access: a}
}

// Path reports whether a path is one of a registry's, so that a server with
// other things to serve knows whom to ask.
func Path(path string) bool {
	for _, e := range Ecosystems() {
		if strings.HasPrefix(path, "/"+e+"/") {
			return true
		}
	}
	return npmAtRoot.MatchString(path)
}

// npmAtRoot: npm asks at the root of the host for a tarball whose lock file
// names the public registry; it keeps the path and replaces the host only.
var npmAtRoot = regexp.MustCompile(`^/(@` + npmPart + `(/|%2[fF]))?` + npmPart + `/-/` + npmPart + `\.tgz$`)

type handler struct {
	Access
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

// hostRE is what a Host header may be that is put into an answer.
var hostRE = regexp.MustCompile(`^(\[[0-9a-fA-F:]{2,39}\]|[A-Za-z0-9.-]{1,253})(:[0-9]{1,5})?$`)

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &request{handler: h, w: w, r: r}
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		q.text(http.StatusMethodNotAllowed, "registries are served for reading only")
		return
	case !hostRE.MatchString(r.Host):
		q.text(http.StatusBadRequest, "the Host header is not one")
		return
	case h.MaxRequests > 0 && h.requests.Add(1) > h.MaxRequests:
		q.bound(fmt.Sprintf("this run has made its %d requests of registries", h.MaxRequests))
		return
	case h.MaxBytes > 0 && h.bytes.Load() >= h.MaxBytes:
		q.bound(fmt.Sprintf("this run has had its %d MiB of registries", h.MaxBytes>>20))
		return
	}
	q.base = "http://" + r.Host
	// The path as it was sent: a slash that is written %2f belongs to a name.
	path := r.URL.EscapedPath()
	ecosystem, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case strings.ContainsAny(path, "\\\x00") || strings.Contains(path, "//") || strings.Contains(path, "/../") || strings.Contains(path, "/./"):
		q.text(http.StatusNotFound, "there is no such path")
	case !h.store.up.Serves(ecosystem) && (ecosystem == Go || ecosystem == NPM || ecosystem == PyPI || ecosystem == Crates || ecosystem == Debian):
		if err := h.store.up.Withheld(company.Dependency{Ecosystem: ecosystem}); err != nil {
			if h.Refused != nil {
				h.Refused(Fetch{Dependency: company.Dependency{Ecosystem: ecosystem}, Why: line(err), Withheld: err})
			}
			q.text(http.StatusForbidden, line(err))
			return
		}
		q.text(http.StatusNotFound, "this office has no "+ecosystem+" registry")
	case ecosystem == Go:
		q.goproxy(rest)
	case ecosystem == NPM:
		q.npm(rest)
	case ecosystem == PyPI:
		q.pypi(rest)
	case ecosystem == Crates:
		q.crates(rest)
	case ecosystem == Debian:
		q.debian(rest)
	case npmAtRoot.MatchString(path) && h.store.up.Serves(NPM):
		q.npm(strings.TrimPrefix(path, "/"))
	default:
		q.text(http.StatusNotFound, "there is no such path")
	}
}

// text answers with one line.
func (q *request) text(status int, line string) {
	q.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	q.w.Header().Set("X-Content-Type-Options", "nosniff")
	q.w.WriteHeader(status)
	_, _ = io.WriteString(q.w, line+"\n")
}

func (q *request) bound(why string) {
	if q.Refused != nil {
		q.Refused(Fetch{Why: why})
	}
	q.text(http.StatusTooManyRequests, why)
}

// mayFetch says why d may not be fetched, and tells: the policy does not hold
// it, or it is not for this repository. "" means that it may.
func (q *request) mayFetch(d company.Dependency) string {
	if !q.Policy.Has(d.Ecosystem, d.Name) {
		return q.refused(d)
	}
	err := q.store.up.Withheld(d)
	if err == nil {
		return ""
	}
	if q.Refused != nil {
		q.Refused(Fetch{Dependency: d, Why: line(err), Withheld: err})
	}
	return line(err)
}

// refused reports that the policy does not hold d, and tells. The caller
// answers in the way that its client shows to people.
func (q *request) refused(d company.Dependency) string {
	why := refusal(d)
	if q.Refused != nil {
		q.Refused(Fetch{Dependency: d, Why: why})
	}
	return why
}

// failed says what became of a request of ours, as a status and a line.
func failed(err error) (int, string) {
	var h *httpError
	switch {
	case notFound(err):
		return http.StatusNotFound, "the registry does not have it"
	case errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable, "the request was given up"
	case errors.Is(err, errTooLarge), errors.Is(err, errDigest), errors.Is(err, errPrivate), errors.Is(err, errKind):
		return http.StatusBadGateway, err.Error()
	case diskFull(err):
		return http.StatusInsufficientStorage, "the host's disk is full"
	case errors.As(err, &h) && (h.status == http.StatusUnauthorized || h.status == http.StatusForbidden):
		return http.StatusBadGateway, fmt.Sprintf("the registry refuses the office (status %d): its credentials are the operator's to set", h.status)
	}
	// The words of a network error name hosts and proxies of the operator.
	return http.StatusBadGateway, "the registry cannot be reached now"
}

// fail answers with what became of a request of ours, as text.
func (q *request) fail(err error) {
	status, line := failed(err)
	if status == http.StatusBadGateway {
		q.store.log.Warn("registry", "path", q.r.URL.Path, "err", err)
	}
	q.text(status, line)
}

// give answers with the body of an object.
func (q *request) give(o *object, media string) {
	f, err := os.Open(o.path)
	if err != nil {
		q.text(http.StatusBadGateway, "the file left the cache; ask again")
		return
	}
	defer f.Close()
	q.w.Header().Set("Content-Type", media)
	q.w.Header().Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(&counted{q.w, q.handler}, q.r, "", time.Time{}, f)
}

// body answers with text that was made here.
func (q *request) body(text []byte, media string) {
	q.w.Header().Set("Content-Type", media)
	q.w.Header().Set("X-Content-Type-Options", "nosniff")
	q.w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	if q.r.Method == http.MethodHead {
		return
	}
	_, _ = (&counted{q.w, q.handler}).Write(text)
}

// counted counts what is sent.
type counted struct {
	http.ResponseWriter
	h *handler
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.h.bytes.Add(int64(n))
	return n, err
}

// artefact serves a package's file and tells of it.
func (q *request) artefact(d company.Dependency, w want, fail func(error)) {
	w.fixed = true
	if w.limit == 0 {
		w.limit = maxArtefact
	}
	o, err := q.store.get(q.r.Context(), w)
	if err != nil {
		fail(err)
		return
	}
	if q.Fetched != nil && q.r.Method == http.MethodGet {
		q.Fetched(Fetch{Dependency: d, Bytes: o.facts.Size, Cached: o.cached})
	}
	q.give(o, "application/octet-stream")
}
