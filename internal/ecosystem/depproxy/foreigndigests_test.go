package depproxy

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"

	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

// A digest chooses among the files that all indexes have of a version: a new one of the base's version must be the
// registry's, and then the base's own ones as well, unless the version was asked for.
func TestForeignDigests(t *testing.T) {
	r := pypiRegistry(t, "json", true)
	s := newStore(t, upstreamsAt(PyPI, r.URL+"/simple"))
	public := fmt.Sprintf("sha256:%x", sha256.Sum256(newWheel(t, "gamma", "1.0", "")))
	own, other := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64)
	list := func(end string, digests ...string) func(string) string {
		return func(version string) string {
			return "--extra-index-url https://corp.example/simple\ngamma==" + version +
				strings.TrimSuffix(" --hash="+strings.Join(digests, " --hash="), " --hash=") + end
		}
	}
	files := func(format string) func(...string) string {
		return func(digests ...string) string {
			var all []string
			for _, sum := range digests {
				all = append(all, fmt.Sprintf(format, sum))
			}
			return strings.Join(all, ", ")
		}
	}
	inList, inJSON := files(`{ file = "x.whl", hash = %q }`), files("%q")
	inPylock := func(digests ...string) string {
		return strings.ReplaceAll(files(`{ name = "x.whl", hashes = { sha256 = %q } }`)(digests...), `"sha256:`, `"`)
	}
	kinds := map[string]func(version string, digests ...string) string{
		"requirements.txt": func(version string, digests ...string) string { return list("\n", digests...)(version) },
		"poetry.lock": func(version string, digests ...string) string {
			return "[[package]]\nname = \"gamma\"\nversion = \"" + version + "\"\nfiles = [" + inList(digests...) + "]\n"
		},
		"a/poetry.lock": func(version string, digests ...string) string {
			return "[[package]]\nname = \"gamma\"\nversion = \"" + version + "\"\n[metadata.files]\ngamma = [" +
				inList(digests...) + "]\n"
		},
		"pdm.lock": func(version string, digests ...string) string {
			return "[[package]]\nname = \"Gamma\"\nversion = \"" + version + "\"\nfiles = [" + inList(digests...) + "]\n"
		},
		"a/pdm.lock": func(version string, digests ...string) string {
			return "[[package]]\nname = \"gamma\"\nversion = \"" + version + "\"\n[metadata.files]\n\"gamma " + version +
				"\" = [" + inList(digests...) + "]\n"
		},
		"pylock.toml": func(version string, digests ...string) string {
			return "[[packages]]\nname = \"gamma\"\nversion = \"" + version + "\"\nwheels = [" + inPylock(digests...) + "]\n"
		},
		"Pipfile.lock": func(version string, digests ...string) string {
			return `{"default": {"gamma": {"hashes": [` + inJSON(digests...) + `], "version": "==` + version + `"}}}`
		},
	}
	for name, c := range map[string]struct {
		base, tree  []string // digests
		was, is     string   // versions
		asked, want bool
	}{
		"the base's":                       {[]string{own}, []string{own}, "1.0", "1.0", false, false},
		"one of the base's":                {[]string{own, other}, []string{own}, "1.0", "1.0", false, false},
		"of another file of the index":     {[]string{own}, []string{other}, "1.0", "1.0", false, true},
		"of a stranger's on the registry":  {[]string{own}, []string{public}, "1.0", "1.0", false, true},
		"a stranger's beside the base's":   {[]string{own}, []string{own, public}, "1.0", "1.0", false, true},
		"beside the registry's":            {[]string{public}, []string{public, other}, "1.0", "1.0", false, true},
		"in another spelling":              {[]string{own}, []string{public}, "1.0", "1.0.0", false, true},
		"none any more":                    {[]string{own}, nil, "1.0", "1.0", false, true},
		"none before":                      {nil, []string{public}, "1.0", "1.0", false, false},
		"none before, of another file":     {nil, []string{own}, "1.0", "1.0", false, true},
		"none at all":                      {nil, nil, "1.0", "1.0", false, false},
		"of another version":               {[]string{own}, []string{other}, "0.9", "1.0", false, false},
		"asked for":                        {[]string{own}, []string{public}, "0.9", "1.0", true, false},
		"asked for in place of the base's": {[]string{own}, []string{public}, "1.0", "1.0", true, false},
		"asked for, of another file":       {[]string{own}, []string{other}, "1.0", "1.0", true, true},
		"none of another version":          {[]string{own}, nil, "0.9", "1.0", false, true},
	} {
		for file, format := range kinds {
			base := map[string][]byte{file: []byte(format(c.was, c.base...))}
			tree := map[string][]byte{file: []byte(format(c.is, c.tree...))}
			p := NewPolicy()
			if p.Allow(newDependency(PyPI, "gamma", "1.0")); c.asked {
				p.allowAsked(newDependency(PyPI, "gamma", "1.0"))
			}
			if odd := FindUnreadable(base, tree); len(odd) > 0 {
				t.Errorf("%s, %s: %+v", file, name, odd)
			}
			found, err := s.FindForeign(t.Context(), base, tree, p)
			if err != nil || (len(found) == 1) != c.want || len(found) > 1 {
				t.Errorf("%s, %s: %v, %v", file, name, found, err)
			}
			if len(found) > 0 && found[0].Version != c.is {
				t.Errorf("%s, %s: the version %s", file, name, found[0].Version)
			}
		}
	}
}

