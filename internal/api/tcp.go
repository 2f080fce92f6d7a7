package api

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
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
	"company/internal/secret"
)

// TCPOptions say where and how an office answers browsers and programs over TCP.
type TCPOptions struct {
	Listen  string           // address and port
	AnyPort bool             // where the port is taken, a free one serves as well
	TLS     *tls.Certificate // nil: plain HTTP, on a loopback address alone
	Hosts   []string         // further names by which browsers reach it, with a port or without
	Program secret.Value     // a token for programs; unset: pages alone get in
	// Page answers outside /api/ and /metrics, without a token. With nil nothing does.
	Page http.Handler
}

// tcpLimits bound what a client over TCP may take of the process.
type tcpLimits struct {
	header, read, idle time.Duration // of a request's head, of all of it, and between two
	write              time.Duration // in which a client takes nothing of its answer
	connections        int           // at a time; further ones wait
}

// defaultTCPLimits leave room for twenty browsers with six connections each.
var defaultTCPLimits = tcpLimits{header: 10 * time.Second, read: time.Minute, idle: time.Minute, write: 30 * time.Second, connections: 128}

// tcpServer is the part of a server that answers over TCP.
type tcpServer struct {
	http     *http.Server
	listener net.Listener
	bounded  *boundedListener // that listener, below TLS
	url      string           // scheme, host and port
	scheme   string           // with ://
	hosts    []string
	proxied  []string // those of hosts that the config names: a proxy there may speak TLS
	access   *accessList
	page     http.Handler
	stopped  chan struct{}
}

