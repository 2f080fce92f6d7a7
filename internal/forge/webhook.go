package forge

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"

	"company/internal/company"
	"company/internal/safetext"
	"company/internal/secret"
)

// WebhookEvent is what a forge called about. It is a hint to look again, and
// nothing of it is acted on by itself (T20).
type WebhookEvent struct {
	Event    string // ping, pull_request, issue_comment, check_run, …
	Action   string // opened, created, completed, …; may be empty
	Delivery string
	Repo     string   // owner/name
	Numbers  []int    // pull requests that it names
	Branches []string // that it names
}

// MaxWebhookBytes is the most bytes of a webhook's body.
const MaxWebhookBytes = 1 << 20

// Webhooks takes a forge's calls. It may be used by many goroutines.
type Webhooks struct {
	secret secret.Value

	mu   sync.Mutex
	seen map[string]bool
	ring []string // seen in order, the oldest replaced first
	next int
}

// maxSeen bounds how many deliveries are remembered.
const maxSeen = 10_000

// NewWebhooks takes the calls that are signed with secret. Without a secret
// nothing is taken.
func NewWebhooks(secret secret.Value) *Webhooks {
	return &Webhooks{secret: secret, seen: map[string]bool{}}
}

// ParseWebhook reads a call. The signature over the raw body is checked before
// anything of it is read as more than bytes (T20). EAuth: it is not signed, or
// not with our secret. EConflict: it was here before. EInvalid: it is no call of
// a forge's.
func (w *Webhooks) ParseWebhook(r *http.Request) (WebhookEvent, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, MaxWebhookBytes))
	if err != nil {
		var big *http.MaxBytesError
		if errors.As(err, &big) {
			return WebhookEvent{}, company.E(company.EInvalid, fmt.Sprintf("the webhook has more than %d bytes", MaxWebhookBytes))
		}
		return WebhookEvent{}, company.E(company.EInvalid, "the webhook cannot be read").Wrap(err)
	}
	sum, err := w.verifySignature(r.Header, body)
	if err != nil {
		return WebhookEvent{}, err
	}
	h := WebhookEvent{Event: firstHeader(r, "X-GitHub-Event", "X-Gitea-Event", "X-Forgejo-Event"), Delivery: firstHeader(r, "X-GitHub-Delivery", "X-Gitea-Delivery", "X-Forgejo-Delivery")}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return WebhookEvent{}, company.E(company.EInvalid, "the webhook is not JSON").Fix("set the webhook's content type to application/json")
	}
	if h.Event == "" || h.Delivery == "" || len(h.Event) > 64 || len(h.Delivery) > 128 {
		return WebhookEvent{}, company.E(company.EInvalid, "the webhook names no event or no delivery")
	}
	if err := h.parsePayload(body); err != nil {
		return WebhookEvent{}, err
	}
	// The delivery's id is not signed: a replay under another id has the same
	// signature.
	if w.markSeen("id "+h.Delivery, "sum "+sum) {
		return WebhookEvent{}, company.E(company.EConflict, "the webhook was delivered before")
	}
	return h, nil
}

func firstHeader(r *http.Request, names ...string) string {
	for _, n := range names {
		if v := r.Header.Get(n); v != "" {
			return v
		}
	}
	return ""
}

// verifySignature checks the signature: GitHub's, which Gitea sends as well, or
// Gitea's own.
func (w *Webhooks) verifySignature(h http.Header, body []byte) (string, error) {
	if !w.secret.Set() {
		return "", company.E(company.EAuth, "webhooks are not taken").Because("there is no secret to check them with").Fix("set forge.webhook_secret_env")
	}
	given, ok := strings.CutPrefix(h.Get("X-Hub-Signature-256"), "sha256=")
	if !ok {
		given = h.Get("X-Gitea-Signature")
	}
	want := hmac.New(sha256.New, []byte(w.secret.Reveal()))
	want.Write(body)
	sum := want.Sum(nil)
	got, err := hex.DecodeString(given)
	if given == "" || err != nil || !hmac.Equal(got, sum) {
		return "", company.E(company.EAuth, "the webhook's signature is missing or wrong")
	}
	return hex.EncodeToString(sum), nil
}

