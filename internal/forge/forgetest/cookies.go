package forgetest

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"
)

func newJar(t testing.TB) http.CookieJar {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return jar
}

// csrfOf returns the token that forms of Gitea before 1.26 send back.
func csrfOf(jar http.CookieJar, address *url.URL) string {
	for _, c := range jar.Cookies(address) {
		if c.Name == "_csrf" {
			return c.Value
		}
	}
	return ""
}
