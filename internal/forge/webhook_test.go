package forge

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"company/internal/company"
	"company/internal/lib/secret"
)

// webhookKinds are like those of the drivers.
var webhookKinds = []Webhook{
	{[]string{"X-GitHub-Event"}, []string{"X-GitHub-Delivery"}, func(h http.Header) string {
		return CutSignature(h.Get("X-Hub-Signature-256"))
	}},
	{[]string{"X-Gitea-Event"}, []string{"X-Gitea-Delivery"}, func(h http.Header) string {
		return h.Get("X-Gitea-Signature")
	}},
}

type webhookExample struct {
	Event, Action string
	Payload       json.RawMessage
}

func loadExamples(t testing.TB) []webhookExample {
	t.Helper()
	f, err := os.Open("testdata/webhooks.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []webhookExample
	if err := json.NewDecoder(z).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func newSignedRequest(secret, event, delivery string, body []byte) *http.Request {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	r := httptest.NewRequest(http.MethodPost, "/hooks", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-GitHub-Event", event)
	r.Header.Set("X-GitHub-Delivery", delivery)
	r.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	return r
}

// Payloads as GitHub sends them say where to look.
func TestParseRecordedWebhooks(t *testing.T) {
	w := NewWebhooks(secret.New("s3cret"), webhookKinds)
	want := map[string]string{
		"ping ": "[] []", "pull_request opened": "[2] [changes]", "pull_request closed": "[2] [changes]",
		"pull_request synchronize":      "[2] [changes]",
		"pull_request_review submitted": "[2] [changes]", "pull_request_review_comment created": "[2] [changes]",
		"check_suite completed": "[] [main]", "status ": "[] [master]", "check_run completed": "[2] [changes]",
	}
	n := 0
	for i, x := range loadExamples(t) {
		h, err := w.ParseWebhook(newSignedRequest("s3cret", x.Event, fmt.Sprint("d", i), x.Payload))
		if err != nil {
			t.Errorf("%s: %v", x.Event, err)
			continue
		}
		if h.Event != x.Event || h.Action != x.Action || h.Event != "ping" && !strings.Contains(h.Repo, "/") {
			t.Errorf("%+v", h)
		}
		if text, ok := want[x.Event+" "+x.Action]; ok {
			n++
			if got := fmt.Sprint(h.Numbers, h.Branches); got != text {
				t.Errorf("%s %s: %s, want %s", x.Event, x.Action, got, text)
			}
		}
	}
	if n != len(want) {
		t.Errorf("%d of %d seen", n, len(want))
	}
}

// T20: bad, missing and replayed calls are refused, before anything is parsed.
func TestWebhooksRefused(t *testing.T) {
	body := loadExamples(t)[1].Payload
	for name, c := range map[string]struct {
		change func(*http.Request) *http.Request
		code   company.Code
	}{
		"no signature": {func(r *http.Request) *http.Request { r.Header.Del("X-Hub-Signature-256"); return r },
			company.EAuth},
		"another secret": {func(*http.Request) *http.Request { return newSignedRequest("other", "pull_request", "d", body) },
			company.EAuth},
		"a changed body": {func(r *http.Request) *http.Request {
			return withBody(r, bytes.Replace(body, []byte("opened"), []byte("closed"), 1))
		}, company.EAuth},
		"SHA-1 only": {func(r *http.Request) *http.Request {
			r.Header.Set("X-Hub-Signature", "sha1=00")
			r.Header.Del("X-Hub-Signature-256")
			return r
		}, company.EAuth},
		"no hex": {func(r *http.Request) *http.Request { r.Header.Set("X-Hub-Signature-256", "sha256=zz"); return r },
			company.EAuth},
		"an empty one": {func(r *http.Request) *http.Request { r.Header.Set("X-Hub-Signature-256", "sha256="); return r },
			company.EAuth},
		"too big": {func(*http.Request) *http.Request {
			return newSignedRequest("s3cret", "push", "d", make([]byte, MaxWebhookBytes+1))
		}, company.EInvalid},
		"garbage, but signed": {func(*http.Request) *http.Request {
			return newSignedRequest("s3cret", "push", "d", []byte("{"))
		}, company.EInvalid},
		"no event": {func(r *http.Request) *http.Request { r.Header.Del("X-GitHub-Event"); return r }, company.EInvalid},
		"no delivery": {func(r *http.Request) *http.Request { r.Header.Del("X-GitHub-Delivery"); return r },
			company.EInvalid},
		"a form": {func(r *http.Request) *http.Request {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			return r
		}, company.EInvalid},
	} {
		w := NewWebhooks(secret.New("s3cret"), webhookKinds)
		_, err := w.ParseWebhook(c.change(newSignedRequest("s3cret", "pull_request", "d1", body)))
		if company.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
		// What was refused does not bar the real one.
		if _, err := w.ParseWebhook(newSignedRequest("s3cret", "pull_request", "d1", body)); err != nil {
			t.Errorf("%s: then the real one: %v", name, err)
		}
		if _, err := w.ParseWebhook(newSignedRequest("s3cret", "pull_request", "d1", body)); company.CodeOf(
			err) != company.EConflict {
			t.Errorf("%s: replayed: %v", name, err)
		}
		if _, err := w.ParseWebhook(newSignedRequest("s3cret", "pull_request", "d2", body)); company.CodeOf(
			err) != company.EConflict {
			t.Errorf("%s: replayed under another id: %v", name, err)
		}
	}
	if _, err := NewWebhooks(secret.New(""), webhookKinds).ParseWebhook(newSignedRequest("", "push", "d", body)); company.CodeOf(
		err) != company.EAuth {
		t.Errorf("without a secret: %v", err)
	}
}

func withBody(r *http.Request, body []byte) *http.Request {
	n := httptest.NewRequest(r.Method, r.URL.String(), bytes.NewReader(body))
	n.Header = r.Header
	return n
}

func TestWebhookHandler(t *testing.T) {
	w := NewWebhooks(secret.New("s3cret"), webhookKinds)
	var mu sync.Mutex
	heard := 0
	h := w.Handler(func(WebhookEvent) { mu.Lock(); heard++; mu.Unlock() })
	send := func(r *http.Request) int {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		return rec.Code
	}
	all := loadExamples(t)
	var wg sync.WaitGroup
	codes := make([]int, 20)
	for i := range codes { // the same one, many at once: heard once
		wg.Go(func() { codes[i] = send(newSignedRequest("s3cret", "pull_request", "d1", all[1].Payload)) })
	}
	wg.Wait()
	taken := 0
	for _, c := range codes {
		if c == http.StatusAccepted {
			taken++
		} else if c != http.StatusConflict {
			t.Errorf("%d", c)
		}
	}
	if taken != 1 || heard != 1 {
		t.Errorf("taken %d, heard %d", taken, heard)
	}
	if c := send(newSignedRequest("s3cret", "ping", "d2", all[0].Payload)); c != http.StatusAccepted || heard != 1 {
		t.Errorf("ping: %d, heard %d", c, heard)
	}
	if c := send(newSignedRequest("bad", "push", "d3", all[2].Payload)); c != http.StatusForbidden {
		t.Errorf("%d", c)
	}
	if c := send(httptest.NewRequest(http.MethodGet, "/hooks", nil)); c != http.StatusMethodNotAllowed {
		t.Errorf("%d", c)
	}
	// Memory is bounded.
	for i := range 3 * maxSeen {
		w.markSeen(fmt.Sprint(i))
	}
	if len(w.seen) > maxSeen || len(w.ring) > maxSeen {
		t.Errorf("%d %d", len(w.seen), len(w.ring))
	}
}

func FuzzWebhook(f *testing.F) {
	for _, x := range loadExamples(f) {
		f.Add([]byte(x.Payload), x.Event)
	}
	f.Fuzz(func(t *testing.T, body []byte, event string) {
		h, err := NewWebhooks(secret.New("k"), webhookKinds).ParseWebhook(newSignedRequest("k", event, "d", body))
		if err == nil && (len(h.Numbers) > 100 || len(h.Branches) > 100) {
			t.Errorf("%+v", h)
		}
	})
}