// markSeen remembers keys, and reports whether one was there already.
func (w *Webhooks) markSeen(keys ...string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := slices.ContainsFunc(keys, func(k string) bool { return w.seen[k] })
	for _, k := range keys {
		if w.seen[k] {
			continue
		}
		if len(w.ring) < maxSeen {
			w.ring = append(w.ring, k)
		} else {
			delete(w.seen, w.ring[w.next])
			w.ring[w.next] = k
			w.next = (w.next + 1) % maxSeen
		}
		w.seen[k] = true
	}
	return known
}

// parsePayload takes out of a payload what says where to look.
func (h *WebhookEvent) parsePayload(body []byte) error {
	type pull struct {
		Number int `json:"number"`
		Head   struct {
			Ref string `json:"ref"`
		} `json:"head"`
	}
	type checks struct {
		Branch string `json:"head_branch"`
		Pulls  []pull `json:"pull_requests"`
	}
	var in struct {
		Action     string `json:"action"`
		Ref        string `json:"ref"`
		Repository struct {
			FullName string `json:"full_name"`
		} `json:"repository"`
		Pull  *pull `json:"pull_request"`
		Issue *struct {
			Number int              `json:"number"`
			Pull   *json.RawMessage `json:"pull_request"`
		} `json:"issue"`
		Run      *checks `json:"check_run"`
		Suite    *checks `json:"check_suite"`
		Branches []struct {
			Name string `json:"name"`
		} `json:"branches"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return company.E(company.EInvalid, "the webhook's JSON cannot be read").Wrap(err)
	}
	h.Action, h.Repo = safetext.Cut(in.Action, 64), safetext.Cut(in.Repository.FullName, 300)
	add := func(n int, branch string) {
		if n > 0 && !slices.Contains(h.Numbers, n) && len(h.Numbers) < 100 {
			h.Numbers = append(h.Numbers, n)
		}
		if branch != "" && !slices.Contains(h.Branches, branch) && len(h.Branches) < 100 {
			h.Branches = append(h.Branches, safetext.Cut(branch, 300))
		}
	}
	if in.Pull != nil {
		add(in.Pull.Number, in.Pull.Head.Ref)
	}
	if in.Issue != nil && in.Issue.Pull != nil {
		add(in.Issue.Number, "")
	}
	for _, c := range []*checks{in.Run, in.Suite} {
		if c == nil {
			continue
		}
		add(0, c.Branch)
		for _, p := range c.Pulls {
			add(p.Number, p.Head.Ref)
		}
	}
	for _, b := range in.Branches {
		add(0, b.Name)
	}
	if branch, ok := strings.CutPrefix(in.Ref, "refs/heads/"); ok {
		add(0, branch)
	}
	return nil
}

// Handler serves a forge's calls. heard must return at once: it only notes that
// a look is due. Ping is answered and not passed on.
func (w *Webhooks) Handler(heard func(WebhookEvent)) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			rw.Header().Set("Allow", http.MethodPost)
			http.Error(rw, "a webhook is a POST", http.StatusMethodNotAllowed)
			return
		}
		h, err := w.ParseWebhook(r)
		if err != nil {
			code := map[company.Code]int{company.EAuth: http.StatusForbidden, company.EConflict: http.StatusConflict}[company.CodeOf(err)]
			code = cmp.Or(code, http.StatusBadRequest)
			var e *company.Error
			errors.As(err, &e)
			http.Error(rw, string(e.Code)+": "+e.Message, code)
			return
		}
		if h.Event != "ping" {
			heard(h)
		}
		rw.WriteHeader(http.StatusAccepted)
	})
}
