package depproxy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"company/internal/ecosystem"
)

// T24: all that a lock file says of where a package comes from is the base's, the public registry's or a folder of
// the tree: also what its client is not known to write.
func TestForeignSources(t *testing.T) {
	crateVersions := []string{"1.0.0", "1.0.20240709203422"}
	r := newFakeRegistry(t, func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != "/index/ga/mm/gamma" {
			http.Error(w, "", http.StatusNotFound)
			return
		}
		for _, version := range crateVersions {
			_, _ = fmt.Fprintf(w, `{"name":"gamma","vers":%q,"deps":[],"cksum":"00"}`+"\n", version)
		}
	})
	upstreams := upstreamsAt(PyPI, r.URL+"/simple")
	upstreams.Registries[Crates] = ecosystem.At(ecosystem.Endpoint{URL: r.URL + "/index"})
	s := newStore(t, upstreams)
	p := NewPolicy()
	p.allowAsked(newDependency(PyPI, "asked", "2.0"))
	p.Allow(newDependency(PyPI, "gamma", "1.0"))
	for _, version := range crateVersions {
		p.Allow(newDependency(Crates, "gamma", version))
	}
	const first, second = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	of := func(name, lines string) string {
		return fmt.Sprintf("[[package]]\nname = %q\nversion = \"1.0\"\n%s\n", name, lines)
	}
	gamma := func(lines string) string { return of("gamma", lines) }
	pylock := func(lines string) string {
		return "lock-version = \"1.0\"\ncreated-by = \"x\"\n" + strings.ReplaceAll(gamma(lines), "package", "packages")
	}
	pipenv := func(sources, entry string) string {
		return `{"_meta":{"hash":{"sha256":"0"},"pipfile-spec":6,"requires":{},"sources":[` + sources +
			`]},"default":{"gamma":{` + entry + `}}}`
	}
	source := func(name, at string) string { return fmt.Sprintf(`{"name":%q,"url":%q,"verify_ssl":true}`, name, at) }
	pypi := source("pypi", "https://pypi.org/simple/")
	corp := source("corp", "https://corp.example/simple")
	const locked = `"hashes":["sha256:00"],"version":"==1.0","markers":"python_version >= '3.8'"`
	legacy := func(name string) string {
		return "[package.source]\ntype = \"legacy\"\nurl = \"https://corp.example/simple\"\nreference = \"" + name + "\"\n"
	}
	crate := func(source string) string { return gamma("source = \"" + source + "\"\nchecksum = \"00\"") }
	const crates = "registry+https://github.com/rust-lang/crates.io-index"
	git := func(remote, revision, name string) string {
		return "GIT\n  remote: " + remote + "\n  revision: " + revision + "\n  branch: main\n  specs:\n    " + name +
			" (1.0)\n      rake (>= 1)\n\n"
	}
	const gems = "GEM\n  remote: https://rubygems.org/\n  specs:\n    rake (13.2.1)\n    nokogiri " +
		"(1.16.0-x86_64-linux)\n      racc (~> 1.4)\n\nPLATFORMS\n  ruby\n\nDEPENDENCIES\n  gamma!\n\nCHECKSUMS\n  rake " +
		"(13.2.1) sha256=00\n\nBUNDLED WITH\n   2.5.0\n"
	composer := func(more string) string {
		return `{"_readme":["x"],"content-hash":"0","packages":[{"name":"own/gamma","version":"1.0","dist":{"type":"path","url":"parts/gamma","reference":"0"}` + more + `}],"packages-dev":[],"aliases":[],"minimum-stability":"stable","stability-flags":{},"prefer-stable":false,"prefer-lowest":false,"platform":{},"platform-dev":{},"plugin-api-version":"2.6.0"}`
	}
	type lockCase struct{ file, base, tree, want string }
	for name, c := range map[string]lockCase{
		"uv, what it writes": {"uv.lock", "",
			"version = 1\nrevision = 3\nrequires-python = \">=3.9\"\nresolution-markers = [\"os_name == 'nt'\"]\nconflicts = " +
				"[]\n[options]\nexclude-newer = \"2024-01-01T00:00:00Z\"\n[manifest]\nmembers = [\"a\"]\n" +
				// its file alone
				gamma("source = { registry = \"https://pypi.org/simple\" }\nsdist = { url = \""+r.URL+
					"/x\", hash = \"sha256:0\", size = 1, upload-time = \"x\" }\n[package.metadata]\nrequires-dist = [{ name = "+
					"\"x\", specifier = \">=1\" }]\n[package.optional-dependencies]\nx = []"), "gamma"},
		"uv, a member of the workspace": {"services/a/uv.lock", "",
			gamma(`source = { editable = "../../libs/gamma" }`), ""},
		"uv, a folder outside":        {"uv.lock", gamma(""), gamma(`source = { directory = "../../gamma" }`), "gamma"},
		"uv, a folder of the machine": {"uv.lock", gamma(""), gamma(`source = { editable = "/tmp/gamma" }`), "gamma"},
		"uv, another index": {"uv.lock", gamma(`source = { registry = "https://pypi.org/simple" }`),
			gamma(`source = { registry = "https://evil.example/simple" }`), "gamma"},
		"uv, the operator's index": {"uv.lock", "", gamma(`source = { registry = "` + r.URL + `/simple" }`), ""},
		"uv, an index of the base": {"uv.lock", of("delta", `source = { registry = "https://corp.example/simple" }`),
			gamma(`source = { registry = "https://corp.example/simple" }`), ""},
		"uv, the public one in its place": {"uv.lock", gamma(`source = { registry = "https://corp.example/simple" }`),
			gamma(`source = { registry = "https://pypi.org/simple" }`), "gamma"},
		"uv, another folder of a commit": {"uv.lock", gamma(`source = { git = "https://x.example/g?rev=a#a" }`),
			gamma(`source = { git = "https://x.example/g?subdirectory=evil&rev=a#a" }`), "gamma"},
		"uv, asked for, of git until now": {"uv.lock", of("asked", `source = { git = "https://x.example/g#a" }`),
			strings.Replace(of("asked", `source = { registry = "https://pypi.org/simple" }`), "1.0", "2.0", 1), ""},
		"uv, a field of a file": {"uv.lock", "",
			gamma(`wheels = [{ filename = "x.whl", mirror = "https://evil.example" }]`), "gamma"},
		"uv, a folder of another client": {"uv.lock", "",
			gamma("path = \"parts\"\nsource = { registry = \"https://pypi.org/simple\" }"), "gamma"},
		"uv, the digest of another client": {"uv.lock", "",
			gamma(`wheels = [{ filename = "x.whl", hash = "sha256:0", hashes = { sha256 = "0" } }]`), "gamma"},
		"uv, a folder and a type": {"uv.lock", "",
			gamma(`source = { type = "x", registry = "https://pypi.org/simple", editable = "x" }`), "uv.lock"},
		"uv, metadata": {"uv.lock", gamma(""), gamma("") + "[metadata]\nx = 1\n", "uv.lock"},
		"poetry, what it writes": {"poetry.lock", "",
			gamma("description = \"\"\noptional = false\npython-versions = \"*\"\ngroups = [\"main\"]\nmarkers = \"os_name == "+
				"'nt'\"\nfiles = [{ file = \"x.whl\", hash = \"sha256:0\" }]\n[package.extras]\nx = "+
				"[]\n[package.dependencies]\ny = \"*\"") +
				"[extras]\nx = []\n[metadata]\nlock-version = \"2.1\"\npython-versions = \">=3.9\"\ncontent-hash = \"0\"\n", ""},
		"poetry, two sources": {"poetry.lock", gamma(legacy("corp")), gamma(legacy("main")), "gamma"},
		"poetry, its source": {"poetry.lock", gamma(legacy("corp")),
			strings.Replace(gamma(legacy("corp")), "1.0", "1.1", 1), ""},
		"poetry, no source": {"poetry.lock", gamma(legacy("corp")), gamma(""), "gamma"},
		"poetry, a folder outside": {"poetry.lock", "",
			gamma("[package.source]\ntype = \"directory\"\nurl = \"../gamma\""), "gamma"},
		"poetry, a folder as long ago": {"a/poetry.lock", "",
			gamma("develop = true\n[package.source]\nreference = \"\"\ntype = \"directory\"\nurl = \"../gamma\""), ""},
		"poetry, a folder of another one": {"poetry.lock", "", gamma("path = \"parts\""), "gamma"},
		"poetry, a source of another one": {"poetry.lock", "", gamma("source = { editable = \"parts\" }"), "gamma"},
		"poetry, a type of source":        {"poetry.lock", "", gamma("source = { type = \"x\" }"), "gamma"},
		"pdm, what it writes": {"pdm.lock", "",
			gamma("requires_python = \">=3.8\"\nsummary = \"\"\ngroups = [\"default\"]\nmarker = \"os_name == "+
				"'nt'\"\ndependencies = [\"y\"]\nfiles = [{ file = \"x.whl\", hash = \"sha256:0\" }]") +
				"[metadata]\ngroups = [\"default\"]\nstrategy = [\"inherit_metadata\"]\nlock_version = \"4.5.0\"\ncontent_hash = " +
				"\"0\"\n[[metadata.targets]]\nrequires_python = \">=3.9\"\n", ""},
		"pdm, files as long ago": {"pdm.lock", gamma(""),
			gamma("") + "[metadata.files]\n\"gamma 1.0\" = [{ url = \"https://evil.example/gamma-1.0.whl\", hash = " +
				"\"sha256:0\" }]\n", "gamma"},
		"pdm, a folder":               {"pdm.lock", "", gamma("path = \"./parts/gamma\"\neditable = true"), ""},
		"pdm, an archive of the tree": {"pdm.lock", "", gamma(`path = "./gamma-1.0-py3-none-any.whl"`), "gamma"},
		"pdm, Mercurial": {"pdm.lock", gamma(""),
			gamma("hg = \"https://evil.example/g\"\nrevision = \"0\""), "gamma"},
		"pdm, a folder of another client": {"pdm.lock", "", gamma("directory = { path = \"parts\" }"), "gamma"},
		"pdm, an index of another client": {"pdm.lock", "",
			gamma("source = { registry = \"https://pypi.org/simple\" }"), "gamma"},
		"pylock, what is written": {"pylock.toml", "",
			pylock("marker = \"os_name == 'nt'\"\nrequires-python = \">=3.9\"\nindex = " +
				"\"https://pypi.org/simple\"\ndependencies = [{ name = \"y\" }]"), ""},
		"pylock, a folder": {"pylock.toml", "",
			pylock(`directory = { path = "parts/gamma", editable = true }`), ""},
		"pylock, a repository in the tree": {"pylock.toml", pylock(""),
			pylock(`vcs = { type = "git", path = "./evil.git", commit-id = "0" }`), "gamma"},
		"pylock, by another name": {"pylock.dev.toml", pylock(""),
			pylock(`index = "https://evil.example/simple"`), "gamma"},
		"pylock, a folder of another one": {"pylock.toml", "", pylock(`path = "parts"`), "gamma"},
		"pylock, the digest of another": {"pylock.toml", "",
			pylock(`wheels = [{ name = "x.whl", hash = "sha256:0" }]`), "gamma"},
		"pipenv, what it writes": {"Pipfile.lock", "", pipenv(pypi, locked+`,"index":"pypi"`), ""},
		"pipenv, a folder":       {"Pipfile.lock", "", pipenv(pypi, `"path":"./parts/gamma","editable":true`), ""},
		"pipenv, another index above": {"Pipfile.lock", pipenv(pypi, locked),
			pipenv(source("pypi", "https://evil.example/simple"), locked), "Pipfile.lock"},
		"pipenv, one more index": {"Pipfile.lock", pipenv(pypi, locked),
			pipenv(pypi+","+corp, locked+`,"index":"pypi"`), "Pipfile.lock"},
		"pipenv, the base's index": {"Pipfile.lock", pipenv(corp, locked),
			pipenv(corp, strings.Replace(locked, "1.0", "1.1", 1)+`,"index":"corp"`), ""},
		"pipenv, no certificates": {"Pipfile.lock", pipenv(pypi, locked),
			pipenv(strings.Replace(pypi, "true", "false", 1), locked), "Pipfile.lock"},
		"pipenv, a file of the tree": {"Pipfile.lock", pipenv(pypi, locked),
			pipenv(pypi, `"file":"parts/gamma.whl"`), "gamma"},
		"pipenv, an address": {"Pipfile.lock", pipenv(pypi, locked),
			pipenv(pypi, `"uri":"https://evil.example/g.whl","version":"==1.0"`), "gamma"},
		"pipenv, a field of no client": {"Pipfile.lock", pipenv(pypi, locked),
			pipenv(pypi, locked+`,"remote":"https://evil.example"`), "gamma"},
		"pipenv, an option in a digest": {"Pipfile.lock", "",
			pipenv(pypi, `"hashes":["sha256:00 --index-url=https://evil.example"],"version":"==1.0"`), "Pipfile.lock"},
		"pipenv, a line in a marker": {"Pipfile.lock", "",
			pipenv(pypi, `"markers":"x\n--index-url https://evil.example","version":"==1.0"`), "Pipfile.lock"},
		"pipenv, an address in a name": {"Pipfile.lock", "",
			strings.Replace(pipenv(pypi, `"editable":false,`+locked), `"gamma"`, `"gamma @ https://evil.example/g.whl"`, 1),
			"Pipfile.lock"},
		"pipenv, an address and a folder": {"Pipfile.lock", "",
			strings.Replace(pipenv(pypi, `"path":"parts"`), `"gamma"`, `"gamma @ https://evil.example/g.whl"`, 1),
			"Pipfile.lock"},
		"pipenv, an option for a folder": {"Pipfile.lock", "", pipenv(pypi, `"path":"-rparts/list.dat"`), "gamma"},
		"pipenv, an archive with a marker": {"Pipfile.lock", "",
			pipenv(pypi, `"path":"./gamma-1.0-py3-none-any.whl ; python_version > '3'"`), "gamma"},
		"pipenv, certificates by 0": {"Pipfile.lock", pipenv(pypi, locked),
			pipenv(strings.Replace(pypi, "true", "0", 1), locked), "Pipfile.lock"},
		"pipenv, certificates by null": {"Pipfile.lock", pipenv(pypi, locked),
			pipenv(strings.Replace(pypi, "true", "null", 1), locked), "Pipfile.lock"},
		"pipenv, certificates as usual": {"Pipfile.lock", pipenv(pypi, locked),
			pipenv(strings.Replace(pypi, `,"verify_ssl":true`, "", 1), locked), ""},
		"pipenv, no certificates before": {"Pipfile.lock", pipenv(strings.Replace(pypi, "true", "false", 1), locked),
			pipenv(strings.Replace(pypi, "true", "false", 1), locked+`,"index":"pypi"`), ""},
		"pipenv, no digests any more": {"Pipfile.lock", pipenv(pypi, locked),
			pipenv(pypi, `"hashes":[],"version":"==1.0"`), "gamma"},
		"pipenv, no digests before": {"Pipfile.lock", pipenv(pypi, `"version":"==1.0"`),
			pipenv(pypi, `"version":"==1.1"`), ""},
		"poetry, an address of a need": {"poetry.lock", gamma(""),
			gamma("[package.dependencies]\nevil = { url = \"https://evil.example/e.whl\" }"), "gamma"},
		"poetry, a need of git in a list": {"poetry.lock", gamma(""),
			gamma("[package.dependencies]\nevil = [{ version = \"*\" }, { git = \"https://evil.example/e\" }]"), "gamma"},
		"poetry, a file of a need": {"poetry.lock", gamma(""),
			gamma("[package.dependencies]\nevil = { path = \"parts/e.whl\" }"), "gamma"},
		"poetry, a source of a need": {"poetry.lock", gamma(""),
			gamma("[package.dependencies]\nevil = { version = \"*\", source = \"corp\" }"), "gamma"},
		"poetry, an address of an extra": {"poetry.lock", gamma(""),
			gamma("[package.extras]\nx = [\"evil @ https://evil.example/e.whl\"]"), "gamma"},
		"poetry, needs as it writes them": {"poetry.lock", "",
			gamma("[package.dependencies]\na = \">=1 || <0.5\"\nb = [{ version = \"*\", markers = \"python_version < " +
				"\\\"3.10\\\"\" }, { version = \"^2\", optional = true, extras = [\"x-y\"], python = \">=3.10\", " +
				"allow-prereleases = true }]\n[package.extras]\nx = [\"a[b] (>=1,<2) ; sys_platform == \\\"linux\\\"\"]"), ""},
		"poetry, a folder of a folder": {"poetry.lock", "",
			gamma("[package.dependencies]\nb = { path = \"../b\", develop = true }\n[package.source]\ntype = " +
				"\"directory\"\nurl = \"parts/gamma\""), ""},
		"poetry, a folder of none": {"poetry.lock", "",
			gamma("[package.dependencies]\nb = { path = \"../b\", develop = true }"), "gamma"},
		"poetry, a need of no form": {"poetry.lock", "", gamma("[package.dependencies]\nb = 1"), "poetry.lock"},
		"poetry, a line in a marker": {"poetry.lock", "",
			gamma("markers = \"os_name == 'nt'\\nhttps://evil.example/e.whl\""), "poetry.lock"},
		"poetry, a line in a digest": {"poetry.lock", "",
			gamma("files = [{ file = \"x.whl\", hash = \"sha256:0\\n-r parts/list.dat\\n#\" }]"), "poetry.lock"},
		"pdm, an address of a need": {"pdm.lock", gamma(""),
			gamma("dependencies = [\"evil @ https://evil.example/e.whl\"]"), "gamma"},
		"pdm, a folder as a need": {"pdm.lock", "",
			gamma("dependencies = [\"b[x] @ file:///${PROJECT_ROOT}/b ; os_name == 'nt'\"]"), ""},
		"pdm, a line in a digest": {"pdm.lock", "",
			gamma("files = [{ file = \"x.whl\", hash = \"sha256:0\\nhttps://evil.example/e.whl\\n#\" }]"), "pdm.lock"},
		"pdm, a line in a digest at a url": {"pdm.lock", "",
			gamma("") + "[metadata.files]\n\"gamma 1.0\" = [{ url = \"" + r.URL +
				"/x\", hash = \"sha256:0\\nhttps://evil.example/e.whl\\n#\" }]\n", "pdm.lock"},
		"pdm, a line in a need": {"pdm.lock", "",
			gamma("dependencies = [\"b ; os_name == 'nt'\\nhttps://evil.example/e.whl\"]"), "pdm.lock"},
		"pylock, a line in a marker": {"pylock.toml", "",
			pylock(`marker = "os_name == 'nt'\nhttps://evil.example/e.whl\n#"`), "pylock.toml"},
		"pylock, a line in a digest": {"pylock.toml", "",
			pylock(`wheels = [{ name = "x.whl", hashes = { sha256 = "0\nhttps://evil.example/e.whl\n#" } }]`), "pylock.toml"},
		"pylock, an address of a need": {"pylock.toml", pylock(""),
			pylock(`tool = { pdm = { dependencies = ["evil @ https://evil.example/e.whl"] } }`), "gamma"},
		"uv, a line in a marker": {"uv.lock", "",
			gamma(`dependencies = [{ name = "a", marker = "os_name == 'nt'\n-r x" }]`), "uv.lock"},
		"pipenv, a line end of Python": {"Pipfile.lock", "",
			pipenv(pypi, `"markers":"os_name == 'nt' \\\u2028https://evil.example/e.whl","version":"==1.0"`), "Pipfile.lock"},
		"pipenv, a remark in a marker": {"Pipfile.lock", "", pipenv(pypi, strings.Replace(locked, "'3.8'", "'3.8' #", 1)),
			"Pipfile.lock"},
		"pipenv, extras as an object": {"Pipfile.lock", "",
			pipenv(pypi, locked+`,"extras":{"x]\nhttps://evil.example/e.whl\n#":1}`), "Pipfile.lock"},
		"pipenv, digests as an object": {"Pipfile.lock", "",
			pipenv(pypi, `"hashes":{"sha256:00\n-r x":1},"version":"==1.0"`), "Pipfile.lock"},
		"pipenv, a part of a marker": {"Pipfile.lock", "",
			pipenv(pypi, locked+`,"sys_platform":"== 'win32'","os_name":"in 'nt posix'","extras":["x"],"editable":null`), ""},
		"pipenv, a line in such a part": {"Pipfile.lock", "",
			pipenv(pypi, locked+`,"sys_platform":"== 'win32'\u0085-r x"`), "Pipfile.lock"},
		"cargo, what it writes": {"Cargo.lock", "",
			"version = 4\n" + of("own", "dependencies = [\"gamma\"]") +
				strings.ReplaceAll(crate(crates), `"1.0"`, `"1.0.20240709203422"`) +
				"[[patch.unused]]\nname = \"x\"\nversion = \"1.0.0\"\n", ""},
		"cargo, another commit": {"Cargo.lock", crate("git+https://x.example/g#" + first),
			crate("git+https://x.example/g#" + second), "gamma"},
		"cargo, a further crate of it": {"Cargo.lock", of("delta", "source = \"git+https://x.example/g#"+first+"\""),
			crate("git+https://x.example/g#" + first), ""},
		"cargo, a new repository": {"Cargo.lock", "", crate("git+https://evil.example/g#" + first), "gamma"},
		"cargo, another registry": {"Cargo.lock", crate(crates),
			crate("registry+https://evil.example/index"), "gamma"},
		"cargo, the root of long ago": {"Cargo.lock", "",
			"[root]\nname = \"own\"\nversion = \"1.0.0\"\n" + strings.ReplaceAll(crate(crates), `"1.0"`, `"1.0.0"`), ""},
		"cargo, another commit as root": {"Cargo.lock", crate("git+https://x.example/g#" + first),
			strings.Replace(crate("git+https://x.example/g#"+second), "[[package]]", "[root]", 1), "gamma"},
		"cargo, another commit of a patch": {"Cargo.lock", crate("git+https://x.example/g#" + first),
			strings.Replace(crate("git+https://x.example/g#"+second), "package", "patch.unused", 1), "gamma"},
		"cargo, crates in one line": {"Cargo.lock", crate("git+https://x.example/g#" + first),
			"package = [{ name = \"gamma\", version = \"1.0.0\", source = \"git+https://x.example/g#" + second + "\" }]\n",
			"Cargo.lock"},
		"cargo, patches in one line": {"Cargo.lock", crate("git+https://x.example/g#" + first),
			"[patch]\nunused = [{ name = \"gamma\", version = \"1.0.0\", source = \"git+https://x.example/g#" + second +
				"\" }]\n", "Cargo.lock"},
		"cargo, a patch of no client": {"Cargo.lock", "", of("own", "") + "[patch]\nx = 1\n", "Cargo.lock"},
		"cargo, a branch of version 3": {"Cargo.lock", crate("git+https://x.example/g?branch=a/b#" + first),
			crate("git+https://x.example/g?branch=a%2Fb#" + first), ""},
		"cargo, another branch": {"Cargo.lock", crate("git+https://x.example/g?branch=a/b#" + first),
			crate("git+https://x.example/g?branch=a%2Fc#" + first), "gamma"},
		"cargo, a commit in a branch": {"Cargo.lock", crate("git+https://x.example/g?branch=a#" + first),
			crate("git+https://x.example/g?branch=a%23" + first), "gamma"},
		"bundler, what it writes": {"Gemfile.lock", "",
			"PATH\n  remote: .\n  specs:\n    gamma (1.0)\n\n" + gems, ""},
		"bundler, by another name": {"gems.locked", "",
			git("https://evil.example/g", first, "gamma") + gems, "gamma"},
		"bundler, another commit": {"Gemfile.lock", git("https://x.example/g", first, "gamma") + gems,
			git("https://x.example/g", second, "gamma") + gems, "gamma"},
		"bundler, a gem more": {"Gemfile.lock", git("https://x.example/g", first, "gamma") + gems,
			git("https://x.example/g", first, "gamma") + strings.Replace(gems, "    rake", "    a (1.0)\n    rake", 1), ""},
		"bundler, another index": {"Gemfile.lock", "", strings.Replace(gems, "rubygems.org", "evil.example", 1),
			"rake nokogiri"},
		"bundler, an index behind": {"Gemfile.lock", "",
			strings.Replace(gems, "\n\nPLAT", "\n  remote: https://evil.example/\n\nPLAT", 1), "Gemfile.lock"},
		"bundler, a folder outside": {"Gemfile.lock", "",
			"PATH\n  remote: ../g\n  specs:\n    gamma (1.0)\n\n" + gems, "gamma"},
		"bundler, a section of no client": {"Gemfile.lock", gems, "EVIL\n  remote: x\n\n" + gems, "Gemfile.lock"},
		"bundler, a commit with a blank": {"Gemfile.lock", git("https://x.example/g", first, "gamma") + gems,
			strings.Replace(git("https://x.example/g", first, "gamma"), "  rev", "   rev", 1) + gems, "Gemfile.lock"},
		"bundler, a commit behind gems": {"Gemfile.lock", git("https://x.example/g", first, "gamma") + gems,
			"GIT\n  remote: https://x.example/g\n  specs:\n    gamma (1.0)\n  revision: " + first + "\n  branch: main\n\n" +
				gems, "Gemfile.lock"},
		"bundler, a gem before its source": {"Gemfile.lock", git("https://x.example/g", first, "gamma") + gems,
			strings.Replace(git("https://x.example/g", first, "gamma"), "  rev", "    gamma (1.0)\n  rev", 1) + gems,
			"Gemfile.lock"},
		"bundler, gems twice": {"Gemfile.lock", git("https://x.example/g", first, "gamma") + gems,
			strings.Replace(git("https://x.example/g", first, "gamma"), "  rev", "  specs:\n  rev", 1) + gems, "Gemfile.lock"},
		"bundler, a commit of digests": {"Gemfile.lock", git("https://x.example/g", first, "gamma") + gems,
			strings.Replace(git("https://x.example/g", first, "gamma"), "  specs", "CHECKSUMS\n  revision: "+second+"\n  specs",
				1) + gems, "Gemfile.lock"},
		"bundler, a source without gems": {"Gemfile.lock", git("https://x.example/g", first, "gamma") + gems,
			"GIT\n  remote: https://x.example/g\n\n" + git("https://x.example/g", first, "gamma") + gems, "Gemfile.lock"},
		"bundler, all its sections": {"Gemfile.lock", "",
			strings.ReplaceAll("PATH\n  remote: parts/gamma\n  specs:\n    gamma (1.0)\n      rake (>= 1, < 14)\n\n"+gems+
				"\nRUBY VERSION\n   ruby 3.1.2p20\n", "\n", "\r\n"), ""},
		"composer, what it writes": {"composer.lock", "",
			composer(`,"require":{},"type":"library","time":"x","transport-options":{"symlink":false,"relative":true}`), ""},
		"composer, a proxy": {"composer.lock", composer(""),
			composer(`,"transport-options":{"http":{"proxy":"tcp://evil.example:80"}}`), "own/gamma"},
		"composer, a folder of a variable": {"composer.lock", composer(""),
			strings.Replace(composer(""), "parts/gamma", "$HOME/x", 1), "own/gamma"},
		"composer, the base's options": {"composer.lock", composer(`,"transport-options":{"ssl":{"x":1}}`),
			strings.Replace(composer(`,"transport-options":{"ssl":{"x":1}}`), "1.0", "1.1", 1), ""},
		"composer, a folder further up": {"apps/api/composer.lock",
			strings.Replace(composer(""), "parts", "../../parts", 1),
			strings.Replace(strings.Replace(composer(""), "parts", "../../parts", 1), "1.0", "1.1", 1), ""},
		"composer, a folder outside": {"api/composer.lock", composer(""),
			strings.Replace(composer(""), "parts", "../../parts", 1), "own/gamma"},
		"composer, tells Packagist": {"composer.lock", "",
			composer(`,"notification-url":"https://packagist.org/downloads/"`), ""},
		"composer, tells another host": {"composer.lock",
			composer(`,"notification-url":"https://packagist.org/downloads/"`),
			composer(`,"notification-url":"https://evil.example/downloads/"`), "composer.lock"},
		"composer, tells no host any more": {"composer.lock",
			composer(`,"notification-url":"https://corp.example/downloads"`), composer(""), ""},
		"composer, tells by a list": {"composer.lock", composer(""),
			composer(`,"notification-url":["https://packagist.org/downloads/"]`), "composer.lock"},
		"composer, of another manifest": {"composer-ci.lock", composer(""),
			composer(`,"transport-options":{"http":{"proxy":"tcp://evil.example:80"}}`), "own/gamma"},
		"bundler, of another manifest": {"tool/bundler/ci_gems.rb.lock", git("https://x.example/g", first, "gamma") + gems,
			git("https://x.example/g", second, "gamma") + gems, "gamma"},
		"pipenv, of another manifest": {"Pipfile.ci.lock", pipenv(pypi, locked),
			pipenv(source("pypi", "https://evil.example/simple"), locked), "Pipfile.ci.lock"},
		"pdm, by another name": {"pdm.ci.lock", gamma(""),
			gamma("hg = \"https://evil.example/g\"\nrevision = \"0\""), "gamma"},
		"uv, of a script": {"tools/run.py.lock", gamma(`source = { registry = "https://pypi.org/simple" }`),
			gamma(`source = { registry = "https://evil.example/simple" }`), "gamma"},
		"composer, a field above": {"composer.lock", composer(""),
			strings.Replace(composer(""), `"aliases"`, `"repositories":[],"aliases"`, 1), "composer.lock"},
	} {
		base, tree := map[string][]byte{}, map[string][]byte{c.file: []byte(c.tree)}
		if c.base != "" {
			base[c.file] = []byte(c.base)
		}
		if got := judgeSources(t, s, base, tree, p); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := judgeSources(t, s, tree, tree, p); got != "" {
			t.Errorf("%s: %q, as the base has it", name, got)
		}
	}
}

