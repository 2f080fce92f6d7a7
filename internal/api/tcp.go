package api

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"company/internal/company"
	"company/internal/lib/secret"
)

// TCPOptions configures how an office serves browsers and programs over TCP.
type TCPOptions struct {
	Listen  string           // address and port
	AnyPort bool             // use a free port if the given one is taken
	TLS     *tls.Certificate // nil means plain HTTP, on loopback addresses only
	Hosts   []string         // further host names of the server, with or without a port
	Program secret.Value     // token for programs; if unset, only pages have access
	// Page serves paths outside /api/ and /metrics, without a token. If it is nil, these paths are
	// not served.
	Page http.Handler
}

// tcpLimits limits the resources that clients over TCP may use.
type tcpLimits struct {
	header, read, idle time.Duration // timeouts for a request's header, for all of it, and between requests
	write              time.Duration // timeout for a client that stops reading
	connections        int           // maximum number; further ones wait
}

// defaultTCPLimits suffices for twenty browsers with six connections each.
var defaultTCPLimits = tcpLimits{header: 10 * time.Second, read: time.Minute, idle: time.Minute,
	write: 30 * time.Second, connections: 128}

// tcpServer is the TCP part of a server.
type tcpServer struct {
	http     *http.Server
	listener net.Listener
	bounded  *boundedListener // the same listener, below TLS
	url      string           // scheme, host and port
	scheme   string           // with ://
	hosts    []string
	proxied  []string // hosts in the config; a proxy there may use TLS
	access   *accessList
	page     http.Handler
	stopped  chan struct{}
}

