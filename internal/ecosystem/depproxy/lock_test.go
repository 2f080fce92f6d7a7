package depproxy

import (
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lib/hosttest"
)

func TestParseLocks(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"go.sum", "golang.org/x/mod v0.41.0 h1:x=\ngolang.org/x/mod v0.41.0/go.mod h1:y=\nbad line\n../x v1.0.0 h1:z=\n",
			"go golang.org/x/mod@v0.41.0"},
		{"a/go.mod", "module x\ngo 1.24\nrequire golang.org/x/mod v0.41.0\nreplace a.b/c => d.e/f v1.0.0\nreplace g.h/i => " +
			"../i\n", "go d.e/f@v1.0.0, go golang.org/x/mod@v0.41.0"},
		{"package-lock.json",
			`{"lockfileVersion":3,"packages":{"":{"name":"p","version":"1.0.0"},"node_modules/a":{"version":"1.0.0"},"node_modules/a/node_modules/@s/b":{"version":"2.0.0"},"packages/w":{"name":"w"},"node_modules/w":{"link":true},"node_modules/alias":{"name":"real","version":"3.0.0"}}}`,
			"npm @s/b@2.0.0, npm a@1.0.0, npm real@3.0.0"},
		{"npm-shrinkwrap.json",
			`{"lockfileVersion":1,"dependencies":{"a":{"version":"1.0.0","dependencies":{"b":{"version":"2.0.0"}}},"c":{"version":"1.0.0","dependencies":{"b":{"version":"3.0.0"}}},"x":{"version":"npm:real@4.0.0"},"g":{"version":"git+ssh://x"}}}`,
			"npm a@1.0.0, npm b@2.0.0, npm b@3.0.0, npm c@1.0.0, npm real@4.0.0"},
		{"yarn.lock", "# yarn lockfile v1\n\na@^1.0.0, a@^1.1.0:\n  version \"1.1.0\"\n\n\"@s/b@^2\":\n  version " +
			"\"2.0.0\"\n  dependencies:\n    version \"9.9.9\"\n", "npm @s/b@2.0.0, npm a@1.1.0"},
		{"x/yarn.lock", "__metadata:\n  version: 6\n\n\"a@npm:^1.0.0\":\n  version: 1.1.0\n\n\"alias@npm:real@^2\":\n  " +
			"version: 2.0.0\n\n\"me@workspace:.\":\n  version: 0.0.0\n", "npm a@1.1.0, npm real@2.0.0"},
		{"pnpm-lock.yaml", "lockfileVersion: '9.0'\nimporters:\n  .:\n    x: 1\npackages:\n\n  '@s/b@2.0.0':\n    " +
			"resolution: {}\n  a@1.0.0:\n    resolution: {}\nsnapshots:\n  zz@1.0.0: {}\n", "npm @s/b@2.0.0, npm a@1.0.0"},
		{"Cargo.lock", "version = 3\n[[package]]\nname = \"me\"\nversion = \"0.1.0\"\n[[package]]\nname = " +
			"\"serde\"\nversion = \"1.0.0\"\nsource = \"registry+https://x\"\n[[package]]\nname = \"g\"\nversion = " +
			"\"1.0.0\"\nsource = \"git+https://x\"\n", "crates serde@1.0.0"},
		{"poetry.lock", "[[package]]\nname = \"requests\"\nversion = \"2.0.0\"\n", "pypi requests@2.0.0"},
		{"uv.lock", "[[package]]\nname = \"me\"\nversion = \"0\"\nsource = { editable = \".\" }\n[[package]]\nname = " +
			"\"six\"\nversion = \"1.16.0\"\nsource = { registry = \"https://x\" }\n", "pypi six@1.16.0"},
		{"Pipfile.lock", `{"_meta":{},"default":{"six":{"version":"==1.16.0"}},"develop":{"pytest":{"version":"==8.0.0"}}}`,
			"pypi pytest@8.0.0, pypi six@1.16.0"},
		{"requirements-dev.txt",
			"-r base.txt\n--index-url https://evil\nsix==1.16.0 \\\n  --hash=sha256:abc\nDjango>=4 ; python_version > '3' # " +
				"c\nx @ https://evil/x.whl\nhttps://evil/y.whl\n./local\n\nzope.interface[test]==6.0\n# c\n",
			"pypi Django, pypi six@1.16.0, pypi zope.interface@6.0"},
		{"requirements/dev.txt", "six\n", "pypi six"},
		{"pyproject.toml",
			"[build-system]\nrequires=['hatchling']\n[project]\nname='x'\ndependencies=['httpx>=0.2']\n[project.optional-dependencies]\ndev=['pytest==8.0.0']\n[tool.poetry.dependencies]\npython='^3'\nrich='*'\n", "pypi hatchling, pypi httpx, pypi pytest@8.0.0, pypi rich"},
		{"README.md", "go.sum", ""},
	} {
		all, notes := ParseLocks(map[string][]byte{c.file: []byte(c.text)})
		var got []string
		for _, d := range all {
			got = append(got, d.String())
		}
		if s := strings.Join(got, ", "); s != c.want || len(notes) > 0 {
			t.Errorf("%s:\n%s, want\n%s (%v)", c.file, s, c.want, notes)
		}
	}
}