// moduleRegistry is a proxy of Go modules that has one version of example.com/a and of example.com/b.
func moduleRegistry(t *testing.T) (registry *fakeRegistry, zipSum, modSum string) {
	text := func(name string) string { return "module " + name + "\n" }
	files := map[string]string{}
	for _, name := range []string{"example.com/a", "example.com/b"} {
		files["/"+name+"/@v/v1.0.0.mod"] = text(name)
		files["/"+name+"/@v/v1.0.0.zip"] = string(ecosystemtest.Zip(t, [2]string{name + "@v1.0.0/go.mod", text(name)}))
	}
	registry = newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		if files[q.URL.Path] == "" {
			http.NotFound(w, q)
			return
		}
		_, _ = w.Write([]byte(files[q.URL.Path]))
	})
	hash := func(name string) string {
		sum, err := dirhash.Hash1([]string{name}, func(string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(text("example.com/b"))), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	return registry, hash("example.com/b@v1.0.0/go.mod"), hash("go.mod")
}

// A digest of a version that the base has stays as it is, in the lock file of each client: archives and registries of
// the tree have other files, and this digest alone tells. That of another version is the registry's, where it has it.
func TestExchangedDigests(t *testing.T) {
	modules, zipSum, modSum := moduleRegistry(t)
	index := newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != "/1/b" {
			http.NotFound(w, q)
			return
		}
		_, _ = fmt.Fprint(w, `{"name":"b","vers":"1.0.0","deps":[],"cksum":"0b"}`)
	})
	packages := newFakeRegistry(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `{"name":"b","versions":{"1.0.0":{"name":"b","version":"1.0.0","dist":{}}}}`)
	})
	s := newStore(t, Upstreams{Registries: map[string]ecosystem.Upstream{
		Go: ecosystem.At(ecosystem.Endpoint{URL: modules.URL}), Crates: ecosystem.At(ecosystem.Endpoint{URL: index.URL}),
		NPM: ecosystem.At(ecosystem.Endpoint{URL: packages.URL}),
	}})
	const public, corp = "registry+https://github.com/rust-lang/crates.io-index", "sparse+https://corp.example/"
	of := func(source, name, sum string) string {
		text := "[[package]]\nname = \"" + name + "\"\nversion = \"1.0.0\"\nsource = \"" + source + "\"\n"
		if sum != "" {
			text += "checksum = \"" + sum + "\"\n"
		}
		return text
	}
	crate := func(name, sum string) string { return of(public, name, sum) }
	own := func(name, sum string) string { return of(corp, name, sum) }
	old := func(name, sum string) string {
		return crate(name, "") + "[metadata]\n\"checksum " + name + " 1.0.0 (" + public + ")\" = \"" + sum + "\"\n"
	}
	module := func(name, sum string) string { return "example.com/" + name + " v1.0.0" + sum + "\n" }
	zipB, modB := module("b", " "+zipSum), module("b", "/go.mod "+modSum)
	gems := func(line string) string {
		return "GEM\n  remote: https://rubygems.org/\n  specs:\n    a (1.0)\n    b (1.0-x86_64-linux)\n\n" +
			"PLATFORMS\n  ruby\n\nDEPENDENCIES\n  a\n\nCHECKSUMS\n  " + line + "\n\nBUNDLED WITH\n   2.6.2\n"
	}
	const gem, ofLinux = "a (1.0)", "b (1.0-x86_64-linux)"
	entry := func(request, resolution, lines string) string {
		return "\n\"" + request + "\":\n  version: 1.0.0\n  resolution: \"" + resolution + "\"\n" + lines +
			"  languageName: node\n  linkType: hard\n"
	}
	check := func(sum string) string { return "  checksum: " + sum + "\n" }
	npm := func(name, sum string) string { return entry(name+"@npm:1.0.0", name+"@npm:1.0.0", check(sum)) }
	bare := func(name, lines string) string { return entry(name+"@npm:1.0.0", name+"@npm:1.0.0", lines) }
	const patch, conditions = "a@patch:a@npm%3A1.0.0#./a.patch", "  conditions: os=darwin\n"
	patched := func(hash, sum string) string {
		return entry(patch, patch+"::version=1.0.0&hash="+hash, check(sum))
	}
	file := func(key string, entries ...string) string {
		return "__metadata:\n  version: 8\n  cacheKey: " + key + "\n" + strings.Join(entries, "")
	}
	yarn := func(entries ...string) string { return file("10c0", entries...) }
	yarn3 := func(entries ...string) string { return file("8", entries...) }
	a := npm("a", "10c0/0a")
	for name, c := range map[string]struct{ file, base, tree, want string }{
		"cargo, the base's":       {"Cargo.lock", crate("a", "0a"), crate("a", "0a"), ""},
		"cargo, another one":      {"Cargo.lock", crate("a", "0a"), crate("a", "ee"), "a@1.0.0"},
		"cargo, none any more":    {"Cargo.lock", crate("a", "0a"), crate("a", ""), "a@1.0.0"},
		"cargo, none before":      {"Cargo.lock", crate("a", ""), crate("a", ""), ""},
		"cargo, added":            {"Cargo.lock", "", crate("b", "0b"), ""},
		"cargo, added, another":   {"Cargo.lock", "", crate("b", "ee"), "b@1.0.0"},
		"cargo, of another index": {"Cargo.lock", own("a", "0a"), own("a", "ee"), "a@1.0.0"},
		"cargo, further there":    {"Cargo.lock", own("a", "0a"), own("b", "ee"), ""},
		"cargo, of long ago":      {"Cargo.lock", old("a", "0a"), old("a", "ee"), "a@1.0.0"},
		"cargo, into the new one": {"Cargo.lock", old("a", "0a"), crate("a", "0a"), ""},

		"go, the base's":           {"go.sum", module("a", " h1:a="), module("a", " h1:a="), ""},
		"go, another one":          {"go.sum", module("a", " h1:a="), module("a", " h1:e="), "example.com/a@v1.0.0"},
		"go, a second one":         {"go.sum", zipB, zipB + module("b", " h1:e="), "example.com/b@v1.0.0"},
		"go, another go.mod":       {"a/go.sum", modB, module("b", "/go.mod h1:e="), "example.com/b@v1.0.0"},
		"go, of a workspace":       {"go.work.sum", zipB, module("b", " h1:e="), "example.com/b@v1.0.0"},
		"go, added":                {"go.sum", "", zipB + modB, ""},
		"go, its files as well":    {"go.sum", modB, zipB + modB, ""},
		"go, added, another":       {"go.sum", modB, module("b", " h1:e=") + modB, "example.com/b@v1.0.0"},
		"go, added, its go.mod":    {"go.sum", zipB, zipB + module("b", "/go.mod h1:e="), "example.com/b@v1.0.0"},
		"go, the one of the other": {"go.sum", "", module("b", " "+modSum), "example.com/b@v1.0.0"},

		"bundler, the base's":      {"Gemfile.lock", gems(gem + " sha256=0a"), gems(gem + " sha256=0a"), ""},
		"bundler, another one":     {"Gemfile.lock", gems(gem + " sha256=0a"), gems(gem + " sha256=ee"), "a@1.0"},
		"bundler, a second one":    {"Gemfile.lock", gems(gem + " sha256=0a"), gems(gem + " sha256=0a,sha512=ee"), "a@1.0"},
		"bundler, of another kind": {"Gemfile.lock", gems(gem + " sha256=0a"), gems(gem + " sha512=ee"), "a@1.0"},
		"bundler, none any more":   {"Gemfile.lock", gems(gem + " sha256=0a"), gems(gem), "a@1.0"},
		"bundler, of one system": {"Gemfile.lock", gems(ofLinux + " sha256=0a"), gems(ofLinux + " sha256=ee"),
			"b@1.0-x86_64-linux"},
		"bundler, none before":     {"Gemfile.lock", gems(gem), gems(gem + " sha256=0a"), ""},
		"bundler, in another form": {"Gemfile.lock", gems(gem), gems(gem + "  sha256=ee"), "Gemfile.lock"},

		"yarn 4, the base's":   {"yarn.lock", yarn(a), yarn(a), ""},
		"yarn 4, another one":  {"yarn.lock", yarn(a), yarn(npm("a", "10c0/ee")), "a@1.0.0"},
		"yarn 4, in a folder":  {"a/yarn.lock", yarn(a), yarn(npm("a", "10c0/ee")), "a@1.0.0"},
		"yarn 3, another one":  {"yarn.lock", yarn3(npm("a", "0a")), yarn3(npm("a", "ee")), "a@1.0.0"},
		"yarn 4, after yarn 3": {"yarn.lock", yarn3(npm("a", "0a")), yarn(npm("a", "10c0/ee")), ""},
		"yarn, one package's key": {"yarn.lock", yarn(a, npm("b", "0b")),
			yarn(npm("a", "9/ee"), npm("b", "0b")), "a@1.0.0"},
		"yarn, the file's key": {"yarn.lock", yarn3(npm("a", "0a"), npm("b", "0b")),
			yarn(npm("a", "ee"), npm("b", "8/0b")), "a@1.0.0"},
		"yarn, added":                {"yarn.lock", yarn(a), yarn(a, npm("b", "10c0/ee")), ""},
		"yarn, none any more":        {"yarn.lock", yarn(a), yarn(bare("a", "")), "a@1.0.0"},
		"yarn, for one system":       {"yarn.lock", yarn(a), yarn(bare("a", conditions)), "a@1.0.0"},
		"yarn, added for one system": {"yarn.lock", yarn(a), yarn(a, bare("b", conditions)), ""},
		"yarn, another patch":        {"yarn.lock", yarn(a, patched("0a", "0b")), yarn(a, patched("ee", "ee")), ""},
		"yarn, of the same patch": {"yarn.lock", yarn(a, patched("0a", "0b")), yarn(a, patched("0a", "ee")),
			patch + "::version=1.0.0&hash=0a"},
	} {
		base, tree := map[string][]byte{}, map[string][]byte{c.file: []byte(c.tree)}
		if c.base != "" {
			base[c.file] = []byte(c.base)
		}
		policy, _ := LockedPolicy(tree)
		var got []string
		for _, odd := range FindUnreadable(base, tree) {
			got = append(got, odd.File)
		}
		if found, err := s.FindForeign(t.Context(), base, tree, policy); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if len(found) > 0 && len(got) == 0 {
			_, text, _ := strings.Cut(found[0].String(), " ")
			got = append(got, text)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if asked := strings.Join(append(modules.requests(), index.requests()...), " "); strings.Contains(asked, "/a") {
		t.Errorf("a registry was asked for a version of the base: %s", asked)
	}
}

// pip reads the options of a requirement as a shell does, and passes over some: a line with others than plain digests
// is the base's, and so are its digests.
func TestOptionsOfRequirements(t *testing.T) {
	r := pypiRegistry(t, "json", true)
	s := newStore(t, upstreamsAt(PyPI, r.URL+"/simple"))
	public := fmt.Sprintf("sha256:%x", sha256.Sum256(newWheel(t, "gamma", "1.0", "")))
	own := "sha256:" + strings.Repeat("a", 64)
	p := NewPolicy()
	p.Allow(newDependency(PyPI, "gamma", "1.0"))
	for name, c := range map[string]struct {
		was, is string
		want    bool
	}{
		"in quotes, beside the base's":      {`--hash=` + own, `--hash=` + own + ` "--hash=` + public + `"`, true},
		"in quotes, the base's in another":  {`--hash=` + own, `-f " --hash=` + own + ` " "--hash=` + public + `"`, true},
		"a quote within":                    {`--hash=` + own, `--hash=` + own + ` --h'a'sh=` + public, true},
		"a backslash before":                {`--hash=` + own, `--hash=` + own + ` \--hash=` + public, true},
		"a backslash within the first sign": {`--hash=` + own, `--hash=` + own + ` -\-hash=` + public, true},
		"an option of builds":               {`--hash=` + public, `--hash=` + public + ` --config-settings x=y`, true},
		"as the base has it":                {`"--hash=` + own + `" -f x`, `"--hash=` + own + `" -f x`, false},
		"plain, for the base's in quotes":   {`--hash="` + own + `"`, `--hash=` + public, true},
	} {
		const head = "--extra-index-url https://corp.example/simple\ngamma==1.0 "
		base := map[string][]byte{"requirements.txt": []byte(head + c.was + "\n")}
		tree := map[string][]byte{"requirements.txt": []byte("# x\n" + head + c.is + "\n")}
		found, err := s.FindForeign(t.Context(), base, tree, p)
		if odd := FindUnreadable(base, tree); err != nil || (len(odd)+len(found) > 0) != c.want {
			t.Errorf("%s: %+v, %v, %v", name, odd, found, err)
		}
	}
}

// A package without a digest is none of a file whose packages all have them. It may be in another list, or in one
// that has such packages; folders have none.
func TestPackagesWithoutDigests(t *testing.T) {
	r := pypiRegistry(t, "json", true)
	s := newStore(t, upstreamsAt(PyPI, r.URL+"/simple"))
	p := NewPolicy()
	p.Allow(newDependency(PyPI, "gamma", "1.0"))
	const hashed, poetry = "delta==1.0 --hash=sha256:00\n",
		"[[package]]\nname = \"delta\"\nversion = \"1.0\"\nfiles = [{ file = \"x\", hash = \"sha256:00\" }]\n"
	const own = "[[package]]\nname = \"gamma\"\nversion = \"1.0\"\nfiles = []\n"
	for name, c := range map[string]struct {
		file, base, further string
		want                bool
	}{
		"a list with digests":        {"requirements.txt", hashed, "gamma==1.0\n", true},
		"a list with some":           {"requirements.txt", hashed + "eps==1.0\n", "gamma==1.0\n", false},
		"a list with any version":    {"requirements.txt", hashed + "eps\n", "gamma==1.0\n", false},
		"a list with another marker": {"requirements.txt", hashed + "eps==1.0\n", "delta==1.0 ; os_name == 'nt'\n", false},
		"a lock file with digests":   {"poetry.lock", poetry, own, true},
		"a folder": {"poetry.lock", poetry,
			own + "[package.source]\ntype = \"directory\"\nurl = \"parts\"\n", false},
	} {
		base := map[string][]byte{c.file: []byte(c.base)}
		for file, want := range map[string]bool{c.file: c.want, "docs/" + c.file: false} {
			tree := map[string][]byte{c.file: base[c.file], file: []byte(c.base + c.further)}
			if found, err := s.FindForeign(t.Context(), base, tree, p); err != nil || (len(found) > 0) != want {
				t.Errorf("%s, %s: %v, %v", name, file, found, err)
			}
		}
	}
}

// pdm compares no digest of an archive: it must be at an address of the registry.
func TestArchivesOfPylock(t *testing.T) {
	r := pypiRegistry(t, "json", true)
	s := newStore(t, upstreamsAt(PyPI, r.URL+"/simple"))
	sum := fmt.Sprintf("%x", sha256.Sum256(newWheel(t, "gamma", "1.0", "")))
	p := NewPolicy()
	p.Allow(newDependency(PyPI, "gamma", "1.0"))
	pylock := func(field, place string) map[string][]byte {
		return map[string][]byte{"pylock.toml": []byte(
			"[[packages]]\nname = \"gamma\"\nversion = \"1.0\"\n" + field + ", hashes = { sha256 = \"" + sum + "\" } " +
				place + "\n")}
	}
	const evil = "https://evil.example/gamma-1.0-py3-none-any.whl"
	for name, c := range map[string]struct {
		tree map[string][]byte
		want bool
	}{
		"an archive elsewhere":   {pylock(`archive = { url = "`+evil+`"`, "}"), true},
		"an archive of the tree": {pylock(`archive = { path = "parts/gamma.whl"`, "}"), true},
		"the registry's archive": {pylock(`archive = { url = "`+r.URL+`/f/gamma-1.0-py3-none-any.whl"`, "}"), false},
		"a wheel elsewhere":      {pylock(`wheels = [{ url = "`+evil+`"`, "}]"), false},
	} {
		found, err := s.FindForeign(t.Context(), nil, c.tree, p)
		if err != nil || (len(found) > 0) != c.want {
			t.Errorf("%s: %v, %v", name, found, err)
		}
		if found, err = s.FindForeign(t.Context(), c.tree, c.tree, p); err != nil || len(found) > 0 {
			t.Errorf("%s, as the base has it: %v, %v", name, found, err)
		}
	}
}
