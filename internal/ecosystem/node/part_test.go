package node

import (
	"encoding/json"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem/ecosystemtest"
)

// jestGate is the gate of a package with this test script, in the folder web.
func jestGate(t *testing.T, script string) company.GateCommand {
	t.Helper()
	scripts := map[string]string{}
	if script != "" {
		scripts["test"] = script
	}
	text, err := json.Marshal(
		map[string]any{"scripts": scripts, "devDependencies": map[string]string{"jest": "29.7.0", "vitest": "3.2.4"}})
	if err != nil {
		t.Fatal(err)
	}
	if script == "" {
		text = []byte(`{"devDependencies":{"jest":"29.7.0"}}`)
	}
	found := Ecosystem{}.Detect(ecosystemtest.Tree(map[string]string{"web/package.json": string(text)}), nil)
	if len(found) != 1 || found[0].Test == nil {
		t.Fatalf("%s: %+v", script, found)
	}
	g := *found[0].Test
	g.Dir = "web"
	return g
}

// A gate that is jest alone has parts; one with steps beside it, or that chooses tests, has none.
func TestGatesWithParts(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"":                                   "npx --no-install jest --ci --passWithNoTests --coverage=false",
		"jest":                               "jest --ci --passWithNoTests --coverage=false",
		"CI=1 jest --coverage --runInBand":   "CI=1 jest --runInBand --ci --passWithNoTests --coverage=false",
		"jest --config=jest.unit.js":         "jest --config=jest.unit.js --ci --passWithNoTests --coverage=false",
		"jest src":                           "",
		"jest -t quick":                      "",
		"jest --testPathPattern=src":         "",
		"jest --selectProjects=unit":         "",
		"jest --shard=1/2":                   "",
		"jest --rootDir=../x":                "",
		"tsc && jest":                        "",
		"jest && eslint .":                   "",
		"jest; true":                         "",
		"node --test":                        "",
		"node node_modules/jest/bin/jest.js": "",
	} {
		g := jestGate(t, script)
		list, run := Ecosystem{}.ListCommand(g, []string{"web/src/it's.js"}),
			Ecosystem{}.PartCommand(g, []string{"t/a b.test.js"})
		if (list != "") != (want != "") {
			t.Errorf("%q: %q", script, list)
		}
		if want == "" {
			if run != "exit 1" {
				t.Errorf("%q: %q", script, run)
			}
			continue
		}
		for _, part := range []string{want + " --listTests --json --findRelatedTests " + `'./../web/src/it'\''s.js' && echo`,
			want + " --showConfig"} {
			if !strings.Contains(list, part) {
				t.Errorf("%q: no %q in %q", script, part, list)
			}
		}
		if !strings.Contains(run, want+" --json --outputFile=") ||
			!strings.Contains(run, " --runTestsByPath 't/a b.test.js'") || strings.Count(run, "--json") != 1 {
			t.Errorf("%q: %q", script, run)
		}
	}
	if got := (Ecosystem{}).PartCommand(jestGate(t, "jest"), nil); got != "exit 1" {
		t.Errorf("no files: %s", got)
	}
	for _, more := range []string{`"pretest":"tsc"`, `"posttest":"true"`} {
		g := *Ecosystem{}.Detect(
			ecosystemtest.Tree(map[string]string{"package.json": `{"scripts":{"test":"jest",` + more + `}}`}), nil)[0].Test
		if got := (Ecosystem{}).ListCommand(g, nil); got != "" {
			t.Errorf("with %s: %s", more, got)
		}
	}
}

func pathsOf(below string, names ...string) []string {
	out := []string{}
	for _, n := range names {
		out = append(out, below+"/"+n)
	}
	return out
}

// listed is the output of ListCommand in the folder web.
func listed(t *testing.T, settings string, all, related, reached []string) string {
	t.Helper()
	out := "/work/repo/web\n" + settings + "\n"
	for _, list := range [][]string{all, related, reached} {
		text, err := json.Marshal(pathsOf("/work/repo/web", list...))
		if err != nil {
			t.Fatal(err)
		}
		out += string(text) + "\n\n"
	}
	return out
}

