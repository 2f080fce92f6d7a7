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
	"sync/atomic"
	"time"

	"company/internal/company"
	"company/internal/ecosystem/depproxy"
	"company/internal/gitops"
)

const (
	maxHeaderBytes  = 16 << 10
	headerTimeout   = 10 * time.Second
	idleTimeout     = 60 * time.Second // without a byte read or written in a request
	maxProcesses    = 4                // concurrent pack processes of one run
	maxConnections  = 64               // equal to the streams of a session
	maxFetchRequest = 16 << 20         // bytes of wants and haves, inflated
	// receive.maxInputSize limits the pack itself. This limit adds the list of references.
	maxPushRequest = gitops.MaxPushBytes + 1<<20
)

// Event describes a forbidden action that a run tried.
type Event struct {
	Run    company.RunID
	Kind   string // path | header | method | body | read_only | push
	Detail string // attacker text: escape it before showing it
}

// Config configures the gateway of one run.
type Config struct {
	Quarantine *gitops.Quarantine
	Run        company.RunID
	Ticket     string        // ticket of the branches that may be pushed, by default the run's own
	ReadOnly   bool          // a reviewer clones and never pushes
	Registries http.Handler  // the mirrors of package registries, nil to serve none
	Log        *gitops.OpLog // git.log of the run, nil for the store's
	Logger     *slog.Logger
	OnSecurity func(Event) // called concurrently, for every event
	// OnNoRoom is called for a push that does not fit on the host's disk, before the container gets the error. If
	// it is nil, the error is only logged.
	OnNoRoom func(error)
}

// Gateway serves one run. It is an http.Handler. Serve adds checks that need the raw connection.
type Gateway struct {
	cfg    Config
	prefix string // /git/<run>.git
	slots  chan struct{}
	ctx    context.Context // ends all requests
	cancel context.CancelFunc
	model  atomic.Pointer[http.Handler] // answers below ModelPath, nil for nothing

	mu      sync.Mutex
	closed  bool
	active  sync.WaitGroup // requests; Add is called only with mu held
	servers []*http.Server
}

// New returns the gateway of a run. It starts no goroutine.
func New(cfg Config) (*Gateway, error) {
	if cfg.Quarantine == nil || cfg.Quarantine.Run() != cfg.Run {
		return nil, company.E(company.EInternal, "a gateway may only serve the quarantine of its own run")
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

// ModelPath is the path below which a program in the container asks its model.
const ModelPath = "/_model"

// SetModel lets handler answer requests to a model, without ModelPath in their paths. A nil handler ends that.
func (g *Gateway) SetModel(handler http.Handler) {
	if handler == nil {
		g.model.Store(nil)
		return
	}
	handler = http.StripPrefix(ModelPath, handler)
	g.model.Store(&handler)
}

// Path returns the path of the repository, for the clone URL.
func (g *Gateway) Path() string { return g.prefix }

// Serve answers requests of listener until Close, or until listener fails because the link is gone. It returns
// nil after Close.
func (g *Gateway) Serve(listener net.Listener) error {
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
		return listener.Close()
	}
	g.servers = append(g.servers, srv)
	g.mu.Unlock()
	err := srv.Serve(
		&guard{Listener: listener, slots: make(chan struct{}, maxConnections),
			onBad: func(reason string) { g.reportSecurity("header", reason) }})
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close ends every request and every pack process, and waits for them. The result of a run is taken after that.
// It may be called more than once.
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

// beginRequest counts a new request. It returns false if the gateway is closed.
func (g *Gateway) beginRequest() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.active.Add(1)
	return true
}

// reportSecurity reports an event. The receiver limits the events that people see.
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
	// RequestURI is the raw request line, but r.URL is decoded.
	path, query, _ := strings.Cut(r.RequestURI, "?")
	rest, ok := strings.CutPrefix(path, g.prefix)
	if model := g.model.Load(); model != nil && strings.HasPrefix(path, ModelPath+"/") {
		(*model).ServeHTTP(&answering{ResponseWriter: w, rc: http.NewResponseController(w)}, r.WithContext(ctx))
		return
	}
	if !ok && g.cfg.Registries != nil && depproxy.IsRegistryPath(path) {
		// The handler decides which packages may be fetched. A refused name means an agent that has not asked yet, not
		// an attack.
		g.cfg.Registries.ServeHTTP(&answering{ResponseWriter: w, rc: http.NewResponseController(w)}, r.WithContext(ctx))
		return
	}
	if !ok {
		g.refuseRequest(w, http.StatusNotFound, "path",
			fmt.Sprintf("%.200q is not served here: only %s is", r.RequestURI, g.prefix))
		return
	}
	switch {
	case rest == "/info/refs":
		switch service := gitops.Service(strings.TrimPrefix(query, "service=")); service {
		case gitops.UploadPack, gitops.ReceivePack:
			g.advertiseRefs(ctx, w, r, service)
		default:
			g.refuseRequest(w, http.StatusForbidden, "path", "only git's smart protocol is served")
		}
	case rest == "/"+string(gitops.UploadPack) && query == "":
		g.servePack(ctx, w, r, gitops.UploadPack)
	case rest == "/"+string(gitops.ReceivePack) && query == "":
		g.servePack(ctx, w, r, gitops.ReceivePack)
	default:
		g.refuseRequest(w, http.StatusNotFound, "path", fmt.Sprintf("%.200q is not served", r.RequestURI))
	}
}

// refuseRequest answers with one line of text and reports the refusal.
func (g *Gateway) refuseRequest(w http.ResponseWriter, status int, kind, reason string) {
	g.reportSecurity(kind, reason)
	http.Error(w, reason, status)
}

// answering cuts off a client that does not read for idleTimeout.
type answering struct {
	http.ResponseWriter
	rc *http.ResponseController
}

func (a *answering) Write(p []byte) (int, error) {
	// A ResponseWriter without deadlines needs no limit.
	_ = a.rc.SetWriteDeadline(time.Now().Add(idleTimeout))
	return a.ResponseWriter.Write(p)
}

// Unwrap lets an http.ResponseController flush, because a reply may be a stream of events.
func (a *answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }
