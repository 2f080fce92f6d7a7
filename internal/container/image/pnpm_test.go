package image

import (
	"strings"
	"testing"

	"company/internal/ecosystem"
	"company/internal/lib/hosttest"
)

// lockPnpm makes a lock file with a pnpm of npm's registry, as a developer does.
func lockPnpm(t *testing.T, files map[string]string) map[string]string {
	t.Helper()
	env := []string{"CI=true", "COREPACK_ROOT=/", "npm_config_cache=" + t.TempDir()}
	return lockFiles(t, files, "pnpm-lock.yaml", env, "npx", "--yes", "pnpm@10.34.8", "install", "--lockfile-only",
		"--ignore-scripts")
}

// A workspace of pnpm's runs offline in a locked container, by pnpm and by its
// programs alone; scripts of packages and of the project do not run in
// preparation, and git sees nothing of what was linked.
func TestPnpmWorkspaces(t *testing.T) {
	hosttest.Long(t, "workspaces of another client of npm packages")
	be := newTestBuilder(t)
	withRegistries(t, be, ecosystem.NPM)
	repo := newProject(t).commit(lockPnpm(t, map[string]string{
		"package.json": `{"name":"root","private":true,"packageManager":"pnpm@9.1.0","scripts":{"preinstall":"touch /opt/out/canary","test":"pnpm -r test"},
			"devDependencies":{"vitest":"2.1.8"},"pnpm":{"overrides":{"rollup":"4.40.0"}}}`,
		"pnpm-workspace.yaml":     "packages:\n  - packages/*\n",
		"packages/a/package.json": `{"name":"@ws/a","version":"1.0.0","type":"module","bin":"cli.js","dependencies":{"is-odd":"3.0.1"},"devDependencies":{"vitest":"2.1.8"},"scripts":{"test":"vitest run"}}`,
		"packages/a/cli.js":       "#!/usr/bin/env node\nconsole.log('cli of a')\n",
		"packages/a/index.js":     "import isOdd from 'is-odd'; export const odd = (n) => isOdd(n)\n",
		"packages/a/a.test.js": "import {expect, test} from 'vitest'; import {odd} from './index.js'; test('odd', () => " +
			"expect(odd(3)).toBe(true))\n",
		"packages/b/package.json": `{"name":"b","version":"1.0.0","dependencies":{"@ws/a":"workspace:*","is-odd":"2.0.0"},"scripts":{"test":"node --test"}}`,
		"packages/b/b.test.js": "require('node:test')('version of its own', () => { if " +
			"(require('is-odd/package.json').version !== '2.0.0') throw 1 })\n",
		"packages/b/c.mjs": "import {odd} from '@ws/a/index.js'; console.log('through the workspace:', odd(5))\n",
	}))
	req := Request{Toolchains: []string{"node", "pnpm"}, Repo: repo}
	img := be.mustEnsure(t, req)
	if len(img.Notes) != 0 {
		t.Errorf("notes %q", img.Notes)
	}
	out := be.runInTree(t, img, `
pnpm --version; pnpm test 2>&1; node packages/b/c.mjs; packages/b/node_modules/.bin/a; node_modules/.bin/vitest --version; pnpm exec vitest --version
git status --porcelain | sed 's/^/git sees /'; ls /opt/deps /opt/out 2>&1 || true`)
	for _, want := range []string{"10.34.8", "1 passed", "pass 1", "through the workspace: true", "cli of a"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Count(out, "vitest/2.1.8") < 2 {
		t.Error("vitest does not answer by its path and by pnpm")
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
