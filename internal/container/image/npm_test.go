package image

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/depproxy"
	"company/internal/lib/hosttest"
)

// withRegistries gives a bench the operator's own registries, behind a cache
// of the test's.
func withRegistries(t *testing.T, be *testBuilder, ecosystem string) {
	t.Helper()
	up, err := depproxy.LoadClientSettings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !up.Serves(ecosystem) {
		hosttest.Lacks(t, "this host has no %s registry: %v", ecosystem, up.Notes)
	}
	// The product's own cache: what a package is does not change.
	useRegistries(t, be, up, filepath.Join(be.dir, "registries"))
}

func useRegistries(t *testing.T, be *testBuilder, up depproxy.Upstreams, dir string) {
	t.Helper()
	store, err := depproxy.Open(dir, up)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	be.registries = store
}

// lockNPM makes a lock file with the host's npm, as a developer does.
func lockNPM(t *testing.T, files map[string]string) map[string]string {
	t.Helper()
	return lockFiles(t, files, "package-lock.json", nil, "npm", "install", "--package-lock-only", "--ignore-scripts",
		"--no-audit", "--no-fund")
}

// lockFiles adds the lock file that a client makes of files.
func lockFiles(
	t *testing.T, files map[string]string, lockName string, env []string, client ...string,
) map[string]string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		writeTo(t, filepath.Join(dir, name), text)
	}
	cmd := exec.CommandContext(t.Context(), client[0], client[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		hosttest.Lacks(t, "no lock file can be made here: %v: %s", err, out)
	}
	lock, err := os.ReadFile(filepath.Join(dir, lockName))
	if err != nil {
		t.Fatal(err)
	}
	files[lockName] = string(lock)
	return files
}

// runInTree clones the baked repository and runs a script in it, in a container
// with a worker's policy, after the image's own script.
func (be *testBuilder) runInTree(t *testing.T, img Image, script string) string {
	t.Helper()
	return be.mustRun(t, img, `set -e; cd /work; git clone -q `+RepoPath+` repo; cd repo; `+LinkDepsPath+`; `+script)
}

// ADP-2: workspaces with vitest, node:test and npx: all run offline in a locked
// container, what tools write goes to the tree, and git sees nothing of it. Scripts
// of packages and of the project do not run in preparation. jest does as vitest
// does, and has three times as many packages.
func TestNPMWorkspaces(t *testing.T) {
	hosttest.Long(t, "TestInstallScriptsWithLeave installs with npm; test/strangers has its projects")
	t.Run("vitest and node:test", func(t *testing.T) {
		checkNPMWorkspaces(t, `"scripts":{"test":"node --test"}`,
			"const { test } = require('node:test');\nconst assert = require('node:assert');\n"+
				"test('version of its own', () => assert.equal(require('is-odd/package.json').version, '2.0.0'))\n", "pass 1\n")
	})
	t.Run("vitest and jest", func(t *testing.T) {
		hosttest.Long(t, "another runner, of many packages")
		checkNPMWorkspaces(t, `"devDependencies":{"jest":"29.7.0"},"scripts":{"test":"jest --ci"}`,
			"test('version of its own', () => expect(require('is-odd/package.json').version).toBe('2.0.0'))\n",
			"Tests:       1 passed")
	})
}

