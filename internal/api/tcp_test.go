package api

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/lib/secret"
	"company/internal/present/view"
)

const fakeProgramToken = "a-token-of-programs-0123456789"

// tcpOffice is a fake office that is served over TCP, on loopback.
type tcpOffice struct {
	*fakeOffice
	srv    *Server
	url    string
	client *http.Client
	socket string
	before uint64 // events in the ledger
}

// fakePage answers as the page does, and holds nothing of an office.
var fakePage = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the page") })

func serveOverTCP(t *testing.T, change func(*Server, *TCPOptions)) *tcpOffice {
	t.Helper()
	d := &tcpOffice{fakeOffice: newFakeOffice(t)}
	d.srv = New(d.fakeOffice, ServerInfo{Version: "test", Office: "abcd", PID: 1, Serving: true},
		slog.New(slog.DiscardHandler), nil)
	o := TCPOptions{Listen: "127.0.0.1:0", Page: fakePage, Program: secret.New(fakeProgramToken)}
	if change != nil {
		change(d.srv, &o)
	}
	var err error
	if d.url, err = d.srv.ListenTCP(o); err != nil {
		t.Fatal(err)
	}
	d.socket = filepath.Join(t.TempDir(), "s")
	socket, err := net.Listen("unix", d.socket)
	if err != nil {
		t.Fatal(err)
	}
	d.srv.Start(socket)
	transport := &http.Transport{}
	d.client = &http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		d.srv.Stop()
	})
	d.before = d.View().Seq
	return d
}

// unchanged fails where a request has had an effect.
func (d *tcpOffice) unchanged(t *testing.T) {
	t.Helper()
	if seq := d.View().Seq; seq != d.before {
		t.Errorf("the ledger has %d events more", seq-d.before)
	}
}

// dialSocket makes a client of the socket beside the address.
func (d *tcpOffice) dialSocket() *Client {
	return Dial(func(ctx context.Context) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "unix", d.socket)
	})
}

// openConnections counts the connections that the address has open, and the place that waits
// for the next one.
func (d *tcpOffice) openConnections() int { return len(d.srv.tcp.bounded.free) }

// tcpReply is the head of an answer whose body was read and closed.
type tcpReply struct{ http.Response }

// ask sends a request with a token and headers, and reads the answer.
func (d *tcpOffice) ask(t *testing.T, method, path, token, body string, headers ...string) (tcpReply, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, d.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Add(headers[i], headers[i+1])
	}
	resp, err := d.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return tcpReply{*resp}, string(text)
}

// wantProblem fails unless an answer is a problem document that tells nothing of the office.
func wantProblem(t *testing.T, name string, resp tcpReply, text string, status int, code company.Code) {
	t.Helper()
	var p Problem
	if err := json.Unmarshal([]byte(text), &p); err != nil || resp.StatusCode != status || p.Status != status ||
		p.Code != code || p.Hint == "" || resp.Header.Get("Content-Type") != problemType {
		t.Errorf("%s: %d %s, want %d %s", name, resp.StatusCode, text, status, code)
	}
	if resp.Header.Get(timeHeader) != "" && code == company.EAccess || strings.Contains(text, "abcd") {
		t.Errorf("%s: the answer tells of the office: %v %s", name, resp.Header, text)
	}
}

// openSession gives a token by a fresh link, as a browser gets it.
func (d *tcpOffice) openSession(t *testing.T) string {
	t.Helper()
	link, err := d.srv.NewLink()
	if err != nil {
		t.Fatal(err)
	}
	resp, text := d.ask(t, "POST", sessionPath, "", `{"ticket":"`+ticketOf(t, d, link)+`"}`, "Origin", d.url)
	var session Session
	if err := json.Unmarshal([]byte(text), &session); err != nil || resp.StatusCode != 200 || session.Token == "" {
		t.Fatalf("%d %s", resp.StatusCode, text)
	}
	return session.Token
}

func ticketOf(t *testing.T, d *tcpOffice, link Link) string {
	t.Helper()
	ticket, ok := strings.CutPrefix(link.URL, d.url+"/#t=")
	if !ok || len(ticket) < 40 {
		t.Fatalf("the link %s", link.URL)
	}
	return ticket
}

const stopCommand = `{"id":"c-1","kind":"stop","command":{"why":"x"}}`