// A lock file that is none allows nothing and says so; a huge one is not read.
func TestMalformedLocks(t *testing.T) {
	deep := strings.Repeat(`{"dependencies":{"a":`, 20_000)
	for file, text := range map[string]string{
		"go.mod": "module \x00", "package-lock.json": "[1,2", "Cargo.lock": "= =", "pyproject.toml": "[", "Pipfile.lock": "3",
		"a/package-lock.json": deep, "uv.lock": "package = 3",
	} {
		p, notes := LockedPolicy(map[string][]byte{file: []byte(text)})
		if p.CountNames("") != 0 || len(notes) != 1 || !strings.Contains(notes[0], file) {
			t.Errorf("%s: %d names, %q", file, p.CountNames(""), notes)
		}
	}
	p, notes := LockedPolicy(map[string][]byte{"go.sum": make([]byte, MaxLockFile+1)})
	if p.CountNames("") != 0 || len(notes) != 1 {
		t.Errorf("%d names, %q", p.CountNames(""), notes)
	}
	for file, text := range map[string]string{
		"go.sum": "\x00 \x00 \x00\n", "requirements.txt": "-e git+https://x\n\xff\xfe==1\n",
		"yarn.lock": "::::\n  version x\n", "pnpm-lock.yaml": "packages:\n  ':':\n",
		"package-lock.json": `{"packages":{"node_modules/":{"version":"1.0.0"},"node_modules/../../x":{"version":"1.0.0"},"node_modules/a":{"version":"latest"}}}`,
	} {
		if p, _ := LockedPolicy(map[string][]byte{file: []byte(text)}); p.CountNames("") != 0 {
			t.Errorf("%s allows something", file)
		}
	}
}

func FuzzLocks(f *testing.F) {
	f.Add("go.sum", []byte("a v1 x"))
	f.Add("package-lock.json", []byte(`{"packages":{}}`))
	f.Add("yarn.lock", []byte("a@1:\n  version \"1\""))
	f.Add("requirements.txt", []byte("a==1"))
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		all, _ := ParseLocks(map[string][]byte{name: text})
		for _, d := range all {
			if CheckName(d) != nil {
				t.Errorf("%q is in a list", d)
			}
		}
	})
}

