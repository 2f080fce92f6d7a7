package node

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
	"company/internal/ecosystem/testreport"
)

// describeChecks lists the checks of a repository: folder, label, kind, command, the format of its report, and
// what is run.
func describeChecks(files map[string]string) (checks []string, notes string) {
	tree := ecosystemtest.Tree(files)
	for _, c := range (Ecosystem{}).Detect(tree, nil) {
		for _, kind := range []string{"lint", "types", "build", "test"} {
			g := c.Check(kind)
			if g == nil {
				continue
			}
			_, runs, _ := strings.Cut(g.Report, "; export PATH; ")
			runs = strings.ReplaceAll(strings.ReplaceAll(runs, vitestArguments, " VITEST"), jestArguments, " JEST")
			checks = append(
				checks, strings.Join(
					strings.Fields(fmt.Sprintf("%s %s %s: %s [%s] %s", c.Dir, kind, c.Label, g.Command, g.Parse, runs)), " "))
		}
	}
	return checks, strings.Join(tree.Notes(), "\n")
}

// A test script is taken apart into the runners that it ends in, each with what prepares it. What checks the sources
// or the types is a check of that kind.
func TestScriptsTakenApart(t *testing.T) {
	t.Parallel()
	const dependencies = `"devDependencies":{"xo":"1","eslint":"9","typescript":"5"}`
	for scripts, want := range map[string][]string{
		`"test":"vitest"`: {`test : npm test [junit] ( vitest --run VITEST )`},
		// SvelteKit's.
		`"test:unit":"vitest","test":"npm run test:unit -- --run && npm run test:e2e","test:e2e":"playwright install && playwright test"`: {
			`test : npm run test:unit -- --run [junit] ( vitest --run VITEST )`},
		`"test":"npm run unit && npm run it","unit":"c8 mocha test/unit","it":"cross-env A=1 NODE_ENV=test jest --config it.js"`: {
			`test unit: npm run unit [tap] ( c8 mocha test/unit --reporter tap )`,
			`test it: npm run it [jest-json] ( cross-env A=1 NODE_ENV=test jest --config it.js JEST )`},
		`"test":"npm run build && node --test dist && vitest run","build":"tsc -p . && node tools/copy.js"`: {
			`test node: npm run build && node --test dist [tap] ( export NODE_OPTIONS=--test-reporter=tap; tsc -p . && node tools/copy.js && node --test dist )`,
			`test vitest: npm run build && npx --no-install vitest run [junit] ( tsc -p . && node tools/copy.js && vitest run --run VITEST )`},
		`"test":"xo && nyc --reporter text ava && nyc report"`: {
			`lint : npx --no-install xo [] ( xo )`,
			`test : npx --no-install nyc --reporter text ava && npx --no-install nyc report [tap] ( nyc --reporter text ava --tap && nyc report )`},
		`"lint":"eslint .","pretest":"npm run lint","test":"nyc tape test/*.js"`: {
			`lint : npm run lint [lint] ( eslint . )`,
			`test : npx --no-install nyc tape test/*.js [tap] ( nyc tape test/*.js )`},
		`"lint":"eslint src","test":"eslint . && jest"`: {
			`lint : npm run lint [lint] ( eslint src )`, `test : npx --no-install jest [jest-json] ( jest JEST )`,
			`lint eslint: npx --no-install eslint . [] ( eslint . )`},
		`"test":"tsc --noEmit && mocha"`: {`types : npx --no-install tsc --noEmit [tsc] ( tsc --noEmit )`,
			`test : npx --no-install mocha [tap] ( mocha --reporter tap )`},
		`"test":"run-s test:*","test:a":"mocha a","test:b":"mocha b"`: {
			`test a: npm run test:a [tap] ( mocha a --reporter tap )`,
			`test b: npm run test:b [tap] ( mocha b --reporter tap )`},
		`"test":"run-p -s \"test:a -- --bail\" b","test:a":"mocha a","b":"mocha b"`: {
			`test a: npm run test:a -- --bail [tap] ( mocha a --bail --reporter tap )`,
			`test b: npm run b [tap] ( mocha b --reporter tap )`},
		`"test":"wireit","build":"wireit"},"wireit":{"test":{"command":"mocha","dependencies":["build"]},"build":{"command":"tsc"}`: {
			`test : npm test [tap] ( tsc && mocha --reporter tap )`},
		`"test":"A=1 npm test:x && B=2 npm run x","x":"jest"`:                 {`test : npm test [jest-json] ( A=1 npm test:x && B=2 jest JEST )`},
		`"test":"node --run unit","unit":"dotenv -e .env.test -- vitest run"`: {`test : npm test [junit] ( dotenv -e .env.test -- vitest run --run VITEST )`},
		`"test":"node --experimental-vm-modules node_modules/jest/bin/jest.js"`: {
			`test : npm test [jest-json] ( node --experimental-vm-modules node_modules/jest/bin/jest.js JEST )`},
		`"test":"NODE_OPTIONS='--import tsx' node --test --test-reporter spec a.js"`: {`test : npm test [tap] ( NODE_OPTIONS='--import tsx' node --test --test-reporter=tap a.js )`},
		`"pretest":"node --test a","test":"eslint . && npm run all","all":"mocha && jest"`: {
			`lint : npx --no-install eslint . [] ( eslint . )`,
			`test node: node --test a [tap] ( export NODE_OPTIONS=--test-reporter=tap; node --test a )`,
			`test mocha: npx --no-install mocha [tap] ( mocha --reporter tap )`,
			`test jest: npx --no-install jest [jest-json] ( jest JEST )`},
		`"test":"mocha 1 && mocha 2 && mocha 3 && mocha 4 && cypress run"`: {`test : npm test [plain] ( mocha 1 && mocha 2 && mocha 3 && mocha 4 && cypress run )`},
		`"test":"tsx --test"`: {`test : npm test [tap] ( export NODE_OPTIONS=--test-reporter=tap; tsx --test )`},
		// No test script, but one for each part of the tests.
		`"test:unit":"vitest","test:e2e":"playwright test","test:watch":"vitest"`: {`test : npm run test:unit [junit] ( vitest --run VITEST )`},
		// What depends on the steps before it stays as it is.
		`"test":"cd sub && mocha && jest"`:                                      {`test : npm test [plain] ( cd sub && mocha && jest )`},
		`"test":"mocha || true; jest"`:                                          {`test : npm test [plain] ( mocha || true; jest )`},
		`"test":"npm run test"`:                                                 {`test : npm test [plain] ( npm run test )`},
		`"test":"npm run absent && mocha"`:                                      {`test : npm test [tap] ( npm run absent && mocha --reporter tap )`},
		`"test":"npm run unit --workspace a","unit":"mocha"`:                    {`test : npm test [plain] ( npm run unit --workspace a )`},
		`"test":"(mocha a; mocha b) && ava"`:                                    {`test : npm test [plain] ( (mocha a; mocha b) && ava )`},
		`"test":"mocha 1 && mocha 2 && mocha 3 && mocha 4 && mocha 5"`:          {`test : npm test [plain] ( mocha 1 && mocha 2 && mocha 3 && mocha 4 && mocha 5 )`},
		`"test":"playwright test"`:                                              nil,
		`"test":"start-server-and-test start http://localhost:1 'cypress run'"`: nil,
		`"test":"jest && cypress run | tee out"`:                                {`test : npx --no-install jest [jest-json] ( jest JEST )`},
	} {
		got, _ := describeChecks(map[string]string{"package.json": `{"scripts":{` + scripts + `},` + dependencies + `}`})
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s\n%s\nwant\n%s", scripts, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// Scripts for parts of the tests count beside the test script where continuous integration runs them.
func TestPartsThatCIRuns(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"package.json": `{"scripts":{"test":"vitest run","test:e2e":"vitest run --config e2e.ts","test:cov":"vitest run --coverage","test:it":"mocha it","test:same":"vitest run","test:odd":"./odd.sh"}}`,
		".github/workflows/ci.yml": "jobs:\n  t:\n    steps:\n      - run: npm ci\n      - run: npm test\n      - run: npm " +
			"run test:e2e\n      - run: npm run test:cov && npm run test:same && npm run test:odd\n",
	}
	got, _ := describeChecks(files)
	want := "test : npm test [junit] ( vitest run --run VITEST )|test e2e: npm run test:e2e [junit] ( vitest run " +
		"--config e2e.ts --run VITEST )"
	if strings.Join(got, "|") != want {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "|"), want)
	}
}