// T19: what carries no token that is good now has no effect and learns nothing, and one that
// carries it does what the socket does.
func TestTokenOverTCP(t *testing.T) {
	d := serveOverTCP(t, nil)
	for name, headers := range map[string][]string{
		"no token":            nil,
		"an empty one":        {"Authorization", "Bearer "},
		"a guess":             {"Authorization", "Bearer " + newToken()},
		"another scheme":      {"Authorization", "Basic " + fakeProgramToken},
		"no scheme":           {"Authorization", fakeProgramToken},
		"a part of it":        {"Authorization", "Bearer " + fakeProgramToken[:20]},
		"more than it":        {"Authorization", "Bearer " + fakeProgramToken + "x"},
		"two headers":         {"Authorization", "Bearer x", "Authorization", "Bearer " + fakeProgramToken},
		"a cookie":            {"Cookie", "token=" + fakeProgramToken},
		"high bytes":          {"Authorization", "Bearer \xff\xfe\xc3\x28"},
		"a long one":          {"Authorization", "Bearer " + strings.Repeat("x", 8<<10)},
		"a user and password": {"Authorization", "Basic dXNlcjpwYXNz"},
	} {
		for _, r := range []struct{ method, path string }{
			{"GET", "/api/v1/hello"}, {"GET", "/api/v1/overview"}, {"GET", "/api/v1/events"}, {"GET", "/api/v1/tasks/t1"},
			{"GET", "/api/v1/nothing"},
			{"GET", "/api/v1/openapi.json"}, {"GET", "/api"}, {"GET", "/metrics"}, {"HEAD", "/api/v1/hello"},
			{"POST", "/api/v1/commands"}, {"POST", "/api/v1/trials"},
			{"POST", "/api/v1/tickets"}, {"PUT", "/api/v1/commands"}, {"DELETE", "/"}, {"OPTIONS", "/api/v1/commands"},
			{"PATCH", "/api/v1/session"},
			{"GET", "/api/v1/hello?token=" + fakeProgramToken + "&access_token=" + fakeProgramToken + "&t=" + fakeProgramToken},
			{"GET", "/%61pi/v1/hello"}, {"GET", "/api%2fv1/hello"},
		} {
			resp, text := d.ask(t, r.method, r.path, "", stopCommand, headers...)
			if r.method == "HEAD" {
				if resp.StatusCode != 401 {
					t.Errorf("%s: HEAD: %d", name, resp.StatusCode)
				}
				continue
			}
			wantProblem(t, name+": "+r.method+" "+r.path, resp, text, 401, company.EAccess)
			if resp.Header.Get("WWW-Authenticate") != `Bearer realm="company"` ||
				resp.Header.Get("Cache-Control") != "no-store" && r.path != "/" {
				t.Errorf("%s: %s %s: %v", name, r.method, r.path, resp.Header)
			}
		}
	}
	d.unchanged(t)
	for _, token := range []string{d.openSession(t), fakeProgramToken} {
		if resp, text := d.ask(t, "GET", "/api/v1/hello", token, ""); resp.StatusCode != 200 ||
			!strings.Contains(text, `"office":"abcd"`) || resp.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%d %v %s", resp.StatusCode, resp.Header, text)
		}
		if resp, text := d.ask(t, "GET", "/api/v1/nothing", token, ""); resp.StatusCode != 404 ||
			!strings.Contains(text, "E_NOT_FOUND") {
			t.Errorf("%d %s", resp.StatusCode, text)
		}
	}
	if resp, text := d.ask(t, "POST", "/api/v1/commands", fakeProgramToken, stopCommand); resp.StatusCode != 200 ||
		!d.View().Office.Stopped {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
}

