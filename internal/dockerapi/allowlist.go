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
	"company/internal/lazyregexp"
)

// Word is a command that an operator allows or forbids (CTR-2). The API is
// finer than the command line; each endpoint belongs to one command.
type Word string

const (
	WordRun     Word = "run"     // create, attach, wait, start, files put in before the start
	WordStop    Word = "stop"    // kill: a container of ours has nothing to save
	WordRemove  Word = "rm"      // delete
	WordLogs    Word = "logs"    // nothing: our containers have no log driver
	WordInspect Word = "inspect" // everything that only reads
	wordImage   Word = "image"   // make and remove images; no runtime of containers has it
)

// Words lists all commands of a runtime: the default, and the most that can be
// allowed.
var Words = []Word{WordRun, WordStop, WordRemove, WordLogs, WordInspect}

// Use is what a client is for. It decides which endpoints there are for it.
type Use uint8

const (
	Containers Use = 1 << iota // start, watch and remove containers
	Images                     // make, read and remove images of ours
	Baselines                  // bench: the same by the plainest calls, to compare with
	everyUse   = Containers | Images | Baselines
)

// BuildPrefix begins the names of the containers that image layers are made in.
// They are called by name where files are copied, so that the list can tell
// them from all others.
const BuildPrefix = "company-image-"