// judgeSources names the files that cannot be judged, else the packages that are foreign.
func judgeSources(t *testing.T, s *Store, base, tree map[string][]byte, p *Policy) string {
	t.Helper()
	var got []string
	for _, odd := range FindUnreadable(base, tree) {
		got = append(got, odd.File)
	}
	if len(got) > 0 {
		return strings.Join(got, " ")
	}
	foreign, err := s.FindForeign(t.Context(), base, tree, p)
	if err != nil {
		t.Error(err)
	}
	for _, d := range foreign {
		got = append(got, d.Name)
	}
	return strings.Join(got, " ")
}

// A package that the base has of a repository or a folder is none of the registry: its name may be another's there.
func TestPackagesFromElsewhereAreNotAllowed(t *testing.T) {
	for file, text := range map[string]string{
		"poetry.lock": "[[package]]\nname = \"gamma\"\nversion = \"1.0\"\n[package.source]\ntype = \"git\"\nurl = " +
			"\"https://x.example/g\"\n",
		"uv.lock":      "[[package]]\nname = \"gamma\"\nversion = \"1.0\"\nsource = { url = \"https://x.example/g.whl\" }\n",
		"pdm.lock":     "[[package]]\nname = \"gamma\"\nversion = \"1.0\"\npath = \"./gamma\"\n",
		"pylock.toml":  "[[packages]]\nname = \"gamma\"\nversion = \"1.0\"\ndirectory = { path = \"gamma\" }\n",
		"Pipfile.lock": `{"default":{"gamma":{"git":"https://x.example/g","ref":"0"}}}`,
	} {
		if p, _ := LockedPolicy(map[string][]byte{file: []byte(text)}); p.CountNames(PyPI) != 0 {
			t.Errorf("%s allows the registry's", file)
		}
	}
}