// T19: a ticket is good once and for ten minutes, a session for half a day from its newest
// request on. A used, late, wrong or missing ticket is one and the same refusal.
func TestTicketsAndSessionsEnd(t *testing.T) {
	d := serveOverTCP(t, nil)
	exchange := func(body string) (tcpReply, string) { return d.ask(t, "POST", sessionPath, "", body) }
	link, err := d.srv.NewLink()
	if err != nil || !link.Expires.Equal(fakeOfficeTime.Add(ticketLife)) {
		t.Fatalf("%+v %v", link, err)
	}
	for name, body := range map[string]string{
		"a guess": `{"ticket":"` + newToken() + `"}`, "none": `{}`, "an empty body": ``, "an empty one": `{"ticket":""}`,
		"the program's token": `{"ticket":"` + fakeProgramToken + `"}`,
	} {
		resp, text := exchange(body)
		wantProblem(t, name, resp, text, 401, company.EAccess)
	}
	for name, body := range map[string]string{"no JSON": `ticket`, "a number": `{"ticket":1}`,
		"another field": `{"ticket":"x","as":"root"}`, "a list": `[]`,
		"2 MiB": `{"ticket":"` + strings.Repeat("x", 2<<20) + `"}`} {
		resp, text := exchange(body)
		wantProblem(t, name, resp, text, 400, company.EInvalid)
	}
	ticket := `{"ticket":"` + ticketOf(t, d, link) + `"}`
	// of another version: the ticket is not used up
	resp, text := d.ask(t, "POST", sessionPath, "", ticket, versionHeader, "0.0.1")
	wantProblem(t, "another version", resp, text, 409, company.EConflict)
	resp, text = exchange(ticket)
	var session Session
	if err := json.Unmarshal([]byte(text), &session); err != nil || resp.StatusCode != 200 ||
		!session.Expires.Equal(fakeOfficeTime.Add(sessionLife)) || resp.Header.Get("Cache-Control") != "no-store" ||
		len(resp.Cookies()) > 0 {
		t.Fatalf("%d %v %s", resp.StatusCode, resp.Header, text)
	}
	resp, text = exchange(ticket)
	wantProblem(t, "used", resp, text, 401, company.EAccess)
	resp, text = d.ask(t, "GET", "/api/v1/hello", ticketOf(t, d, link), "")
	wantProblem(t, "a ticket in place of a token", resp, text, 401, company.EAccess)
	link, _ = d.srv.NewLink()
	d.advance(ticketLife)
	resp, text = exchange(`{"ticket":"` + ticketOf(t, d, link) + `"}`)
	wantProblem(t, "late", resp, text, 401, company.EAccess)
	for range 3 { // each request moves the end
		d.advance(sessionLife - ticketLife - time.Second)
		if resp, text := d.ask(t, "GET", "/api/v1/hello", session.Token, ""); resp.StatusCode != 200 {
			t.Fatalf("%d %s", resp.StatusCode, text)
		}
	}
	d.advance(sessionLife)
	resp, text = d.ask(t, "GET", "/api/v1/hello", session.Token, "")
	wantProblem(t, "a session that has ended", resp, text, 401, company.EAccess)
	d.unchanged(t)
}

// T19: of those who exchange one ticket at the same time, exactly one gets in.
func TestTicketIsTakenOnce(t *testing.T) {
	d := serveOverTCP(t, nil)
	for range 5 {
		link, err := d.srv.NewLink()
		if err != nil {
			t.Fatal(err)
		}
		body := `{"ticket":"` + ticketOf(t, d, link) + `"}`
		var wg sync.WaitGroup
		got := make([]int, 16)
		for i := range got {
			wg.Go(func() {
				resp, _ := d.ask(t, "POST", sessionPath, "", body)
				got[i] = resp.StatusCode
			})
		}
		wg.Wait()
		slices.Sort(got)
		if got[0] != 200 || got[1] != 401 {
			t.Errorf("%v", got)
		}
	}
}

// Tickets and sessions are bounded: the one that ends first makes room. Neither lies in
// memory as it was given.
func TestAccessIsBounded(t *testing.T) {
	now := fakeOfficeTime
	a := newAccessList(secret.Value{}, func() time.Time { return now })
	var tickets []string
	for range maxKept + 1 {
		now = now.Add(time.Second)
		ticket, _ := a.issueTicket(false, time.Time{})
		tickets = append(tickets, ticket)
	}
	if _, err := a.exchangeTicket(tickets[0], isNoOwner); company.CodeOf(err) != company.EAccess ||
		len(a.tickets) != maxKept {
		t.Errorf("%d tickets, the oldest: %v", len(a.tickets), err)
	}
	if _, err := a.exchangeTicket(tickets[1], isNoOwner); err != nil {
		t.Error(err)
	}
	for _, kept := range []string{fmt.Sprint(a.tickets), fmt.Sprint(a.sessions)} {
		for _, ticket := range tickets {
			if strings.Contains(kept, ticket) {
				t.Error("a ticket is kept as it is")
			}
		}
	}
	now = now.Add(ticketLife)
	a.issueTicket(false, time.Time{})
	if len(a.tickets) != 1 {
		t.Errorf("%d tickets, all but one have ended", len(a.tickets))
	}
	if who, _ := a.admitRequest(http.Header{"Authorization": {"Bearer "}}); who != nobody || a.known {
		t.Error("no token is one")
	}
}