// What a tree may hold beyond its base: what was added, and what that needs.
func TestUnrequested(t *testing.T) {
	r := npmRegistry(t)
	s := newStore(t, upstreamsAt(NPM, r.URL))
	lock := func(names ...string) map[string][]byte {
		var rows []string
		for _, n := range names {
			rows = append(rows, `"node_modules/`+n+`":{"version":"1.0.0"}`)
		}
		return map[string][]byte{"package-lock.json": []byte(`{"packages":{` + strings.Join(rows, ",") + `}}`)}
	}
	check := func(what string, want []string, base map[string][]byte, added []company.Dependency, tree map[string][]byte) {
		t.Helper()
		out, p, err := s.Unrequested(t.Context(), base, added, tree)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range out {
			if p.Has(d.Ecosystem, d.Name) && d.Name != "a" {
				t.Errorf("%s: %s is outside, and may be fetched", what, d)
			}
			got = append(got, d.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	a := []company.Dependency{newDependency(NPM, "a", "1.0.0")}
	check("nothing new", nil, lock("c"), nil, lock("c"))
	if len(r.requests()) > 0 {
		t.Errorf("asked for %q", r.requests())
	}
	check("one that nobody added", []string{"b"}, lock("c"), nil, lock("b", "c"))
	check("added, with what it needs", nil, lock("c"), a, lock("a", "b", "c"))
	check("added, and one beside it", []string{"c"}, nil, a, lock("a", "b", "c"))
	check("another version", []string{"a"}, nil, []company.Dependency{newDependency(NPM, "a", "2.0.0")}, lock("a"))
	r.Close()
	if _, _, err := newStore(t, upstreamsAt(NPM, r.URL)).Unrequested(t.Context(), nil, a, lock("a", "b")); company.CodeOf(
		err) != company.ERegistry {
		t.Errorf("with the registry away: %v", err)
	}
}

func TestResolve(t *testing.T) {
	npm, crates, py := npmRegistry(t), crateRegistry(t), pypiRegistry(t, "json", true)
	gop := goRegistry(t)
	s := newStore(t, Upstreams{Registries: map[string]ecosystem.Upstream{
		NPM:    ecosystem.At(ecosystem.Endpoint{URL: npm.URL}),
		Crates: ecosystem.At(ecosystem.Endpoint{URL: crates.URL + "/index"}),
		PyPI:   ecosystem.At(ecosystem.Endpoint{URL: py.URL + "/simple"}), Go: ecosystem.At(ecosystem.Endpoint{URL: gop.URL}),
	}})
	for _, c := range []struct {
		d    company.Dependency
		want string
		code company.Code
	}{
		{newDependency(NPM, "a", ""), "1.0.0", ""}, {newDependency(NPM, "a", "1.0.0"), "1.0.0", ""},
		{newDependency(NPM, "a", "1.0.1"), "", company.ENotFound}, {newDependency(NPM, "nobody", ""), "", company.ENotFound},
		{newDependency(NPM, "../a", ""), "", company.EInvalid},
		{newDependency(Crates, "left_one", ""), "1.2.0", ""}, {newDependency(PyPI, "Alpha", ""), "2.0", ""},
		{newDependency(PyPI, "alpha", "1.0"), "1.0", ""},
		{newDependency(Go, "example.com/m", ""), "v1.10.0", ""}, {newDependency(Go, "example.com/m", "v1.2.0"), "v1.2.0", ""},
		{newDependency(Go, "example.com/m", "v1.0.0-20200101000000-abcdefabcdef"), "", company.ENotFound},
		{newDependency(Go, "example.com/pseudo", ""), "v0.0.0-20200101000000-abcdefabcdef", ""},
		{newDependency(Go, "example.com/none", ""), "", company.ENotFound},
		{newDependency("gem", "rails", ""), "", company.EInvalid},
	} {
		got, err := s.Resolve(t.Context(), c.d)
		if company.CodeOf(err) != c.code || err == nil && got.Version != c.want {
			t.Errorf("%s: %s %v", c.d, got, err)
		}
	}
	if _, err := newStore(t, Upstreams{}).Resolve(t.Context(), newDependency(NPM, "a", "")); company.CodeOf(
		err) != company.EInvalid {
		t.Errorf("without a registry: %v", err)
	}
}

// As many lines as a lock file can have cost no more than what they name.
func TestRepeatedLockEntriesAreCheap(t *testing.T) {
	hosttest.NotRaced(t, "one goroutine parses")
	all, notes := ParseLocks(map[string][]byte{
		"requirements.txt":   []byte(strings.Repeat("a\n", 1<<17)),
		"x/requirements.txt": []byte(strings.Repeat("A==1.0\na\n", 1<<15)),
	})
	if len(all) != 2 || len(notes) != 0 {
		t.Errorf("%v %q", all, notes)
	}
}
