package api

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/present/feed"
	"company/internal/present/view"
)

// makeCertificate makes a certificate that signs itself, and the pool that trusts it.
func makeCertificate(t *testing.T, names ...string) (*tls.Certificate, *x509.CertPool) {
	t.Helper()
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	pattern := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "company of tests"}, DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der := must(x509.CreateCertificate(rand.Reader, pattern, pattern, &key.PublicKey, key))
	pool := x509.NewCertPool()
	pool.AddCert(must(x509.ParseCertificate(der)))
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// T19: an address with TLS has its links by the name of the certificate, answers by TLS 1.2
// or newer and HTTP/1.1 alone, knows its own names alone, and answers no plain HTTP.
func TestTLS(t *testing.T) {
	certificate, pool := makeCertificate(t, "*.example.com", "Company.example.com")
	d := serveOverTCP(t, func(_ *Server, o *TCPOptions) {
		o.TLS, o.Hosts = certificate, nil
	})
	at := d.srv.tcp.listener.Addr().String()
	port := at[strings.LastIndex(at, ":"):]
	if d.url != "https://company.example.com"+port {
		t.Fatalf("the page is at %s", d.url)
	}
	trust := &tls.Config{RootCAs: pool, ServerName: "company.example.com"}
	transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: trust,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, "tcp", at)
		}}
	t.Cleanup(transport.CloseIdleConnections)
	d.client.Transport = transport
	token := d.openSession(t)
	resp, text := d.ask(t, "GET", "/api/v1/hello", token, "")
	if resp.StatusCode != 200 || resp.ProtoMajor != 1 || resp.TLS == nil || resp.TLS.Version < tls.VersionTLS12 {
		t.Errorf("%d %s %+v %s", resp.StatusCode, resp.Proto, resp.TLS, text)
	}
	for host, want := range map[string]int{
		"company.example.com" + port: 200, "COMPANY.example.com" + port: 200, "127.0.0.1" + port: 200,
		"localhost" + port:    200,
		"company.example.com": 403, "company.example.com." + port: 403, "other.example.com" + port: 403,
		"company.example.com:443": 403,
	} {
		if resp, text := d.ask(t, "GET", "/api/v1/hello", token, "", "Host", host, "X-Forwarded-Host",
			"company.example.com"+port, "X-Forwarded-For", "127.0.0.1", "X-Forwarded-Proto", "https"); resp.StatusCode != want {
			t.Errorf("Host %s: %d %s", host, resp.StatusCode, text)
		}
	}
	for origin, want := range map[string]int{d.url: 200, "http://company.example.com" + port: 403,
		"https://other.example.com": 403, "null": 403} {
		if resp, text := d.ask(t, "GET", "/api/v1/hello", token, "", "Origin", origin); resp.StatusCode != want {
			t.Errorf("Origin %s: %d %s", origin, resp.StatusCode, text)
		}
	}
	resp, text = d.ask(t, "GET", "/api/v1/hello", "", "")
	wantProblem(t, "no token", resp, text, 401, company.EAccess)

	plain, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if _, err := io.WriteString(plain,
		"GET /api/v1/hello HTTP/1.1\r\nHost: company.example.com"+port+"\r\nAuthorization: Bearer "+token+
			"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if answer, _ := io.ReadAll(plain); !strings.HasPrefix(string(answer), "HTTP/1.0 400") ||
		strings.Contains(string(answer), "abcd") {
		t.Errorf("plain HTTP: %q", answer)
	}
	old := trust.Clone()
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	if c, err := tls.Dial("tcp", at, old); err == nil {
		_ = c.Close()
		t.Error("TLS 1.1 is spoken")
	}
	d.unchanged(t)
}

// With TLS an address that other machines reach is allowed, where something names it: of
// serve.hosts the first, else the certificate, else the address.
func TestNamesOfTLS(t *testing.T) {
	nameless, _ := makeCertificate(t)
	for _, c := range []struct {
		options TCPOptions
		url     string // its beginning; empty: refused
	}{
		{TCPOptions{Listen: "0.0.0.0:0", TLS: nameless, Hosts: []string{"a.example.com", "b.example.com"}},
			"https://a.example.com:"},
		{TCPOptions{Listen: "0.0.0.0:0", TLS: nameless, Hosts: []string{"a.example.com:8443"}}, "https://a.example.com:8443"},
		{TCPOptions{Listen: "127.0.0.1:0", TLS: nameless}, "https://127.0.0.1:"},
		{TCPOptions{Listen: "0.0.0.0:0", TLS: nameless}, ""},
		{TCPOptions{Listen: "127.0.0.1:0", TLS: &tls.Certificate{Certificate: [][]byte{[]byte("no certificate")}}}, ""},
	} {
		s := New(newFakeOffice(t), ServerInfo{Serving: true}, slog.New(slog.DiscardHandler), nil)
		url, err := s.ListenTCP(c.options)
		if c.url == "" && (company.CodeOf(err) != company.EConfig || url != "") ||
			c.url != "" && (err != nil || !strings.HasPrefix(url, c.url)) {
			t.Errorf("%s %v: %s %v, want %s", c.options.Listen, c.options.Hosts, url, err, c.url)
		}
		if s.tcp != nil {
			endServer(t.Context(), s.tcp.http)
			<-s.tcp.stopped
		}
	}
}

