package depproxy

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
)

// What is fetched ahead is in the cache when the client asks for it, and nothing is asked
// for that lock files do not name.
func TestFetchAhead(t *testing.T) {
	var r *fakeRegistry
	r = newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.EscapedPath() {
		case "/@s%2fa/1.0.0":
			_, _ = fmt.Fprintf(w, `{"name":"@s/a","version":"1.0.0","dist":{"integrity":%q,"tarball":"%s/@s/a/-/a-1.0.0.tgz"}}`,
				integrity(npmFile("a", "1.0.0")), r.URL)
		case "/@s/a/-/a-1.0.0.tgz":
			_, _ = w.Write(npmFile("a", "1.0.0"))
		default:
			http.NotFound(w, q)
		}
	})
	p, _ := LockedPolicy(
		map[string][]byte{"yarn.lock": []byte(
			"__metadata:\n  version: 8\n\n\"@s/a@npm:^1.0.0\":\n  version: 1.0.0\n  resolution: " +
				"\"@s/a@npm:1.0.0\"\n\n\"gone@npm:1.0.0\":\n  version: 1.0.0\n")})
	s := newStore(t, upstreamsAt(NPM, r.URL))
	of := func(name, version string) company.Dependency {
		return company.Dependency{Ecosystem: NPM, Name: name, Version: version}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		p    *Policy
		all  []company.Dependency
		asks string
	}{
		{t.Context(), nil, []company.Dependency{of("@s/a", "1.0.0")}, ""},
		{t.Context(), p, nil, ""},
		{t.Context(), p,
			[]company.Dependency{of("@s/a", "2.0.0"), of("secret", "1.0.0"),
				{Ecosystem: Go, Name: "example.org/a", Version: "v1.0.0"}}, ""},
		{t.Context(), p, []company.Dependency{of("@s/a", "1.0.0"), of("gone", "1.0.0")},
			"/@s%2fa/1.0.0 /@s/a/-/a-1.0.0.tgz /gone /gone/1.0.0"},
		{t.Context(), p, []company.Dependency{of("@s/a", "1.0.0")}, "/@s%2fa/1.0.0 /@s/a/-/a-1.0.0.tgz /gone /gone/1.0.0"},
		{ended, p, []company.Dependency{of("@s/a", "1.0.0")}, "/@s%2fa/1.0.0 /@s/a/-/a-1.0.0.tgz /gone /gone/1.0.0"},
	} {
		s.FetchAhead(c.ctx, c.p, c.all)
		got := r.requests()
		if slices.Sort(got); strings.Join(got, " ") != c.asks {
			t.Fatalf("%v asked for %q, want %q", c.all, got, c.asks)
		}
	}
	before := len(r.requests())
	if code, text := getPath(t, s.NewPolicyHandler(p), http.MethodGet, "/npm/@s/a/-/a-1.0.0.tgz"); code != http.StatusOK ||
		text != string(npmFile("a", "1.0.0")) || len(r.requests()) != before {
		t.Errorf("%d %s, asked for %q", code, text, r.requests()[before:])
	}
}
