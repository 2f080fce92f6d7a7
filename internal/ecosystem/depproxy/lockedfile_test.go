package depproxy

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
)

// What lock files name by version and digest is asked for as clients ask: the file
// alone. A wrong digest, or a file that lies elsewhere, has the registry's description
// read, as without a lock file, and what the description says counts.
func TestLockedFiles(t *testing.T) {
	description := func(r *fakeRegistry, at string) string {
		return fmt.Sprintf(`{"name":"@s/a","version":"1.0.0","dist":{"integrity":%q,"tarball":"%s%s"}}`,
			integrity(npmFile("a", "1.0.0")), r.URL, at)
	}
	const usual, elsewhere = "/@s/a/-/a-1.0.0.tgz", "/download/a.tgz"
	good, bad := integrity(npmFile("a", "1.0.0")), integrity([]byte("another"))
	npm := func(fields string) map[string]string {
		return map[string]string{"package-lock.json": `{"packages":{"node_modules/@s/a":{"version":"1.0.0"` + fields + `}}}`}
	}
	for name, c := range map[string]struct {
		locks map[string]string
		at    string // where the registry has the file
		added bool   // by a task: what it needs may be fetched too
		asked string
	}{
		"npm": {npm(`,"integrity":"` + good + `"`), usual, false, usual},
		"npm, alias": {map[string]string{
			"package-lock.json": `{"packages":{"node_modules/b":{"name":"@s/a","version":"1.0.0","integrity":"` + good + `"}}}`},
			usual, false, usual},
		"yarn 1": {map[string]string{
			"yarn.lock": "\"@s/a@^1.0.0\":\n  version \"1.0.0\"\n  resolved \"https://r.example/a.tgz#00\"\n  integrity " +
				good + "\n"}, usual, false, usual},
		"pnpm": {map[string]string{
			"pnpm-lock.yaml": "packages:\n\n  '@s/a@1.0.0':\n    resolution: {integrity: " + good +
				"}\n    engines: {node: '>=8'}\n"}, usual, false, usual},
		"later yarn": {map[string]string{
			"yarn.lock": "__metadata:\n  version: 8\n\n\"@s/a@npm:^1.0.0\":\n  version: 1.0.0\n  resolution: " +
				"\"@s/a@npm:1.0.0\"\n  checksum: 10/ab\n"}, elsewhere, false, "/@s%2fa/1.0.0 " + elsewhere},
		"weak digest":  {npm(`,"integrity":"sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="`), usual, false, "/@s%2fa/1.0.0 " + usual},
		"wrong digest": {npm(`,"integrity":"` + bad + `"`), usual, false, usual + " /@s%2fa " + usual},
		"two digests": {map[string]string{"package-lock.json": npm(`,"integrity":"` + good + `"`)["package-lock.json"],
			"x/package-lock.json": npm(`,"integrity":"` + bad + `"`)["package-lock.json"]}, usual, false,
			"/@s%2fa/1.0.0 " + usual},
		"elsewhere": {npm(`,"integrity":"` + good + `"`), elsewhere, false, usual + " /@s%2fa " + elsewhere},
		"added":     {npm(`,"integrity":"` + good + `"`), usual, true, "/@s%2fa " + usual},
	} {
		t.Run(name, func(t *testing.T) {
			var r *fakeRegistry
			r = newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
				switch q.URL.EscapedPath() {
				case c.at:
					_, _ = w.Write(npmFile("a", "1.0.0"))
				case "/@s%2fa/1.0.0":
					_, _ = w.Write([]byte(description(r, c.at)))
				case "/@s%2fa":
					_, _ = w.Write([]byte(`{"name":"@s/a","versions":{"1.0.0":` + description(r, c.at) + `}}`))
				default:
					http.NotFound(w, q)
				}
			})
			files := map[string][]byte{}
			for file, text := range c.locks {
				files[file] = []byte(text)
			}
			p, notes := LockedPolicy(files)
			if c.added {
				p.AllowWithNeeds(company.Dependency{Ecosystem: NPM, Name: "@s/a", Version: "1.0.0"})
			}
			h := newStore(t, upstreamsAt(NPM, r.URL)).NewPolicyHandler(p.Clone())
			for range 2 { // the second time nothing is asked
				if code, text := getPath(t, h, http.MethodGet, "/npm/@s/a/-/a-1.0.0.tgz"); code != http.StatusOK ||
					text != string(npmFile("a", "1.0.0")) {
					t.Errorf("%d %s, notes %q", code, text, notes)
				}
			}
			got := r.requests()
			if name == "wrong digest" || name == "elsewhere" { // what failed may be tried again
				got = slices.CompactFunc(got, func(a, b string) bool { return a == b })
				got = got[:min(3, len(got))]
			}
			if strings.Join(got, " ") != c.asked {
				t.Errorf("asked for %q, want %q", got, c.asked)
			}
			before := len(r.requests())
			for _, path := range []string{"/npm/@s/a/-/a-2.0.0.tgz", "/npm/@s/a/-/b-1.0.0.tgz", "/npm/@s/a/-/a-1.0.0",
				"/npm/@s/a/-/a-" + hex.EncodeToString([]byte("secret")) + ".tgz"} {
				if code, _ := getPath(t, h, http.MethodGet, path); code != http.StatusForbidden && code != http.StatusNotFound {
					t.Errorf("%s: %d", path, code)
				}
			}
			for _, asked := range r.requests()[before:] {
				if asked != "/@s%2fa" {
					t.Errorf("another version leaves as %s", asked)
				}
			}
		})
	}
}
