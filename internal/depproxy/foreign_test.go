package depproxy

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
)

// T24: a lock file that a worker wrote has packages where the registry has them, or the base's lock
// file: without a digest people's composer gets what lies at its addresses.
func TestForeignAddresses(t *testing.T) {
	const commit = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	entry := func(name, dist, source string) string {
		return fmt.Sprintf(`{"name":%q,"version":"1.0.0","dist":{"type":"zip",%s},"source":{"type":"git",%s}}`, name, dist, source)
	}
	const dist, source = `"url":"https://code.example/left.zip","reference":"` + commit + `","shasum":""`, `"url":"https://code.example/left.git","reference":"` + commit + `"`
	r := newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/packages.json" {
			_, _ = w.Write([]byte(`{"metadata-url":"/p2/%package%.json"}`))
			return
		}
		name := strings.TrimSuffix(strings.TrimPrefix(q.URL.Path, "/p2/"), ".json")
		_, _ = fmt.Fprintf(w, `{"packages":{%q:[%s]}}`, name, entry(name, dist, source))
	})
	s := newStore(t, upstreamsAt(Packagist, r.URL))
	lock := func(packages string) map[string][]byte {
		return map[string][]byte{"composer.lock": []byte(`{"packages":[` + packages + `]}`)}
	}
	evil := strings.NewReplacer("code.example", "evil.example")
	moved := entry("acme/moved", strings.ReplaceAll(dist, "code.example", "old.example"), source)
	base := lock(entry("acme/left", dist, source) + "," + moved)
	p, _ := LockedPolicy(base)
	p.AllowWithNeeds(newDependency(Packagist, "acme/added", "1.0.0"))
	for name, c := range map[string]struct {
		tree, want string
	}{
		"as before":          {entry("acme/left", dist, source) + "," + moved, ""},
		"another file":       {entry("acme/left", evil.Replace(dist), source), "acme/left"},
		"another repository": {entry("acme/left", dist, evil.Replace(source)), "acme/left"},
		"another commit":     {entry("acme/left", strings.ReplaceAll(dist, "aa", "bb"), source), "acme/left"},
		"a mirror":           {entry("acme/left", dist+`,"mirrors":[{"url":"https://evil.example/%package%","preferred":true}]`, source), "acme/left"},
		"twice":              {entry("acme/left", dist, source) + "," + entry("acme/left", evil.Replace(dist), source), "acme/left"},
		"in other letters":   {entry("acme/left", evil.Replace(dist)+`,"URL":"https://code.example/left.zip"`, source), "acme/left"},
		"a list beside":      {entry("acme/left", evil.Replace(dist), source) + `],"Packages":[` + entry("acme/left", dist, source), "acme/left"},
		"added":              {entry("acme/added", dist, source), ""},
		"added, elsewhere":   {entry("acme/added", evil.Replace(dist), source), "acme/added"},
		"of git":             {`{"name":"acme/hush","version":"dev-main","source":{"type":"git","url":"https://evil.example/x.git","reference":"` + commit + `"}}`, "acme/hush"},
		"of the tree":        {`{"name":"own/part","version":"1.0.0","dist":{"type":"path","url":"parts/part"}}`, ""},
	} {
		out, err := s.FindForeign(t.Context(), base, lock(c.tree), p)
		var got []string
		for _, d := range out {
			got = append(got, d.Name)
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if slices.ContainsFunc(r.requests(), func(path string) bool { return strings.Contains(path, "hush") }) {
		t.Error("a name that nobody allowed has left")
	}
	r.Close()
	if _, err := newStore(t, upstreamsAt(Packagist, r.URL)).FindForeign(t.Context(), nil, lock(entry("acme/left", dist, source)), p); company.CodeOf(err) != company.ERegistry {
		t.Errorf("with the registry away: %v", err)
	}
}

// npm and yarn 1 compare a file with the digest of the lock file, and take any where there is none.
func TestForeignAddressesWithoutDigest(t *testing.T) {
	r := npmRegistry(t)
	s := newStore(t, upstreamsAt(NPM, r.URL))
	sum := integrity(npmFile("a", "1.0.0"))
	npm := func(fields string) map[string][]byte {
		return map[string][]byte{"package-lock.json": []byte(`{"packages":{"":{},"node_modules/x":{"link":true,"resolved":"x"},"node_modules/a":{"version":"1.0.0",` + fields + `}}}`)}
	}
	yarn := func(lines string) map[string][]byte {
		return map[string][]byte{"yarn.lock": []byte("b@1:\n  version \"1.0.0\"\n  resolved \"" + r.URL + "/b-1.0.0.tgz\"\n\na@^1:\n" + lines + "\nc@1:\n  version \"1.0.0\"\n")}
	}
	const evil = "https://evil.example/a/-/a-1.0.0.tgz"
	p := NewPolicy()
	for _, name := range []string{"a", "b", "c"} {
		p.Allow(newDependency(NPM, name, "1.0.0"))
	}
	for name, c := range map[string]struct {
		base, tree map[string][]byte
		want       string
	}{
		"npm, with a digest":           {nil, npm(`"resolved":"` + evil + `","integrity":"` + sum + `"`), ""}, // another file fails then
		"npm, without":                 {nil, npm(`"resolved":"` + evil + `"`), "a"},
		"npm, no digest":               {nil, npm(`"resolved":"` + evil + `","integrity":"sha512-x"`), "a"},
		"npm, in other letters":        {nil, npm(`"resolved":"` + evil + `","Integrity":"` + sum + `"`), "a"},
		"npm, of git":                  {nil, npm(`"resolved":"git+ssh://git@evil.example/a.git#0"`), "a"},
		"npm, the registry's":          {nil, npm(`"resolved":"` + r.URL + `/a-1.0.0.tgz"`), ""},
		"npm, the base's":              {npm(`"resolved":"` + evil + `"`), npm(`"resolved":"` + evil + `"`), ""},
		"npm, nowhere":                 {nil, npm(`"integrity":""`), ""},
		"yarn, with a digest":          {nil, yarn("  version \"1.0.0\"\n  resolved \"" + evil + "\"\n  integrity " + sum + "\n"), ""},
		"yarn, with one in its place":  {nil, yarn("  version \"1.0.0\"\n  resolved \"" + evil + "#" + strings.Repeat("a", 40) + "\"\n"), ""},
		"yarn, without":                {nil, yarn("  version \"1.0.0\"\n  resolved \"" + evil + "\"\n"), "a"},
		"yarn, the version at the end": {nil, yarn("  resolved \"" + evil + "\"\n  version \"1.0.0\"\n"), "a"},
		"yarn, twice":                  {nil, yarn("  version \"1.0.0\"\n  resolved \"" + r.URL + "/a-1.0.0.tgz\"\n  resolved \"" + evil + "\"\n"), "a"},
	} {
		out, err := s.FindForeign(t.Context(), c.base, c.tree, p)
		var got []string
		for _, d := range out {
			got = append(got, d.Name)
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// The lock files of Python's tools have a file's address and its digest side by side: a tool takes what
// fits both. What is the registry's by its digest may lie anywhere.
func TestForeignFilesOfPython(t *testing.T) {
	r := pypiRegistry(t, "json", true)
	s := newStore(t, upstreamsAt(PyPI, r.URL+"/simple"))
	sum := fmt.Sprintf("sha256:%x", sha256.Sum256(newWheel(t, "gamma", "1.0", "")))
	own := strings.Repeat("a", 64)
	const mirror, evil = "https://mirror.example/gamma-1.0-py3-none-any.whl", "https://evil.example/gamma-1.0-cp311-cp311-linux_x86_64.whl"
	file := func(at, sum string) string { return fmt.Sprintf(`{url = %q, hash = %q}`, at, sum) }
	uv := func(wheels ...string) [2]string {
		return [2]string{"uv.lock", "version = 1\n[[package]]\nname = \"gamma\"\nversion = \"1.0\"\nsource = {registry = \"https://pypi.org/simple\"}\nwheels = [" + strings.Join(wheels, ", ") + "]\n"}
	}
	entry := func(file, lines string) [2]string {
		return [2]string{file, "[[package]]\nname = \"gamma\"\nversion = \"1.0\"\n" + lines + "\n"}
	}
	p := NewPolicy()
	p.Allow(newDependency(PyPI, "gamma", "1.0"))
	for name, c := range map[string]struct {
		base, tree [2]string
		want       string
	}{
		"uv, at a mirror":              {tree: uv(file(mirror, sum))},
		"uv, a further wheel":          {tree: uv(file(mirror, sum), file(evil, "sha256:"+own)), want: "gamma"},
		"uv, the base's":               {base: uv(file(evil, "sha256:"+own)), tree: uv(file(mirror, sum), file(evil, "sha256:"+own))},
		"uv, no digest":                {tree: uv(`{url = "` + evil + `"}`), want: "gamma"},
		"uv, no digest, the index's":   {tree: uv(`{url = "` + r.URL + `/f/gamma-1.0-py3-none-any.whl"}`)},
		"uv, a weak digest":            {tree: uv(file(evil, "md5:"+own)), want: "gamma"},
		"uv, an archive":               {tree: entry("uv.lock", "sdist = "+file(evil, "sha256:"+own)), want: "gamma"},
		"uv, of git":                   {tree: entry("uv.lock", `source = {git = "https://evil.example/gamma?rev=main#0"}`), want: "gamma"},
		"uv, of an address":            {tree: entry("uv.lock", `source = {url = "`+evil+`"}`), want: "gamma"},
		"uv, of the tree":              {tree: entry("uv.lock", `source = {editable = "parts/gamma"}`)},
		"pdm, of the index":            {tree: entry("pdm.lock", `files = [{file = "gamma-1.0-cp311-cp311-linux_x86_64.whl", hash = "sha256:`+own+`"}]`)}, // the index has no such file
		"pdm, a further wheel":         {tree: entry("pdm.lock", "files = ["+file(evil, "sha256:"+own)+"]"), want: "gamma"},
		"pdm, of git":                  {tree: entry("pdm.lock", `git = "https://evil.example/gamma"`+"\nrevision = \"0\""), want: "gamma"},
		"poetry, of git":               {tree: entry("poetry.lock", "[package.source]\ntype = \"git\"\nurl = \"https://evil.example/gamma\"\nresolved_reference = \"0\""), want: "gamma"},
		"poetry, another commit":       {base: entry("poetry.lock", "[package.source]\ntype = \"git\"\nurl = \"https://code.example/gamma\"\nresolved_reference = \"0\""), tree: entry("poetry.lock", "[package.source]\ntype = \"git\"\nurl = \"https://code.example/gamma\"\nresolved_reference = \"1\""), want: "gamma"},
		"poetry, of the tree":          {tree: entry("poetry.lock", "[package.source]\ntype = \"directory\"\nurl = \"parts/gamma\"")},
		"pylock, a further wheel":      {tree: [2]string{"pylock.toml", "[[packages]]\nname = \"gamma\"\nversion = \"1.0\"\nwheels = [{url = \"" + evil + "\", hashes = {sha256 = \"" + own + "\"}}]\n"}, want: "gamma"},
		"pylock, at a mirror":          {tree: [2]string{"pylock.toml", "[[packages]]\nname = \"gamma\"\nversion = \"1.0\"\nwheels = [{url = \"" + mirror + "\", hashes = {sha256 = \"" + strings.TrimPrefix(sum, "sha256:") + "\"}}]\n"}},
		"pylock, of git":               {tree: [2]string{"pylock.toml", "[[packages]]\nname = \"gamma\"\nvcs = {type = \"git\", url = \"https://evil.example/gamma\", commit-id = \"0\"}\n"}, want: "gamma"},
		"pipenv, of an address":        {tree: [2]string{"Pipfile.lock", `{"default": {"gamma": {"file": "` + evil + `", "File": "", "version": "==1.0"}}}`}, want: "gamma"},
		"pipenv, of the index":         {tree: [2]string{"Pipfile.lock", `{"default": {"gamma": {"hashes": ["sha256:` + own + `"], "version": "==1.0"}}}`}},
		"another version, of the same": {tree: [2]string{"uv.lock", "[[package]]\nname = \"gamma\"\nversion = \"2.0\"\nwheels = [" + file(mirror, sum) + "]\n"}, want: "gamma"},
	} {
		base := map[string][]byte{}
		if c.base[0] != "" {
			base[c.base[0]] = []byte(c.base[1])
		}
		out, err := s.FindForeign(t.Context(), base, map[string][]byte{c.tree[0]: []byte(c.tree[1])}, p)
		var got []string
		for _, d := range out {
			got = append(got, d.Name)
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// What the mirror allows is read from the keys that a tool reads, and from no other.
func TestLockFilesHaveOneSpelling(t *testing.T) {
	for file, text := range map[string]string{
		"uv.lock":      "[[package]]\nname = \"evil\"\nName = \"gamma\"\nversion = \"1.0\"\n",
		"poetry.lock":  "[[package]]\nname = \"gamma\"\nversion = \"6.6\"\nVERSION = \"1.0\"\n",
		"pdm.lock":     "[[package]]\nname = \"evil\"\nversion = \"2.0\"\n\"ver\u017Fion\" = \"1.0\"\n",
		"pylock.toml":  "[[packages]]\nname = \"gamma\"\nversion = \"1.0\"\n[[Packages]]\nname = \"gamma\"\nversion = \"1.0\"\n",
		"Cargo.lock":   "[[package]]\nname = \"gamma\"\nversion = \"6.6\"\nVersion = \"1.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n",
		"Pipfile.lock": `{"default": {"gamma": {"version": "==6.6", "Version": "==1.0"}}}`,
	} {
		all, _ := ParseLocks(map[string][]byte{file: []byte(text)})
		if slices.ContainsFunc(all, func(d company.Dependency) bool { return d.Version == "1.0" }) {
			t.Errorf("%s: %v", file, all)
		}
	}
}
