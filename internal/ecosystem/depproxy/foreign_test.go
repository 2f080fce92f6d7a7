package depproxy

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
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
		return fmt.Sprintf(`{"name":%q,"version":"1.0.0","dist":{"type":"zip",%s},"source":{"type":"git",%s}}`, name,
			dist, source)
	}
	const dist, source = `"url":"https://code.example/left.zip","reference":"` + commit +
		`","shasum":""`, `"url":"https://code.example/left.git","reference":"` + commit + `"`
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
		"another digest": {entry("acme/left", strings.Replace(dist, `"shasum":""`, `"shasum":"`+commit+`"`, 1), source),
			"acme/left"},
		"another commit": {entry("acme/left", strings.ReplaceAll(dist, "aa", "bb"), source),
			"acme/left"},
		"a mirror": {entry(
			"acme/left", dist+`,"mirrors":[{"url":"https://evil.example/%package%","preferred":true}]`, source), "acme/left"},
		"twice": {entry("acme/left", dist, source) + "," +
			entry("acme/left", evil.Replace(dist), source), "acme/left"},
		"in other letters": {entry(
			"acme/left", evil.Replace(dist)+`,"URL":"https://code.example/left.zip"`, source), "acme/left"},
		"a list beside": {entry("acme/left", evil.Replace(dist), source) + `],"Packages":[` +
			entry("acme/left", dist, source), "acme/left"},
		"added":            {entry("acme/added", dist, source), ""},
		"added, elsewhere": {entry("acme/added", evil.Replace(dist), source), "acme/added"},
		"of git":           {`{"name":"acme/hush","version":"dev-main","source":{"type":"git","url":"https://evil.example/x.git","reference":"` + commit + `"}}`, "acme/hush"},
		"another program": {strings.Replace(
			entry("acme/left", dist, source), `"version"`, `"bin":["tests/phpunit"],"version"`, 1), "acme/left"},
		"another file that is loaded": {strings.Replace(
			entry("acme/left", dist, source), `"version"`, `"autoload":{"files":["tests/x.php"]},"version"`, 1), "acme/left"},
		"a plugin": {strings.Replace(
			entry("acme/left", dist, source), `"version"`, `"type":"composer-plugin","version"`, 1), "acme/left"},
		"a library by name": {strings.Replace(
			entry("acme/left", dist, source), `"version"`, `"type":"library","bin":[],"autoload":{},"version"`, 1), ""},
		"of the tree": {`{"name":"own/part","version":"1.0.0","dist":{"type":"path","url":"parts/part"}}`, ""},
		"of git, beside a folder of the tree": {`{"name":"own/part","version":"1.0.0","dist":{"type":"path","url":"parts/part"},"source":{"type":"git","url":"https://evil.example/x.git","reference":"` +
			commit + `"}}`, "own/part"},
		"outside of the tree": {`{"name":"own/part","version":"1.0.0","dist":{"type":"path","url":"../part"}}`, "own/part"},
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
	if _, err := newStore(t, upstreamsAt(Packagist, r.URL)).FindForeign(
		t.Context(), nil, lock(entry("acme/left", dist, source)), p); company.CodeOf(err) != company.ERegistry {
		t.Errorf("with the registry away: %v", err)
	}
}