// A step that drives a browser is named, and no more.
func TestBrowserStepsAreNamed(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"mocha && npm run e2e":        "the script e2e drives a browser (playwright)",
		"mocha && cypress run":        "the script test drives a browser (cypress)",
		"mocha && playwright install": "", "mocha && vitest --browser=firefox": "(vitest)", "mocha && karma start": "(karma)",
		"mocha && wdio run w.js": "(wdio)",
	} {
		checks, notes := describeChecks(
			map[string]string{"package.json": `{"scripts":{"test":"` + script + `","e2e":"npx playwright test"}}`})
		if len(checks) != 1 || !strings.Contains(checks[0], "( mocha --reporter tap )") || !strings.Contains(notes, want) ||
			(want == "") != (notes == "") {
			t.Errorf("%s: %q, %q", script, checks, notes)
		}
	}
}

// Playwright's tests run in Debian's Chromium, by themselves.
func TestBrowserGates(t *testing.T) {
	t.Parallel()
	const report = "export CI=1 PLAYWRIGHT_JUNIT_OUTPUT_FILE=" + testreport.File + " PLAYWRIGHT_JUNIT_OUTPUT_NAME=" +
		testreport.File + "; "
	const ends = " --pass-with-no-tests --reporter=list,junit )"
	const browsers = "projects: [ { name: 'chromium', use: { ...devices['Desktop Chrome'] } },\n { name: 'firefox', " +
		"use: { ...devices['Desktop Firefox'] } },\n // { name: 'Chrome 2' }\n { name: 'Mobile Chrome', use: { " +
		"...devices['Pixel 5'] } }, { name: 'webkit', use: { ...devices['Desktop Safari'] } } ]"
	for name, c := range map[string]struct {
		scripts, config string
		want            string
		notes           string
	}{
		"SvelteKit": {`"test":"npm run test:unit && npm run test:e2e","test:unit":"vitest","test:e2e":"playwright install && playwright test"`, "",
			"test unit: npm run test:unit [junit] ( vitest --run VITEST )|test e2e: npm run test:e2e [junit] ( " + report +
				"playwright test" + ends, ""},
		"Vue": {`"build":"vite build","test:unit":"vitest","test:e2e":"playwright test"`,
			"command: 'npm run preview', " + browsers,
			"test unit: npm run test:unit [junit] ( vitest --run VITEST )|test e2e: npm run build && npm run test:e2e -- " +
				"'--project=chromium' '--project=Mobile Chrome' [junit] ( " + report +
				"vite build && playwright test '--project=chromium' '--project=Mobile Chrome'" + ends,
			"of the browsers of Playwright's configuration Chromium is run"},
		"alone": {`"test":"node prepare.js && npx playwright test"`, "",
			"test : node prepare.js && npx playwright test [junit] ( " + report +
				"node prepare.js && npx playwright test" + ends, ""},
		"another browser": {`"test":"playwright test"`, "use: { browserName: 'firefox' }", "",
			"names browsers other than Chromium alone"},
		"a vendor's": {`"test":"playwright test"`, "use: { channel: 'msedge' }", "", "asks for a browser of a vendor"},
		"of the CI alone": {`"test":"vitest"`, browsers,
			"test : npm test [junit] ( vitest --run VITEST )|test playwright: npx --no-install playwright test " +
				"'--project=chromium' '--project=Mobile Chrome' [junit] ( " + report +
				"playwright test '--project=chromium' '--project=Mobile Chrome'" + ends,
			"of the browsers of Playwright's configuration Chromium is run"},
		"another program": {`"test":"mocha && cypress run"`, "",
			"test : npx --no-install mocha [tap] ( mocha --reporter tap )",
			"the script test drives a browser (cypress), and images have no browser that it finds"},
	} {
		files := map[string]string{"package.json": `{"scripts":{` + c.scripts +
			`},"devDependencies":{"@playwright/test":"1"}}`, "playwright.config.ts": c.config}
		if name == "of the CI alone" {
			files[".github/workflows/ci.yml"] = "jobs:\n  e2e:\n    steps:\n      - run: npx playwright install --with-deps\n " +
				"     - run: npx playwright test\n"
		}
		got, notes := describeChecks(files)
		if strings.Join(got, "|") != c.want || !strings.Contains(notes, c.notes) || (notes == "") != (c.notes == "") {
			t.Errorf("%s:\n%s\nwant\n%s\n%s", name, strings.Join(got, "|"), c.want, notes)
		}
		tree := ecosystemtest.Tree(files)
		var commands []string
		for _, part := range (Ecosystem{}).Detect(tree, nil) {
			if part.Test != nil {
				commands = append(commands, part.Test.Command)
				if ofCI := name == "of the CI alone" && part.Label == "playwright"; part.Test.Provisional != ofCI {
					t.Errorf("%s: %+v", name, part.Test)
				}
			}
		}
		need := Ecosystem{}.Needs(tree, func(string) bool { return true }, commands)
		if wants := strings.Contains(c.want, "playwright test"); wants != slices.Equal(need, []string{browserToolchain}) {
			t.Errorf("%s: the image needs %q", name, need)
		}
	}
	for dependencies, want := range map[string]bool{
		`"puppeteer":"24"`: true, `"@vitest/browser-playwright":"4"`: true, `"playwright":"1"`: true,
		`"playwright":"1","@playwright/test":"1"`: false, `"jest":"30"`: false,
	} {
		tree := ecosystemtest.Tree(
			map[string]string{"package.json": `{"scripts":{"test":"jest"},"devDependencies":{` + dependencies + `}}`})
		if need := (Ecosystem{}).Needs(tree, func(string) bool { return true }, []string{"npm test"}); len(
			need) == 1 != want {
			t.Errorf("%s: %q", dependencies, need)
		}
	}
}