// Every entry is compared with the registry unless its own client takes the package from elsewhere. A field of another
// client, or one without a value, changes nothing.
func TestPackagesThatSeemToBeFromElsewhere(t *testing.T) {
	for file, all := range map[string][]string{
		"poetry.lock": {`path = "parts"`, `directory = { path = "parts" }`, `source = { editable = "parts" }`,
			`source = { type = "x" }`, `source = { type = "directory" }`},
		"uv.lock": {`path = "parts"`, `git = "x"`, `source = { type = "git" }`, `source = { editable = false }`,
			`source = { path = "" }`},
		"pdm.lock":    {`directory = { path = "parts" }`, `source = { git = "x" }`, `path = ""`, `git = false`},
		"pylock.toml": {`path = "parts"`, `git = "x"`, `directory = {}`},
		"Pipfile.lock": {`"editable":false`, `"editable":true`, `"virtual":true`, `"git":""`, `"path":false`,
			`"directory":"parts"`},
	} {
		for _, field := range all {
			text := "[[package]]\nname = \"gamma\"\nversion = \"1.0\"\n" + field + "\n"
			switch file {
			case "pylock.toml":
				text = strings.Replace(text, "package", "packages", 1)
			case "Pipfile.lock":
				text = `{"default":{"gamma":{"version":"==1.0","hashes":["sha256:00"],` + field + `}}}`
			}
			if p, notes := LockedPolicy(map[string][]byte{file: []byte(text)}); p.CountNames(PyPI) != 1 {
				t.Errorf("%s, %s: gamma isn't compared, notes %q", file, field, notes)
			}
		}
	}
}