// T19: the name of another site that resolves to this address gets nothing, with a good
// token neither.
func TestHostOverTCP(t *testing.T) {
	d := serveOverTCP(t, func(_ *Server, o *TCPOptions) {
		o.Hosts = []string{"company.example.com", "other.example.com:8443"}
	})
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(d.url, "http://"))
	for _, host := range []string{"evil.example.com", "evil.example.com:" + port, "127.0.0.1", "localhost", "127.0.0.1:1",
		"localhost.evil.example.com:" + port, "127.0.0.1.evil.example.com:" + port,
		"[::2]:" + port, "0.0.0.0:" + port, "127.1:" + port, "2130706433:" + port, "user@127.0.0.1:" + port,
		"company.example.com:1", "a.company.example.com", "other.example.com", "\xff"} {
		for _, path := range []string{"/", "/api/v1/hello", sessionPath} {
			for _, token := range []string{"", fakeProgramToken} {
				resp, text := d.ask(t, "GET", path, token, "", "Host", host)
				if resp.StatusCode == 400 && (strings.Contains(host, "@") || host == "\xff") {
					continue // of net/http
				}
				wantProblem(t, host+path, resp, text, 403, company.EAccess)
			}
		}
		if resp, text := d.ask(t, "POST", "/api/v1/commands", fakeProgramToken, stopCommand, "Host",
			host); resp.StatusCode < 400 {
			t.Errorf("%s: %d %s", host, resp.StatusCode, text)
		}
	}
	for _, host := range []string{"127.0.0.1:" + port, "localhost:" + port, "LocalHost:" + port, "[::1]:" + port,
		"company.example.com", "company.example.com:" + port, "other.example.com:8443"} {
		if resp, text := d.ask(t, "GET", "/api/v1/hello", fakeProgramToken, "", "Host", host); resp.StatusCode != 200 {
			t.Errorf("%s: %d %s", host, resp.StatusCode, text)
		}
	}
	d.unchanged(t)
}

// T19: a page of another site reaches nothing, with a preflight or without, and no answer
// lets it read one.
func TestCrossOrigin(t *testing.T) {
	d := serveOverTCP(t, func(_ *Server, o *TCPOptions) { o.Hosts = []string{"company.example.com"} })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(d.url, "http://"))
	for name, headers := range map[string][]string{
		"another site":           {"Origin", "https://evil.example.com"},
		"no origin":              {"Origin", "null"},
		"an empty one":           {"Origin", ""},
		"another port":           {"Origin", "http://127.0.0.1:1"},
		"another scheme":         {"Origin", "https://127.0.0.1:" + port},
		"another name of it":     {"Origin", "http://localhost:" + port},
		"a prefix":               {"Origin", "http://127.0.0.1:" + port + ".evil.example.com"},
		"two of them":            {"Origin", d.url, "Origin", "https://evil.example.com"},
		"hostile bytes":          {"Origin", "http://\xff\x80"},
		"by the browser's word":  {"Sec-Fetch-Site", "cross-site"},
		"of a site beside it":    {"Sec-Fetch-Site", "same-site"},
		"a proxy's, to another":  {"Origin", "https://company.example.com"},
		"a proxy's, without TLS": {"Origin", "ftp://company.example.com", "Host", "company.example.com"},
	} {
		for _, r := range []struct{ method, path, kind string }{
			{"POST", "/api/v1/commands", "text/plain"}, {"POST", "/api/v1/commands", "application/json"},
			{"POST", sessionPath, "text/plain"},
			{"OPTIONS", "/api/v1/commands", ""}, {"GET", "/api/v1/hello", ""}, {"GET", "/api/v1/events", ""},
			{"GET", "/metrics", ""},
		} {
			more := append(
				[]string{"Content-Type", r.kind, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers",
					"authorization"}, headers...)
			resp, text := d.ask(t, r.method, r.path, fakeProgramToken, stopCommand, more...)
			wantProblem(t, name+": "+r.method+" "+r.path, resp, text, 403, company.EAccess)
			for header := range resp.Header {
				if strings.HasPrefix(header, "Access-Control-") {
					t.Errorf("%s: %s is set", name, header)
				}
			}
		}
	}
	d.unchanged(t)
	for _, headers := range [][]string{{"Origin", d.url}, {"Sec-Fetch-Site", "same-origin", "Origin", d.url},
		{"Sec-Fetch-Site", "none"}, {"Origin", "https://company.example.com", "Host", "company.example.com"}} {
		if resp, text := d.ask(t, "GET", "/api/v1/hello", fakeProgramToken, "", headers...); resp.StatusCode != 200 {
			t.Errorf("%v: %d %s", headers, resp.StatusCode, text)
		}
	}
	if resp, text := d.ask(t, "GET", "/", "", "", "Sec-Fetch-Site", "cross-site"); resp.StatusCode != 200 ||
		text != "the page" {
		t.Errorf("a link of another site to the page: %d %s", resp.StatusCode, text)
	}
}

