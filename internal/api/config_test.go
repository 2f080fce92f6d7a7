package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/office/config"
)

// TestConfigOverTheAPI: a key of the config is changed over the socket as by the command, and
// the answer says from when on it counts; a change of a file that was not read is refused, and
// so is a body that is none (SUB-2).
func TestConfigOverTheAPI(t *testing.T) {
	c := readContract(t)
	o, client := serveBusyOffice(t)
	seq := o.View().Seq
	var done config.ChangeReport
	if status, p := postOver(t, c, client, "config", "",
		ConfigChange{Key: "forge.url", Value: "https://git.example.com", Digest: "d"}, &done,
		false); status != http.StatusOK ||
		done.Key != "forge.url" || done.Now != "https://git.example.com" || done.Counts != config.CountsFromNextStart ||
		done.Holder != 7 || len(done.Values) != 1 {
		t.Errorf("%d %+v %+v", status, p, done)
	}
	for name, bad := range map[string]struct {
		body   any
		status int
		code   company.Code
		wrong  bool
	}{
		"another file": {ConfigChange{Key: "workers.max", Value: "2", Digest: "other"}, 409, company.EConflict, false},
		"no digest":    {map[string]any{"key": "workers.max", "value": "2"}, 409, company.EConflict, true},
		"a file": {map[string]any{"key": "workers.max", "value": "2", "digest": "d", "file": "/etc/passwd"}, 400,
			company.EInvalid, true},
		"a number": {map[string]any{"key": "workers.max", "value": 2, "digest": "d"}, 400, company.EInvalid, true},
	} {
		if status, p := postOver(t, c, client, "config", "", bad.body, &done, bad.wrong); status != bad.status ||
			p.Code != bad.code || p.Hint == "" {
			t.Errorf("%s: %d %+v", name, status, p)
		}
	}
	if o.View().Seq != seq {
		t.Error("something was decided")
	}
}

// T19, SUB-2: a change that a token let in is marked as one from outside the machine; what it
// is refused is no matter of its token (403).
func TestTokenChangesConfigAsAStranger(t *testing.T) {
	d := serveOverTCP(t, func(s *Server, _ *TCPOptions) { s.SetDesk(fakeDesk{}) })
	body := func(key string) string {
		return string(must(json.Marshal(ConfigChange{Key: key, Value: "2", Digest: "d"})))
	}
	for _, token := range []string{d.openSession(t), fakeProgramToken} {
		if resp, text := d.ask(t, "POST", "/api/v1/config", token, body("workers.max")); resp.StatusCode != 200 ||
			!strings.Contains(text, `"now":"2"`) {
			t.Errorf("%d %s", resp.StatusCode, text)
		}
		if resp, text := d.ask(t, "POST", "/api/v1/config", token, body("gates.test")); resp.StatusCode != 403 ||
			!strings.Contains(text, "E_ACCESS") || !strings.Contains(text, `"hint":`) {
			t.Errorf("gates.test: %d %s", resp.StatusCode, text)
		}
	}
	resp, text := d.ask(t, "POST", "/api/v1/config", "", body("workers.max"))
	wantProblem(t, "no token", resp, text, 401, company.EAccess)
	socket := d.dialSocket()
	defer socket.Close()
	if status, p := postOver(t, readContract(t), socket, "config", "",
		ConfigChange{Key: "gates.test", Value: "make", Digest: "d"}, &config.ChangeReport{}, false); status != 200 {
		t.Errorf("the socket: %d %+v", status, p)
	}
	d.unchanged(t)
}
