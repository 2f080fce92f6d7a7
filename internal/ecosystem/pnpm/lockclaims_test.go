package pnpm

import (
	"strings"
	"testing"
)

// A folder stands in the place of a package only where its manifest has that name, or where an importer or an override
// asks for it by its path: the client links it unseen. (T24)
func TestFolderHasTheNameOfItsPlace(t *testing.T) {
	manifests := map[string][]byte{
		"package.json": []byte(
			`{"name":"root","dependencies":{"tool":"link:parts/b","arch":"file:x.tgz","odd":"workspace:b@*","path":"workspace:./parts/b"}}`), "parts/b/package.json": []byte(`{"name":"b"}`),
		"parts/c/package.json": []byte(`{"name":"c","dependencies":{"l":"link:../b"},"publishConfig":{"directory":"dist"}}`),
	}
	lock := func(needs, more string) string {
		return "lockfileVersion: '9.0'\n\noverrides:\n  o: link:parts/b\n\nimporters:\n\n  .:\n    dependencies:\n" + needs +
			"\n  parts/b: {}\n\n  parts/c: {}\n" + more
	}
	copied := func(asks, has string) string {
		text := lock("      c: {specifier: 'workspace:*', version: 'file:parts/c'}\n",
			"\npackages:\n\n  c@file:parts/c:\n    resolution: {directory: parts/c, type: directory}\n\nsnapshots:\n\n  "+
				"c@file:parts/c:\n    dependencies:\n      "+has+"\n")
		return strings.Replace(text, "parts/c: {}", "parts/c:\n    dependencies:\n      "+asks, 1)
	}
	published := func(folder, link string) string {
		return strings.Replace(lock("      c: {specifier: 'workspace:*', version: 'link:"+link+"'}\n", ""), "parts/c: {}",
			"parts/c:\n    publishDirectory: "+folder, 1)
	}
	const a = "\npackages:\n\n  a@1.0.0:\n    resolution: {integrity: sha512-x}\n\nsnapshots:\n\n  a@1.0.0:\n    " +
		"dependencies:\n      "
	for name, c := range map[string]struct {
		text, base string
		isForged   bool
	}{
		"its name":             {text: lock("      b: {specifier: 'workspace:*', version: link:parts/b}\n", "")},
		"its name for a range": {text: lock("      b: {specifier: ^1, version: link:parts/b}\n", "")},
		"another name for a range": {text: lock("      is-odd: {specifier: ^1, version: link:parts/b}\n", ""),
			isForged: true},
		"as the base has it": {text: lock("      is-odd: {specifier: ^1, version: link:parts/b}\n", ""),
			base: lock("      is-odd: {specifier: ^2, version: link:parts/b}\n", "")},
		"under the name that is asked": {text: lock("      odd: {specifier: 'workspace:b@*', version: link:parts/b}\n", "")},
		"under another than is asked": {text: lock("      odd: {specifier: 'workspace:c@*', version: link:parts/b}\n", ""),
			isForged: true},
		"by its path":      {text: lock("      tool: {specifier: 'link:parts/b', version: link:parts/b}\n", "")},
		"within a package": {text: lock("      a: {specifier: ^1, version: 1.0.0}\n", a+"b: link:parts/b\n")},
		"within a package, in another": {text: lock(
			"      a: {specifier: ^1, version: 1.0.0}\n", a+"is-odd: link:parts/b\n"), isForged: true},
		"within a package, overridden": {text: lock("      a: {specifier: ^1, version: 1.0.0}\n", a+"o: link:parts/b\n")},
		"in a copied part": {text: copied(
			"b: {specifier: 'workspace:*', version: 'link:../b'}", "b: link:parts/b")},
		"in a copied part, for another": {text: copied(
			"b: {specifier: 'workspace:*', version: 'link:../b'}", "is-odd: link:parts/b"), isForged: true},
		"in a copied part, as it asks": {text: copied("l: {specifier: 'link:../b', version: 'link:../b'}", "l: link:../b")},
		"in a copied part, outside": {text: copied("b: {specifier: 'workspace:*', version: 'link:../b'}", "b: link:../b"),
			isForged: true},
		"a copy of a part": {text: lock("      b: {specifier: 'workspace:*', version: 'file:parts/b'}\n", "")},
		"a copy for another": {text: lock("      is-odd: {specifier: ^1, version: 'file:parts/b'}\n", ""),
			isForged: true},
		"a copy with its own name": {text: lock("      is-odd: {specifier: ^1, version: 'b@file:parts/b'}\n", ""),
			isForged: true},
		"a copy within a package": {text: lock(
			"      a: {specifier: ^1, version: 1.0.0}\n", a+"is-odd: b@file:parts/b\n"), isForged: true},
		"an archive that is asked for": {text: lock("      arch: {specifier: 'file:x.tgz', version: 'file:x.tgz'}\n", "")},
		"an alias as a peer": {text: lock(
			"      odd: {specifier: 'workspace:b@*', version: link:parts/b}\n", a+"odd: link:parts/b\n")},
		"an alias for another peer": {text: lock(
			"      odd: {specifier: 'workspace:b@*', version: link:parts/b}\n", a+"is-odd: link:parts/b\n"), isForged: true},
		"an alias that is not asked": {text: lock("      is-odd: {specifier: 'workspace:b@*', version: link:parts/b}\n", ""),
			isForged: true},
		"a workspace by its path": {text: lock(
			"      path: {specifier: 'workspace:./parts/b', version: link:parts/b}\n", "")},
		"a workspace by another path": {text: lock(
			"      path: {specifier: 'workspace:./parts/b', version: link:parts/c}\n", ""), isForged: true},
		"a path that is not asked": {text: lock(
			"      is-odd: {specifier: 'workspace:./parts/b', version: link:parts/b}\n", ""), isForged: true},
		"its published folder":     {text: published("dist", "parts/c/dist")},
		"another published folder": {text: published("evil", "parts/c/evil"), isForged: true},
	} {
		err := Ecosystem{}.CheckManifests("pnpm-lock.yaml", []byte(c.text), []byte(c.base), manifests)
		if (err != nil) != c.isForged {
			t.Errorf("%s: %v", name, err)
		}
	}
}