// ListenTCP serves the API and the page over TCP until Stop, and returns the address of the
// page. EConfig: the address cannot be used, or other machines reach it and there is no TLS.
// Call it once, before Start.
func (s *Server) ListenTCP(o TCPOptions) (url string, err error) {
	at, err := netip.ParseAddrPort(o.Listen)
	if err != nil {
		return "", company.E(company.EConfig, "serve.listen is no address and port").Wrap(err).Fix("name one such as 127.0.0.1:7777")
	}
	if !at.Addr().IsLoopback() && o.TLS == nil {
		return "", company.E(company.EConfig, "serve.listen can be reached from other machines, and there is no TLS").
			Fix("set serve.tls_cert and serve.tls_key, or listen on 127.0.0.1")
	}
	l, err := net.Listen("tcp", o.Listen)
	if errors.Is(err, syscall.EADDRINUSE) && o.AnyPort {
		l, err = net.Listen("tcp", netip.AddrPortFrom(at.Addr(), 0).String())
	}
	if err != nil {
		return "", company.E(company.EConfig, "serve.listen cannot be listened on").Wrap(err).Fix("name another address or port, or none: company config set serve.listen ''")
	}
	bound := l.Addr().(*net.TCPAddr).AddrPort()
	t := &tcpServer{scheme: "http://", page: o.Page, stopped: make(chan struct{}), proxied: o.Hosts, access: newAccessList(o.Program, func() time.Time { return s.office.Source().Now })}
	name := ""
	if o.TLS != nil {
		t.scheme = "https://"
		if name, err = nameServer(o, bound.Addr()); err != nil {
			return "", errors.Join(err, l.Close())
		}
	}
	t.setHosts(netip.AddrPortFrom(at.Addr(), bound.Port()), name)
	t.bounded = newBoundedListener(l, s.limits.connections, s.limits.write)
	t.listener = t.bounded
	if o.TLS != nil {
		t.listener = tls.NewListener(t.listener, &tls.Config{Certificates: []tls.Certificate{*o.TLS}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
	}
	t.http = &http.Server{
		Handler:           t.guardRequests(s, boundBodies(s.newHandler(o.Page))),
		ReadHeaderTimeout: s.limits.header, ReadTimeout: s.limits.read, IdleTimeout: s.limits.idle, MaxHeaderBytes: 16 << 10,
		ConnContext:                  keepConn,
		DisableGeneralOptionsHandler: true,                                                // OPTIONS * goes by the same rules
		ErrorLog:                     slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), // of connections: strangers cause them
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

// nameServer is the name that links have of a server with TLS: the first of serve.hosts,
// else the first of its certificate, else its address. EConfig: nothing names it.
func nameServer(o TCPOptions, at netip.Addr) (string, error) {
	c, err := x509.ParseCertificate(o.TLS.Certificate[0])
	if err != nil {
		return "", company.E(company.EConfig, "serve.tls_cert cannot be read").Wrap(err).Fix("name a PEM file with the certificate first")
	}
	if len(o.Hosts) > 0 {
		return o.Hosts[0], nil
	}
	for _, name := range c.DNSNames {
		if !strings.Contains(name, "*") {
			return strings.ToLower(name), nil
		}
	}
	if at.IsUnspecified() {
		return "", company.E(company.EConfig, "nothing names this machine to a browser").Because("serve.listen is every address, and the certificate has no name").
			Fix("set serve.hosts")
	}
	return hostOf(at), nil
}

// hostOf is an address as a URL has it.
func hostOf(at netip.Addr) string {
	if at.Is4() || at.Is4In6() {
		return at.Unmap().String()
	}
	return "[" + at.WithZone("").String() + "]"
}

// setHosts makes the list of what Host may be, and the address of the page. name is the
// name that links have; empty: the address.
func (t *tcpServer) setHosts(at netip.AddrPort, name string) {
	port := strconv.Itoa(int(at.Port()))
	usual := map[string]string{"http://": "80", "https://": "443"}[t.scheme]
	own := hostOf(at.Addr())
	for _, host := range append([]string{cmp.Or(name, own), own, "localhost", "127.0.0.1", "[::1]"}, t.proxied...) {
		if _, _, err := net.SplitHostPort(host); err != nil { // it names no port
			if port == usual {
				t.hosts = append(t.hosts, host) // browsers leave that one out
			}
			host += ":" + port
		}
		t.hosts = append(t.hosts, host)
	}
	t.url = t.scheme + t.hosts[0]
	t.hosts = append(t.hosts, t.proxied...) // a proxy passes the name on as browsers have it
}

// knowsHost reports whether the Host of a request is this server's own. The page of another
// site that has its name resolve to this address (DNS rebinding) sends that name.
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
	return site == "" || site == "same-origin" || site == "none" || !isAPIPath(r.URL.Path) // a link of another site may lead to the page
}

// isAPIPath reports whether a path is outside the page.
func isAPIPath(path string) bool {
	return path == "/api" || strings.HasPrefix(path, "/api/") || path == "/metrics"
}

// guardRequests lets a request through to next that is for this server, comes from no other
// site, and carries a token (T19). Without a token there are the page, which holds nothing of
// the office, and the exchange of a ticket; the API is behind next and not reached. Refusals
// have no effect.
func (t *tcpServer) guardRequests(s *Server, next http.Handler) http.Handler {
	open := http.MaxBytesHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost && r.URL.Path == sessionPath:
			if err := s.compareVersions(r); err != nil { // before the ticket is used up
				writeError(w, err)
				return
			}
			s.serveSession(w, r)
		case t.page != nil && readsOnly(r) && !isAPIPath(r.URL.Path):
			t.page.ServeHTTP(w, r)
		default:
			w.Header().Set("WWW-Authenticate", `Bearer realm="company"`)
			writeError(w, company.E(company.EAccess, "the request carries no token that is good now").
				Fix("company open gives a link for a browser; programs send the token of serve.token_env as Authorization: Bearer"))
		}
	}), maxBody)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.inFlight.Add(1)
		defer s.inFlight.Done()
		setSafeHeaders(w.Header(), isAPIPath(r.URL.Path))
		if len(r.TransferEncoding) > 0 { // a proxy in front may have seen another end of this request (RFC 9112, 6.1)
			w.Header().Set("Connection", "close")
		}
		switch {
		case !t.knowsHost(r.Host):
			writeForbidden(w, company.E(company.EAccess, "the request is for another host").Fix("use the address that company open gives; further names of this office stand in serve.hosts"))
		case !t.isSameOrigin(r):
			writeForbidden(w, company.E(company.EAccess, "the request comes from another site").Fix("open the page by the link that company open gives"))
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

// sessionPath is where a page exchanges its ticket.
const sessionPath = "/api/v1/session"

// setSafeHeaders sets what keeps a browser from running, framing, guessing or keeping more
// than it should.
func setSafeHeaders(h http.Header, ofAPI bool) {
	h.Set("Content-Security-Policy", "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY") // of browsers that do not know frame-ancestors
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	if ofAPI {
		h.Set("Cache-Control", "no-store")
	}
}

// writeForbidden refuses what no token of this server would mend.
func writeForbidden(w http.ResponseWriter, err error) {
	p := problemOf(err)
	p.Status = http.StatusForbidden
	writeProblem(w, p)
}
