package node

import (
	"maps"
	"strings"
	"testing"

	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

// installs is the one layer of a tree.
func installs(t *testing.T, files map[string]string) ecosystem.Install {
	t.Helper()
	all, err := Ecosystem{}.Installs(&ecosystemtest.Sources{Texts: files})
	if err != nil || len(all) != 1 {
		t.Fatalf("%d layers, %v", len(all), err)
	}
	return all[0]
}

// Which lock files count: those of workspaces belong to the outer one's.
func TestNPMProjects(t *testing.T) {
	in := installs(t, map[string]string{
		"package.json":            `{"workspaces":{"packages":["packages/*","./tools/"]}}`,
		"package-lock.json":       `{"dependencies":{"a":{}}}`,
		"packages/a/package.json": "{}", "packages/a/package-lock.json": "{}", "tools/package.json": "{}",
		"tools/package-lock.json": "{}",
		"web/package.json":        `{"scripts":{"x":"y"},"bin":{"w":"./bin/w.js","evil":"../../../etc/x"}}`,
		"web/package-lock.json":   "{}", "web/npm-shrinkwrap.json": `{"packages":{"node_modules/s":{}}}`,
		"empty/package.json": "{}", "empty/package-lock.json": "{}",
		"lonely/package-lock.json": "{}", "od d/package.json": "{}", "od d/package-lock.json": "{}",
	})
	if in.What != "package-lock.json, web/package-lock.json" {
		t.Errorf("to install: %s", in.What)
	}
	web := map[string]string{}
	for _, f := range in.Stage {
		if strings.HasPrefix(f.Path, "web/") {
			web[f.Path] = string(f.Text)
		}
	}
	if _, bin := web["web/bin/w.js"]; len(web) != 3 || !bin ||
		web["web/npm-shrinkwrap.json"] != `{"packages":{"node_modules/s":{}}}` ||
		strings.Contains(web["web/package.json"], "scripts") {
		t.Errorf("npm is shown %q", web)
	}
}

// A lock file that the base has is installed by `npm ci`; one that was made for the task
// by an npm that goes on without optional packages, as it was made.
func TestLockOfATask(t *testing.T) {
	base := map[string]string{"package.json": "{}", "a/package.json": "{}",
		"a/package-lock.json": `{"packages":{"node_modules/s":{}}}`}
	task := maps.Clone(base)
	task["package-lock.json"] = `{"packages":{"node_modules/s":{}}}`
	all, err := Ecosystem{}.Installs(&ecosystemtest.Sources{Texts: task, Before: &ecosystemtest.Sources{Texts: base}})
	if err != nil || len(all) != 1 || len(all[0].Steps) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, step := range all[0].Steps {
		if want := map[string]string{".": "npm install --ignore-scripts --no-save",
			"a": "npm ci --ignore-scripts"}[step.Dir]; step.Command != want {
			t.Errorf("in %s: %s, not %s", step.Dir, step.Command, want)
		}
	}
}

// Links of npm's, moved: to a package, to a workspace, and out.
func TestMoveLink(t *testing.T) {
	moved := collector{places: (&ecosystemtest.Sources{}).Places(), name: "npm"}
	for _, c := range []struct{ rel, target, want string }{
		{"node_modules/.bin/x", "../x/x.js", "../x/x.js"},
		{"node_modules/@ws/a", "../../packages/a", "/work/repo/packages/a"},
		{"web/node_modules/.bin/x", "../../cli.js", "/work/repo/web/cli.js"},
		{"node_modules/y", "/opt/out/node_modules/z", "/opt/deps/npm/node_modules/z"},
		{"node_modules/evil", "../../../etc/passwd", ""},
		{"node_modules/evil", "/etc/passwd", ""},
		{"node_modules/evil", "/opt/outside", ""},
	} {
		got, ok := moved.moveLink(c.rel, c.target)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s → %s: %q", c.rel, c.target, got)
		}
	}
}

// A lock file made against somebody's mirror, an alias, and what is none of a
// registry's.
func TestCanonicalLock(t *testing.T) {
	got := string(canonicalLock([]byte(`{"lockfileVersion":3,"n":12345678901234567890,"packages":{"":{"name":"x"},
		"node_modules/a":{"resolved":"https://mirror.example/repo/npm/a/-/a-1.0.0.tgz","integrity":"sha512-x"},
		"node_modules/b/node_modules/@s/c":{"resolved":"http://other/@s/c/-/c-2.0.0.tgz"},
		"node_modules/alias":{"name":"real","resolved":"https://registry.npmjs.org/real/-/real-1.0.0.tgz"},
		"node_modules/@o/p":{"version":"1.2.3","resolved":"https://npm.pkg.github.com/download/@o/p/1.2.3/0a1b","integrity":"sha512-x"},
		"node_modules/url":{"version":"1.0.0","resolved":"https://codeload.github.com/o/url/tar.gz/1.0.0","integrity":"sha512-x"},
		"node_modules/g":{"resolved":"git+ssh://git@example.com/g.git#abc"},"node_modules/w":{"resolved":"packages/w","link":true}}}`)))
	for _, want := range []string{`"https://registry.npmjs.org/a/-/a-1.0.0.tgz"`,
		`"https://registry.npmjs.org/@s/c/-/c-2.0.0.tgz"`, `"https://registry.npmjs.org/real/-/real-1.0.0.tgz"`,
		`"https://registry.npmjs.org/@o/p/-/p-1.2.3.tgz"`, `"https://codeload.github.com/o/url/tar.gz/1.0.0"`,
		`"git+ssh://git@example.com/g.git#abc"`, `"packages/w"`, "12345678901234567890", "sha512-x"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
	for _, odd := range []string{"", "[]", "null", `{"packages":[1]}`, `{"packages":{"node_modules/a":3}}`} {
		canonicalLock([]byte(odd)) // any text: no panic
	}
}

// Registries lay their files out in several ways; a package that comes from elsewhere is left
// where it is.
func TestRegistryFile(t *testing.T) {
	for address, want := range map[string]string{
		"https://registry.npmjs.org/@o/p/-/p-1.2.3.tgz":            "p-1.2.3.tgz",
		"http://nexus.example/repository/npm/x/-/p-1.2.3.tgz":      "p-1.2.3.tgz",
		"https://npm.pkg.github.com/download/@o/p/1.2.3/0a1b2c":    "p-1.2.3.tgz",
		"https://npm.jsr.io/~/11/@o/p/1.2.3.tgz":                   "p-1.2.3.tgz",
		"https://npm.pkg.github.com/download/@o/other/1.2.3/0a1b":  "",
		"https://npm.pkg.github.com/download/@o/p/1.2.4/0a1b":      "",
		"https://codeload.github.com/o/p/tar.gz/1.2.3":             "",
		"https://example.com/p-1.2.3.tgz":                          "",
		"git+ssh://git@example.com/download/@o/p/1.2.3/0a1b":       "",
		"file:../download/@o/p/1.2.3.tgz":                          "",
		"https://registry.example/@o/p/-/p-1.2.3.tgz/and/more.tgz": "",
		"": "",
	} {
		if got, ok := RegistryFile(address, "@o/p", "1.2.3"); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q %t, want %q", address, got, ok, want)
		}
	}
}