// The page is open, for it holds nothing of the office; all that it gets has the headers that
// keep a browser to it, in no frame.
func TestPageOverTCP(t *testing.T) {
	d := serveOverTCP(t, nil)
	for path, want := range map[string]string{"/": "the page", "/tasks/t1": "the page", "/api/v1/../../": "",
		"/metricsx": "the page", "/x/../api/v1/hello": "", "/..%2fapi/v1/hello": "", "//api/v1/hello": "",
		"/api/../etc/passwd": ""} {
		for _, token := range []string{"", fakeProgramToken} {
			resp, text := d.ask(t, "GET", path, token, "")
			if want != "" && (resp.StatusCode != 200 || text != want) || strings.Contains(text, "abcd") {
				t.Errorf("%s: %d %s", path, resp.StatusCode, text)
			}
			h := resp.Header
			if !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'self'") ||
				!strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
				h.Get("X-Frame-Options") != "DENY" || h.Get("X-Content-Type-Options") != "nosniff" ||
				h.Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("%s: %v", path, h)
			}
		}
	}
	if resp, text := d.ask(t, "POST", "/", "", ""); resp.StatusCode != 401 {
		t.Errorf("a POST to the page: %d %s", resp.StatusCode, text)
	}
	d.unchanged(t)
}

// A page of another version than the office's gets one clear word, and nothing is done. A
// client that names no version is held by its fields alone.
func TestClientOfAnotherVersion(t *testing.T) {
	d := serveOverTCP(t, nil)
	for _, version := range []string{"0.0.1", "99", "test2", "\xff\xc3(", strings.Repeat("9", 4000)} {
		resp, text := d.ask(t, "POST", "/api/v1/commands", fakeProgramToken, stopCommand, versionHeader, version)
		wantProblem(t, "version "+version, resp, text, 409, company.EConflict)
		if !strings.Contains(text, "served by company test") || len(text) > 600 {
			t.Errorf("%s", text)
		}
	}
	d.unchanged(t)
	if resp, text := d.ask(t, "GET", "/api/v1/hello", fakeProgramToken, "", versionHeader,
		"0.0.1"); resp.StatusCode != 200 || !strings.Contains(text, `"version":"test"`) {
		t.Errorf("hello: %d %s", resp.StatusCode, text)
	}
	if resp, text := d.ask(t, "GET", "/api/v1/work", fakeProgramToken, "", versionHeader, "test"); resp.StatusCode != 200 {
		t.Errorf("the same version: %d %s", resp.StatusCode, text)
	}
}

