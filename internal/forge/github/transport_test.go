package github

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"company/internal/forge"
	"company/internal/lib/secret"
)

// T21: the login goes to the API's own host by the API's own protocol; a
// redirect to anywhere else, or into the clear, carries none.
func TestAuthTransportHostOnly(t *testing.T) {
	t.Parallel()
	asked := 0
	var sent []string
	next := roundTripper(func(r *http.Request) (*http.Response, error) {
		sent = append(sent, r.URL.String()+" "+r.Header.Get("Authorization"))
		return httptest.NewRecorder().Result(), nil
	})
	a := &authTransport{scheme: "https", host: "api.example.com", next: next,
		credential: func(context.Context) (forge.Credential, error) {
			asked++
			return forge.Credential{Secret: secret.New("canary")}, nil
		}}
	for _, u := range []string{"http://api.example.com/x", "https://other.example.com/x", "https://api.example.com:444/x",
		"https://api.example.com/x"} {
		r := httptest.NewRequest(http.MethodGet, u, nil)
		resp, err := a.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	if asked != 1 || sent[3] != "https://api.example.com/x Bearer canary" {
		t.Errorf("%d logins: %q", asked, sent)
	}
	for to, follows := range map[string]bool{"https://api.example.com/y": true, "http://api.example.com/x": false,
		"https://sub.api.example.com/x": false} {
		u, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		if err := sameOrigin(&http.Request{URL: u},
			[]*http.Request{httptest.NewRequest(http.MethodGet, "https://api.example.com/x", nil)}); (err == nil) != follows {
			t.Errorf("the App's login to %s: %v", to, err)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
