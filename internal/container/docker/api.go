package docker

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/docker/docker/api/types"
	dockercontainer "github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"company/internal/company"
)

// Word is a command that an operator allows or forbids (CTR-2). The API is
// finer than the command line; each endpoint belongs to one of these commands.
type Word string

const (
	WordRun     Word = "run"     // create, attach, wait, start
	WordStop    Word = "stop"    // kill: a container of ours has nothing to save
	WordRemove  Word = "rm"      // delete
	WordLogs    Word = "logs"    // nothing: our containers have no log driver
	WordInspect Word = "inspect" // everything that only reads
)

// Words lists all commands: the default, and the most that can be allowed.
var Words = []Word{WordRun, WordStop, WordRemove, WordLogs, WordInspect}

// endpoint is one line of the allow-list.
type endpoint struct {
	word    Word
	methods []string
	path    *regexp.Regexp // of the escaped path, the API version removed
	query   []string       // the parameters that may be set
}

var (
	get     = []string{http.MethodGet}
	probe   = []string{http.MethodGet, http.MethodHead} // the client asks with HEAD first
	post    = []string{http.MethodPost}
	remove  = []string{http.MethodDelete}
	version = regexp.MustCompile(`^/v1\.[0-9]{1,3}/`)
)

// pathPattern makes an anchored expression; {} stands for one container or image.
func pathPattern(p string) *regexp.Regexp {
	q := regexp.QuoteMeta(p)
	q = regexp.MustCompile(`\\\{\\\}`).ReplaceAllString(q, `[A-Za-z0-9][A-Za-z0-9_.:-]*`)
	return regexp.MustCompile(`^` + q + `$`)
}

// endpoints is all that may ever be asked of the daemon. Not here, on purpose:
// exec, build, commit, archive, volumes, networks, prune, pull.
var endpoints = []endpoint{
	{WordInspect, probe, pathPattern("/_ping"), nil},
	{WordInspect, get, pathPattern("/version"), nil},
	{WordInspect, get, pathPattern("/info"), nil},
	{WordInspect, get, pathPattern("/events"), []string{"filters", "since", "until"}},
	{WordInspect, get, pathPattern("/images/{}/json"), nil},
	{WordInspect, get, pathPattern("/containers/json"), []string{"all", "filters"}},
	{WordInspect, get, pathPattern("/containers/{}/json"), nil},
	{WordRun, post, pathPattern("/containers/create"), []string{"name"}},
	{WordRun, post, pathPattern("/containers/{}/attach"), []string{"stream", "stdin", "stdout", "stderr"}},
	{WordRun, post, pathPattern("/containers/{}/wait"), []string{"condition"}},
	{WordRun, post, pathPattern("/containers/{}/start"), nil},
	{WordStop, post, pathPattern("/containers/{}/kill"), []string{"signal"}},
	{WordRemove, remove, pathPattern("/containers/{}"), []string{"force"}},
}

// allowList refuses and logs every request that is not on the list. As a
// RoundTripper it stands in front of all requests of the Docker client; what
// the client sends past any RoundTripper (attach takes over a raw connection)
// goes through api.attachStreams, which asks the list by itself.
type allowList struct {
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
		if !slices.Contains(e.methods, method) || !e.path.MatchString(p) {
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
		return nil
	}
	return a.refuseRequest(ctx, method, p, "it is not on the list of endpoints")
}

func (a *allowList) refuseRequest(ctx context.Context, method, path, why string) error {
	a.log.WarnContext(ctx, "docker request refused", "method", method, "path", path, "why", why)
	return company.E(company.EPolicy, fmt.Sprintf("the Docker request %s %s is refused", method, path)).Because(why)
}

// api is the Docker client behind the allow-list. The client itself is not
// reachable from outside this file, so that nothing goes past attach's check.
type api struct {
	cli   *client.Client
	list  *allowList
	inner *http.Transport
}

// newAPI honours DOCKER_HOST, DOCKER_CERT_PATH, DOCKER_TLS_VERIFY and
// DOCKER_API_VERSION; host, when given, wins over DOCKER_HOST. It connects to
// nothing yet.
func newAPI(host string, words []Word, log *slog.Logger) (*api, error) {
	a := &api{list: &allowList{words: words, log: log}}
	opts := []client.Opt{client.FromEnv}
	if host != "" {
		opts = append(opts, client.WithHost(host))
	}
	opts = append(opts, client.WithAPIVersionNegotiation(), a.installGuard)
	cli, err := client.NewClientWithOpts(opts...)
	if err != nil {
		return nil, company.E(company.EDocker, "the settings for the Docker daemon are wrong").Wrap(err).
			Fix("check DOCKER_HOST and DOCKER_CERT_PATH")
	}
	a.cli = cli
	return a, nil
}

// installGuard puts the list in front of the client's transport. The client must
// still find a plain *http.Transport when it is done with its options, else it
// forgets TLS and the dialer for attached connections; so the transport stays
// and hands both schemes to the list, which uses a clone of it.
func (a *api) installGuard(c *client.Client) error {
	outer, ok := c.HTTPClient().Transport.(*http.Transport)
	if !ok {
		return fmt.Errorf("the Docker client's transport is a %T", c.HTTPClient().Transport)
	}
	a.inner = outer.Clone()
	a.list.next = a.inner
	if dial := outer.DialContext; dial != nil {
		outer.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if h, ok := ctx.Value(handshakeKey{}).(*handshake); ok && err == nil {
				h.setConn(conn)
			}
			return conn, err
		}
	}
	outer.RegisterProtocol("http", a.list)
	outer.RegisterProtocol("https", a.list)
	return nil
}

// attachStreams takes over a connection to the container's three streams. On such a
// connection the client looks at no context, so the handshake's end is forced
// through the connection itself (but on TLS, where the client dials by itself).
func (a *api) attachStreams(ctx context.Context, id string) (types.HijackedResponse, error) {
	if err := a.list.check(ctx, http.MethodPost, &url.URL{Path: "/containers/" + id + "/attach"}); err != nil {
		return types.HijackedResponse{}, err
	}
	h := &handshake{}
	done := context.AfterFunc(ctx, h.abortConn)
	res, err := a.cli.ContainerAttach(context.WithValue(ctx, handshakeKey{}, h), id,
		dockercontainer.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if !done() { // the connection may have been cut
		if err == nil {
			res.Close()
		}
		return types.HijackedResponse{}, ctx.Err()
	}
	return res, err
}

type handshakeKey struct{}

// handshake cuts a connection short when its context ends, in whatever order
// the two come.
type handshake struct {
	mu      sync.Mutex
	conn    net.Conn
	aborted bool
}

func (h *handshake) setConn(conn net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conn = conn
	if h.aborted {
		_ = conn.SetDeadline(time.Unix(1, 0))
	}
}

func (h *handshake) abortConn() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.aborted = true
	if h.conn != nil {
		_ = h.conn.SetDeadline(time.Unix(1, 0))
	}
}

func (a *api) close() error {
	a.inner.CloseIdleConnections()
	return a.cli.Close()
}