// The clients of npm's packages take what lies at an address of a lock file, with the digest that stands beside it.
func TestForeignAddressesWithoutDigest(t *testing.T) {
	r := npmRegistry(t)
	s := newStore(t, upstreamsAt(NPM, r.URL))
	const evil = "https://evil.example/a/-/a-1.0.0.tgz"
	sum := integrity(npmFile("a", "1.0.0"))
	npm := func(fields string) map[string][]byte {
		if !strings.Contains(fields, `"bin"`) {
			fields = `"bin":{"a":"cli.js"},` + fields // the registry's
		}
		if !strings.Contains(fields, `"integrity"`) && !strings.Contains(fields, evil) {
			fields += `,"integrity":"` + sum + `"`
		}
		return map[string][]byte{"package-lock.json": []byte(
			`{"packages":{"":{},"node_modules/x":{"link":true,"resolved":"x"},"node_modules/a":{"version":"1.0.0",` +
				fields + `}}}`)}
	}
	yarn := func(lines string) map[string][]byte {
		own := "  resolved \"" + r.URL + "/a-1.0.0.tgz\"\n"
		if !strings.Contains(lines, "integrity") {
			lines = strings.Replace(lines, own, own+"  integrity "+sum+"\n", 1)
		}
		other := func(name string) string {
			return name + "@1:\n  version \"1.0.0\"\n  resolved \"" + r.URL + "/" + name + "-1.0.0.tgz\"\n  integrity " +
				integrity(npmFile(name, "1.0.0")) + "\n"
		}
		return map[string][]byte{"yarn.lock": []byte(other("b") + "\na@^1:\n" + lines + "\n" + other("c"))}
	}
	berry := func(resolution string) map[string][]byte {
		return map[string][]byte{"yarn.lock": []byte(
			"__metadata:\n  version: 8\n\n\"a@npm:^1\":\n  version: 1.0.0\n  resolution: \"" + resolution +
				"\"\n  checksum: 10c0/aa\n  bin:\n    a: ./cli.js\n  conditions: os=darwin\n  languageName: node\n  linkType: " +
				"hard\n")}
	}
	withLines := func(files map[string][]byte, more string) map[string][]byte {
		return map[string][]byte{"yarn.lock": bytes.Replace(
			files["yarn.lock"], []byte("  languageName"), []byte(more+"  languageName"), 1)}
	}
	pnpm := func(key, resolution string) map[string][]byte {
		version := "'9.0'"
		if strings.HasPrefix(key, "/") {
			version = "5.4"
		} else if strings.HasPrefix(key, "'/") {
			version = "'6.0'"
		}
		return map[string][]byte{"pnpm-lock.yaml": []byte(
			"lockfileVersion: " + version +
				"\n\nimporters:\n  .:\n    dependencies:\n      a: {specifier: ^1, version: 1.0.0}\n\npackages:\n\n  " + key +
				":\n    resolution: " + resolution + "\n    engines: {node: '>=1'}\n")}
	}
	forged := integrity([]byte("another file"))
	pnpmOf := func(needs, more string) map[string][]byte {
		text := string(pnpm("a@1.0.0", "{integrity: "+sum+"}")["pnpm-lock.yaml"])
		return map[string][]byte{"pnpm-lock.yaml": []byte(
			strings.Replace(text, "\npackages:", needs+"\npackages:", 1) + more)}
	}
	pnpmLong := func(reference, packages string) map[string][]byte {
		name, _, _ := strings.Cut(reference, ":")
		return map[string][]byte{"pnpm-lock.yaml": []byte(
			"lockfileVersion: 5.4\n\nspecifiers:\n  " + name + ": ^1\n\ndependencies:\n  " + reference +
				"\n\npackages:\n\n" + packages)}
	}
	const unreadable = "it cannot be judged"
	first, second := strings.Repeat("a", 40), strings.Repeat("b", 40)
	shasum := fmt.Sprintf("%x", sha1.Sum(npmFile("a", "1.0.0")))
	sumOfFirst := "sha1-" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0xaa}, 20))
	p := NewPolicy()
	for _, name := range []string{"a", "b", "c"} {
		p.Allow(newDependency(NPM, name, "1.0.0"))
	}
	for name, c := range map[string]struct {
		base, tree map[string][]byte
		want       string
	}{
		// another file fails then
		"npm, with a digest":         {nil, npm(`"resolved":"` + evil + `","integrity":"` + sum + `"`), ""},
		"npm, without":               {nil, npm(`"resolved":"` + evil + `"`), "a"},
		"npm, no digest":             {nil, npm(`"resolved":"` + evil + `","integrity":"sha512-x"`), "a"},
		"npm, in other letters":      {nil, npm(`"resolved":"` + evil + `","Integrity":"` + sum + `"`), unreadable},
		"npm, of git":                {nil, npm(`"resolved":"git+ssh://git@evil.example/a.git#0"`), "a"},
		"npm, of GitHub":             {nil, npm(`"resolved":"github:evil/a#0"`), "a"},
		"npm, of git by a login":     {nil, npm(`"resolved":"git@evil.example:a.git#0"`), "a"},
		"npm, without slashes":       {nil, npm(`"resolved":"https:evil.example/a.tgz"`), "a"},
		"npm, of the tree":           {nil, npm(`"resolved":"file:parts/a.tgz"`), ""},
		"npm, outside of the tree":   {nil, npm(`"resolved":"file:../../a.tgz"`), "a"},
		"npm, the registry's":        {nil, npm(`"resolved":"` + r.URL + `/a-1.0.0.tgz"`), ""},
		"npm, the base's":            {npm(`"resolved":"` + evil + `"`), npm(`"resolved":"` + evil + `"`), ""},
		"npm, nowhere":               {nil, npm(`"dev":true`), ""},
		"npm, its digest taken away": {nil, npm(`"resolved":"` + r.URL + `/a-1.0.0.tgz","integrity":""`), "a"},
		"npm, the base has none":     {npm(`"integrity":""`), npm(`"integrity":"","dev":true`), ""},
		// npm takes any of the two
		"npm, a digest behind another": {nil,
			npm(`"resolved":"` + r.URL + `/a-1.0.0.tgz","integrity":"` + sum + "?\ufeff" + forged + `"`), "a"},
		"yarn, its digest taken away": {nil,
			yarn("  version \"1.0.0\"\n  integrity  \n  resolved \"" + r.URL + "/a-1.0.0.tgz\"\n"), unreadable},
		"yarn, no digest": {nil, yarn("  version \"1.0.0\"\n  resolved \"" + r.URL + "/./a-1.0.0.tgz\"\n"), "a"},
		"yarn, with a digest": {nil,
			yarn("  version \"1.0.0\"\n  resolved \"" + evil + "\"\n  integrity " + sum + "\n"), ""},
		"yarn, with one in its place": {nil,
			yarn("  version \"1.0.0\"\n  resolved \"" + evil + "#" + strings.Repeat("a", 40) + "\"\n"), "a"},
		// A package for another system is not fetched here, so that no client compares its digest.
		"npm, another file": {nil,
			npm(`"os":["darwin"],"optional":true,"resolved":"` + evil + `","integrity":"` + forged + `"`), "a"},
		"npm, one of two files": {nil,
			npm(`"resolved":"` + evil + `","integrity":"` + sum + " " + forged + `"`), "a"},
		"yarn, another file": {nil,
			yarn("  version \"1.0.0\"\n  resolved \"" + evil + "\"\n  integrity " + forged + "\n"), "a"},
		"berry, the registry's": {nil, berry("a@npm:1.0.0"), ""},
		"berry, another address": {nil,
			berry("a@npm:1.0.0::__archiveUrl=https%3A%2F%2Fevil.example%2Fa.tgz"), "a"},
		"berry, a virtual package": {nil, berry("a@virtual:ff#" + evil), "a"},
		"berry, no registry's":     {nil, berry("a@" + evil), "a"},
		"berry, the base's":        {berry("a@" + evil), berry("a@" + evil), ""},
		"pnpm, the registry's":     {nil, pnpm("a@1.0.0", "{integrity: "+sum+"}"), ""},
		// of a file that its client may have
		"pnpm, another digest": {nil, pnpm("a@1.0.0", "{integrity: "+forged+"}"), "a"},
		"pnpm, the base's digest": {pnpm("a@1.0.0", "{integrity: "+forged+"}"),
			pnpm("a@1.0.0", "{integrity: "+forged+"}"), ""},
		"npm, another digest": {nil,
			npm(`"resolved":"` + r.URL + `/a-1.0.0.tgz","integrity":"` + forged + `"`), "a"},
		"yarn, another digest": {nil,
			yarn("  version \"1.0.0\"\n  resolved \"" + r.URL + "/a-1.0.0.tgz\"\n  integrity " + forged + "\n"), "a"},
		"yarn, the registry's weak digest": {nil,
			yarn("  version \"1.0.0\"\n  resolved \"" + r.URL + "/a-1.0.0.tgz#" + shasum + "\"\n"), ""},
		"yarn, an asked archive of the tree": {nil,
			map[string][]byte{"yarn.lock": []byte(
				"\"a@file:./a.tgz\":\n  version \"1.0.0\"\n  resolved \"file:./a.tgz#" + first + "\"\n")}, ""},
		"yarn, another archive of the tree": {nil,
			map[string][]byte{"yarn.lock": []byte(
				"\"a@file:./a.tgz\", a@^1:\n  version \"1.0.0\"\n  resolved \"file:./a.tgz#" + first + "\"\n")}, "a"},
		"npm, programs of an archive": {nil,
			npm(`"resolved":"file:parts/a.tgz","bin":{"x":"x.js"},"dependencies":{"a":"1"}`), ""},
		"npm, an address in an archive": {nil,
			npm(`"resolved":"file:parts/a.tgz","dependencies":{"a":"https://evil.example/a.tgz"}`), "a"},
		// which npm does not compare
		"yarn, elsewhere, with a weak digest": {nil,
			yarn("  version \"1.0.0\"\n  resolved \"" + evil + "#" + shasum + "\"\n"), "a"},
		"yarn, another weak digest": {yarn("  version \"1.0.0\"\n  resolved \"" + evil + "#" + first + "\"\n"),
			yarn("  version \"1.0.0\"\n  resolved \"" + evil + "#" + second + "\"\n"), "a"},
		"npm, in an archive of the registry": {nil,
			npm(`"inBundle":true,"bin":{},"resolved":"` + r.URL + `/a-1.0.0.tgz"`), "a"},
		"pnpm, the id of another": {nil, pnpmOf("", "\nsnapshots:\n\n  a@1.0.0:\n    id: c@1.0.0\n"), "a@1.0.0"},
		"pnpm, its own id": {nil,
			pnpmOf("", "\nsnapshots:\n\n  a@1.0.0(c@1.0.0):\n    id: a@1.0.0\n"), ""},
		"pnpm, the base's id": {pnpmOf("", "\nsnapshots:\n\n  a@1.0.0:\n    id: c@1.0.0\n"),
			pnpmOf("", "\nsnapshots:\n\n  a@1.0.0:\n    id: c@1.0.0\n"), ""},
		"pnpm, an id of a part": {nil, pnpm("x@file:x", "{directory: x, type: directory}\n    id: c@1.0.0"),
			"x@file:x"},
		"pnpm, the registry's address": {nil,
			pnpm("a@1.0.0", "{integrity: "+sum+", tarball: "+r.URL+"/a-1.0.0.tgz}"), ""},
		"pnpm, its file elsewhere": {nil, pnpm("a@1.0.0", "{integrity: "+sum+", tarball: "+evil+"}"), ""},
		"pnpm, another file": {nil,
			pnpm("'/a@1.0.0'", "{integrity: "+forged+", tarball: "+evil+"}\n    os: [darwin]"), "a"},
		"pnpm, on lines": {nil,
			pnpm("a@1.0.0", "\n      tarball: '"+evil+"'\n      integrity: "+forged), unreadable},
		"pnpm, without a digest": {nil, pnpm("a@1.0.0", "{tarball: "+evil+"}"), "a"},
		"pnpm, a repository": {nil,
			pnpm("a@1.0.0", "{commit: "+strings.Repeat("a", 40)+", repo: https://evil.example/a.git, type: git}"), unreadable},
		"pnpm, an address as key": {nil, pnpm("a@"+evil, "{tarball: "+evil+"}"), "a@" + evil},
		"pnpm, in other quotes":   {nil, pnpm(`"a@1.0.0"`, "{tarball: "+evil+"}"), "a"},
		"pnpm, of the tree":       {nil, pnpm("x@file:x", "{directory: x, type: directory}"), ""},
		"pnpm, a digest in another field": {nil,
			pnpm("a@1.0.0", "{integrity: "+forged+", tarball: "+evil+"}\n    engines: {node: '>=10', integrity: "+sum+"}"),
			unreadable},
		"pnpm, an address with a comma": {nil,
			pnpm("a@1.0.0", "{integrity: "+forged+", tarball: '"+r.URL+"/a-1.0.0.tgz,/../../evil.tgz'}"), "a"},
		"pnpm, of the tree, with an address": {nil,
			pnpm("x@file:x", "{integrity: "+sum+", tarball: "+evil+"}\n    os: [darwin]"), unreadable},
		"pnpm, of the tree, with a repository": {nil,
			pnpm("x@file:x", "{commit: "+strings.Repeat("a", 40)+", repo: https://evil.example/a.git, type: git}"), unreadable},
		"pnpm, an archive of the tree": {nil, pnpm("x@file:x.tgz", "{integrity: "+sum+", tarball: file:x.tgz}"), ""},
		"yarn, an address in capitals": {nil,
			yarn("  version \"1.0.0\"\n  resolved \"HTTPS://evil.example/a.tgz\"\n"), "a"},
		"yarn, an address behind a blank": {nil,
			yarn("  version \"1.0.0\"\n  resolved \" https://evil.example/a.tgz\"\n"), unreadable},
		"pnpm, in one line": {nil,
			map[string][]byte{"pnpm-lock.yaml": []byte("packages: {a@1.0.0: {resolution: {tarball: " + evil + "}}}\n")},
			unreadable},
		"pnpm, the base's": {pnpm("a@"+evil, "{tarball: "+evil+"}"),
			pnpm("a@"+evil, "{tarball: "+evil+"}"), ""},
		"yarn, without": {nil, yarn("  version \"1.0.0\"\n  resolved \"" + evil + "\"\n"), "a"},
		"npm 6, another address": {nil,
			map[string][]byte{"package-lock.json": []byte(
				`{"lockfileVersion":1,"dependencies":{"a":{"version":"1.0.0","resolved":"` + evil + `","integrity":"` + forged +
					`"}}}`)}, "a"},
		"npm 6, of git": {nil,
			map[string][]byte{"package-lock.json": []byte(
				`{"lockfileVersion":1,"dependencies":{"a":{"version":"git+ssh://git@evil.example/a.git#0"}}}`)}, unreadable},
		"yarn, a workspace, which it has not": {nil,
			map[string][]byte{"yarn.lock": []byte(
				"a@^1, \"a@workspace:x\":\n  version \"1.0.0\"\n  resolved \"" + evil + "\"\n  integrity " + forged + "\n")}, "a"},
		"yarn, another commit": {yarn(
			"  version \"1.0.0\"\n  resolved \"git+https://evil.example/a.git#" + first + "\"\n"),
			yarn("  version \"1.0.0\"\n  resolved \"git+https://evil.example/a.git#" + second + "\"\n  integrity " + sumOfFirst +
				"\n"), "a"},
		"yarn, the base's commit": {yarn(
			"  version \"1.0.0\"\n  resolved \"git+https://evil.example/a.git#" + first + "\"\n"),
			yarn("  version \"1.0.0\"\n  resolved \"git+https://evil.example/a.git#" + first + "\"\n"), ""},
		// What an entry asks for has an entry, or that of its name stands in its place.
		"yarn, a request without an entry": {nil,
			yarn("  version \"1.0.0\"\n  resolved \"" + r.URL + "/a-1.0.0.tgz\"\n  dependencies:\n    evil \"*\"\n"), "a"},
		"yarn, the base's": {yarn(
			"  version \"1.0.0\"\n  resolved \"" + r.URL + "/a-1.0.0.tgz\"\n  dependencies:\n    evil \"*\"\n"),
			yarn("  version \"1.0.0\"\n  resolved \"" + r.URL + "/a-1.0.0.tgz\"\n  dependencies:\n    evil \"*\"\n"), ""},
		"yarn, an address without an entry": {nil,
			yarn("  version \"1.0.0\"\n  resolved \"" + r.URL +
				"/a-1.0.0.tgz\"\n  optionalDependencies:\n    b \"https://evil.example/b.tgz\"\n"), "a"},
		"yarn, a request that is replaced": {nil,
			yarn("  version \"1.0.0\"\n  resolved \"" + r.URL + "/a-1.0.0.tgz\"\n  dependencies:\n    b \"^1.0.0\"\n"), ""},
		"yarn, an archive of the tree": {nil,
			map[string][]byte{"yarn.lock": []byte(
				"a@^1:\n  version \"1.0.0\"\n  resolved \"" + r.URL +
					"/a-1.0.0.tgz\"\n  dependencies:\n    b \"file:./b.tgz\"\n\n\"b@file:./b.tgz\":\n  version \"1.0.0\"\n")}, "a"},
		"yarn, a wider request": {nil,
			yarn("  version \"1.0.0\"\n  resolved \"" + r.URL + "/a-1.0.0.tgz\"\n  dependencies:\n    b \">=1.0.0\"\n"), "a"},
		"berry, a request without an entry": {nil,
			withLines(berry("a@npm:1.0.0"), "  dependencies:\n    evil: \"npm:^6\"\n"), "a"},
		"berry, the registry's request": {nil,
			withLines(berry("a@npm:1.0.0"), "  dependencies:\n    b: \"npm:^1.0.0\"\n"), ""},
		"berry, a wider request": {nil,
			withLines(berry("a@npm:1.0.0"), "  dependencies:\n    b: \"npm:>=1.0.0\"\n"), "a"},
		"berry, an address without an entry": {nil,
			withLines(berry("a@npm:1.0.0"), "  dependencies:\n    a: \"https://evil.example/a.tgz\"\n"), "a"},
		"berry, its own request": {nil,
			withLines(berry("a@npm:1.0.0"), "  dependencies:\n    a: \"npm:^1\"\n"), ""},
		"npm, a folder outside of the tree": {nil,
			map[string][]byte{"package-lock.json": []byte(
				`{"packages":{"":{},"node_modules/a":{"link":true,"resolved":"../a"},"../a":{"version":"1.0.0"}}}`)}, "a"},
		// Clients link the programs that the lock file says.
		"berry, a program": {nil,
			map[string][]byte{"yarn.lock": bytes.Replace(
				berry("a@npm:1.0.0")["yarn.lock"], []byte("a: ./cli.js"), []byte("jest: ../../evil.js"), 1)}, "a"},
		"berry, no program": {nil,
			map[string][]byte{"yarn.lock": bytes.Replace(
				berry("a@npm:1.0.0")["yarn.lock"], []byte("  bin:\n    a: ./cli.js\n"), nil, 1)}, "a"},
		"npm, a program": {nil, npm(`"resolved":"` + r.URL + `/a-1.0.0.tgz","bin":{"tsc":"index.js"}`), "a"},
		"npm, the base's program": {npm(`"resolved":"` + r.URL + `/a-1.0.0.tgz","bin":{"tsc":"index.js"}`),
			npm(`"resolved":"` + r.URL + `/a-1.0.0.tgz","bin":{"tsc":"index.js"}`), ""},
		"npm, the registry's program": {nil, npm(`"resolved":"` + r.URL + `/a-1.0.0.tgz","bin":{"a":"cli.js"}`), ""},
		"npm, no program":             {nil, npm(`"resolved":"` + r.URL + `/a-1.0.0.tgz","bin":{}`), "a"},
		// npm fetches what an entry asks for, whatever its target's entry says.
		"npm, a request for an address": {nil,
			npm(`"resolved":"` + r.URL + `/a-1.0.0.tgz","dependencies":{"b":"https://evil.example/b.tgz"}`), "a"},
		"npm, an optional one": {nil,
			npm(`"resolved":"` + r.URL + `/a-1.0.0.tgz","optionalDependencies":{"b":"github:evil/b"}`), "a"},
		"npm, a wider request": {nil,
			npm(`"resolved":"` + r.URL + `/a-1.0.0.tgz","dependencies":{"b":">=1"}`), "a"},
		"npm, a request for one more": {nil,
			npm(`"resolved":"` + r.URL + `/a-1.0.0.tgz","dependencies":{"b":"^1.0.0","c":"*"}`), "a"},
		"npm, the registry's request": {nil,
			npm(`"resolved":"` + r.URL + `/a-1.0.0.tgz","peerDependencies":{"b":"^1.0.0"}`), ""},
		"npm, the base's request": {npm(`"dependencies":{"b":"*"}`), npm(`"dependencies":{"b":"*"}`), ""},
		"npm 6, a request for an address": {nil,
			map[string][]byte{"package-lock.json": []byte(
				`{"lockfileVersion":1,"dependencies":{"a":{"version":"1.0.0","requires":{"b":"https://evil.example/b.tgz"}}}}`)},
			"a"},
		"npm, two lists that differ": {nil,
			map[string][]byte{"package-lock.json": []byte(
				`{"lockfileVersion":2,"packages":{"node_modules/a":{"version":"1.0.0","bin":{"a":"cli.js"}}},"dependencies":{"a":{"version":"1.0.0","requires":{"b":"https://evil.example/b.tgz"}}}}`)}, unreadable},
		// One package in the place of another.
		"yarn, a package asks": {nil,
			yarn("  version \"1.0.0\"\n  resolved \"" + r.URL + "/a-1.0.0.tgz\"\n  dependencies:\n    b \"npm:c\"\n"), "a"},
		"berry, a package asks": {nil,
			withLines(berry("a@npm:1.0.0"), "  dependencies:\n    a: \"npm:a@^1\"\n"), "a"},
		"pnpm, in another's place": {nil, pnpmOf("      b: {specifier: ^1, version: a@1.0.0}\n", ""), "b"},
		"pnpm, as the base has it": {pnpmOf("      b: {specifier: ^1, version: a@1.0.0}\n", ""),
			pnpmOf("      b: {specifier: ^1, version: a@1.0.0}\n", ""), ""},
		"pnpm, as the project asks": {nil, pnpmOf("      b: {specifier: npm:a@^1, version: a@1.0.0}\n", ""), ""},
		"pnpm, another than it asks for": {nil,
			pnpmOf("      b: {specifier: npm:c@^1, version: a@1.0.0(c@1.0.0)}\n", ""), "b"},
		"pnpm, as a catalog has it": {nil,
			pnpmOf("      b: {specifier: 'catalog:', version: a@1.0.0}\n",
				"\ncatalogs:\n  default:\n    b: {specifier: npm:a@^1, version: 1.0.0}\n"), ""},
		"pnpm, as no catalog has it": {nil,
			pnpmOf("      b: {specifier: 'catalog:', version: a@1.0.0}\n",
				"\ncatalogs:\n  default:\n    b: {specifier: ^1, version: 1.0.0}\n"), "b"},
		"pnpm, as the settings have it": {nil,
			pnpmOf("      b: {specifier: ^1, version: a@1.0.0}\n", "\noverrides:\n  c>b@1: npm:a@^1\n"), ""},
		"pnpm, in a snapshot": {nil,
			pnpmOf("", "\nsnapshots:\n\n  a@1.0.0:\n    dependencies:\n      b: c@1.0.0\n"), "a"},
		"pnpm, a peer in a snapshot": {nil,
			pnpmOf("      b: {specifier: npm:c@^1, version: c@1.0.0}\n",
				"\nsnapshots:\n\n  a@1.0.0:\n    dependencies:\n      b: c@1.0.0\n"), ""},
		"pnpm, in a package": {nil,
			pnpm("'/a@1.0.0'", "{integrity: "+sum+"}\n    dependencies:\n      b: /c@1.0.0"), "a"},
		"pnpm, in a package of long ago": {nil,
			pnpm("/a/1.0.0", "{integrity: "+sum+"}\n    dependencies:\n      b: /c/1.0.0\n      c: 1.0.0"), "a"},
		"pnpm, in a project of long ago": {nil,
			map[string][]byte{"pnpm-lock.yaml": []byte(
				"lockfileVersion: 5.4\n\nspecifiers:\n  b: ^1\n  c: npm:a@^1\n\ndependencies:\n  b: /a/1.0.0\n  c: " +
					"/a/1.0.0\n\npackages:\n\n  /a/1.0.0:\n    resolution: {integrity: " + sum + "}\n")}, "b"},
		"pnpm, a folder in another's": {nil, pnpmOf("      b: {specifier: ^1, version: 'x@file:x'}\n", ""), "b"},
		"pnpm, a folder within a package": {nil,
			pnpmOf("      b: {specifier: ^1, version: link:node_modules/.pnpm/a@1.0.0/node_modules/a}\n", ""), "b"},
		"pnpm, such a folder in a snapshot": {nil,
			pnpmOf("", "\nsnapshots:\n\n  a@1.0.0:\n    dependencies:\n      b: "+
				"link:node_modules/.pnpm/c@1.0.0/node_modules/c\n"), "a"},
		"pnpm, a part of the project": {nil,
			pnpmOf("      b: {specifier: 'workspace:*', version: link:parts/b}\n  parts/b: {}\n",
				"\nsnapshots:\n\n  a@1.0.0:\n    dependencies:\n      b: link:parts/b\n"), ""},
		"pnpm, a link of a copied part": {nil,
			pnpmOf("      b: {specifier: 'workspace:*', version: 'file:parts/b'}\n  parts/b:\n    dependencies:\n      c: "+
				"{specifier: 'link:../c', version: 'link:../c'}\n  parts/c: {}\n",
				"  b@file:parts/b:\n    resolution: {directory: parts/b, type: directory}\n\nsnapshots:\n\n  b@file:parts/b:\n   "+
					" dependencies:\n      c: link:../c\n"), ""},
		"pnpm, a workspace of a copied one": {nil,
			pnpmOf("      b: {specifier: 'workspace:*', version: 'file:parts/b'}\n  parts/b: {}\n  parts/c: {}\n",
				"  b@file:parts/b:\n    resolution: {directory: parts/b, type: directory}\n\nsnapshots:\n\n  b@file:parts/b:\n   "+
					" dependencies:\n      c: link:parts/c\n"), ""},
		"pnpm, a link outside, of a copied one": {nil,
			pnpmOf("      b: {specifier: 'workspace:*', version: 'file:parts/b'}\n  parts/b: {}\n  parts/c: {}\n",
				"  b@file:parts/b:\n    resolution: {directory: parts/b, type: directory}\n\nsnapshots:\n\n  b@file:parts/b:\n   "+
					" dependencies:\n      c: link:../c\n"), "b@file:parts/b"},
		"pnpm, a published folder": {nil,
			pnpmOf("      b: {specifier: 'workspace:*', version: link:parts/b/dist}\n  parts/b:\n    publishDirectory: dist\n",
				""), ""},
		"pnpm, a package for a part": {nil, pnpmOf("      b: {specifier: 'workspace:*', version: a@1.0.0}\n", ""), "b"},
		"pnpm, a folder that is asked for": {nil,
			pnpmOf("      b: {specifier: 'link:lib/b', version: link:lib/b}\n", ""), ""},
		"pnpm, a version with a peer": {nil,
			map[string][]byte{"pnpm-lock.yaml": []byte(
				"lockfileVersion: 5.4\n\nspecifiers:\n  a: ^1\n\ndependencies:\n  a: 1.0.0_b@1.0.0\n\npackages:\n\n  " +
					"/a/1.0.0_b@1.0.0:\n    resolution: {integrity: " + sum + "}\n")}, ""},
		"pnpm, an archive for a version": {nil, pnpmOf("      b: {specifier: ^1, version: file:b.tgz}\n", ""), "b"},
		"pnpm, an archive in a snapshot": {nil,
			pnpmOf("", "\nsnapshots:\n\n  a@1.0.0:\n    dependencies:\n      b: file:b.tgz\n"), "a"},
		"pnpm, another archive": {nil,
			pnpmOf("      b: {specifier: 'file:b.tgz', version: file:c.tgz}\n", ""), "b"},
		"pnpm, the archive": {nil,
			pnpmOf("      b: {specifier: 'file:./b.tgz', version: file:b.tgz}\n", ""), ""},
		"pnpm, a folder outside": {nil, pnpm("x@file:../x", "{directory: ../x, type: directory}"), "x@file:../x"},
		"pnpm, another folder":   {nil, pnpm("x@file:x", "{directory: y, type: directory}"), unreadable},
		"pnpm, a file in another place": {nil, pnpm("x@file:x.tgz", "{integrity: "+sum+", tarball: file:y.tgz}"),
			unreadable},
		"pnpm, a part, copied in": {nil,
			pnpmOf("      b: {specifier: 'workspace:*', version: 'file:parts/b(a@1.0.0)'}\n  parts/b: {}\n", ""), ""},
		"pnpm, a range in the settings": {nil,
			pnpmOf("      b: {specifier: ^5, version: a@1.0.0}\n", "\noverrides:\n  b@>=5: npm:a@^1\n"), ""},
		"pnpm, a repository with a digest": {nil,
			pnpm("a@1.0.0", "{integrity: "+sum+", tarball: https://codeload.github.com/evil/a/-/a.tgz}"), "a"},
		// Of a repository no client compares a digest.
		"npm, of a host of git": {nil,
			npm(`"resolved":"https://bitbucket.org/u/p/-/a-1.0.0.tgz","integrity":"` + sum + `"`), "a"},
		"npm, of a tree of GitHub": {nil,
			npm(`"resolved":"https://WWW.github.com/u/p/tree/-/a-1.0.0.tgz","integrity":"` + sum + `"`), "a"},
		// Addresses that Go reads in another way than npm does.
		"npm, of a host of git, with a third slash": {nil,
			npm(`"resolved":"https:///bitbucket.org/u/p/-/a-1.0.0.tgz","integrity":"` + sum + `"`), "a"},
		"npm, of a host of git, with one slash": {nil,
			npm(`"resolved":"https:/bitbucket.org/u/p/-/a-1.0.0.tgz","integrity":"` + sum + `"`), "a"},
		"npm, of a host of git, with another dot": {nil,
			npm(`"resolved":"https://bitbucket\u3002org/u/p/-/a-1.0.0.tgz","integrity":"` + sum + `"`), "a"},
		"npm, of a host of git, with another letter": {nil,
			npm(`"resolved":"https://\uff42itbucket.org/u/p/-/a-1.0.0.tgz","integrity":"` + sum + `"`), "a"},
		"npm, of a host of git, with a hidden letter": {nil,
			npm(`"resolved":"https://bit\u00adbucket.org/u/p/-/a-1.0.0.tgz","integrity":"` + sum + `"`), "a"},
		"npm, a file of the tree, with a mark": {nil, npm(`"resolved":"file:x.tgz#/../a.tgz"`), "a"},
		"npm, with a login": {nil,
			npm(`"resolved":"https://git@evil.example/u/p/-/a-1.0.0.tgz","integrity":"` + sum + `"`), "a"},
		"npm, a repository with a digest": {nil,
			npm(`"resolved":"git+https://evil.example/a.git#0","integrity":"` + sum + `"`), "a"},
		"npm, of GitHub with a digest": {nil,
			npm(`"resolved":"https://github.com/evil/a.tgz","integrity":"` + sum + `"`), "a"},
		"yarn, a repository with a digest": {nil,
			yarn("  version \"1.0.0\"\n  resolved \"git+https://evil.example/a.git#" + first + "\"\n  integrity " + sum + "\n"),
			"a"},
		"yarn, a branch called as a digest": {nil,
			yarn("  version \"1.0.0\"\n  resolved \"git+https://evil.example/a.git#" + shasum + "\"\n"), "a"},
		"pnpm, another commit": {pnpm(
			"a@git+https://evil.example/a.git#"+first, "{commit: "+first+", repo: https://evil.example/a.git, type: git}"),
			pnpm("a@git+https://evil.example/a.git#"+first, "{commit: "+second+", repo: https://evil.example/a.git, type: git}"),
			"a@git+https://evil.example/a.git#" + first},
		"pnpm, a key of an earlier time": {nil, pnpm("a@1.0.0_b@1.0.0", "{integrity: "+sum+"}"), "a@1.0.0_b@1.0.0"},
		"pnpm, a scope as a name": {nil,
			map[string][]byte{"pnpm-lock.yaml": []byte(
				"lockfileVersion: '6.0'\n\npackages:\n\n  '@types/a@1.0.0':\n    resolution: {integrity: " + sum + "}\n")},
			"@types/a@1.0.0"},
		"pnpm, an address of the base": {pnpm("o.example/x", "{tarball: "+evil+"}\n    name: x"),
			pnpmLong("b: o.example/x", "  o.example/x:\n    resolution: {tarball: "+evil+"}\n    name: x\n"), "b"},
		"pnpm, the file of a branch": {nil,
			map[string][]byte{"pnpm-lock.work.yaml": pnpm(
				"a@1.0.0", "{integrity: "+forged+", tarball: "+evil+"}")["pnpm-lock.yaml"]}, "a"},
		"yarn, the version at the end": {nil, yarn("  resolved \"" + evil + "\"\n  version \"1.0.0\"\n"), "a"},
		"yarn, twice": {nil,
			yarn("  version \"1.0.0\"\n  resolved \"" + r.URL + "/a-1.0.0.tgz\"\n  resolved \"" + evil + "\"\n"), unreadable},
	} {
		out, err := s.FindForeign(t.Context(), c.base, c.tree, p)
		var got []string
		for _, d := range out {
			got = append(got, d.Name)
		}
		if len(FindUnreadable(c.base, c.tree)) > 0 {
			got = []string{unreadable} // it comes first, and ends the judgement
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
	const mirror, evil = "https://mirror.example/gamma-1.0-py3-none-any.whl",
		"https://evil.example/gamma-1.0-cp311-cp311-linux_x86_64.whl"
	file := func(at, sum string) string { return fmt.Sprintf(`{url = %q, hash = %q}`, at, sum) }
	uv := func(wheels ...string) [2]string {
		return [2]string{"uv.lock",
			"version = 1\n[[package]]\nname = \"gamma\"\nversion = \"1.0\"\nsource = {registry = " +
				"\"https://pypi.org/simple\"}\nwheels = [" + strings.Join(wheels, ", ") + "]\n"}
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
		"uv, at a mirror":     {tree: uv(file(mirror, sum))},
		"uv, a further wheel": {tree: uv(file(mirror, sum), file(evil, "sha256:"+own)), want: "gamma"},
		"uv, the base's":      {base: uv(file(evil, "sha256:"+own)), tree: uv(file(evil, "sha256:"+own))},
		"uv, the index's beside it": {base: uv(file(evil, "sha256:"+own)),
			tree: uv(file(mirror, sum), file(evil, "sha256:"+own)), want: "gamma"},
		"uv, no digest":              {tree: uv(`{url = "` + evil + `"}`), want: "gamma"},
		"uv, no digest, the index's": {tree: uv(`{url = "` + r.URL + `/f/gamma-1.0-py3-none-any.whl"}`)},
		"uv, a weak digest":          {tree: uv(file(evil, "md5:"+own)), want: "gamma"},
		"uv, an archive":             {tree: entry("uv.lock", "sdist = "+file(evil, "sha256:"+own)), want: "gamma"},
		"uv, of git": {tree: entry("uv.lock", `source = {git = "https://evil.example/gamma?rev=main#0"}`),
			want: "gamma"},
		"uv, of an address": {tree: entry("uv.lock", `source = {url = "`+evil+`"}`), want: "gamma"},
		"uv, an index in a folder": {tree: entry(
			"uv.lock", "source = {registry = \"vendor\"}\nwheels = [{path = \"gamma-1.0-py3-none-any.whl\"}]"), want: "gamma"},
		"uv, of the tree": {tree: entry("uv.lock", `source = {editable = "parts/gamma"}`)},
		// the index has no such file
		"pdm, of the index": {tree: entry(
			"pdm.lock", `files = [{file = "gamma-1.0-cp311-cp311-linux_x86_64.whl", hash = "sha256:`+own+`"}]`)},
		"pdm, a further wheel": {tree: entry("pdm.lock", "files = ["+file(evil, "sha256:"+own)+"]"), want: "gamma"},
		"pdm, of git": {tree: entry("pdm.lock", `git = "https://evil.example/gamma"`+"\nrevision = \"0\""),
			want: "gamma"},
		"poetry, of git": {tree: entry(
			"poetry.lock", "[package.source]\ntype = \"git\"\nurl = \"https://evil.example/gamma\"\nresolved_reference = \"0\""),
			want: "gamma"},
		"poetry, another commit": {base: entry(
			"poetry.lock", "[package.source]\ntype = \"git\"\nurl = \"https://code.example/gamma\"\nresolved_reference = \"0\""),
			tree: entry("poetry.lock", "[package.source]\ntype = \"git\"\nurl = "+
				"\"https://code.example/gamma\"\nresolved_reference = \"1\""), want: "gamma"},
		"poetry, an archive of the tree": {tree: entry(
			"poetry.lock", "[package.source]\ntype = \"file\"\nurl = \"gamma.whl\""), want: "gamma"},
		"uv, an archive of the tree": {tree: entry("uv.lock", `source = {path = "gamma.whl"}`), want: "gamma"},
		"poetry, of the tree": {tree: entry(
			"poetry.lock", "[package.source]\ntype = \"directory\"\nurl = \"parts/gamma\"")},
		"pylock, a further wheel": {tree: [2]string{"pylock.toml",
			"[[packages]]\nname = \"gamma\"\nversion = \"1.0\"\nwheels = [{url = \"" + evil + "\", hashes = {sha256 = \"" + own +
				"\"}}]\n"}, want: "gamma"},
		"pylock, at a mirror": {tree: [2]string{"pylock.toml",
			"[[packages]]\nname = \"gamma\"\nversion = \"1.0\"\nwheels = [{url = \"" + mirror + "\", hashes = {sha256 = \"" +
				strings.TrimPrefix(sum, "sha256:") + "\"}}]\n"}},
		"pylock, two algorithms": {tree: [2]string{"pylock.toml",
			"[[packages]]\nname = \"gamma\"\nversion = \"1.0\"\nwheels = [{url = \"" + evil + "\", hashes = {sha256 = \"" +
				strings.TrimPrefix(sum, "sha256:") + "\", sha512 = \"" + own + own + "\"}}]\n"}, want: "gamma"},
		"pylock, two, at the index": {tree: [2]string{"pylock.toml",
			"[[packages]]\nname = \"gamma\"\nversion = \"1.0\"\nwheels = [{url = \"" + r.URL +
				"/f/gamma-1.0-py3-none-any.whl\", hashes = {sha256 = \"" + strings.TrimPrefix(sum, "sha256:") + "\", sha512 = \"" +
				own + own + "\"}}]\n"}},
		"pdm, two digests": {tree: entry(
			"pdm.lock", `files = [{url = "`+evil+`", hash = "sha256:`+own+`", hashes = {sha256 = "`+
				strings.TrimPrefix(sum, "sha256:")+`"}}]`), want: "gamma"},
		"pdm, one that it doesn't read": {tree: entry(
			"pdm.lock", `files = [{url = "`+evil+`", hashes = {sha256 = "`+strings.TrimPrefix(sum, "sha256:")+`"}}]`),
			want: "gamma"},
		"pylock, of git": {tree: [2]string{"pylock.toml",
			"[[packages]]\nname = \"gamma\"\nvcs = {type = \"git\", url = \"https://evil.example/gamma\", commit-id = \"0\"}\n"},
			want: "gamma"},
		"pipenv, of an address": {tree: [2]string{"Pipfile.lock",
			`{"default": {"gamma": {"file": "` + evil + `", "File": "", "version": "==1.0"}}}`}, want: "gamma"},
		"pipenv, of the index": {tree: [2]string{"Pipfile.lock",
			`{"default": {"gamma": {"hashes": ["sha256:` + own + `"], "version": "==1.0"}}}`}},
		"another version, of the same": {tree: [2]string{"uv.lock",
			"[[package]]\nname = \"gamma\"\nversion = \"2.0\"\nwheels = [" + file(mirror, sum) + "]\n"}, want: "gamma"},
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
		"uv.lock":     "[[package]]\nname = \"evil\"\nName = \"gamma\"\nversion = \"1.0\"\n",
		"poetry.lock": "[[package]]\nname = \"gamma\"\nversion = \"6.6\"\nVERSION = \"1.0\"\n",
		"pdm.lock":    "[[package]]\nname = \"evil\"\nversion = \"2.0\"\n\"ver\u017Fion\" = \"1.0\"\n",
		"pylock.toml": "[[packages]]\nname = \"gamma\"\nversion = \"1.0\"\n[[Packages]]\nname = \"gamma\"\nversion = " +
			"\"1.0\"\n",
		"Cargo.lock": "[[package]]\nname = \"gamma\"\nversion = \"6.6\"\nVersion = \"1.0\"\nsource = " +
			"\"registry+https://github.com/rust-lang/crates.io-index\"\n",
		"Pipfile.lock": `{"default": {"gamma": {"version": "==6.6", "Version": "==1.0"}}}`,
	} {
		all, _ := ParseLocks(map[string][]byte{file: []byte(text)})
		if slices.ContainsFunc(all, func(d company.Dependency) bool { return d.Version == "1.0" }) {
			t.Errorf("%s: %v", file, all)
		}
	}
}
