package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/present/view"
)

func isNoOwner() bool { return false }

// countingDesk remembers the projects that it was asked about.
type countingDesk struct {
	fakeDesk
	mu    sync.Mutex
	asked []string
}

func (c *countingDesk) PrepareSubmission(ctx context.Context, s view.Submission) (company.Submit, error) {
	c.note(s.Project)
	return c.fakeDesk.PrepareSubmission(ctx, s)
}

func (c *countingDesk) Config(ctx context.Context, project string) (view.ConfigList, error) {
	c.note(project)
	return c.fakeDesk.Config(ctx, project)
}

func (c *countingDesk) note(project string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, project)
}

// T19: a token, of a page or of a program, reaches the projects that the office knows and no
// other folder of the machine, which is not looked at either; on the socket the owner of the
// machine names any.
func TestTokenReachesKnownProjects(t *testing.T) {
	desk := &countingDesk{}
	d := serveOverTCP(t, func(s *Server, _ *TCPOptions) { s.SetDesk(desk) })
	for _, p := range []company.AddProject{
		{Project: company.Project{ID: "p1", Path: "/home/me/api"}, Name: "api"},
		{Project: company.Project{ID: "p2", Path: "/home/me/web"}, Name: "web"},
	} {
		if _, err := d.DoID(t.Context(), "add-"+p.Name, company.President, p); err != nil {
			t.Fatal(err)
		}
	}
	d.before = d.View().Seq
	submission := func(project string) string {
		return string(must(json.Marshal(view.Submission{Instruction: "do it", Project: project})))
	}
	tokens := []string{d.openSession(t), fakeProgramToken}
	for _, token := range tokens {
		for _, project := range []string{"/home/me/other", "/home/me/api/", "/home/me/api/../other", "/home/me", "/", ".",
			"..", "other", "API", "/etc", "api\x00", "api\n", "p", "~/api", "file:///home/me/api", "/home/me/\u202eapi"} {
			resp, text := d.ask(t, "POST", "/api/v1/submissions", token, submission(project))
			wantProblem(t, "submission to "+project, resp, text, 404, company.ENotFound)
			resp, text = d.ask(t, "GET", "/api/v1/config?project="+url.QueryEscape(project), token, "")
			wantProblem(t, "config of "+project, resp, text, 404, company.ENotFound)
		}
		for _, kind := range []string{"submit", "add_project"} {
			body := `{"kind":"` + kind +
				`","command":{"Instruction":"do it","Project":{"ID":"p1","Path":"/home/me/api","remote":"https://evil.example.com/x"}}}`
			if kind == "add_project" {
				body = `{"kind":"add_project","command":{"Project":{"id":"z","path":"/etc"},"Name":"etc"}}`
			}
			for _, path := range []string{"/api/v1/commands", "/api/v1/trials"} {
				resp, text := d.ask(t, "POST", path, token, body)
				if resp.StatusCode != 403 || !strings.Contains(text, "E_ACCESS") || !strings.Contains(text, `"hint":`) {
					t.Errorf("%s by %s: %d %s", kind, path, resp.StatusCode, text)
				}
			}
		}
	}
	if len(desk.asked) > 0 {
		t.Errorf("the desk was asked about %q", desk.asked)
	}
	d.unchanged(t)
	for _, c := range []struct{ named, asked string }{{"", ""}, {"api", "/home/me/api"}, {"p2", "/home/me/web"},
		{"/home/me/web", "/home/me/web"}} {
		for _, token := range tokens {
			desk.asked = nil
			resp, text := d.ask(t, "POST", "/api/v1/submissions", token, submission(c.named))
			if got := strings.Join(desk.asked, " "); resp.StatusCode != 200 || got != c.asked {
				t.Errorf("%q: %d, the desk was asked about %q: %s", c.named, resp.StatusCode, got, text)
			}
		}
	}
	socket := d.dialSocket()
	defer socket.Close()
	desk.asked = nil
	if _, err := Get[view.ConfigList](t.Context(), socket, "config?project=/home/me/other"); err != nil ||
		strings.Join(desk.asked, " ") != "/home/me/other" {
		t.Errorf("the socket: %v, asked about %q", err, desk.asked)
	}
	if _, err := socket.Do(t.Context(), "",
		company.AddProject{Project: company.Project{ID: "p3", Path: "/home/me/third"}, Name: "third"}); err != nil {
		t.Errorf("the socket: %v", err)
	}
}