// A change reaches the test files that import it, as jest says. Where that does not tell,
// all is run.
func TestPartOfAChange(t *testing.T) {
	t.Parallel()
	gate := jestGate(t, "jest")
	all := []string{"t/a.test.js", "t/b.test.js", "t/c.test.js"}
	const settings = `{"configs":[{"rootDir":"/work/repo/web","setupFiles":["/work/repo/web/t/setup.js"]}]}`
	for name, c := range map[string]struct {
		changed string
		reached string // beside the changed files
		want    string
	}{
		"a source":                  {"web/src/a.js", "", "t/a.test.js"},
		"two and text":              {"web/src/a.js web/src/b.tsx README.md web/docs/x.md", "src/index.ts", "t/a.test.js"},
		"a test":                    {"web/t/a.test.js", "", "t/a.test.js"},
		"what a test reads":         {"web/src/a.js web/t/data.json", "", ""},
		"a snapshot":                {"web/src/a.js web/t/__snapshots__/a.test.js.snap", "", ""},
		"text of tests":             {"web/src/a.js web/tests/x.md", "", ""},
		"text of a fixture":         {"web/src/a.js web/fixtures/x.md", "", ""},
		"the manifest":              {"web/package.json", "", ""},
		"the lock file":             {"web/src/a.js package-lock.json", "", ""},
		"settings":                  {"web/jest.config.js", "jest.config.js", ""},
		"what settings import":      {"web/src/a.js", "jest.config.js", ""},
		"what babel's import":       {"web/src/a.js", "babel.config.cjs", ""},
		"what a dotfile imports":    {"web/src/a.js", ".babelrc.js", ""},
		"a file of the settings":    {"web/t/setup.js", "", ""},
		"what such a file imports":  {"web/src/a.js", "t/setup.js", ""},
		"a stand-in of a module":    {"web/src/__mocks__/a.js", "", ""},
		"what a stand-in imports":   {"web/src/a.js", "src/__mocks__/b.js", ""},
		"declarations":              {"web/src/a.d.ts", "", ""},
		"a deleted file":            {"web/src/a.js -web/src/gone.js", "", ""},
		"a renamed one":             {"-web/src/a.js web/src/b.js", "", ""},
		"a deleted test":            {"-web/t/gone.test.js web/src/a.js", "", ""},
		"a script beside the tests": {"web/src/a.js -tools/x.js", "", ""},
		"a style":                   {"web/src/a.js web/src/a.css", "", ""},
	} {
		var changed []string
		reached := append(strings.Fields(c.reached), "t/a.test.js")
		for p := range strings.FieldsSeq(c.changed) {
			p, unseen := strings.CutPrefix(p, "-")
			if changed = append(changed, p); !unseen && strings.HasPrefix(p, "web/") {
				reached = append(reached, strings.TrimPrefix(p, "web/"))
			}
		}
		part, ok := Ecosystem{}.FindPart(gate, changed, listed(t, settings, all, all[:1], reached))
		if got := strings.Join(part.Names, " "); ok != (c.want != "") ||
			ok && (got != c.want || part.Of != 3 || part.Unit != "test file") {
			t.Errorf("%s: %q of %d, %v; want %q of 3", name, got, part.Of, ok, c.want)
		}
	}
	for settings, want := range map[string]bool{
		`"setupFiles":["/work/repo/web/src/setup.js"]`:                                                        true,
		`"setupFiles":["/work/repo/web/test/setup.js"]`:                                                       false,
		`"setupFiles":["/work/repo/shared/setup.ts"]`:                                                         false,
		`"setupFiles":["/work/repo/web/src-more/setup.js"]`:                                                   false,
		`"transform":[["^.+\\.tsx?$","/work/repo/web/tools/transform.cjs",{}]]`:                               false,
		`"testEnvironment":"/work/repo/web/node_modules/jest-environment-node/build/index.js"`:                true,
		`"testMatch":["/work/repo/web/t/**/*.test.js"],"modulePathIgnorePatterns":["/work/repo/web/x\\.js"]`:  true,
		`"setupFiles":["/deps/setup.js"],"coverageDirectory":"/work/repo/web/coverage","cacheDirectory":"/t"`: true,
		`"setupFiles":["/work/repo/web/src/a&b.js"]`:                                                          false,
		`"setupFiles":["/work/repo/web/src/a&c.js"]`:                                                          true,
	} {
		settings = `{"configs":[{"rootDir":"/work/repo/web","roots":["/work/repo/web/src"],` + settings +
			`}],"globalConfig":{"rootDir":"/work/repo/web"}}`
		if _, ok := (Ecosystem{}).FindPart(
			gate, []string{"web/src/a.js"}, listed(t, settings, all, all[:1], []string{"src/a.js", "src/a&b.js"})); ok != want {
			t.Errorf("%s: %v", settings, ok)
		}
	}
	part, _ := Ecosystem{}.FindPart(
		gate, []string{"web/src/a.js"},
		listed(t, `{"configs":[{"roots":["/a"]},{"roots":["/a"]}]}`, append(all, "t/a b.test.js"), all[:1],
			[]string{"src/a.js"}))
	for test, want := range map[string]bool{"web/t/a.test.js adds": true, "web/t/gone.test.js adds": true,
		"web/t/b.test.js adds": false, "web/t/a b.test.js adds it": false} {
		if got := part.Has(test); got != want {
			t.Errorf("%s: %v", test, got)
		}
	}
}