// checkNPMWorkspaces builds and tests workspaces whose package b has this part of a
// manifest and this test, of which its runner says how it ended.
func checkNPMWorkspaces(t *testing.T, manifest, test, says string) {
	t.Helper()
	be := newTestBuilder(t)
	withRegistries(t, be, ecosystem.NPM)
	repo := newProject(t).commit(lockNPM(t, map[string]string{
		"package.json": `{"name":"root","private":true,"workspaces":["packages/*"],"scripts":{"preinstall":"touch /opt/out/canary","test":"npm test --workspaces"},
			"devDependencies":{"vitest":"2.1.8"},"overrides":{"rollup":"4.40.0"}}`,
		"packages/a/package.json": `{"name":"@ws/a","version":"1.0.0","type":"module","bin":"cli.js","dependencies":{"is-odd":"3.0.1"},"scripts":{"test":"vitest run"}}`,
		"packages/a/cli.js":       "#!/usr/bin/env node\nconsole.log('cli of a')\n",
		"packages/a/index.js":     "import isOdd from 'is-odd'; export const odd = (n) => isOdd(n)\n",
		"packages/a/a.test.js": "import {expect, test} from 'vitest'; import {odd} from './index.js'; test('odd', () => " +
			"expect(odd(3)).toBe(true))\n",
		"packages/b/package.json": `{"name":"b","version":"1.0.0","dependencies":{"@ws/a":"1.0.0","is-odd":"2.0.0"},` +
			manifest + `}`,
		"packages/b/b.test.js": test,
		"c.mjs":                "import {odd} from '@ws/a/index.js'; console.log('through the workspace:', odd(5))\n",
	}))
	req := Request{Toolchains: []string{"node"}, Repo: repo}
	img := be.mustEnsure(t, req)
	if len(img.Notes) != 0 {
		t.Errorf("notes %q", img.Notes)
	}
	out := be.runInTree(t, img, `
npm test 2>&1; node c.mjs; node node_modules/.bin/a; npx --no-install vitest --version; cat node_modules/@ws/a/package.json | head -c 17; echo
git status --porcelain | sed 's/^/git sees /'; ls /opt/deps /opt/out 2>&1 || true`)
	for _, want := range []string{"1 passed", says, "through the workspace: true", "cli of a", `{"name":"@ws/a","`} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, bad := range []string{"git sees", "canary"} {
		if strings.Contains(out, bad) {
			t.Errorf("%q is there", bad)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// A package that the registry does not have, a lock file that does not fit, or
// no lock file at all: said in words that help.
func TestNPMFailures(t *testing.T) {
	hosttest.Long(t, "one of many kinds of images")
	lock := `{"name":"x","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"x","version":"1.0.0","dependencies":{"%s":"1.0.0"}},` +
		`"node_modules/%s":{"version":"1.0.0","resolved":"https://registry.npmjs.org/%s/-/%s-1.0.0.tgz","integrity":"sha512-AAAA"}}}`
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"unknown": {map[string]string{
			"package.json":      `{"name":"x","version":"1.0.0","dependencies":{"no-such-package-a7f3":"1.0.0"}}`,
			"package-lock.json": strings.ReplaceAll(lock, "%s", "no-such-package-a7f3")},
			[]string{"package-lock.json cannot be installed", "no-such-package-a7f3"}},
		"does not fit": {map[string]string{"package.json": `{"name":"x","version":"1.0.0","dependencies":{"is-odd":"3.0.1"}}`,
			"package-lock.json": `{"name":"x","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"x","version":"1.0.0"}}}`}, []string{"is-odd is not in the project's lock files"}},
		"garbage": {map[string]string{"package.json": `{"dependencies":{"a":"1"}}`, "package-lock.json": "\x00{{{"},
			[]string{"cannot be installed"}},
	} {
		t.Run(name, func(t *testing.T) {
			be := newTestBuilder(t)
			withRegistries(t, be, ecosystem.NPM)
			req := Request{Toolchains: []string{"node"}, Repo: newProject(t).commit(c.files)}
			be.dropAtEnd(t, req, newBuiltBase())
			_, err := be.Ensure(newContext(t), req)
			requireCode(t, err, company.EImage, c.want...)
			var e *company.Error
			if errors.As(err, &e) && e.Class != company.HumanRequired {
				t.Errorf("this would be tried again: %v", err)
			}
		})
	}
}

// What is not installed is noted, with what to do about it.
func TestNPMNotes(t *testing.T) {
	hosttest.Long(t, "one of many kinds of images")
	asks := `{"dependencies":{"a":"1"}}`
	locked := `{"packages":{"node_modules/a":{"version":"1.0.0"}}}`
	for name, c := range map[string]struct {
		files   map[string]string
		offline bool
		want    string
	}{
		"nothing to install": {map[string]string{"package.json": `{"name":"x"}`}, false, ""},
		"no lock": {map[string]string{"package.json": asks}, false,
			"package.json has no lock file: each task resolves it again (make one with `npm install --package-lock-only`)"},
		"bun": {map[string]string{"package.json": asks, "bun.lock": "#"}, false,
			"package.json is locked by bun, which is not supported"},
		"two locks": {map[string]string{"package.json": asks, "package-lock.json": locked, "pnpm-lock.yaml": ""},
			true, "package-lock.json counts, and pnpm-lock.yaml beside it does not: delete the one that is not used, or name " +
				"the client in package.json, with packageManager"},
		"off": {map[string]string{"package.json": asks, "package-lock.json": locked}, true,
			"package-lock.json is not installed: container.deps is off"},
		"no registry": {map[string]string{"package.json": asks, "package-lock.json": locked}, false,
			"package-lock.json is not installed: no registry is available"},
		"only workspaces": {map[string]string{"package.json": `{"workspaces":["w"]}`, "w/package.json": `{"name":"w"}`,
			"package-lock.json": `{"packages":{"node_modules/w":{"link":true,"resolved":"w"}}}`}, true, ""},
		"of another project": {map[string]string{"node_modules/x/package.json": asks, "test/fixtures/x/package.json": asks},
			false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			be := newTestBuilder(t)
			_, notes, err := be.planLayers(
				newContext(t), Request{Toolchains: []string{"node"}, Offline: c.offline, Repo: newProject(t).commit(c.files)},
				newBuiltBase())
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(notes, "\n"); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("notes %q, want %q", got, c.want)
			}
		})
	}
}