// T19: a session ends after 30 days, however much it is used, and the links that it asks for
// end with it; so does a stream that it holds open.
func TestSessionHasALastMoment(t *testing.T) {
	d := serveOverTCP(t, nil)
	token := d.openSession(t)
	alive := func() bool {
		resp, _ := d.ask(t, "GET", "/api/v1/hello", token, "")
		return resp.StatusCode == 200
	}
	for used := time.Duration(0); used < sessionEnd-sessionLife; used += sessionLife / 2 {
		if !alive() {
			t.Fatalf("the session ended after %s of use", used)
		}
		d.advance(sessionLife / 2)
	}
	if !alive() {
		t.Fatal("the session ended before its last moment")
	}
	resp, text := d.ask(t, "POST", "/api/v1/tickets", token, "")
	var link Link
	if err := json.Unmarshal([]byte(text), &link); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%d %s", resp.StatusCode, text)
	}
	_, text = d.ask(t, "POST", sessionPath, "", `{"ticket":"`+ticketOf(t, d, link)+`"}`)
	var heir Session
	if err := json.Unmarshal([]byte(text), &heir); err != nil || heir.Token == "" ||
		heir.Expires.After(fakeOfficeTime.Add(sessionEnd)) {
		t.Errorf("a session by the link of a session: %s", text)
	}
	d.advance(sessionEnd - d.clock().Sub(fakeOfficeTime) - 50*time.Millisecond)
	// The stream ends by itself: without an end this reads until the test's own deadline.
	if resp, text := d.ask(t, "GET", "/api/v1/events", token, ""); resp.StatusCode != 200 {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
	d.advance(time.Second)
	for _, token := range []string{token, heir.Token} {
		resp, text := d.ask(t, "GET", "/api/v1/hello", token, "")
		wantProblem(t, "after its last moment", resp, text, 401, company.EAccess)
	}
	if resp, text := d.ask(t, "GET", "/api/v1/hello", fakeProgramToken, ""); resp.StatusCode != 200 {
		t.Errorf("the token of programs has no end: %d %s", resp.StatusCode, text)
	}
	d.unchanged(t)
}

// T19: the link that stands in the arguments of a program is good for processes of the
// office's user alone, and a try of another user does not use it up.
func TestOwnLinkIsForItsUser(t *testing.T) {
	d := serveOverTCP(t, nil)
	socket := d.dialSocket()
	defer socket.Close()
	link, err := socket.NewOwnLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ticket := ticketOf(t, d, link)
	if _, err := d.srv.tcp.access.exchangeTicket(ticket, isNoOwner); company.CodeOf(err) != company.EAccess ||
		!strings.Contains(err.Error(), "the user who made it") {
		t.Errorf("another user: %v", err)
	}
	resp, text := d.ask(t, "POST", sessionPath, "", `{"ticket":"`+ticket+`"}`)
	if resp.StatusCode != 200 {
		t.Errorf("the user: %d %s", resp.StatusCode, text)
	}
	if resp, text := d.ask(t, "POST", sessionPath, "", `{"ticket":"`+ticket+`"}`); resp.StatusCode != 401 {
		t.Errorf("used: %d %s", resp.StatusCode, text)
	}
	unknown, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if unknown.RemoteAddr = "192.0.2.1:5"; isOwnPeer(unknown) {
		t.Error("a peer without an address here is one's own")
	}
}

// The table of the kernel names the user of an end that is open on this machine, and no
// other.
func TestFindOwner(t *testing.T) {
	table := strings.ReplaceAll(
		`  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1E61 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1
   1: 0100007F:9C40 0100007F:1E61 01 00000000:00000000 00:00000000 00000000  1001        0 1 1
   2: 0100007F:9C41 0100007F:1E61 06 00000000:00000000 03:00000000 00000000     0        0 0 3
   3: 0100007F:1E61 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1000        0 1 1
   4: 0000000000000000FFFF00000100007F:9C42 0000000000000000FFFF00000100007F:1E61 01 00000000:00000000 00:00000000 00000000  1002        0 1 1
   5: 00000000000000000000000001000000:9C43 00000000000000000000000001000000:1E61 01 00000000:00000000 00:00000000 00000000  1003        0 1 1
   6: nonsense:9C44 0100007F:1E61 01 a b c d
   7: 0100007F:9C45
`, "\t", " ")
	for _, c := range []struct {
		local, remote string
		user          int // -1: not found
	}{
		{"127.0.0.1:40000", "127.0.0.1:7777", 1001}, {"127.0.0.1:40001", "127.0.0.1:7777", -1},
		{"127.0.0.1:40000", "127.0.0.1:7778", -1},
		{"127.0.0.1:40002", "127.0.0.1:7777", 1002}, {"[::ffff:127.0.0.1]:40002", "127.0.0.1:7777", 1002},
		{"[::1]:40003", "[::1]:7777", 1003},
		{"127.0.0.1:40004", "127.0.0.1:7777", -1}, {"127.0.0.1:40005", "127.0.0.1:7777", -1},
		{"0.0.0.0:0", "127.0.0.1:7777", -1},
	} {
		user, found := findOwner(strings.NewReader(table), netip.MustParseAddrPort(c.local),
			netip.MustParseAddrPort(c.remote))
		if found != (c.user >= 0) || found && user != c.user {
			t.Errorf("%s → %s: %d %v, want %d", c.local, c.remote, user, found, c.user)
		}
	}
}
