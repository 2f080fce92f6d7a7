package image

import (
	"strings"
	"testing"

	"company/internal/ecosystem"
	"company/internal/lib/hosttest"
)

// lockBerry makes a lock file with a later yarn of npm's registry, as a developer does.
func lockBerry(t *testing.T, version string, files map[string]string) map[string]string {
	t.Helper()
	files["yarn.lock"] = ""
	env := []string{"npm_config_cache=" + t.TempDir(), "YARN_GLOBAL_FOLDER=" + t.TempDir(), "YARN_ENABLE_TELEMETRY=0",
		"YARN_ENABLE_SCRIPTS=0", "YARN_ENABLE_IMMUTABLE_INSTALLS=0"}
	return lockFiles(t, files, "yarn.lock", env, "npx", "--yes", "--package=@yarnpkg/cli-dist@"+version, "yarn", "install",
		"--mode=update-lockfile")
}

// A workspace of a later yarn runs offline in a locked container, by yarn and by its
// programs alone, whichever format its lock file has; scripts of packages and of the
// project do not run in preparation, and git sees nothing of what was linked.
func TestBerryWorkspaces(t *testing.T) {
	hosttest.Long(t, "workspaces of another client of npm packages, and its older lock files")
	for name, c := range map[string]struct{ locked, client, settings string }{
		"4.18": {"4.18.1", "4.18.1", "nodeLinker: node-modules\n"},
		"4.1":  {"4.1.0", "4.12.0", "nodeLinker: pnp\nnpmRegistryServer: http://127.0.0.1:1\n"},
		"3.2":  {"3.2.0", "3.8.7", "nodeLinker: node-modules\n"},
	} {
		t.Run(name, func(t *testing.T) {
			be := newTestBuilder(t)
			withRegistries(t, be, ecosystem.NPM)
			files := map[string]string{
				"package.json": `{"name":"root","private":true,"packageManager":"yarn@` + c.locked +
					`","workspaces":["packages/*"],"scripts":{"preinstall":"touch /opt/out/canary","test":"yarn workspace @ws/a test && yarn workspace b test"},
			"devDependencies":{"vitest":"2.1.8"},"resolutions":{"rollup":"4.40.0"}}`,
				"packages/a/package.json": `{"name":"@ws/a","version":"1.0.0","type":"module","bin":"cli.js","dependencies":{"is-odd":"3.0.1"},"devDependencies":{"vitest":"2.1.8"},"scripts":{"test":"vitest run"}}`,
				"packages/a/cli.js":       "#!/usr/bin/env node\nconsole.log('cli of a')\n",
				"packages/a/index.js":     "import isOdd from 'is-odd'; export const odd = (n) => isOdd(n)\n",
				"packages/a/a.test.js": "import {expect, test} from 'vitest'; import {odd} from './index.js'; test('odd', () " +
					"=> expect(odd(3)).toBe(true))\n",
				"packages/b/package.json": `{"name":"b","version":"1.0.0","dependencies":{"@ws/a":"workspace:*","is-odd":"2.0.0"},"scripts":{"test":"node --test"}}`,
				"packages/b/b.test.js": "require('node:test')('version of its own', () => { if " +
					"(require('is-odd/package.json').version !== '2.0.0') throw 1 })\n",
				"packages/b/c.mjs": "import {odd} from '@ws/a/index.js'; console.log('through the workspace:', odd(5))\n",
			}
			lockBerry(t, c.locked, files)
			files[".yarnrc.yml"] = c.settings
			req := Request{Toolchains: []string{"node", "yarn", "berry"}, Repo: newProject(t).commit(files)}
			img := be.mustEnsure(t, req)
			if len(img.Notes) != 0 {
				t.Errorf("notes %q", img.Notes)
			}
			script := `
yarn --version; yarn test 2>&1; node packages/b/c.mjs; node_modules/.bin/vitest --version; yarn run vitest --version
git status --porcelain | sed 's/^/git sees /'; ls /opt/deps /opt/out 2>&1 || true`
			out := be.runInTree(t, img, script)
			for _, want := range []string{c.client, "1 passed", "pass 1", "through the workspace: true"} {
				if !strings.Contains(out, want) {
					t.Errorf("%q is missing", want)
				}
			}
			if strings.Count(out, "vitest/2.1.8") < 2 {
				t.Error("vitest does not answer by its path and by yarn")
			}
			for _, bad := range []string{"git sees", "canary"} {
				if strings.Contains(out, bad) {
					t.Errorf("%q is there", bad)
				}
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}