// What is too large, too slow, malformed or unknown ends with an error and has no effect.
func TestBadInputOverTCP(t *testing.T) {
	d := serveOverTCP(t, func(s *Server, _ *TCPOptions) {
		// A whole request of a busy machine arrives in them.
		s.limits.header, s.limits.read, s.limits.idle = time.Second, 2*time.Second, time.Second
	})
	resp, text := d.ask(t, "POST", "/api/v1/commands", fakeProgramToken, `{"id":"`+strings.Repeat("x", 2<<20)+`"}`)
	wantProblem(t, "2 MiB", resp, text, 400, company.EInvalid)
	resp, text = d.ask(t, "GET", "/api/v1/tasks?cursor=t9", fakeProgramToken, "")
	if resp.StatusCode != 400 || !strings.Contains(text, "E_INVALID") {
		t.Errorf("a bad cursor: %d %s", resp.StatusCode, text)
	}
	if resp, text = d.ask(t, "GET", "/api/v1/tasks/t9", fakeProgramToken, ""); resp.StatusCode != 404 ||
		!strings.Contains(text, "E_NOT_FOUND") {
		t.Errorf("an unknown id: %d %s", resp.StatusCode, text)
	}
	at := strings.TrimPrefix(d.url, "http://")
	head := "POST /api/v1/commands HTTP/1.1\r\nHost: " + at + "\r\nAuthorization: Bearer " + fakeProgramToken + "\r\n"
	size := fmt.Sprintf("Content-Length: %d\r\n", len(stopCommand))
	var asked sync.WaitGroup // at once: most last until a bound of the server's
	for name, r := range map[string]struct{ request, answer string }{
		"a length and chunks, with a second request behind": {head + size + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
			head + size + "\r\n" + stopCommand, "HTTP/1.1 400"},
		"two lengths":            {head + size + "Content-Length: 0\r\n\r\n" + stopCommand, "HTTP/1.1 400"},
		"an unknown coding":      {head + "Transfer-Encoding: gzip\r\n\r\n" + stopCommand, "HTTP/1.1 501"},
		"a space before a colon": {head + "X : y\r\n" + size + "\r\n" + stopCommand, "HTTP/1.1 400"},
		"a bare line feed in it": {head + "X: a\n\tb\r\nY\x00: z\r\n" + size + "\r\n" + stopCommand, "HTTP/1.1 400"},
		"two hosts":              {head + "Host: evil.example.com\r\n" + size + "\r\n" + stopCommand, "HTTP/1.1 400"},
		"no host": {strings.Replace(head, "Host: "+at+"\r\n", "", 1) + size + "\r\n" + stopCommand,
			"HTTP/1.1 400"},
		"of another, absolutely": {strings.Replace(head, "/api", "http://evil.example.com/api", 1) + size + "\r\n" +
			stopCommand, "HTTP/1.1 403"},
		"a large head": {head + "X: " + strings.Repeat("x", 64<<10) + "\r\n" + size + "\r\n" + stopCommand,
			"HTTP/1.1 431"},
		"a head without its end": {head, ""},
		"a slow body":            {head + "Content-Length: 1000\r\n\r\n{", "HTTP/1.1 400"},
		"nothing":                {"", ""},
		"no HTTP":                {"\x16\x03\x01\x00\xa5\x01", ""},
		"CONNECT": {"CONNECT evil.example.com:443 HTTP/1.1\r\nHost: evil.example.com:443\r\n\r\n",
			"HTTP/1.1 403"},
		"OPTIONS *": {"OPTIONS * HTTP/1.1\r\nHost: " + at + "\r\n\r\n", "HTTP/1.1 401"},
	} {
		asked.Go(func() {
			c, err := net.Dial("tcp", at)
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(c, r.request) // it may be cut off in the middle of it
			answer, _ := io.ReadAll(c)          // until the server ends the connection, by its bounds at the latest
			_ = c.Close()
			if !strings.HasPrefix(string(answer), r.answer) || strings.Contains(string(answer), "abcd") ||
				strings.Contains(string(answer), "200 OK") {
				t.Errorf("%s: %.300q", name, answer)
			}
		})
	}
	asked.Wait()
	d.unchanged(t)
}

