package depproxy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
)

// bundlingRegistry has a, whose archive has x and, as x asks for it, y; b, without such; and old, of which it knows no
// digest.
func bundlingRegistry(t *testing.T) *fakeRegistry {
	return newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		fields := map[string]string{
			"a":   `"dependencies":{"x":"^1"},"bundleDependencies":["x"],"dist":{"integrity":"sha512-a"}`,
			"all": `"dependencies":{"x":"^1"},"bundledDependencies":true,"dist":{"integrity":"sha512-a"}`,
			"b":   `"dependencies":{"x":"^1","y":"^1"},"dist":{"integrity":"sha512-b"}`,
			"c":   `"dependencies":{"other":"npm:x@^1"},"dist":{"integrity":"sha512-c"}`,
			"x":   `"dependencies":{"y":"^1"},"dist":{"integrity":"sha512-x"}`,
			"y":   `"dist":{"integrity":"sha512-y"}`,
			"old": `"dist":{}`,
		}
		name := strings.TrimPrefix(q.URL.Path, "/")
		if fields[name] == "" {
			http.NotFound(w, q)
			return
		}
		_, _ = fmt.Fprintf(w, `{"name":%q,"versions":{"1.0.0":{"name":%q,"version":"1.0.0",%s}}}`, name, name, fields[name])
	})
}

// T24: an entry of npm's without a digest lies in the archive of a package that bundles it, or the registry knows none;
// an alias in the older list is the registry's, or an override's. Else npm takes any file, or another package.
func TestForeignEntries(t *testing.T) {
	s := newStore(t, upstreamsAt(NPM, bundlingRegistry(t).URL))
	p := NewPolicy()
	for _, name := range []string{"a", "all", "b", "c", "x", "y", "old"} {
		p.Allow(newDependency(NPM, name, "1.0.0"))
	}
	p.Allow(newDependency(NPM, "old", "6.6.6"))
	newer := func(entries string) string {
		return `{"lockfileVersion":3,"packages":{"":{},` + strings.ReplaceAll(entries, "at/", "node_modules/") + `}}`
	}
	older := func(entries string) string { return `{"lockfileVersion":1,"dependencies":{` + entries + `}}` }
	const (
		a  = `"at/a":{"version":"1.0.0","integrity":"sha512-a","dependencies":{"x":"^1"},"bundleDependencies":["x"]}`
		b  = `"at/b":{"version":"1.0.0","integrity":"sha512-b","dependencies":{"x":"^1","y":"^1"}`
		in = `"version":"1.0.0","inBundle":true`
	)
	x := func(of string) string { return `"at/` + of + `/at/x":{` + in + `,"dependencies":{"y":"^1"}}` }
	y := func(of string) string { return `"at/` + of + `/at/y":{` + in + `}` }
	oldIn := func(of, sum string) string {
		return `"` + of + `":{"version":"1.0.0","integrity":"sha512-` + sum +
			`","requires":{"x":"^1"},"dependencies":{"x":{"version":"1.0.0","bundled":true,"requires":{"y":"^1"}},"y":{"version":"1.0.0","bundled":true}}}`
	}
	const alias = `"other":{"version":"npm:x@1.0.0","integrity":"sha512-x"},`
	const overrides = `{"overrides":{"x":"npm:y@1.0.0"}}`
	const overridden = `"x":{"version":"npm:y@1.0.0","integrity":"sha512-y"},"b":{"version":"1.0.0","integrity":"sha512-b","requires":{"x":"npm:y@1.0.0"}}`
	for name, c := range map[string]struct{ base, tree, manifest, want string }{
		"in the archive": {tree: newer(a + "," + x("a") + "," + y("a"))},
		"all that it asks for": {tree: newer(
			strings.ReplaceAll(a, `"at/a"`, `"at/all"`) + "," + x("all"))},
		"below what lies there":       {tree: newer(a + "," + x("a") + `,"at/a/at/x/at/y":{` + in + `}`)},
		"in an archive that has none": {tree: newer(b + "}," + x("b")), want: "npm x@1.0.0, without a digest"},
		"by the lock file alone": {tree: newer(b + `,"bundleDependencies":["x"]},` + x("b")),
			want: "npm b@1.0.0"},
		"not by the lock file": {tree: newer(
			strings.Replace(a, `,"bundleDependencies":["x"]`, "", 1) + "," + x("a")), want: "npm x@1.0.0, without a digest"},
		"in the archive, asked for by none": {tree: newer(a + `,"at/a/at/y":{` + in + `}`),
			want: "npm y@1.0.0, without a digest"},
		"in the archive, asked for by a lie": {tree: newer(
			a + `,"at/a/at/y":{` + in + `,"dependencies":{"old":"*"}},"at/a/at/x":{` + in +
				`,"dependencies":{"y":"^1"}},"at/a/at/old":{` + in + `}`), want: "npm y@1.0.0"},
		"in no archive": {tree: newer(`"at/x":{` + in + `,"dependencies":{"y":"^1"}}`),
			want: "npm x@1.0.0, without a digest"},
		"as the base has it": {base: newer(b + "}," + y("b")),
			tree: newer(b + `,"dev":true},` + y("b"))},
		"in the older list":          {tree: older(oldIn("a", "a"))},
		"in the older list, in none": {tree: older(oldIn("b", "b")), want: "npm b@1.0.0"},
		"no digest, and the registry has one": {tree: newer(`"at/y":{"version":"1.0.0"}`),
			want: "npm y@1.0.0, without a digest"},
		"no digest, and the registry has none": {tree: newer(`"at/old":{"version":"1.0.0"}`)},
		"no digest of a version it doesn't list": {tree: newer(`"at/old":{"version":"6.6.6"}`),
			want: "npm old@6.6.6, without a digest"},
		"an alias of the registry's": {tree: older(
			alias + `"c":{"version":"1.0.0","integrity":"sha512-c","requires":{"other":"npm:x@^1"}}`)},
		"an alias that asks for itself":        {tree: older(overridden), want: "npm b@1.0.0"},
		"an alias that the project puts there": {tree: older(overridden), manifest: overrides},
		"an alias that the project asks for": {tree: older(overridden), manifest: `{"dependencies":{"x":"npm:y@1.0.0"}}`,
			want: "npm b@1.0.0"},
		"an alias that is put for another parent": {tree: older(overridden),
			manifest: `{"overrides":{"c":{"x":"npm:y@1.0.0"}}}`, want: "npm b@1.0.0"},
	} {
		base, tree := map[string][]byte{"package-lock.json": []byte(c.base)},
			map[string][]byte{"package-lock.json": []byte(c.tree)}
		var overridden []ecosystem.Address
		for _, e := range catalog.Of[ecosystem.OverrideLister]() {
			if e.IsLockFile("package-lock.json") {
				overridden = e.ListOverridden(
					"package-lock.json", []byte(c.tree), map[string][]byte{"package.json": []byte(c.manifest)})
			}
		}
		out, err := s.FindForeign(t.Context(), base, tree, p, overridden...)
		var got []string
		for _, f := range out {
			got = append(got, f.String())
		}
		if err != nil || strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
