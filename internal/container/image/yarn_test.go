package image

import (
	"strings"
	"testing"

	"company/internal/ecosystem"
	"company/internal/lib/hosttest"
)

// lockYarn makes a lock file with a yarn 1 of npm's registry, as a developer does.
func lockYarn(t *testing.T, files map[string]string) map[string]string {
	t.Helper()
	env := []string{"CI=true", "SKIP_YARN_COREPACK_CHECK=1", "npm_config_cache=" + t.TempDir(),
		"YARN_CACHE_FOLDER=" + t.TempDir()}
	return lockFiles(t, files, "yarn.lock", env, "npx", "--yes", "yarn@1.22.22", "install", "--ignore-scripts",
		"--non-interactive")
}

// A workspace of yarn 1's runs offline in a locked container, by yarn and by its
// programs alone; scripts of packages and of the project do not run in preparation.
func TestYarnWorkspaces(t *testing.T) {
	hosttest.Long(t, "workspaces of another client of npm packages")
	be := newTestBuilder(t)
	withRegistries(t, be, ecosystem.NPM)
	repo := newProject(t).commit(lockYarn(t, map[string]string{
		"package.json": `{"name":"root","private":true,"packageManager":"yarn@1.22.19","workspaces":["packages/*"],"scripts":{"preinstall":"touch /opt/out/canary","test":"yarn workspaces run test"},
			"devDependencies":{"vitest":"2.1.8"},"resolutions":{"rollup":"4.40.0"}}`,
		"packages/a/package.json": `{"name":"@ws/a","version":"1.0.0","type":"module","bin":"cli.js","dependencies":{"is-odd":"3.0.1"},"scripts":{"test":"vitest run"}}`,
		"packages/a/cli.js":       "#!/usr/bin/env node\nconsole.log('cli of a')\n",
		"packages/a/index.js":     "import isOdd from 'is-odd'; export const odd = (n) => isOdd(n)\n",
		"packages/a/a.test.js": "import {expect, test} from 'vitest'; import {odd} from './index.js'; test('odd', () => " +
			"expect(odd(3)).toBe(true))\n",
		"packages/b/package.json": `{"name":"b","version":"1.0.0","dependencies":{"@ws/a":"1.0.0","is-odd":"2.0.0"},"scripts":{"test":"node --test"}}`,
		"packages/b/b.test.js": "require('node:test')('version of its own', () => { if " +
			"(require('is-odd/package.json').version !== '2.0.0') throw 1 })\n",
		"packages/b/c.mjs": "import {odd} from '@ws/a/index.js'; console.log('through the workspace:', odd(5))\n",
		".gitignore":       "", // what was linked is hidden all the same
	}))
	req := Request{Toolchains: []string{"node", "yarn"}, Repo: repo}
	img := be.mustEnsure(t, req)
	if len(img.Notes) != 0 {
		t.Errorf("notes %q", img.Notes)
	}
	out := be.runInTree(t, img, `
yarn --version; yarn test 2>&1; node packages/b/c.mjs; node node_modules/.bin/a; yarn --silent run vitest --version
git status --porcelain | sed 's/^/git sees /'; ls /opt/deps /opt/out 2>&1 || true`)
	for _, want := range []string{"1.22.22", "1 passed", "pass 1", "through the workspace: true", "cli of a",
		"vitest/2.1.8"} {
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