// ListenTCP serves the API and the page over TCP until Stop, and returns the page's address. It
// returns EConfig if the address is unusable, or if other machines can reach it without TLS. Call
// it once, before Start.
func (s *Server) ListenTCP(tcpOptions TCPOptions) (url string, err error) {
	at, err := netip.ParseAddrPort(tcpOptions.Listen)
	if err != nil {
		return "", company.E(company.EConfig, "invalid serve.listen: must be an address and port").Wrap(err).
			Fix("use one such as 127.0.0.1:7777")
	}
	if !at.Addr().IsLoopback() && tcpOptions.TLS == nil {
		return "", company.E(company.EConfig, "serve.listen is reachable from other machines without TLS").
			Fix("set serve.tls_cert and serve.tls_key, or listen on 127.0.0.1")
	}
	listener, err := net.Listen("tcp", tcpOptions.Listen)
	if errors.Is(err, syscall.EADDRINUSE) && tcpOptions.AnyPort {
		listener, err = net.Listen("tcp", netip.AddrPortFrom(at.Addr(), 0).String())
	}
	if err != nil {
		return "", listenError(at, err)
	}
	bound := listener.Addr().(*net.TCPAddr).AddrPort()
	t := &tcpServer{scheme: "http://", page: tcpOptions.Page, stopped: make(chan struct{}), proxied: tcpOptions.Hosts,
		access: newAccessList(tcpOptions.Program, func() time.Time { return s.office.Source().Now })}
	name := ""
	if tcpOptions.TLS != nil {
		t.scheme = "https://"
		if name, err = nameServer(tcpOptions, bound.Addr()); err != nil {
			return "", errors.Join(err, listener.Close())
		}
	}
	t.setHosts(netip.AddrPortFrom(at.Addr(), bound.Port()), name)
	t.bounded = newBoundedListener(listener, s.limits.connections, s.limits.write)
	t.listener = t.bounded
	if tcpOptions.TLS != nil {
		t.listener = tls.NewListener(t.listener,
			&tls.Config{Certificates: []tls.Certificate{*tcpOptions.TLS}, MinVersion: tls.VersionTLS12,
				NextProtos: []string{"http/1.1"}})
	}
	t.http = &http.Server{
		Handler:           t.guardRequests(s, boundBodies(s.newHandler(tcpOptions.Page))),
		ReadHeaderTimeout: s.limits.header, ReadTimeout: s.limits.read, IdleTimeout: s.limits.idle, MaxHeaderBytes: 16 << 10,
		ConnContext:                  keepConn,
		DisableGeneralOptionsHandler: true, // OPTIONS * follows the same rules
		// connection errors, which strangers can cause
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	s.tcp, s.info.Address = t, t.url
	go func() {
		defer close(t.stopped)
		if err := t.http.Serve(t.listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("address closed", "err", err)
		}
	}()
	return t.url, nil
}

// listenError returns the error for an address in serve.listen that cannot be used.
func listenError(at netip.AddrPort, err error) error {
	fault := company.E(company.EConfig, fmt.Sprintf("cannot listen on %s (serve.listen)", at)).Wrap(err)
	if errors.Is(err, syscall.EADDRINUSE) {
		fault = fault.Because("another program uses the port")
	} else if !errors.Is(err, syscall.EACCES) {
		return fault.Fix("use an address of this machine: company serve --set serve.listen=127.0.0.1:0")
	}
	return fault.Fix(fmt.Sprintf(
		"use a free port: company serve --set serve.listen=%s", netip.AddrPortFrom(at.Addr(), 0)))
}

// nameServer returns the host name for links to a server with TLS: the first of serve.hosts, else
// the first of its certificate, else its address. It returns EConfig if there is none.
func nameServer(tcpOptions TCPOptions, at netip.Addr) (string, error) {
	c, err := x509.ParseCertificate(tcpOptions.TLS.Certificate[0])
	if err != nil {
		return "", company.E(company.EConfig, "serve.tls_cert cannot be read").Wrap(err).
			Fix("name a PEM file with the certificate first")
	}
	if len(tcpOptions.Hosts) > 0 {
		return tcpOptions.Hosts[0], nil
	}
	for _, name := range c.DNSNames {
		if !strings.Contains(name, "*") {
			return strings.ToLower(name), nil
		}
	}
	if at.IsUnspecified() {
		return "", company.E(company.EConfig, "this machine has no host name for browsers").
			Because("serve.listen is set to all addresses, and the certificate has no name").
			Fix("set serve.hosts")
	}
	return hostOf(at), nil
}

// hostOf formats an address for a URL.
func hostOf(at netip.Addr) string {
	if at.Is4() || at.Is4In6() {
		return at.Unmap().String()
	}
	return "[" + at.WithZone("").String() + "]"
}

// setHosts sets the permitted values of Host, and the page's address. name is the host in links.
// An empty name means the address.
func (t *tcpServer) setHosts(at netip.AddrPort, name string) {
	port := strconv.Itoa(int(at.Port()))
	usual := map[string]string{"http://": "80", "https://": "443"}[t.scheme]
	own := hostOf(at.Addr())
	for _, host := range append([]string{cmp.Or(name, own), own, "localhost", "127.0.0.1", "[::1]"}, t.proxied...) {
		if _, _, err := net.SplitHostPort(host); err != nil { // it has no port
			if port == usual {
				t.hosts = append(t.hosts, host) // browsers omit the default port
			}
			host += ":" + port
		}
		t.hosts = append(t.hosts, host)
	}
	t.url = t.scheme + t.hosts[0]
	t.hosts = append(t.hosts, t.proxied...) // a proxy passes on the name that browsers use
}

// knowsHost reports whether the Host of a request is this server's own. With DNS rebinding,
// another site's page makes its name resolve to this address, and sends that name.
func (t *tcpServer) knowsHost(host string) bool {
	return slices.Contains(t.hosts, strings.ToLower(host))
}

// isSameOrigin reports whether a request comes from this server's own page, or from no page.
func (t *tcpServer) isSameOrigin(r *http.Request) bool {
	host := strings.ToLower(r.Host)
	for _, origin := range r.Header.Values("Origin") {
		byProxy := slices.Contains(t.proxied, host) && origin == "https://"+host
		if origin != t.scheme+host && !byProxy {
			return false
		}
	}
	site := r.Header.Get("Sec-Fetch-Site")
	// a link on another site may lead to the page
	return site == "" || site == "same-origin" || site == "none" || !isAPIPath(r.URL.Path)
}

// isAPIPath reports whether a path is outside the page.
func isAPIPath(path string) bool {
	return path == "/api" || strings.HasPrefix(path, "/api/") || path == "/metrics" || strings.HasPrefix(path, "/sse/")
}

// guardRequests passes a request to next only if it is for this server, comes from no other site,
// and has a token (T19). Without a token, only the page, which has no data of the office, and the
// exchange of a ticket are available. Rejected requests have no effect.
func (t *tcpServer) guardRequests(server *Server, next http.Handler) http.Handler {
	open := http.MaxBytesHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost && r.URL.Path == sessionPath:
			if err := server.compareVersions(r); err != nil { // before the ticket is used up
				writeError(w, err)
				return
			}
			server.serveSession(w, r)
		case t.page != nil && readsOnly(r) && !isAPIPath(r.URL.Path):
			t.page.ServeHTTP(w, r)
		default:
			w.Header().Set("WWW-Authenticate", `Bearer realm="company"`)
			writeError(w, company.E(company.EAccess, "missing or invalid token").
				Fix("company open prints a link for a browser; programs send the token of serve.token_env as "+
					"Authorization: Bearer"))
		}
	}), maxBody)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server.inFlight.Add(1)
		defer server.inFlight.Done()
		setSafeHeaders(w.Header(), isAPIPath(r.URL.Path))
		if len(r.TransferEncoding) > 0 { // a proxy in front may have seen another end of this request (RFC 9112, 6.1)
			w.Header().Set("Connection", "close")
		}
		switch {
		case !t.knowsHost(r.Host):
			writeForbidden(w, company.E(company.EAccess, "the request is for another host").
				Fix("use the address that company open prints; serve.hosts adds other names"))
		case !t.isSameOrigin(r):
			writeForbidden(w, company.E(company.EAccess, "the request comes from another site").
				Fix("open the page with the link that company open prints"))
		default:
			who, last := t.access.admitRequest(r.Header)
			markConn(r, who != nobody)
			if who == nobody {
				open.ServeHTTP(w, r)
				return
			}
			r, cancel := markToken(r, last, t.access.now())
			defer cancel()
			next.ServeHTTP(w, r)
		}
	})
}

// sessionPath is the path at which a page exchanges its ticket.
const sessionPath = "/api/v1/session"

// setSafeHeaders sets headers that keep a browser from running, framing, sniffing or caching more
// than permitted.
func setSafeHeaders(h http.Header, ofAPI bool) {
	h.Set("Content-Security-Policy",
		"default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY") // for browsers without frame-ancestors
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	if ofAPI {
		h.Set("Cache-Control", "no-store")
	}
}

// writeForbidden rejects a request that no token of this server could authorize.
func writeForbidden(w http.ResponseWriter, err error) {
	problem := NewProblem(err)
	problem.Status = http.StatusForbidden
	writeProblem(w, problem)
}
