package dockerapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
)

// Word is a command that an operator allows or forbids (CTR-2). The API is more detailed than the
// command line. Each endpoint belongs to one command.
type Word string

const (
	WordRun     Word = "run"     // create, attach, wait, start, and copying files before the start
	WordStop    Word = "stop"    // kill: our containers have no state to save
	WordRemove  Word = "rm"      // delete
	WordLogs    Word = "logs"    // no endpoints: our containers have no log driver
	WordInspect Word = "inspect" // all read-only endpoints
	wordImage   Word = "image"   // create and remove images; not available to container runtimes
)

// Words lists all commands of a runtime. It is both the default and the maximum.
var Words = []Word{WordRun, WordStop, WordRemove, WordLogs, WordInspect}

// Use is the purpose of a client. It decides which endpoints are available.
type Use uint8

const (
	Containers Use = 1 << iota // start, watch and remove containers
	Images                     // create, read and remove our images
	everyUse   = Containers | Images
)

// BuildPrefix is the prefix of the names of containers in which image layers are built. Files are
// copied by container name, so that the list can distinguish these containers from all others.
const BuildPrefix = "company-image-"

// endpoint is one entry of the allow-list.
type endpoint struct {
	uses    Use
	word    Word
	methods []string
	path    *lazyregexp.Regexp    // matches the escaped path without the API version
	query   []string              // allowed query parameters
	only    func(url.Values) bool // condition on the parameters' values; may be nil
}

var (
	get     = []string{http.MethodGet}
	probe   = []string{http.MethodGet, http.MethodHead} // the client asks with HEAD first
	post    = []string{http.MethodPost}
	put     = []string{http.MethodPut}
	remove  = []string{http.MethodDelete}
	version = lazyregexp.New(`^/v1\.[0-9]{1,3}/`)
	digest  = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)
)

// Patterns for the placeholders in a path.
var placeholders = strings.NewReplacer(
	`\{id\}`, `[A-Za-z0-9][A-Za-z0-9_.:-]*`, // one container or image
	`\{ref\}`, `[A-Za-z0-9][A-Za-z0-9_.:@-]*(?:/[A-Za-z0-9][A-Za-z0-9_.:@-]*)*`, // an image name that may have slashes
	`\{ours\}`, `company/(?:worker|layer):[a-z0-9-]+`, // an image that we built
	`\{build\}`, BuildPrefix+`[a-z0-9-]+`, // a container in which we build an image
)

// pathPattern returns an anchored expression for a path with placeholders.
func pathPattern(p string) *lazyregexp.Regexp {
	return lazyregexp.New(`^` + placeholders.Replace(regexp.QuoteMeta(p)) + `$`)
}

// endpoints lists all requests that may ever be sent to the daemon. These are left out on purpose:
// build, volumes, networks, prune, push, pull by tag, and exec.
var endpoints = []endpoint{
	{uses: everyUse, word: WordInspect, methods: probe, path: pathPattern("/_ping")},
	{uses: everyUse, word: WordInspect, methods: get, path: pathPattern("/version")},
	{uses: Containers, word: WordInspect, methods: get, path: pathPattern("/info")},
	{uses: Containers, word: WordInspect, methods: get, path: pathPattern("/images/{id}/json")},
	{uses: Containers, word: WordInspect, methods: get, path: pathPattern("/containers/json"),
		query: []string{"all", "filters"}},
	{uses: Containers, word: WordInspect, methods: get, path: pathPattern("/containers/{id}/json")},
	{uses: Containers, word: WordRun, methods: post, path: pathPattern("/containers/create"), query: []string{"name"}},
	{uses: Containers, word: WordRun, methods: post, path: pathPattern("/containers/{id}/attach"),
		query: []string{"stream", "stdin", "stdout", "stderr"}},
	{uses: Containers, word: WordRun, methods: post, path: pathPattern("/containers/{id}/wait"),
		query: []string{"condition"}},
	{uses: Containers, word: WordRun, methods: post, path: pathPattern("/containers/{id}/start")},
	{uses: Containers, word: WordStop, methods: post, path: pathPattern("/containers/{id}/kill"),
		query: []string{"signal"}},
	{uses: Containers, word: WordRemove, methods: remove, path: pathPattern("/containers/{id}"),
		query: []string{"force"}},

	{uses: Containers | Images, word: WordRun, methods: put, path: pathPattern("/containers/{build}/archive"),
		query: []string{"path", "noOverwriteDirNonDir"}, only: atRoot},
	{uses: Images, word: WordInspect, methods: get, path: pathPattern("/images/json"), query: []string{"filters"}},
	{uses: Images, word: WordInspect, methods: get, path: pathPattern("/images/{ref}/json")},
	{uses: Images, word: WordInspect, methods: get, path: pathPattern("/containers/{build}/json")},
	{uses: Images, word: WordInspect, methods: get, path: pathPattern("/containers/{build}/export")},
	{uses: Images, word: WordInspect, methods: get, path: pathPattern("/containers/{build}/changes")},
	{uses: Images, word: WordInspect, methods: get, path: pathPattern("/containers/{build}/archive"),
		query: []string{"path"}},
	{uses: Images, word: wordImage, methods: post, path: pathPattern("/containers/create"), query: []string{"name"},
		only: namesBuild("name")},
	{uses: Images, word: wordImage, methods: post, path: pathPattern("/commit"),
		query: []string{"container", "repo", "tag", "comment", "author", "pause"}, only: namesBuild("container")},
	{uses: Images, word: wordImage, methods: post, path: pathPattern("/images/load"), query: []string{"quiet"}},
	{uses: Images, word: wordImage, methods: post, path: pathPattern("/images/create"),
		query: []string{"fromSrc", "fromImage", "repo", "tag", "changes"}, only: pinnedSource},
	{uses: Images, word: wordImage, methods: remove, path: pathPattern("/images/{ours}"), query: []string{"noprune"}},
	{uses: Images, word: WordRemove, methods: remove, path: pathPattern("/containers/{build}"),
		query: []string{"force", "v"}},
}

// atRoot reports whether an archive is unpacked at the root of the file system.
func atRoot(q url.Values) bool { return q.Get("path") == "/" }

// namesBuild returns a condition: the parameter must be the name of a build container.
func namesBuild(key string) func(url.Values) bool {
	return func(q url.Values) bool { return strings.HasPrefix(q.Get(key), BuildPrefix) }
}

// pinnedSource reports whether an image comes from our own stdin or is pulled by digest. It allows
// neither tags nor addresses.
func pinnedSource(q url.Values) bool {
	if q.Has("fromSrc") {
		return q.Get("fromSrc") == "-" && !q.Has("fromImage")
	}
	return digest.MatchString(q.Get("tag"))
}

// allowList refuses and logs every request that is not on the list. As a RoundTripper it checks all
// requests of the Docker client. Attach takes over a raw connection and bypasses any RoundTripper, so
// the methods of Client that do this call check themselves.
type allowList struct {
	use   Use
	words []Word
	log   *slog.Logger
	next  http.RoundTripper
}

func (a *allowList) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := a.check(req.Context(), req.Method, req.URL); err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	return a.next.RoundTrip(req)
}

// check returns an EPolicy error for a call that is not on the list.
func (a *allowList) check(ctx context.Context, method string, address *url.URL) error {
	p := address.EscapedPath()
	if at := version.FindStringIndex(p); at != nil {
		p = p[at[1]-1:]
	}
	query := address.Query()
	for _, endpoint := range endpoints {
		if endpoint.uses&a.use == 0 || !slices.Contains(endpoint.methods, method) || !endpoint.path.MatchString(p) {
			continue
		}
		if !slices.Contains(a.words, endpoint.word) {
			return a.refuseRequest(ctx, method, p, fmt.Sprintf("the operator does not allow %q", endpoint.word))
		}
		for key := range query {
			if !slices.Contains(endpoint.query, key) {
				return a.refuseRequest(ctx, method, p, fmt.Sprintf("the parameter %q is not on the list", key))
			}
		}
		if endpoint.only != nil && !endpoint.only(query) {
			return a.refuseRequest(ctx, method, p, "the value of a parameter is not on the list")
		}
		return nil
	}
	return a.refuseRequest(ctx, method, p, "it is not on the list of endpoints")
}

func (a *allowList) refuseRequest(ctx context.Context, method, path, reason string) error {
	a.log.WarnContext(ctx, "docker request refused", "method", method, "path", path, "why", reason)
	return company.E(company.EPolicy, fmt.Sprintf("the Docker request %s %s is refused", method, path)).
		Because(reason).NeedsPerson()
}