// What is not the output of jest has no part, nor has a change that no test imports.
func TestNoPart(t *testing.T) {
	t.Parallel()
	gate := jestGate(t, "jest")
	one := []string{"t/a.test.js"}
	for _, out := range []string{
		"", "/work/repo/web\n{}\n[]\n[]\n", "/work/repo/web\n{}\n[]\n[]\n{}\n", "\n\n\n\n\n",
		listed(t, "{}", one, nil, []string{"src/a.js"}), listed(t, "{}", nil, one, []string{"src/a.js"}),
		listed(t, "{}", one, one, nil),
		listed(t, "{}", one, one, []string{"src/a.js"}) + "more\n",
		listed(t, "{}", append(one, "-x.test.js"), one, []string{"src/a.js"}),
		listed(t, `{"configs":[{"roots":["/a"]},{"roots":["/b"]}]}`, one, one, []string{"src/a.js"}),
		listed(t, "no JSON", one, one, []string{"src/a.js"}),
		strings.Replace(listed(t, "{}", one, one, []string{"src/a.js"}), "/work/repo/web\n", "/work/repo/other\n", 1),
		strings.Replace(listed(t, "{}", []string{"t/a.test.js", "x"}, one, []string{"src/a.js"}), "/work/repo/web/x",
			"/work/repo/x", 1),
	} {
		if part, ok := (Ecosystem{}).FindPart(gate, []string{"web/src/a.js"}, out); ok {
			t.Errorf("%q: %v", out, part.Names)
		}
	}
	if (Ecosystem{}).IsRedForAll(company.GateCheck{ExitCode: 1}) ||
		!(Ecosystem{}).IsRedForAll(company.GateCheck{ExitCode: 1, Tests: []company.TestResult{{Name: "a"}}}) {
		t.Error("a part that is red counts where it names a test that failed")
	}
}