// T19: connections without a token keep nobody out, whatever they do: idle after an answer,
// silent, in the middle of a head, or of a body. Those with a token stay.
func TestStrangersKeepNobodyOut(t *testing.T) {
	certificate, pool := makeCertificate(t, "company.example.com")
	for _, c := range []struct {
		name, says string
		answered   bool
		tls        bool
	}{
		{name: "idle", says: "GET / HTTP/1.1\r\nHost: HOST\r\n\r\n", answered: true},
		{name: "refused", says: "GET /api/v1/hello HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer x\r\n\r\n",
			answered: true},
		{name: "silent"},
		{name: "half a head", says: "GET / HTTP/1.1\r\nHost: HOST\r\n"},
		{name: "half a body", says: "POST /api/v1/session HTTP/1.1\r\nHost: HOST\r\nContent-Length: 100\r\n\r\n{"},
		{name: "no handshake", tls: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			const most = 4
			var transport *http.Transport
			d := serveOverTCP(t, func(s *Server, o *TCPOptions) {
				s.limits = tcpLimits{header: time.Hour, read: time.Hour, idle: time.Hour, write: time.Hour, connections: most}
				s.beatEvery = 10 * time.Millisecond
				if c.tls {
					o.TLS = certificate
				}
			})
			at := d.srv.tcp.listener.Addr().String()
			if c.tls {
				transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "company.example.com"},
					DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
						var dialer net.Dialer
						return dialer.DialContext(ctx, "tcp", at)
					}}
				t.Cleanup(transport.CloseIdleConnections)
				d.client.Transport = transport
			}
			stream, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.url+"/api/v1/events", nil)
			if err != nil {
				t.Fatal(err)
			}
			stream.Header.Set("Authorization", "Bearer "+fakeProgramToken)
			followed, err := d.client.Do(stream)
			if err != nil {
				t.Fatal(err)
			}
			defer followed.Body.Close()
			for range 3 * most {
				conn, err := net.Dial("tcp", at)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				if _, err := io.WriteString(conn,
					strings.ReplaceAll(c.says, "HOST", strings.TrimPrefix(d.url, "http://"))); err != nil {
					t.Fatal(err)
				}
				if c.answered {
					_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second)) // one that is kept out is not a failure yet
					_, _ = conn.Read(make([]byte, 1))
				}
			}
			asks, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // a request that is kept out waits for ever
			defer cancel()
			hello, err := http.NewRequestWithContext(asks, http.MethodGet, d.url+"/api/v1/hello", nil)
			if err != nil {
				t.Fatal(err)
			}
			hello.Header.Set("Authorization", "Bearer "+fakeProgramToken)
			answer, err := d.client.Do(hello)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Errorf("status %d", answer.StatusCode)
			}
			if open := d.openConnections(); open > most {
				t.Errorf("%d connections are open", open)
			}
			lines := bufio.NewScanner(followed.Body)
			for asked := time.Now(); time.Since(asked) < 200*time.Millisecond; { // what was sent before is read by then
				if !lines.Scan() {
					t.Fatalf("the stream with a token is cut: %v", lines.Err())
				}
			}
		})
	}
}

// A bounded number of connections is served at a time. Further ones wait, and come in when
// others end: slow ones cannot keep them out for long.
func TestConnectionsAreBounded(t *testing.T) {
	const most = 4
	d := serveOverTCP(t, func(s *Server, _ *TCPOptions) {
		s.limits.connections, s.limits.header, s.limits.read = most, 500*time.Millisecond, time.Minute
	})
	at := strings.TrimPrefix(d.url, "http://")
	for range 3 * most { // none of them sends a word
		c, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if resp, text := d.ask(t, "GET", "/api/v1/hello", fakeProgramToken, ""); resp.StatusCode != 200 {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
	if open := d.openConnections(); open > most {
		t.Errorf("%d connections are open", open)
	}
}

// A stream lasts longer than a request may take to arrive, shows that it is alive, goes on
// behind Last-Event-ID, and ends with the server.
func TestStreamOverTCP(t *testing.T) {
	const arrival = time.Second // a request of a busy machine arrives in it, too
	d := serveOverTCP(t, func(s *Server, _ *TCPOptions) {
		s.limits.header, s.limits.read, s.beatEvery = arrival, arrival, arrival/4
	})
	token := d.openSession(t)
	if _, err := d.DoID(t.Context(), "a", company.President, company.Stop{Why: "x"}); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.url+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Last-Event-ID", "1")
	resp, err := d.client.Do(req) //nolint:bodyclose // the deferred call closes it
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines, beats, ids := bufio.NewScanner(resp.Body), 0, ""
	for beats < 10 && lines.Scan() { // more than twice as long as a request may take
		if lines.Text() == ": beat" {
			beats++
		}
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			ids += id + " "
		}
	}
	if beats < 10 || ids != "2 " || resp.Header.Get("Cache-Control") != "no-cache, no-store" {
		t.Fatalf("%d beats, events %s: %v", beats, ids, lines.Err())
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, resp.Body)
	}()
	d.srv.Stop()
	<-ended
	if _, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://")); err == nil {
		t.Error("it listens still")
	}
}

