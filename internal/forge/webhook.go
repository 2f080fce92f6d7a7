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
	"company/internal/lib/safetext"
	"company/internal/lib/secret"
)

// WebhookEvent is a notification from a forge. It is only a hint to poll again; its content is never acted on (T20).
type WebhookEvent struct {
	Event    string // ping, pull_request, issue_comment, check_run, …
	Action   string // opened, created, completed, …; may be empty
	Delivery string
	Repo     string   // owner/name
	Numbers  []int    // pull requests that it names
	Branches []string // branches that it names
}

// MaxWebhookBytes limits the size of a webhook's body.
const MaxWebhookBytes = 1 << 20

// Webhooks validates a forge's webhook calls. It is safe for concurrent use.
type Webhooks struct {
	secret secret.Value
	kinds  []Webhook

	mu   sync.Mutex
	seen map[string]bool
	ring []string // ring buffer of the keys in seen; the oldest is replaced first
	next int
}

// maxSeen limits how many keys of deliveries are remembered.
const maxSeen = 10_000

// NewWebhooks returns a Webhooks that accepts calls of some kinds of forges that are signed with secret. Without a
// secret, it accepts none.
func NewWebhooks(secret secret.Value, kinds []Webhook) *Webhooks {
	return &Webhooks{secret: secret, kinds: kinds, seen: map[string]bool{}}
}

// CutSignature returns the digest in a header's value, or "" if it is of another form.
func CutSignature(value string) string {
	digest, ok := strings.CutPrefix(value, "sha256=")
	if !ok {
		return ""
	}
	return digest
}

// ParseWebhook validates and parses a call. It checks the signature over the raw body before it parses any of it
// (T20). It fails with EAuth if the call is unsigned or not signed with our secret, EConflict if it was received
// before, and EInvalid if it is not a forge's webhook.
func (w *Webhooks) ParseWebhook(r *http.Request) (WebhookEvent, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, MaxWebhookBytes))
	if err != nil {
		var big *http.MaxBytesError
		if errors.As(err, &big) {
			return WebhookEvent{}, company.E(
				company.EInvalid, fmt.Sprintf("the webhook has more than %d bytes", MaxWebhookBytes))
		}
		return WebhookEvent{}, company.E(company.EInvalid, "the webhook cannot be read").Wrap(err)
	}
	sum, err := w.verifySignature(r.Header, body)
	if err != nil {
		return WebhookEvent{}, err
	}
	var webhookEvent WebhookEvent
	for _, kind := range w.kinds {
		webhookEvent.Event = cmp.Or(webhookEvent.Event, firstHeader(r, kind.Event...))
		webhookEvent.Delivery = cmp.Or(webhookEvent.Delivery, firstHeader(r, kind.Delivery...))
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return WebhookEvent{}, company.E(company.EInvalid, "the webhook is not JSON").
			Fix("set the webhook's content type to application/json")
	}
	if webhookEvent.Event == "" || webhookEvent.Delivery == "" || len(webhookEvent.Event) > 64 ||
		len(webhookEvent.Delivery) > 128 {
		return WebhookEvent{}, company.E(company.EInvalid, "the webhook has no event or no delivery")
	}
	if err := webhookEvent.parsePayload(body); err != nil {
		return WebhookEvent{}, err
	}
	// The delivery's id is not signed, so a replay may use another id. It still has the same signature.
	if w.markSeen("id "+webhookEvent.Delivery, "sum "+sum) {
		return WebhookEvent{}, company.E(company.EConflict, "the webhook was delivered already")
	}
	return webhookEvent, nil
}

func firstHeader(r *http.Request, names ...string) string {
	for _, n := range names {
		if v := r.Header.Get(n); v != "" {
			return v
		}
	}
	return ""
}

// verifySignature checks the signature that the call carries.
func (w *Webhooks) verifySignature(h http.Header, body []byte) (string, error) {
	if !w.secret.Set() {
		return "", company.E(company.EAuth, "webhooks are not accepted").Because("there is no secret to verify them").
			Fix("set forge.webhook_secret_env")
	}
	given := ""
	for _, kind := range w.kinds {
		given = cmp.Or(given, kind.Sign(h))
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

// markSeen remembers keys and reports whether one was already known.
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

// parsePayload extracts the repository, pull requests and branches from a payload.
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

// Handler serves a forge's webhook calls. heard must return at once and only note that a poll is due. A ping is
// answered but not passed on.
func (w *Webhooks) Handler(heard func(WebhookEvent)) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			rw.Header().Set("Allow", http.MethodPost)
			http.Error(rw, "a webhook is a POST", http.StatusMethodNotAllowed)
			return
		}
		webhookEvent, err := w.ParseWebhook(r)
		if err != nil {
			code := map[company.Code]int{company.EAuth: http.StatusForbidden,
				company.EConflict: http.StatusConflict}[company.CodeOf(err)]
			code = cmp.Or(code, http.StatusBadRequest)
			var fault *company.Error
			errors.As(err, &fault)
			http.Error(rw, string(fault.Code)+": "+fault.Message, code)
			return
		}
		if webhookEvent.Event != "ping" {
			heard(webhookEvent)
		}
		rw.WriteHeader(http.StatusAccepted)
	})
}