// A method that a path does not have is a problem document with the methods that it has,
// for those with a token alone.
func TestMethodNotAllowed(t *testing.T) {
	d := serveOverTCP(t, nil)
	for _, c := range []struct {
		method, path, allow string
		status              int
	}{
		{"PUT", "/api/v1/commands", "POST", 405}, {"DELETE", "/api/v1/tasks/t1", "GET, HEAD", 405},
		{"OPTIONS", "/api/v1/events", "GET, HEAD", 405},
		{"POST", "/api/v1/overview", "GET, HEAD", 405}, {"GET", "/api/v1/commands", "POST", 405},
		{"X\u007e", "/api/v1/hello", "GET, HEAD", 405},
		{"PUT", "/api/v1/nothing", "", 404}, {"POST", "/t/t1", "GET, HEAD", 405}, {"DELETE", "/metrics", "GET, HEAD", 405},
	} {
		resp, text := d.ask(t, c.method, c.path, fakeProgramToken, stopCommand)
		if resp.Header.Get("Allow") != c.allow {
			t.Errorf("%s %s: Allow %q, want %q", c.method, c.path, resp.Header.Get("Allow"), c.allow)
		}
		if resp.StatusCode != c.status || resp.Header.Get("Content-Type") != problemType ||
			!strings.Contains(text, "there is no "+c.method+" "+c.path) {
			t.Errorf("%s %s: %d %s", c.method, c.path, resp.StatusCode, text)
		}
	}
	d.unchanged(t)
}

// Ways to write a path that a guard and a router may read differently: without a token none
// of them answers for the office, and from another site none is passed.
func TestPathsOverTCP(t *testing.T) {
	d := serveOverTCP(t, nil)
	at := strings.TrimPrefix(d.url, "http://")
	for _, path := range []string{
		"//api/v1/overview", "/./api/v1/overview", "/x/../api/v1/overview", "/api/./v1/overview", "/api/v1/../v1/overview",
		"/assets/../api/v1/overview", "/%2e%2e/api/v1/overview",
		"/%2fapi/v1/overview", "/API/v1/overview", "/api;x/v1/overview", "/api/v1/overview/", "/api/v1//overview",
		"/api\\v1\\overview", "/api/v1/session/../overview", "/metrics/", "//metrics",
		"http://" + at + "/api/v1/overview", "http://" + at + "//api/v1/overview",
	} {
		for _, head := range []string{"",
			"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
			"X-HTTP-Method-Override: GET\r\nX-Original-URL: /api/v1/overview\r\nX-Rewrite-URL: /api/v1/overview\r\n"} {
			c, err := net.Dial("tcp", at)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(c,
				"GET "+path+" HTTP/1.1\r\nHost: "+at+"\r\nConnection: close\r\n"+head+"\r\n"); err != nil {
				t.Fatal(err)
			}
			answer, _ := io.ReadAll(io.LimitReader(c, 1<<20))
			_ = c.Close()
			of, body, _ := strings.Cut(string(answer), "\r\n\r\n")
			if strings.Contains(of, timeHeader) || strings.Contains(string(answer), "needs_you") ||
				strings.HasPrefix(of, "HTTP/1.1 2") && !strings.Contains(body, "the page") {
				t.Errorf("%s: %.300q", path, answer)
			}
		}
	}
}

// endingOffice tells why its feed has ended.
type endingOffice struct {
	*fakeOffice
	begun chan struct{}
	cause chan error
}

func (o endingOffice) Follow(ctx context.Context, _ feed.Range, _ func(feed.Item) error) error {
	close(o.begun)
	<-ctx.Done()
	o.cause <- context.Cause(ctx)
	return context.Cause(ctx)
}

// A server that stops ends what only reads at once, HEAD as well as GET: no answer is waited for.
func TestStopEndsHead(t *testing.T) {
	o := endingOffice{begun: make(chan struct{}), cause: make(chan error, 1)}
	d := serveOverTCP(t, func(s *Server, _ *TCPOptions) {
		o.fakeOffice = s.office.(*fakeOffice)
		s.office = o
	})
	req := must(http.NewRequestWithContext(t.Context(), http.MethodHead, d.url+"/api/v1/events", nil))
	req.Header.Set("Authorization", "Bearer "+fakeProgramToken)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		if resp, err := d.client.Do(req); err == nil {
			_ = resp.Body.Close()
		}
	}()
	<-o.begun
	d.srv.Stop()
	if err := <-o.cause; !errors.Is(err, errEnding) {
		t.Errorf("it ended with %v", err)
	}
	<-answered
}