// A gate that is vitest alone has parts, of the test files that import what changed, where
// its settings leave nothing else open.
func TestPartOfVitest(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"vitest run": " --passWithNoTests --reporter=default --reporter=junit --outputFile=",
		"vitest":     " --passWithNoTests --reporter=default --reporter=junit --outputFile=",
		"TZ=UTC vitest --coverage --globals": " --globals --passWithNoTests --reporter=default --reporter=junit " +
			"--outputFile=",
		"vitest run src":                         "",
		"vitest run --project=unit":              "",
		"vitest run --config=other.js":           "",
		"vitest run --root=x":                    "",
		"vitest run --no-isolate":                "",
		"vitest bench":                           "",
		"tsc && vitest run":                      "",
		"vitest run --testNamePattern=\"quick\"": "",
	} {
		g := jestGate(t, script)
		list, run := Ecosystem{}.ListCommand(g, []string{"web/src/a.js", "README.md"}),
			Ecosystem{}.PartCommand(g, []string{"t/a.test.js"})
		if want == "" {
			if list != "" || run != "exit 1" {
				t.Errorf("%q: %q, %q", script, list, run)
			}
			continue
		}
		if !strings.Contains(list, "git add -f -- './../web/src/a.js' &&") &&
			!strings.Contains(list, "git add -f -- ./../web/src/a.js &&") || !strings.Contains(run, "vitest run"+want) ||
			!strings.HasSuffix(run, " t/a.test.js )") {
			t.Errorf("%q: %q, %q", script, list, run)
		}
	}
	gate := jestGate(t, "vitest run")
	const all, related = `[ {"file": "/work/repo/web/t/a.test.js"}, {"file": "/work/repo/web/t/b.test.js"} ]`,
		`[ {"file": "/work/repo/web/t/a.test.js"} ]`
	find := func(settings string, changed ...string) (string, bool) {
		part, ok := Ecosystem{}.FindPart(gate, changed, "/work/repo/web\nsettings "+settings+"\n"+all+"\n"+related+"\n")
		if ok && (part.Of != 2 || part.Has("t/b.test.js adds") || !part.Has("t/a.test.js adds") ||
			!part.Has("t/gone.test.js adds")) {
			t.Errorf("%s: %+v", settings, part)
		}
		return strings.Join(part.Names, " "), ok
	}
	const plain = `import { defineConfig } from 'vitest/config'; export default defineConfig({ resolve: { alias: { '@': './src' } }, test: { include: ['t/**'], environment: 'jsdom' } })`
	for settings, want := range map[string]bool{
		"": true, plain: true,
		`test: { setupFiles: ['x.js'] }`: false, `test: { globalSetup: 'x.js' }`: false,
		`export default ['packages/*']; // projects`: false, `defineWorkspace([])`: false,
		`import base from './base.js'`: false, `import './base.js'`: false, `require("../base")`: false,
		`await import('./x')`: false, `environment: './env.js'`: false, `"environment": "/env.js"`: false,
		`mergeConfig(a, b)`: false, `root: 'src'`: false, `browser: { enabled: true }`: false, `runner: 'x'`: false,
	} {
		if got, ok := find(settings, "web/src/a.ts", "web/docs/x.md"); ok != want || ok && got != "t/a.test.js" {
			t.Errorf("%s: %q, %v", settings, got, ok)
		}
	}
	for _, changed := range []string{"web/vite.config.ts", "web/vitest.workspace.js", "web/package.json",
		"web/t/__snapshots__/a.test.js.snap", "web/src/a.vue", "web/src/types.d.ts", "web/src/__mocks__/a.js"} {
		if got, ok := find(plain, "web/src/a.ts", changed); ok {
			t.Errorf("%s: %q", changed, got)
		}
	}
	for _, out := range []string{"", "/work/repo/web\nsettings\n[]\n", "/work/repo/web\nsettings\n" + all + "\n[]\n",
		"/work/repo/web\n\n" + all + "\n" + related + "\n", "/work/repo/web\nsettings\n" + all + "\nno JSON\n"} {
		if part, ok := (Ecosystem{}).FindPart(gate, []string{"web/src/a.ts"}, out); ok {
			t.Errorf("%q: %v", out, part.Names)
		}
	}
}