// A name or a version that no grammar here has is refused by name in a changed file: its client may know it.
func TestNamesThatAreNotJudged(t *testing.T) {
	long := strings.Repeat("a", 130)
	for name, c := range map[string]struct {
		file, base, tree string
		odd              bool
	}{
		"a long name in a list": {"requirements.txt", "six==1.0\n", "six==1.0\n" + long + "==1.0\n", true},
		"the base's long name":  {"requirements.txt", long + "==1.0\n", long + "==1.0\nsix==1.0\n", false},
		"a long path of a module": {"go.mod", "",
			"module x.example/y\n\ngo 1.21\n\nrequire x.example/" + long + "/" + long + " v1.0.0\n", true},
		"a long path in a workspace": {"go.work", "",
			"go 1.21\n\nreplace x.example/y => x.example/" + long + "/" + long + " v1.0.0\n", true},
		"a name of a variable": {"requirements.txt", "", "${USER}-evil==1.0\n", true},
		"a login of a variable": {"requirements.txt", "",
			"git+https://${TOKEN}@x.example/g\ng @ https://${TOKEN}@x.example/g.whl\nsix==${VERSION}\n", false},
		"versions with the time": {"uv.lock", "",
			"[[package]]\nname = \"pulumi\"\nversion = \"3.119.0a1717188882\"\n[[package]]\nname = \"jax\"\nversion = " +
				"\"0.4.31.dev20240709203422\"\n", false},
		"a computed version": {"setup.py", "",
			"from setuptools import setup\nsetup(install_requires=['six=={}'.format(v), 'x==%s' % v])\n", false},
		"a list in UTF-16":                  {"requirements.txt", "", "\xff\xfes\x00i\x00x\x00", true},
		"a list in other characters":        {"constraints.txt", "", "# -*- coding: utf-7 -*-\n# x+AAo-evil==1.0\n", true},
		"a list in two kinds of characters": {"requirements.txt", "", "# -*- coding: utf-7 -*- (was: coding: utf-8)\n", true},
		"a list in the second kind": {"requirements.txt", "",
			"# -*- coding: utf-8 -*- (was: coding: latin-1)\n", false},
		"a list, characters in a name":     {"requirements.txt", "", "coding: utf-7\n", false},
		"a list with a capital":            {"Requirements.txt", "six==1.0\n", "six==1.1\n", false},
		"a list of Windows' with a dot":    {"requirements.txt.", "", "six==1.0\n", true},
		"constraints of something else":    {"cmake/Timing_Constraints.txt", "", "# Clocks\nset_clock 2\n", false},
		"a list in its usual characters":   {"requirements.txt", "", "# -*- coding: utf-8 -*-\n# ä\nsix==1.0\t# x\n", false},
		"a list with a byte before a name": {"requirements.txt", "", "six==1.0\n\x1fevil==1.0\n", true},
		"a list with Windows' lines":       {"requirements.txt", "", "six==1.0 \\\r\n    --hash=sha256:00\r\n", false},
		"a gem, which no registry here has": {"Gemfile.lock", "",
			"GEM\n  remote: https://rubygems.org/\n  specs:\n    rake (13.2.1)\n", false},
	} {
		base := map[string][]byte{}
		if c.base != "" {
			base[c.file] = []byte(c.base)
		}
		if got := FindUnreadable(base, map[string][]byte{c.file: []byte(c.tree)}); (len(got) > 0) != c.odd {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A workspace of Go's has replacements as a module has, and both may have lines of a later go command.
func TestReplacementsOfWorkspaces(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"a workspace": {"go.work", "go 1.21\n\nuse ./a\n\nreplace x.example/y => z.example/y v1.0.0\n",
			"go z.example/y@v1.0.0"},
		"a block": {"go.work",
			"go 1.21\n\nreplace (\n\tx.example/y v1.0.0 => \"z.example/y\" v1.0.0\n\tx.example/q => ./q\n)\n",
			"go z.example/y@v1.0.0"},
		"a later line": {"go.mod", "module m.example/m\n\nlater ./foo\n\nreplace x.example/y => z.example/y v1.0.0\n",
			"go z.example/y@v1.0.0"},
		"no workspaces": {"go.sum", "x.example/y v1.0.0 h1:x\n", "go x.example/y@v1.0.0"},
	} {
		all, notes := ParseLocks(map[string][]byte{c.file: []byte(c.text)})
		if len(all) != 1 || all[0].String() != c.want || len(notes) > 0 {
			t.Errorf("%s: %v, %q", name, all, notes)
		}
	}
}