// The tests of the packages of a repository are found where only their runner's configuration names them, and none
// of them twice.
func TestTestsOfPackages(t *testing.T) {
	t.Parallel()
	const root = `{"workspaces":["packages/*"],"devDependencies":{"vitest":"4","jest":"30","nx":"23"}}`
	const own = `{"name":"a","scripts":{"test":"vitest run"}}`
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
		many  int // packages beside these
	}{
		"projects of vitest": {map[string]string{"package.json": root,
			"vitest.config.ts":        `import x from 'y'; export default defineConfig({ test: { projects: ['packages/*'] } })`,
			"packages/a/package.json": own, "packages/b/package.json": `{"scripts":{"test":"node --test"}}`,
			"other/package.json": own},
			[]string{`test : npx --no-install vitest run [junit]`, `other test : npm test [junit] ( vitest run --run VITEST )`,
				`packages/b test : npm test [tap] ( export NODE_OPTIONS=--test-reporter=tap; node --test )`}, 0},
		"a workspace of vitest": {map[string]string{"package.json": root,
			"vitest.workspace.ts":     `export default ['**/vite.config.{mjs,js,ts,mts}', '!packages/b']`,
			"packages/a/package.json": own, "packages/a/vite.config.ts": "", "packages/b/package.json": own,
			"packages/b/vite.config.ts": ""},
			[]string{`test : npx --no-install vitest run [junit]`,
				`packages/b test : npm test [junit] ( vitest run --run VITEST )`}, 0},
		"projects by a script": {map[string]string{
			"package.json":            `{"workspaces":["packages/*"],"scripts":{"test":"vitest"},"devDependencies":{"vitest":"4"}}`,
			"vitest.config.ts":        `({test:{projects:['packages/a']}})`,
			"packages/a/package.json": own, "packages/b/package.json": `{"scripts":{"test":"mocha"}}`},
			[]string{`test : npm test [junit] ( vitest --run VITEST )`,
				`packages/b test : npm test [tap] ( mocha --reporter tap )`}, 0},
		"projects of jest": {map[string]string{"package.json": root,
			"jest.config.ts":          `export default async () => ({ projects: await getJestProjectsAsync() })`,
			"packages/a/package.json": `{}`, "packages/a/jest.config.ts": ""},
			[]string{`test : npx --no-install jest --ci [jest-json]`}, 0},
		"projects in a manifest": {map[string]string{
			"package.json":            `{"workspaces":["packages/*"],"devDependencies":{"jest":"30"},"jest":{"projects":["<rootDir>/packages/*"]}}`,
			"packages/a/package.json": `{"scripts":{"test":"jest"}}`},
			[]string{`test : npx --no-install jest --ci [jest-json]`}, 0},
		"a configuration of a package": {map[string]string{"package.json": root, "packages/a/package.json": `{}`,
			"packages/a/vitest.config.mts": "", "packages/b/package.json": `{}`, "packages/b/vite.config.ts": "",
			"packages/c/package.json": `{}`, "packages/c/vite.config.ts": "({ test: {} })"},
			[]string{`packages/a test : npx --no-install vitest run [junit]`,
				`packages/c test : npx --no-install vitest run [junit]`}, 0},
		"no configuration": {map[string]string{
			"package.json": `{"workspaces":["packages/*"],"devDependencies":{"vitest":"4"}}`, "packages/a/package.json": `{}`},
			[]string{`test : npx --no-install vitest run [junit]`}, 0},
		"Nx alone": {map[string]string{"package.json": `{"workspaces":["packages/*"],"devDependencies":{"nx":"23"}}`,
			"nx.json": `{}`, "packages/a/package.json": `{}`},
			[]string{
				`test : npx --no-install nx run-many -t test [plain] ( export NX_DAEMON=false NX_NO_CLOUD=true NX_TUI=false NX_SKIP_NX_CACHE=true; nx run-many -t test )`}, 0},
		"Nx by a script": {map[string]string{
			"package.json": `{"workspaces":["packages/*"],"scripts":{"test":"nx affected -t lint,test --base=main"},"devDependencies":{"nx":"23"}}`, "packages/a/package.json": own},
			[]string{
				`test : npm test [plain] ( export NX_DAEMON=false NX_NO_CLOUD=true NX_TUI=false NX_SKIP_NX_CACHE=true; nx run-many -t lint,test )`}, 0},
		"Turborepo": {map[string]string{
			"package.json": `{"workspaces":["packages/*"],"scripts":{"test":"turbo run test --filter='...[origin/main]' -- --bail"},"devDependencies":{"turbo":"2"}}`, "packages/a/package.json": own},
			[]string{
				`test : npm test [plain] ( export TURBO_TELEMETRY_DISABLED=1 DO_NOT_TRACK=1 TURBO_UI=false; turbo run test --log-prefix=none --continue -- --bail )`}, 0},
		"Lerna": {map[string]string{
			"package.json": `{"workspaces":["packages/*"],"scripts":{"test":"lerna run test --stream"},"devDependencies":{"lerna":"8"}}`, "packages/a/package.json": own},
			[]string{
				`test : npm test [plain] ( export NX_DAEMON=false NX_NO_CLOUD=true; lerna run test --stream --no-prefix --no-bail )`}, 0},
		"a root with tests of its own": {map[string]string{
			"package.json": `{"workspaces":["packages/*"],"scripts":{"test":"mocha"}}`, "packages/a/package.json": own},
			[]string{`test : npm test [tap] ( mocha --reporter tap )`,
				`packages/a test : npm test [junit] ( vitest run --run VITEST )`}, 0},
		"a root with tests in a browser": {map[string]string{
			"package.json": `{"workspaces":["packages/*"],"scripts":{"test:e2e":"playwright test"},"devDependencies":{"@playwright/test":"1"}}`, "packages/a/package.json": own},
			[]string{
				`test : npm run test:e2e [junit] ( export CI=1 PLAYWRIGHT_JUNIT_OUTPUT_FILE=/tmp/company-report PLAYWRIGHT_JUNIT_OUTPUT_NAME=/tmp/company-report; playwright test --pass-with-no-tests --reporter=list,junit )`,
				`packages/a test : npm test [junit] ( vitest run --run VITEST )`}, 0},
		"a root with a part of the tests": {map[string]string{
			"package.json":            `{"workspaces":["packages/*"],"scripts":{"test:smoke":"./smoke.sh"}}`,
			"packages/a/package.json": own},
			[]string{`test : npm run test:smoke [plain] ( npm run test:smoke )`,
				`packages/a test : npm test [junit] ( vitest run --run VITEST )`}, 0},
		"a package that is locked by itself": {map[string]string{"package.json": `{"scripts":{"test":"node --test"}}`,
			"web/package.json": own, "web/package-lock.json": `{}`, "lib/package.json": own},
			[]string{`test : npm test [tap] ( export NODE_OPTIONS=--test-reporter=tap; node --test )`,
				`web test : npm test [junit] ( vitest run --run VITEST )`}, 0},
		"many packages": {map[string]string{"package.json": `{"workspaces":["packages/*"]}`,
			"packages/a/package.json": `{"devDependencies":{"jest":"30"}}`},
			[]string{`test : npm test --workspaces --if-present [plain] ( npm test --workspaces --if-present )`,
				`packages/a test : npx --no-install jest --ci [jest-json]`}, maxSeparate + 1},
		"many packages of Nx": {map[string]string{
			"package.json": `{"workspaces":["packages/*"],"devDependencies":{"nx":"23"}}`, "nx.json": `{}`},
			[]string{
				`test : npx --no-install nx run-many -t test [plain] ( export NX_DAEMON=false NX_NO_CLOUD=true NX_TUI=false NX_SKIP_NX_CACHE=true; nx run-many -t test )`}, maxSeparate + 1},
	} {
		files := maps.Clone(c.files)
		if files["package-lock.json"] == "" {
			files["package-lock.json"] = "{}"
		}
		for i := range c.many {
			files[fmt.Sprintf("packages/p%d/package.json", i)] = own
		}
		if got, notes := describeChecks(files); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"), notes)
		}
	}
}

// Scripts that run one another for ever, or come to very many commands, stay as they are.
func TestHostileScripts(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("npm run b && ", 60) + "npm run b"
	for name, scripts := range map[string]string{
		"a circle": `"test":"npm run a && npm run a","a":"npm run b && npm run b","b":"npm run a && npm run a"`,
		"very many": `"test":"` + many + `","b":"` + strings.ReplaceAll(many, "npm run b", "npm run c") + `","c":"` +
			strings.ReplaceAll(many, "npm run b", "npm run d") + `","d":"mocha"`,
		"very deep": `"test":"` + strings.Repeat("( ", 5000) + strings.Repeat(" )", 5000) + `"`,
	} {
		checks, _ := describeChecks(map[string]string{"package.json": `{"scripts":{` + scripts + `}}`})
		if len(checks) != 1 || !strings.HasPrefix(checks[0], "test : npm test [plain]") {
			t.Errorf("%s: %.300q", name, checks)
		}
	}
}
