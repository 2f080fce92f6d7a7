package pnpm

import (
	"strings"
	"testing"

	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

// Whose a package is: its manifest says it, or the nearest lock file, or the
// manifest of the root. pnpm claims its own, so that npm leaves them alone.
func TestOwnership(t *testing.T) {
	const test = `"scripts":{"test":"node --test"}`
	for name, c := range map[string]struct {
		files map[string]string
		want  string // folders
	}{
		"by its manifest": {map[string]string{"package.json": `{"packageManager":"pnpm@9.1.0",` + test + `}`},
			"."},
		"of another manager": {map[string]string{"package.json": `{"packageManager":"yarn@4.0.0",` + test + `}`,
			"pnpm-lock.yaml": ""}, ""},
		"by its lock file": {map[string]string{"package.json": `{` + test + `}`, "pnpm-lock.yaml": ""}, "."},
		"with npm's beside it": {map[string]string{"package.json": `{` + test + `}`, "pnpm-lock.yaml": "",
			"package-lock.json": ""}, ""},
		"by the lock file above": {map[string]string{"package.json": `{}`, "pnpm-lock.yaml": "",
			"a/package.json": `{` + test + `}`}, "a"},
		"by a nearer one of npm's": {map[string]string{"package.json": `{}`, "pnpm-lock.yaml": "",
			"a/package.json": `{` + test + `}`, "a/package-lock.json": ""}, ""},
		"by the manifest of the root": {map[string]string{"package.json": `{"packageManager":"pnpm@9.1.0"}`,
			"a/package.json": `{` + test + `}`}, "a"},
		"npm's": {map[string]string{"package.json": `{` + test + `}`}, ""},
	} {
		tree := ecosystemtest.Tree(c.files)
		var dirs []string
		for _, p := range (Ecosystem{}).Detect(tree, nil) {
			if p.Dir == "" {
				p.Dir = "."
			}
			dirs = append(dirs, p.Dir)
			if !tree.IsClaimed(strings.TrimPrefix(p.Dir+"/package.json", "./")) {
				t.Errorf("%s: %s is not claimed", name, p.Dir)
			}
		}
		if got := strings.Join(dirs, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What only its manager can run is run by it, and pnpm hands arguments on as
// they stand.
func TestScriptsOfTheManager(t *testing.T) {
	parts := Ecosystem{}.Detect(
		ecosystemtest.Tree(
			map[string]string{"pnpm-lock.yaml": "", "package.json": `{"scripts":{"test":"echo $npm_package_name && vitest"}}`}),
		nil)
	if len(parts) != 1 || !strings.HasPrefix(parts[0].Test.Report, "pnpm test --run ") {
		t.Errorf("%+v", parts)
	}
	parts = Ecosystem{}.Detect(
		ecosystemtest.Tree(map[string]string{"pnpm-lock.yaml": "", "package.json": `{"devDependencies":{"jest":"29"}}`}), nil)
	if len(parts) != 1 || parts[0].Test.Command != "pnpm exec jest --ci" ||
		parts[0].Test.Probe != "pnpm exec jest --version" {
		t.Errorf("%+v", parts)
	}
	// The root of a workspace leaves its tests to the packages, where these have some.
	files := map[string]string{"pnpm-workspace.yaml": "", "pnpm-lock.yaml": "",
		"package.json": `{"devDependencies":{"jest":"29"}}`, "a/package.json": `{"scripts":{"test":"node --test"}}`}
	if parts = (Ecosystem{}).Detect(ecosystemtest.Tree(files), nil); len(parts) != 1 || parts[0].Dir != "a" {
		t.Errorf("%+v", parts)
	}
	files["a/package.json"] = `{}`
	if parts = (Ecosystem{}).Detect(ecosystemtest.Tree(files), nil); len(parts) != 1 || parts[0].Dir != "" ||
		parts[0].Test == nil {
		t.Errorf("%+v", parts)
	}
}

// The lock files of pnpm 6 to 10.
func TestLockForms(t *testing.T) {
	for text, want := range map[string]string{
		"lockfileVersion: 5.4\npackages:\n\n  /a/1.0.0:\n    dev: true\n  /@s/b/2.0.0_a@1.0.0:\n    dev: true\n":    "npm a@1.0.0, npm @s/b@2.0.0",
		"lockfileVersion: '6.0'\npackages:\n\n  /a@1.0.0:\n    dev: true\n  /@s/b@2.0.0(a@1.0.0):\n    dev: true\n": "npm a@1.0.0, npm @s/b@2.0.0",
		"lockfileVersion: '9.0'\npackages:\n\n  'a@1.0.0':\n    x: 1\n  b@file:b:\n    x: 1\n  c@https://x/c.tgz:\n    x: " +
			"1\n": "npm a@1.0.0",
	} {
		all, err := Ecosystem{}.ParseLock("pnpm-lock.yaml", []byte(text))
		var got []string
		for _, d := range all {
			got = append(got, d.String())
		}
		if s := strings.Join(got, ", "); err != nil || s != want {
			t.Errorf("%q, want %q (%v)", s, want, err)
		}
	}
}

// pnpm is shown what an installation is, and nothing that runs or leads elsewhere.
func TestWhatPnpmIsShown(t *testing.T) {
	s := &ecosystemtest.Sources{Texts: map[string]string{
		"package.json": `{"name":"x","scripts":{"postinstall":"evil"},"pnpm":{"overrides":{"a":"1.0.0"}},"dependencies":{"a":"1"}}`,
		"pnpm-workspace.yaml": "packages:\n- 'packages/*'\n  # more\n\nregistry: http://evil\noverrides:\n  a: " +
			"1.0.0\n'scriptShell': /bin/evil\npnpmfile: evil.cjs\n{storeDir: /x}\n",
		".npmrc": "registry=http://evil\nnode-linker=hoisted\n//x/:_authToken=secret\n",
		"pnpm-lock.yaml": "patchedDependencies:\n  a@1.0.0:\n    hash: x\n    path: patches/a.patch\n  b@1.0.0:\n    path: " +
			"../../etc/b.patch\n", "patches/a.patch": "diff", "packages/p/package.json": `{"name":"p"}`,
	}}
	all, err := Ecosystem{}.Installs(s)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d layers, %v", len(all), err)
	}
	var shown strings.Builder
	for _, f := range all[1].Stage {
		shown.WriteString("== " + f.Path + "\n" + string(f.Text) + "\n")
	}
	for _, want := range []string{"packages/*", "overrides:\n  a: 1.0.0", `"overrides":{"a":"1.0.0"}`,
		"node-linker=hoisted", "== patches/a.patch\ndiff", "== packages/p/package.json"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, bad := range []string{"evil", "secret", "storeDir", "== ../", "== etc"} {
		if strings.Contains(shown.String(), bad) {
			t.Errorf("%q is there", bad)
		}
	}
	if t.Failed() {
		t.Log(shown.String())
	}
	s = &ecosystemtest.Sources{
		Texts: map[string]string{"package.json": `{"packageManager":"pnpm@9.0.0","dependencies":{"a":"1"}}`}}
	if all, err := (Ecosystem{}).Installs(s); err != nil || len(all) != 1 || len(s.Notes) != 1 ||
		!strings.Contains(s.Notes[0], "has no lock file") {
		t.Errorf("without a lock file: %d layers, %q, %v", len(all), s.Notes, err)
	}
}

// An installation asks the mirror for the packages of registries, also where the lock file has
// their addresses; what comes from elsewhere, and what a lock file that is made again keeps, has
// its own.
func TestAddressesOfALockFile(t *testing.T) {
	const lock = "lockfileVersion: '9.0'\n\npackages:\n\n" +
		"  a@1.0.0:\n    resolution: {integrity: sha512-a, tarball: https://registry.npmjs.org/a/-/a-1.0.0.tgz}\n    " +
		"engines: {node: '>=4'}\n\n" +
		"  '@o/p@1.2.3':\n    resolution: {integrity: sha512-p, tarball: " +
		"'https://npm.pkg.github.com/download/@o/p/1.2.3/0a1b'}\n\n" +
		"  url@https://codeload.github.com/o/url/tar.gz/1.0.0:\n    resolution: {integrity: sha512-u, tarball: " +
		"https://codeload.github.com/o/url/tar.gz/1.0.0}\n    version: 1.0.0\n\n" +
		"  old@1.0.0:\n    resolution: {integrity: sha512-o, registry: http://nexus.example/, tarball: " +
		"http://nexus.example/old.tgz}\n"
	tree := func() *ecosystemtest.Sources {
		return &ecosystemtest.Sources{
			Texts: map[string]string{"package.json": `{"packageManager":"pnpm@9.0.0","dependencies":{"a":"1"}}`,
				"pnpm-lock.yaml": lock}}
	}
	all, err := Ecosystem{}.Installs(tree())
	if err != nil || len(all) != 2 {
		t.Fatalf("%d layers, %v", len(all), err)
	}
	const want = "lockfileVersion: '9.0'\n\npackages:\n\n" +
		"  a@1.0.0:\n    resolution: {integrity: sha512-a}\n    engines: {node: '>=4'}\n\n" +
		"  '@o/p@1.2.3':\n    resolution: {integrity: sha512-p}\n\n" +
		"  url@https://codeload.github.com/o/url/tar.gz/1.0.0:\n    resolution: {integrity: sha512-u, tarball: " +
		"https://codeload.github.com/o/url/tar.gz/1.0.0}\n    version: 1.0.0\n\n" +
		"  old@1.0.0:\n    resolution: {integrity: sha512-o}\n"
	if got := stagedLock(all[1].Stage); got != want {
		t.Errorf("pnpm is shown\n%s", got)
	}
	if got := string(all[1].Locks["pnpm-lock.yaml"]); got != lock {
		t.Errorf("the policy is of\n%s", got)
	}
	r, ok, err := Ecosystem{}.Relock(tree(), "pnpm-lock.yaml")
	if got := stagedLock(r.Stage); err != nil || !ok || got != lock {
		t.Errorf("made again from\n%s\n%v", got, err)
	}
}

func stagedLock(files []ecosystem.StagedFile) string {
	for _, f := range files {
		if f.Path == "pnpm-lock.yaml" {
			return string(f.Text)
		}
	}
	return ""
}