// slowDesk takes longer for its answers than a request may take to arrive.
type slowDesk struct {
	fakeDesk
	time time.Duration
}

func (d slowDesk) wait(ctx context.Context) error {
	select {
	case <-time.After(d.time):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (d slowDesk) Diagnose(ctx context.Context, online bool) (view.Diagnosis, error) {
	if err := d.wait(ctx); err != nil {
		return view.Diagnosis{}, err
	}
	return d.fakeDesk.Diagnose(ctx, online)
}

func (d slowDesk) PrepareSubmission(ctx context.Context, s view.Submission) (company.Submit, error) {
	if err := d.wait(ctx); err != nil {
		return company.Submit{}, err
	}
	return d.fakeDesk.PrepareSubmission(ctx, s)
}

// lateOffice reads its ledger for as long.
type lateOffice struct {
	*fakeOffice
	slowDesk
}

func (o lateOffice) Verify(ctx context.Context) (view.Verification, error) {
	if err := o.wait(ctx); err != nil {
		return view.Verification{}, err
	}
	return o.fakeOffice.Verify(ctx)
}

// The bound of a request's arrival is none of its answer: a slow machine has its own.
func TestSlowAnswer(t *testing.T) {
	const arrival = time.Second // a request of a busy machine arrives in it, too
	d := serveOverTCP(t, func(s *Server, _ *TCPOptions) {
		s.limits.header, s.limits.read = arrival, arrival
		slow := slowDesk{time: arrival + arrival/2}
		s.office = lateOffice{s.office.(*fakeOffice), slow}
		s.SetDesk(slow)
	})
	for _, r := range []struct{ method, path, body string }{
		{"GET", "/api/v1/doctor", ""}, {"GET", "/api/v1/verification", ""},
		{"POST", "/api/v1/submissions", `{"instruction":"x"}`},
	} {
		t.Run(r.path, func(t *testing.T) {
			t.Parallel()
			if resp, text := d.ask(t, r.method, r.path, fakeProgramToken, r.body); resp.StatusCode != 200 {
				t.Errorf("%d %s", resp.StatusCode, text)
			}
		})
	}
}

// countedConn counts deadlines, and takes everything.
type countedConn struct {
	net.Conn
	deadlines atomic.Int64
	bytes     atomic.Int64
}

func (c *countedConn) SetWriteDeadline(time.Time) error { c.deadlines.Add(1); return nil }
func (c *countedConn) Write(p []byte) (int, error)      { c.bytes.Add(int64(len(p))); return len(p), nil }

// A client has the time of a piece for each piece of a long answer: a slow one that goes on
// taking is served to the end.
func TestLongAnswerInPieces(t *testing.T) {
	under := &countedConn{}
	c := &boundedConn{Conn: under, listener: newBoundedListener(nil, 1, time.Minute)}
	if n, err := c.Write(make([]byte, 8<<20)); n != 8<<20 || err != nil || under.bytes.Load() != 8<<20 {
		t.Fatalf("%d %v", n, err)
	}
	if n := under.deadlines.Load(); n < 100 {
		t.Errorf("8 MiB have %d deadlines", n)
	}
}

// lateConn tells the deadline of its newest write, and takes everything.
type lateConn struct {
	net.Conn
	deadline, written time.Time
}

func (c *lateConn) SetWriteDeadline(t time.Time) error { c.deadline = t; return nil }
func (c *lateConn) Write(p []byte) (int, error)        { c.written = c.deadline; return len(p), nil }

// T19: a client that takes nothing holds up no end: a write keeps to the deadline that TLS sets
// for its last message, and to the end of the server, where these come before its own.
func TestWritesEndInTime(t *testing.T) {
	under, l := &lateConn{}, newBoundedListener(nil, 1, time.Hour)
	c := &boundedConn{Conn: under, listener: l}
	write := func(name string, earliest, latest time.Time) {
		t.Helper()
		if n, err := c.Write([]byte("bye")); n != 3 || err != nil {
			t.Errorf("%s: %d %v", name, n, err)
		}
		if under.written.Before(earliest) || under.written.After(latest) {
			t.Errorf("%s: the write waits until %s, not %s to %s", name, under.written, earliest, latest)
		}
	}
	begun := time.Now()
	write("no deadline", begun.Add(time.Hour), time.Now().Add(2*time.Hour))
	last := begun.Add(5 * time.Second)
	if err := c.SetWriteDeadline(last); err != nil {
		t.Fatal(err)
	}
	write("that of TLS", last, last)
	if err := c.SetWriteDeadline(begun.Add(10 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	write("a later one", begun.Add(time.Hour), time.Now().Add(2*time.Hour))
	begun = time.Now()
	l.endWrites(2 * time.Second)
	write("the end of the server", begun.Add(2*time.Second), time.Now().Add(2*time.Second))
}
