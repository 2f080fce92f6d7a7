package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"company/test/safebuffer"
	"company/test/testenv"
)

// callAddress sends a request to the address of an office with a token, and reads the answer.
func callAddress(t *testing.T, method, url, token, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// enterByLink exchanges the ticket of a link for a token, and sees that it is good once.
func enterByLink(t *testing.T, link string) (at, token string) {
	t.Helper()
	at, ticket, ok := strings.Cut(strings.TrimSpace(link), "/#t=")
	if !ok || !strings.HasPrefix(at, "http://127.0.0.1:") {
		t.Fatalf("the link is %q", link)
	}
	var session struct{ Token string }
	status, text := callAddress(t, "POST", at+"/api/v1/session", "", `{"ticket":"`+ticket+`"}`)
	if err := json.Unmarshal([]byte(text), &session); err != nil || status != 200 || session.Token == "" {
		t.Fatalf("%d %s", status, text)
	}
	if status, text := callAddress(t, "POST", at+"/api/v1/session", "", `{"ticket":"`+ticket+`"}`); status != 401 ||
		!strings.Contains(text, "E_ACCESS") {
		t.Errorf("the link a second time: %d %s", status, text)
	}
	return at, session.Token
}

// serveWithLink starts company serve as a person does, and enters by the link on its stdout.
func serveWithLink(t *testing.T, h *testenv.House) (at, token string, serve *exec.Cmd, messages *safebuffer.Buffer) {
	t.Helper()
	serve, messages = h.Command("serve"), &safebuffer.Buffer{}
	serve.Stderr = messages
	out, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = serve.Process.Kill() }) // where the test failed
	link, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v\n%s", err, messages.String())
	}
	at, token = enterByLink(t, link)
	return at, token, serve, messages
}

// UI-4, T19: the link that serve prints lets a browser in once: it submits, follows and reads
// by plain HTTP. company open gives another link, and the end of serve ends open connections.
func TestServeOverTCP(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	h := openTinyProject(t, farewells())
	runRefused(t, h, 1, "E_NOT_FOUND", "open")
	env := h.Env
	for listen, want := range map[string]string{taken.Addr().String(): "(serve.listen)",
		"0.0.0.0:7777": "can be reached from other machines"} {
		h.Env = append(env[:len(env):len(env)], "COMPANY_SERVE_LISTEN="+listen)
		if r := h.Run(patience, "serve"); r.Code != 1 || !strings.Contains(r.Stderr, "E_CONFIG") ||
			!strings.Contains(r.Stderr, want) {
			t.Errorf("serve at %s: exit %d\n%s", listen, r.Code, r.Stderr)
		}
	}
	h.Env = env
	if l, err := net.Listen("tcp", "127.0.0.1:7777"); err == nil { // another program may have it
		defer l.Close()
	}

	at, token, serve, messages := serveWithLink(t, h)
	if strings.HasSuffix(at, ":7777") {
		t.Errorf("it is at %s, which is taken", at)
	}
	if status, text := callAddress(t, "GET", at+"/", "", ""); status != 200 || !strings.Contains(text, "<html") {
		t.Errorf("the page: %d %.300s", status, text)
	}
	if status, text := callAddress(t, "GET", at+"/api/v1/overview", "", ""); status != 401 ||
		!strings.Contains(text, "E_ACCESS") {
		t.Errorf("without a token: %d %s", status, text)
	}
	h.MustRun(patience, "project", "add", ".")
	_, text := callAddress(t, "GET", at+"/api/v1/projects", token, "")
	var known struct{ Projects []struct{ ID string } }
	if err := json.Unmarshal([]byte(text), &known); err != nil || len(known.Projects) != 1 {
		t.Fatalf("%v %s", err, text)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	stream, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	send := func(command string) {
		t.Helper()
		if status, text := callAddress(t, "POST", at+"/api/v1/commands", token, command); status != 200 {
			t.Fatalf("%s: %d %s\n%s", command, status, text, messages.String())
		}
	}
	raw := `{"id":"1","kind":"submit","command":{"Instruction":"say goodbye","Project":{"id":"` + known.Projects[0].ID +
		`","path":"` + h.Repo + `"},"Settings":{"cap":{"micro_usd":5000000,"tokens":-1},"no_gates":"ask"}}}`
	if status, text := callAddress(t, "POST", at+"/api/v1/commands", token, raw); status != 403 {
		t.Errorf("a raw submission: %d %s", status, text)
	}
	// The office asks the remote with its own logins: one that is gone is not a place for paid work.
	origin := h.Git(h.Repo, "remote", "get-url", "origin")
	h.Git(h.Repo, "remote", "set-url", "origin", origin+".gone")
	if status, text := callAddress(
		t, "POST", at+"/api/v1/submissions", token,
		`{"instruction":"say goodbye","project":"`+known.Projects[0].ID+`"}`); status != 404 ||
		!strings.Contains(text, ".gone") {
		t.Errorf("a remote that is gone: %d %s", status, text)
	}
	h.Git(h.Repo, "remote", "set-url", "origin", origin)
	for project, want := range map[string]int{t.TempDir(): 404, known.Projects[0].ID: 200} {
		if status, text := callAddress(
			t, "POST", at+"/api/v1/submissions", token,
			`{"instruction":"say goodbye","project":"`+project+`"}`); status != want {
			t.Fatalf("a submission to %s: %d %s\n%s", project, status, text, messages.String())
		}
	}
	lines := bufio.NewScanner(stream.Body)
	seen := false
	for !seen && lines.Scan() {
		seen = strings.Contains(lines.Text(), `"kind":"task.submitted"`)
	}
	if !seen {
		t.Fatalf("the stream ended: %v", lines.Err())
	}
	runAndExpect(t, h, []string{"say goodbye"}, "status")

	if again, second := enterByLink(t, h.MustRun(patience, "open").Stdout); again != at || second == token {
		t.Errorf("a second link leads to %s", again)
	}
	var asJSON struct {
		SchemaVersion int `json:"schema_version"`
		URL           string
	}
	if h.JSON(&asJSON, "open"); asJSON.SchemaVersion != 1 {
		t.Errorf("the JSON of a link: %+v", asJSON)
	}
	enterByLink(t, asJSON.URL)
	send(`{"id":"2","kind":"cancel","command":{"Task":"t1"}}`)

	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, stream.Body) // it ends with the office
	if err := serve.Wait(); err != nil {
		t.Errorf("serve: %v\n%s", err, messages.String())
	}
	http.DefaultClient.CloseIdleConnections()
	noListener(t, h, strings.TrimPrefix(at, "http://"))
	runRefused(t, h, 1, "E_NOT_FOUND", "open")
}