// endpoint is one line of the allow-list.
type endpoint struct {
	uses    Use
	word    Word
	methods []string
	path    *lazyregexp.Regexp    // of the escaped path, the API version removed
	query   []string              // the parameters that may be set
	only    func(url.Values) bool // a condition on their values; nil: none
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

// What a path may hold in place of a name.
var placeholders = strings.NewReplacer(
	`\{id\}`, `[A-Za-z0-9][A-Za-z0-9_.:-]*`, // one container or image
	`\{ref\}`, `[A-Za-z0-9][A-Za-z0-9_.:@-]*(?:/[A-Za-z0-9][A-Za-z0-9_.:@-]*)*`, // an image by a name with slashes
	`\{ours\}`, `company/(?:worker|layer):[a-z0-9-]+`, // an image that we made
	`\{build\}`, BuildPrefix+`[a-z0-9-]+`, // a container that we make an image in
)

// pathPattern makes an anchored expression of a path with placeholders.
func pathPattern(p string) *lazyregexp.Regexp {
	return lazyregexp.New(`^` + placeholders.Replace(regexp.QuoteMeta(p)) + `$`)
}

// endpoints is all that may ever be asked of the daemon. Not here, on purpose:
// build, volumes, networks, prune, push, a pull by tag; and exec but for bench.
var endpoints = []endpoint{
	{uses: everyUse, word: WordInspect, methods: probe, path: pathPattern("/_ping")},
	{uses: everyUse, word: WordInspect, methods: get, path: pathPattern("/version")},
	{uses: Containers, word: WordInspect, methods: get, path: pathPattern("/info")},
	{uses: Containers, word: WordInspect, methods: get, path: pathPattern("/images/{id}/json")},
	{uses: Containers, word: WordInspect, methods: get, path: pathPattern("/containers/json"), query: []string{"all", "filters"}},
	{uses: Containers, word: WordInspect, methods: get, path: pathPattern("/containers/{id}/json")},
	{uses: Containers, word: WordRun, methods: post, path: pathPattern("/containers/create"), query: []string{"name"}},
	{uses: Containers | Baselines, word: WordRun, methods: post, path: pathPattern("/containers/{id}/attach"), query: []string{"stream", "stdin", "stdout", "stderr"}},
	{uses: Containers, word: WordRun, methods: post, path: pathPattern("/containers/{id}/wait"), query: []string{"condition"}},
	{uses: Containers | Baselines, word: WordRun, methods: post, path: pathPattern("/containers/{id}/start")},
	{uses: Containers, word: WordStop, methods: post, path: pathPattern("/containers/{id}/kill"), query: []string{"signal"}},
	{uses: Containers | Baselines, word: WordRemove, methods: remove, path: pathPattern("/containers/{id}"), query: []string{"force"}},

	{uses: Containers | Images, word: WordRun, methods: put, path: pathPattern("/containers/{build}/archive"), query: []string{"path", "noOverwriteDirNonDir"}, only: atRoot},
	{uses: Images, word: WordInspect, methods: get, path: pathPattern("/images/json"), query: []string{"filters"}},
	{uses: Images, word: WordInspect, methods: get, path: pathPattern("/images/{ref}/json")},
	{uses: Images, word: WordInspect, methods: get, path: pathPattern("/containers/{build}/json")},
	{uses: Images, word: WordInspect, methods: get, path: pathPattern("/containers/{build}/export")},
	{uses: Images, word: WordInspect, methods: get, path: pathPattern("/containers/{build}/changes")},
	{uses: Images, word: WordInspect, methods: get, path: pathPattern("/containers/{build}/archive"), query: []string{"path"}},
	{uses: Images, word: wordImage, methods: post, path: pathPattern("/containers/create"), query: []string{"name"}, only: namesBuild("name")},
	{uses: Images, word: wordImage, methods: post, path: pathPattern("/commit"), query: []string{"container", "repo", "tag", "comment", "author", "pause"}, only: namesBuild("container")},
	{uses: Images, word: wordImage, methods: post, path: pathPattern("/images/load"), query: []string{"quiet"}},
	{uses: Images, word: wordImage, methods: post, path: pathPattern("/images/create"), query: []string{"fromSrc", "fromImage", "repo", "tag", "changes"}, only: pinnedSource},
	{uses: Images, word: wordImage, methods: remove, path: pathPattern("/images/{ours}"), query: []string{"noprune"}},
	{uses: Images, word: WordRemove, methods: remove, path: pathPattern("/containers/{build}"), query: []string{"force", "v"}},

	{uses: Baselines, word: WordRun, methods: post, path: pathPattern("/containers/create")},
	{uses: Baselines, word: WordRun, methods: post, path: pathPattern("/containers/{id}/exec")},
	{uses: Baselines, word: WordRun, methods: post, path: pathPattern("/exec/{id}/start")},
	{uses: Baselines, word: WordInspect, methods: get, path: pathPattern("/exec/{id}/json")},
}

// atRoot: an archive is unpacked from the root of a file system on.
func atRoot(q url.Values) bool { return q.Get("path") == "/" }

// namesBuild: the parameter names a container that an image is made in.
func namesBuild(key string) func(url.Values) bool {
	return func(q url.Values) bool { return strings.HasPrefix(q.Get(key), BuildPrefix) }
}

// pinnedSource: a file system from our own stdin, or a pull by digest; never a
// tag, never an address.
func pinnedSource(q url.Values) bool {
	if q.Has("fromSrc") {
		return q.Get("fromSrc") == "-" && !q.Has("fromImage")
	}
	return digest.MatchString(q.Get("tag"))
}

// allowList refuses and logs every request that is not on the list. As a
// RoundTripper it stands in front of all requests of the Docker client; what
// the client sends past any RoundTripper (attach takes over a raw connection)
// goes through methods of Client that ask the list by themselves.
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
func (a *allowList) check(ctx context.Context, method string, u *url.URL) error {
	p := u.EscapedPath()
	if at := version.FindStringIndex(p); at != nil {
		p = p[at[1]-1:]
	}
	query := u.Query()
	for _, e := range endpoints {
		if e.uses&a.use == 0 || !slices.Contains(e.methods, method) || !e.path.MatchString(p) {
			continue
		}
		if !slices.Contains(a.words, e.word) {
			return a.refuseRequest(ctx, method, p, fmt.Sprintf("the operator does not allow %q", e.word))
		}
		for key := range query {
			if !slices.Contains(e.query, key) {
				return a.refuseRequest(ctx, method, p, fmt.Sprintf("the parameter %q is not on the list", key))
			}
		}
		if e.only != nil && !e.only(query) {
			return a.refuseRequest(ctx, method, p, "the value of a parameter is not on the list")
		}
		return nil
	}
	return a.refuseRequest(ctx, method, p, "it is not on the list of endpoints")
}

func (a *allowList) refuseRequest(ctx context.Context, method, path, why string) error {
	a.log.WarnContext(ctx, "docker request refused", "method", method, "path", path, "why", why)
	return company.E(company.EPolicy, fmt.Sprintf("the Docker request %s %s is refused", method, path)).Because(why)
}
