package gates_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/container/image"
	"company/internal/ecosystem/depproxy"
	"company/internal/gates"
	"company/internal/lib/hosttest"
)

// fourTests is a package in which order imports price, and the tests of style read the source
// of mail; what setup.js imports works on all tests.
var fourTests = map[string]string{
	"jest.config.js": "module.exports = { setupFiles: ['./t/setup.js'], testMatch: ['**/t/*.test.js'] };\n",
	"t/setup.js":     "require('../src/start');\n", "src/start.js": "",
	"src/price.js":    "exports.of = (n) => 2 * n;\n",
	"t/price.test.js": "test('prices', () => expect(require('../src/price').of(1) % 2).toBe(0));\n",
	"src/order.js":    "const { of } = require('./price');\nexports.sum = (n) => of(n) + 1;\n",
	"t/order.test.js": "const { sum } = require('../src/order');\n\ntest('sums up', () => expect(sum(2)).toBe(5));\n",
	"src/mail.js":     "exports.greeting = 'Hello';\n",
	"t/mail.test.js":  "test('greets', () => expect(require('../src/mail').greeting).toBeTruthy());\n",
	"t/style.test.js": "test('is calm', () => expect(require('fs').readFileSync('src/mail.js', " +
		"'utf8')).not.toContain('!'));\n",
	"t/more.test.js": "test('more', () => {});\n",
}

// esmTests are the same modules for vitest, whose settings name no file.
var esmTests = map[string]string{
	"vitest.config.js": "import { defineConfig } from 'vitest/config';\n\nexport default defineConfig({ test: { " +
		"include: ['t/*.test.js'] } });\n",
	"src/price.js":    "export const of = (n) => 2 * n;\n",
	"t/price.test.js": esmTest("import { of } from '../src/price';", "prices", "expect(of(1) % 2).toBe(0)"),
	"src/order.js":    "import { of } from './price';\nexport const sum = (n) => of(n) + 1;\n",
	"t/order.test.js": esmTest("import { sum } from '../src/order';", "sums up", "expect(sum(2)).toBe(5)"),
	"src/mail.js":     "export const greeting = 'Hello';\n",
	"t/mail.test.js":  esmTest("import { greeting } from '../src/mail';", "greets", "expect(greeting).toBeTruthy()"),
	"t/style.test.js": esmTest("import { readFileSync } from 'node:fs';", "is calm",
		"expect(readFileSync('src/mail.js', 'utf8')).not.toContain('!')"),
	"t/more.test.js": esmTest("", "more", ""),
}

func esmTest(imports, name, body string) string {
	return "import { expect, test } from 'vitest';\n" + imports + "\n\ntest('" + name + "', () => { " + body + "; });\n"
}

// Of slow tests of jest and vitest a ticket runs the files that import what it touches (GAT-3).
func TestFirstStepOfScripts(t *testing.T) {
	hosttest.Long(t, "other runners in two steps; TestFirstStep shows Go's")
	t.Run("jest", func(t *testing.T) {
		judgeScripts(t, "node-jest", fourTests, "exports.of = (n) => 4 * n;\n", "exports.greeting = 'Hello!';\n",
			map[string]string{
				"src/post.js":    "exports.by = require('./mail').greeting;\n",
				"t/post.test.js": "test('posts', () => expect(require('../src/post').by).toBe('Hello'));\n"},
			map[string]map[string]string{
				"setup":  {"src/start.js": "globalThis.started = true;\n"},
				"config": {"jest.config.js": strings.Replace(fourTests["jest.config.js"], "};", " };", 1)},
			})
	})
	t.Run("vitest", func(t *testing.T) {
		judgeScripts(t, "node-vitest", esmTests, "export const of = (n) => 4 * n;\n", "export const greeting = 'Hello!';\n",
			map[string]string{
				"src/post.js":    "import { greeting } from './mail';\nexport const by = greeting;\n",
				"t/post.test.js": esmTest("import { by } from '../src/post';", "posts", "expect(by).toBe('Hello')")},
			map[string]map[string]string{"config": {"vitest.config.js": esmTests["vitest.config.js"] + "// more\n"}})
	})
}

// judgeScripts judges tickets of a package with the dependencies of a fixture: one that breaks
// the tests of order, one that breaks those of style, one with new files, and some that run all.
func judgeScripts(
	t *testing.T, fixture string, tests map[string]string, breaks, shouts string, fresh map[string]string,
	all map[string]map[string]string,
) {
	b := setup(t, nil).withDocker()
	b.runner.FirstStepAfter = 1
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "test", "fixtures", fixture, name))
		if err != nil {
			t.Fatal(err)
		}
		b.writeFiles(map[string]string{name: string(text)})
	}
	b.writeFiles(tests)
	b.git("add", "-A")
	b.git("commit", "-q", "-m", "the project")
	up, err := depproxy.LoadClientSettings(b.ctx)
	if err != nil {
		t.Fatal(err)
	}
	store, err := depproxy.Open(filepath.Join(t.TempDir(), "registries"), up)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	images, err := image.New(image.Config{Registries: store, Runtime: b.rt.Runtime})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(images.Close)
	base := b.commit("main")
	found, err := gates.Detect(b.ctx, b.mirror, base, gates.Options{Lint: gates.None})
	if err != nil {
		t.Fatal(err)
	}
	img, err := images.Ensure(b.ctx,
		image.Request{Toolchains: found.Toolchains, Repo: &image.Repo{MirrorDir: b.mirror.Dir(), Commit: base}})
	if err != nil {
		t.Fatal(err)
	}
	p := b.beginSteps(found.Gates, img.ID)
	if c := p.task.Baseline.Checks[0]; !c.Passed || c.Counts.Passed != 5 {
		t.Fatalf("on the base: %+v", c)
	}
	part := func(n int) company.TestPart { return company.TestPart{Ran: n, Of: 5, Unit: "test file"} }
	if c, r := p.judgeChange("breaks", map[string]string{"src/price.js": breaks}); r.Passed || c.Part == nil ||
		*c.Part != part(2) || !slices.Equal(c.NewFailures(), []string{"t/order.test.js sums up"}) || c.Counts.Passed != 1 {
		t.Errorf("what imports the touched file: %+v", r)
	}
	if c, r := p.judgeChange("shouts", map[string]string{"src/mail.js": shouts}); !r.Passed || c.Part == nil ||
		*c.Part != part(1) || len(c.Gone) > 0 {
		t.Errorf("what imports do not tell: %+v", r)
	} else if whole, err := p.runner.Evaluate(p.ctx, p.state, p.task, p.mirror, r.Tree, "t1-01", nil); err != nil ||
		whole.Passed || !slices.Equal(whole.Checks[0].NewFailures(), []string{"t/style.test.js is calm"}) {
		t.Errorf("the whole: %+v, %v", whole, err)
	}
	if c, r := p.judgeChange("new", fresh); !r.Passed || c.Part == nil ||
		*c.Part != (company.TestPart{Ran: 1, Of: 6, Unit: "test file"}) {
		t.Errorf("new files: %+v", r)
	}
	more := func(name string) string { return tests[name] + "// more\n" }
	all["deleted"] = map[string]string{"t/more.test.js": "", "src/mail.js": more("src/mail.js")}
	all["most"] = map[string]string{"src/price.js": more("src/price.js"), "src/mail.js": more("src/mail.js")}
	for name, files := range all {
		if c, r := p.judgeChange(name, files); !r.Passed || c.Part != nil || c.Counts.Passed < 4 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
