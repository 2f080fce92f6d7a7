package strangers

const npmInstall = "npm install --silent --ignore-scripts --no-audit --no-fund"

// Packages are the strangers of npm's registry, and what tools of it make.
func listPackages(root string) []Stranger {
	return []Stranger{
		{
			Name: "pump", Version: "3.0.4", Kind: "npm, plain programs as tests, no lock",
			From: NpmPackage{"pump",
				"sha512-VS7sjc6KR7e1ukRFhQSY5LM2uBWAUPiOPa/A3mkKmiMwSmRFUITt0xuj+/lesgnCv+dPIEYlkzrcyXgquIHMcA=="},
			Outside: Host{Prepare: npmInstall},
			Checks: []Check{upstreamCheck(
				"package.json", "node test-browser.js && node test-node.js", "npm test", "npm test|npm run test|test-node.js", "")},
			Change: moduleChange, Check: moduleCheck, Blind: "its tests are two programs",
		},
		{
			Name: "isarray", Version: "1.0.0", Kind: "npm, tape, no lock", Short: true,
			From: NpmPackage{"isarray",
				"sha512-VLghIWNM6ELQzo7zwmcg0NmTVyWKYjvIeM83yjp0wRDTmUnrM678fQbcKBo6n2CJEF0szoG//ytg+TKla89ALQ=="},
			Outside: Host{Prepare: npmInstall},
			Checks:  []Check{upstreamCheck("package.json", "tape test.js", "npm test", "tape|npm test", "")},
			Change:  moduleChange, Check: moduleCheck, Blind: "its script names one file",
		},
		{
			Name: "split2", Version: "4.2.0", Kind: "npm, tape and standard, no lock",
			From: NpmPackage{"split2",
				"sha512-UcjcJOWknrNkF6PLX83qcHM6KHgVKNkV62Y8a5uYDVv9ydGQVwAHMKqHdJje1VTWpljG0WYpCDhrCdAOYH4TWg=="},
			Outside: Host{Prepare: npmInstall},
			Checks: []Check{
				upstreamCheck("package.json", "nyc --lines 100 --branches 100 --functions 100 --check-coverage --reporter=text "+
					"tape test.js", "npm run unit", "tape|npm test|npm run unit", ""),
				{Lint: true, File: "package.json", Text: "standard --verbose", Run: "npm run lint", Ours: "npm run lint|standard"},
			},
			Change: moduleChange, Check: moduleCheck, Blind: "its script names one file",
		},
		{
			Name: "reusify", Version: "1.1.0", Kind: "npm, tape and eslint, no lock",
			From: NpmPackage{"reusify",
				"sha512-g6QUff04oZpHs0eG5p83rFLhHeV00ug/Yf9nZM6fLeUrPguBTkTQOdpAWWspMh55TZfVQDPaN3NQJfbVRAxdIw=="},
			Outside: Host{Prepare: npmInstall},
			Checks: []Check{
				upstreamCheck("package.json", "tape test.js", "npm test", "tape|npm test", ""),
				{Lint: true, File: "package.json", Text: `"lint": "eslint"`, Run: "npm run lint", Ours: "npm run lint|eslint"},
			},
			Change: moduleChange, Check: moduleCheck, Blind: "its script names one file",
		},
		{
			Name: "minimist", Version: "1.2.8", Kind: "npm, tape and eslint, no lock",
			From: NpmPackage{"minimist",
				"sha512-2yyAR8qBkN3YuheJanUpWC5U3bb5osDywNB8RzDVlDwDHbocAJveqqj1u8+SVD7jkWT4yvsHCpWqqWqAxb0zCA=="},
			Outside: Host{Prepare: npmInstall},
			Checks: []Check{
				upstreamCheck("package.json", "nyc tape 'test/**/*.js'", "npm run tests-only", "tape|npm test|tests-only",
					"what they run after it, aud --production, asks the registry, and is left out"),
				{Lint: true, File: "package.json", Text: "eslint --ext=js,mjs .", Run: "npm run lint", Ours: "npm run lint|eslint"},
			},
			Change: []File{{"clamp.js", clampModule}, {"test/clamp.js", `'use strict';

var test = require('tape');
var clamp = require('../clamp');

test('clamp', function (t) {
	t.deepEqual([clamp(5, 1, 9), clamp(0, 1, 9), clamp(10, 1, 9)], [5, 1, 9]);
	t.end();
});
`}},
			Check: "npx --no-install tape test/clamp.js", Blind: "tape runs no test by its name alone",
		},
		{
			Name: "fastify-npm", Version: "8.0.2", Kind: "fastify generate, npm, node:test", Short: true,
			From: Scaffold{Root: root, Tool: "fastify-cli@8.0.2", Call: "fastify generate app", Lock: "package-lock.json",
				With: "npm install --package-lock-only --ignore-scripts --no-audit --no-fund"},
			Outside: Host{Prepare: "npm ci --silent --ignore-scripts --no-audit --no-fund"},
			Checks: []Check{upstreamCheck(
				"package.json", "node --test test/**/*.test.js", "npm test", "node --test|npm test", "")},
			Change: appChange, Check: appCheck,
		},
		{
			Name: "fastify-yarn", Version: "8.0.2", Kind: "fastify generate, yarn 1, node:test",
			From: Scaffold{Root: root, Tool: "fastify-cli@8.0.2", Call: "fastify generate app", Lock: "yarn.lock", By: yarn1,
				With: "yarn install --silent --ignore-scripts --ignore-engines --non-interactive"},
			Outside: Host{Prepare: installManager(yarn1) +
				"yarn install --silent --ignore-scripts --ignore-engines --frozen-lockfile --non-interactive"},
			Checks: []Check{upstreamCheck(
				"package.json", "node --test test/**/*.test.js", "yarn test", "node --test|yarn test|yarn run test", "")},
			Change: appChange, Check: appCheck,
		},
		{
			Name: "fastify-berry", Version: "8.0.2", Kind: "fastify generate, yarn 4, node:test",
			From: Scaffold{
				Root: root, Tool: "fastify-cli@8.0.2", Call: "fastify generate app", Lock: "yarn.lock", By: yarn4,
				Also: `node -e 'const f=require("fs"),p=JSON.parse(f.readFileSync("package.json"));p.packageManager="yarn@4.18.1";f.writeFileSync("package.json",JSON.stringify(p,null,2)+"\n")' && printf 'nodeLinker: node-modules\nenableScripts: false\n' > .yarnrc.yml`,
				With: "YARN_ENABLE_IMMUTABLE_INSTALLS=0 yarn install --mode=update-lockfile",
			},
			Outside: Host{Prepare: installManager(yarn4) + "yarn install --immutable"},
			Checks: []Check{upstreamCheck(
				"package.json", "node --test test/**/*.test.js", "npm test", "node --test|yarn test|yarn run test", "")},
			Change: appChange, Check: appCheck,
		},
		{
			Name: "vue-pnpm", Version: "3.22.3", Kind: "create-vue with TypeScript, pnpm, vitest",
			From: Scaffold{
				Root: root, Tool: "create-vue@3.22.3", Call: "create-vue app --ts --vitest --default", Lock: "pnpm-lock.yaml",
				By:   pnpm10,
				With: "pnpm install --lockfile-only --ignore-scripts",
			},
			Outside: Host{Prepare: installManager(pnpm10) + "pnpm install --frozen-lockfile --ignore-scripts"},
			Checks: []Check{
				upstreamCheck("package.json", `"test:unit": "vitest"`, "node_modules/.bin/vitest run", "vitest|test:unit", ""),
				{Lint: true, File: "package.json", Text: "vue-tsc --build", Run: "npm run type-check",
					Ours: "type-check|vue-tsc|run build"},
			},
			Change: []File{
				{"src/clamp.ts", `/** clamp is n, or the nearest of low and high when it is beyond them. */
export function clamp(n: number, low: number, high: number): number {
  return Math.max(low, Math.min(n, high))
}
`},
				{"src/__tests__/clamp.spec.ts", `import { expect, it } from 'vitest'
import { clamp } from '../clamp'

it('stays within bounds', () => {
  expect([5, 0, 10].map((n) => clamp(n, 1, 9))).toEqual([5, 1, 9])
})
`},
			},
			Check: "pnpm exec vitest run src/__tests__/clamp.spec.ts",
		},
		{
			Name: "vite-npm", Version: "9.3.0", Kind: "create-vite with TypeScript, npm, no tests",
			From: Scaffold{Root: root, Tool: "create-vite@9.3.0",
				Call: "create-vite app --template vanilla-ts --no-interactive", Lock: "package-lock.json",
				With: "npm install --package-lock-only --ignore-scripts --no-audit --no-fund"},
			Outside: Host{Prepare: "npm ci --silent --ignore-scripts --no-audit --no-fund"},
			Checks: []Check{{Lint: true, File: "package.json", Text: "tsc && vite build", Run: "npm run build",
				Ours: "tsc|npm run build"}},
			Change: []File{{"src/clamp.ts", `/** clamp is n, or the nearest of low and high when it is beyond them. */
export function clamp(n: number, low: number, high: number): number {
  return Math.max(low, Math.min(n, high))
}
`}},
			Check: "npx --no-install tsc", Blind: "it has no tests",
		},
	}
}

