package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/depproxy"
	"company/internal/gitops"
)

const (
	maxHeaderBytes  = 16 << 10
	headerTimeout   = 10 * time.Second
	idleTimeout     = 60 * time.Second // without a byte read or written in a request
	maxProcesses    = 4                // pack processes of one run at a time
	maxConnections  = 64               // as many as a session has streams
	maxFetchRequest = 16 << 20         // bytes of wants and haves, inflated
	// The pack itself is bounded by receive.maxInputSize; this is that
	// plus the list of references.
	maxPushRequest = gitops.MaxPushBytes + 1<<20
)

// Event is something a run tried that it may not do.
type Event struct {
	Run    company.RunID
	Kind   string // path | header | method | body | read_only | push
	Detail string // attacker text: escape where it is shown
}

// Config is the gateway of one run.
type Config struct {
	Quarantine *gitops.Quarantine
	Run        company.RunID
	Ticket     string        // of the branches that may be pushed; empty: the run's own
	ReadOnly   bool          // a reviewer clones and never pushes
	Registries http.Handler  // the mirrors of package registries; nil: none are served
	Log        *gitops.OpLog // git.log of the run; nil: the store's
	Logger     *slog.Logger
	OnSecurity func(Event) // called from many goroutines, of every event
	// OnNoRoom hears of a push that the host's disk has no room for, before the
	// container does; nil: it is in the log alone.
	OnNoRoom func(error)
}

// Gateway serves one run. It is an http.Handler; Serve adds the checks that
// need the raw connection.
type Gateway struct {
	cfg    Config
	prefix string // /git/<run>.git
	slots  chan struct{}
	ctx    context.Context // ends all requests
	cancel context.CancelFunc

	mu      sync.Mutex
	closed  bool
	active  sync.WaitGroup // requests; added to under mu only
	servers []*http.Server
}

// New makes the gateway of a run. It starts nothing.
func New(cfg Config) (*Gateway, error) {
	if cfg.Quarantine == nil || cfg.Quarantine.Run() != cfg.Run {
		return nil, company.E(company.EInternal, "a gateway serves the quarantine of its own run")
	}
	if cfg.Ticket == "" {
		ticket, err := gitops.Ticket(cfg.Run)
		if err != nil {
			return nil, err
		}
		cfg.Ticket = ticket
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	return &Gateway{
		cfg: cfg, prefix: "/git/" + string(cfg.Run) + ".git",
		slots: make(chan struct{}, maxProcesses), ctx: ctx, cancel: cancel,
	}, nil
}

// Path is where the repository is served, for the URL of the clone.
func (g *Gateway) Path() string { return g.prefix }

// Serve answers requests of l until Close, or until l fails (the link went
// away). It returns nil after Close.
func (g *Gateway) Serve(l net.Listener) error {
	srv := &http.Server{
		Handler:           g,
		MaxHeaderBytes:    maxHeaderBytes,
		ReadHeaderTimeout: headerTimeout,
		ErrorLog:          slog.NewLogLogger(g.cfg.Logger.Handler(), slog.LevelDebug),
	}
	srv.SetKeepAlivesEnabled(false) // one request per connection, see guard
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return l.Close()
	}
	g.servers = append(g.servers, srv)
	g.mu.Unlock()
	err := srv.Serve(&guard{Listener: l, slots: make(chan struct{}, maxConnections), onBad: func(why string) { g.reportSecurity("header", why) }})
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close ends every request and every pack process, and waits for them. The
// result of a run is taken after it. It may be called more than once.
func (g *Gateway) Close() error {
	g.mu.Lock()
	g.closed = true
	servers := g.servers
	g.mu.Unlock()
	g.cancel()
	var err error
	for _, s := range servers {
		err = errors.Join(err, ignoreClosed(s.Close()))
	}
	g.active.Wait()
	return err
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) || errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// beginRequest counts a request in; false once the gateway is closed.
func (g *Gateway) beginRequest() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.active.Add(1)
	return true
}

// reportSecurity reports an event. The listener bounds how many of them people
// see.
func (g *Gateway) reportSecurity(kind, detail string) {
	if g.cfg.OnSecurity != nil {
		g.cfg.OnSecurity(Event{Run: g.cfg.Run, Kind: kind, Detail: detail})
	}
}

// ServeHTTP answers one request.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.beginRequest() {
		http.Error(w, "this run's gateway is closed", http.StatusServiceUnavailable)
		return
	}
	defer g.active.Done()
	ctx, cancel := context.WithCancel(gitops.WithLog(r.Context(), g.cfg.Log))
	defer cancel()
	defer context.AfterFunc(g.ctx, cancel)() //nolint:contextcheck // the gateway's end cuts every request

	if r.Header.Get("Upgrade") != "" || r.Method == http.MethodConnect {
		g.refuseRequest(w, http.StatusBadRequest, "header", "protocol upgrades are not served")
		return
	}
	// RequestURI is the request line as sent; r.URL has been decoded.
	path, query, _ := strings.Cut(r.RequestURI, "?")
	rest, ok := strings.CutPrefix(path, g.prefix)
	if !ok && g.cfg.Registries != nil && depproxy.IsRegistryPath(path) {
		// What may be had is the handler's to say. A name that is refused is an
		// agent that has not asked yet, not an attack.
		g.cfg.Registries.ServeHTTP(&answering{ResponseWriter: w, rc: http.NewResponseController(w)}, r.WithContext(ctx))
		return
	}
	if !ok {
		g.refuseRequest(w, http.StatusNotFound, "path", fmt.Sprintf("%.200q is not served here: only %s is", r.RequestURI, g.prefix))
		return
	}
	switch {
	case rest == "/info/refs":
		switch service := gitops.Service(strings.TrimPrefix(query, "service=")); service {
		case gitops.UploadPack, gitops.ReceivePack:
			g.advertiseRefs(ctx, w, r, service)
		default:
			g.refuseRequest(w, http.StatusForbidden, "path", "only the smart protocol of git is served")
		}
	case rest == "/"+string(gitops.UploadPack) && query == "":
		g.servePack(ctx, w, r, gitops.UploadPack)
	case rest == "/"+string(gitops.ReceivePack) && query == "":
		g.servePack(ctx, w, r, gitops.ReceivePack)
	default:
		g.refuseRequest(w, http.StatusNotFound, "path", fmt.Sprintf("%.200q is not served", r.RequestURI))
	}
}

// refuseRequest answers with one line of text and reports it.
func (g *Gateway) refuseRequest(w http.ResponseWriter, status int, kind, why string) {
	g.reportSecurity(kind, why)
	http.Error(w, why, status)
}

// answering gives a client that stops reading idleTimeout, and not for ever.
type answering struct {
	http.ResponseWriter
	rc *http.ResponseController
}

func (a *answering) Write(p []byte) (int, error) {
	// A ResponseWriter without deadlines has nothing to wait for either.
	_ = a.rc.SetWriteDeadline(time.Now().Add(idleTimeout))
	return a.ResponseWriter.Write(p)
}

// Unwrap lets an http.ResponseController flush: a reply may be a stream of events.
func (a *answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }
