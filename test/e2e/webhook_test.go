package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"company/internal/gitops/remotetest"
	"company/test/testenv"
)

// T20: a forge that calls is heard at once where its call is signed, long
// before the next round of asking; what is not signed is refused.
func TestServeIsCalled(t *testing.T) {
	t.Parallel()
	at := "127.0.0.1:" + strconv.Itoa(remotetest.FreePort(t))
	h := openTinyProject(t, farewells())
	h.Env = append(h.Env, "COMPANY_FORGE_POLL=24h", "COMPANY_FORGE_WEBHOOK_LISTEN="+at,
		"COMPANY_FORGE_WEBHOOK_SECRET_ENV=HOOK_SECRET")
	if r := h.Run(patience, "serve"); r.Code != 1 || !strings.Contains(r.Stderr, "HOOK_SECRET is NOT SET") {
		t.Fatalf("serve without the secret: exit %d\n%s", r.Code, r.Stderr)
	}
	h.Env = append(h.Env, "HOOK_SECRET=hush")
	p := startServing(t, h)
	waitForSummary(t, h.Start("submit", "say goodbye"), 0)
	h.Git(h.Repo, "fetch", "-q", "origin", integrationBranch(h, 1))
	h.Git(h.Repo, "merge", "-q", "--no-ff", "-m", "take it", "FETCH_HEAD")
	h.Git(h.Repo, "push", "-q", "origin", "main")

	call := func(secret, delivery string) int {
		body := `{"ref":"refs/heads/main","repository":{"full_name":"acme/app"}}`
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+at+"/webhook", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(body))
		for k, v := range map[string]string{
			"Content-Type": "application/json", "X-GitHub-Event": "push", "X-GitHub-Delivery": delivery,
			"X-Hub-Signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil)),
		} {
			req.Header.Set(k, v)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	if got := call("guessed", "d0"); got != http.StatusForbidden {
		t.Errorf("a wrong signature: %d", got)
	}
	if got := call("hush", "d1"); got != http.StatusAccepted {
		t.Errorf("a signed call: %d", got)
	}
	p.Event(patience, "pr.settled", "")
	if got := call("hush", "d1"); got != http.StatusConflict {
		t.Errorf("the same call again: %d", got)
	}
	runAndExpect(t, h, []string{"#1  merged"}, "pr", "list")
	endServing(t, p)
	http.DefaultClient.CloseIdleConnections()
	noListener(t, h, at)
}

// noListener: what listened has ended with its company.
func noListener(t *testing.T, h *testenv.House, at string) {
	t.Helper()
	if c, err := net.Dial("tcp", at); err == nil {
		_ = c.Close()
		t.Errorf("somebody listens at %s still\n%s", at, h.Dir)
	}
}