const (
	yarn1  = "yarn@1.22.22"
	yarn4  = "@yarnpkg/cli-dist@4.18.1"
	pnpm10 = "pnpm@10.34.8"

	clampModule = `'use strict';

module.exports = function clamp(n, low, high) {
	return Math.max(low, Math.min(n, high));
};
`
)

// moduleChange is a module and a program that tests it, for packages whose tests are
// files that a script names.
var moduleChange = []File{{"company-clamp.js", `'use strict'

module.exports = function clamp (n, low, high) {
  return Math.max(low, Math.min(n, high))
}
`}, {"company-clamp-test.js", `'use strict'

const assert = require('assert')
const clamp = require('./company-clamp')

assert.deepStrictEqual([5, 0, 10].map((n) => clamp(n, 1, 9)), [5, 1, 9])
`}}

const moduleCheck = "node company-clamp-test.js"

// appChange is for what fastify generates.
var appChange = []File{{"clamp.js", clampModule}, {"test/routes/clamp.test.js", `'use strict'

const { test } = require('node:test')
const assert = require('node:assert')
const clamp = require('../../clamp')

test('clamp', () => {
  assert.deepStrictEqual([5, 0, 10].map((n) => clamp(n, 1, 9)), [5, 1, 9])
})
`}}

const appCheck = "node --test test/routes/clamp.test.js"