// A client that takes nothing of its answer is cut off, and its request ends.
func TestClientThatDoesNotRead(t *testing.T) {
	d := serveOverTCP(t, func(s *Server, _ *TCPOptions) { s.limits.write = 50 * time.Millisecond })
	c, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
	// The transcript of the fake office has 2 MiB, and is asked for again and again.
	request := "GET /api/v1/runs/" + string(fakeActivity.Run) + "/transcript HTTP/1.1\r\nHost: " +
		strings.TrimPrefix(d.url, "http://") + "\r\nAuthorization: Bearer " + fakeProgramToken + "\r\n\r\n"
	if _, err := io.WriteString(c, strings.Repeat(request, 20)); err != nil {
		t.Fatal(err)
	}
	hosttest.Eventually(t, "it is cut off", func() (any, bool) { n := d.openConnections(); return n, n <= 1 })
}

// An address that other machines reach is refused without TLS, one that is taken gives way
// where it may, and an office without an address says so.
func TestAddresses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, o := range []TCPOptions{{Listen: "0.0.0.0:0"}, {Listen: "192.0.2.1:7777"}, {Listen: "[::]:0"},
		{Listen: "nonsense"}, {Listen: ""}, {Listen: taken.Addr().String()}} {
		s := New(newFakeOffice(t), ServerInfo{Serving: true}, slog.New(slog.DiscardHandler), nil)
		if url, err := s.ListenTCP(o); company.CodeOf(err) != company.EConfig || url != "" {
			t.Errorf("%+v: %s %v", o, url, err)
		}
		if _, err := s.NewLink(); company.CodeOf(err) != company.EConflict ||
			!strings.Contains(err.Error(), "serve.listen is empty") {
			t.Errorf("a link: %v", err)
		}
	}
	d := serveOverTCP(t, func(_ *Server, o *TCPOptions) { o.Listen, o.AnyPort = taken.Addr().String(), true })
	if d.url == "http://"+taken.Addr().String() || !strings.HasPrefix(d.url, "http://127.0.0.1:") {
		t.Errorf("it is at %s", d.url)
	}
	d.openSession(t)
	near := InProcess(restingOffice{newFakeOffice(t)})
	defer near.Close()
	if _, err := near.NewLink(t.Context()); company.CodeOf(err) != company.ENotFound {
		t.Errorf("a link where no company is at work: %v", err)
	}
	_, c, _ := serveFakeOffice(t)
	if _, err := c.NewLink(t.Context()); company.CodeOf(err) != company.EConflict ||
		!strings.Contains(err.Error(), "only company serve has one") {
		t.Errorf("a link into a company in the background: %v", err)
	}
}

// restingOffice is an office in which no work has started.
type restingOffice struct{ *fakeOffice }

func (o restingOffice) Source() view.Source {
	src := o.fakeOffice.Source()
	src.AtWork = false
	return src
}

// A second tab and a second browser get a link by the socket, and by a session.
func TestSecondLink(t *testing.T) {
	d := serveOverTCP(t, nil)
	resp, text := d.ask(t, "POST", "/api/v1/tickets", d.openSession(t), "")
	var link Link
	if err := json.Unmarshal([]byte(text), &link); err != nil || resp.StatusCode != 200 ||
		resp.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", resp.StatusCode, text)
	}
	if resp, text := d.ask(t, "POST", sessionPath, "", `{"ticket":"`+ticketOf(t, d, link)+`"}`); resp.StatusCode != 200 {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
	socket := d.dialSocket()
	defer socket.Close()
	if link, err := socket.NewLink(t.Context()); err != nil || !strings.HasPrefix(link.URL, d.url+"/#t=") {
		t.Errorf("%+v %v", link, err)
	}
	if info, err := socket.ServerInfo(t.Context()); err != nil || info.Office != "abcd" {
		t.Errorf("the socket needs a token: %+v %v", info, err)
	}
}
