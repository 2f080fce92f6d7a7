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

// csrfOf is the token that Gitea's forms of before 1.26 send back.
func csrfOf(jar http.CookieJar, at *url.URL) string {
	for _, c := range jar.Cookies(at) {
		if c.Name == "_csrf" {
			return c.Value
		}
	}
	return ""
}
