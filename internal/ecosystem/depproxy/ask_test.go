package depproxy

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"company/internal/ecosystem"
)

// Any reply of a registry is an answer. No reply, and a refused login, are told with their reason.
func TestAskRegistries(t *testing.T) {
	reply := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
	}
	for name, c := range map[string]struct {
		serve   http.HandlerFunc // nil: nothing listens
		auth    string
		timeout time.Duration
		why     string // "": it answers
		login   bool
	}{
		"its root is missing":   {serve: reply(http.StatusNotFound)},
		"a redirect":            {serve: http.RedirectHandler("http://192.0.2.1/", http.StatusFound).ServeHTTP},
		"a root that is closed": {serve: reply(http.StatusForbidden)},
		"wants a login":         {serve: reply(http.StatusUnauthorized), why: "401 without a login", login: true},
		"refuses the login":     {serve: reply(http.StatusForbidden), auth: "Bearer x", why: "refuses the login", login: true},
		"cannot be reached":     {why: "connection refused"},
		"silent": {serve: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			timeout: 50 * time.Millisecond, why: "no answer within 50ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.serve)
			t.Cleanup(server.Close)
			if c.serve == nil {
				server.Close()
			}
			if c.timeout == 0 {
				c.timeout = time.Minute // a machine may be slow
			}
			up := Upstreams{Registries: map[string]ecosystem.Upstream{
				NPM: ecosystem.At(ecosystem.Endpoint{URL: server.URL}.WithAuth(c.auth)),
				Go:  ecosystem.At(ecosystem.Endpoint{URL: "http://127.0.0.1:1"}), // it is not asked
			}}
			answers, err := up.AskRegistries(t.Context(), c.timeout, []string{NPM})
			if err != nil || len(answers) != 1 {
				t.Fatal(answers, err)
			}
			answer := answers[0]
			if answer.Kind != NPM || "http://"+answer.Host != server.URL || answer.WantsLogin != c.login ||
				(answer.Why == "") != (c.why == "") || !strings.Contains(answer.Why, c.why) {
				t.Errorf("%+v", answer)
			}
		})
	}
}
