package gates_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/depproxy"
	"company/internal/gates"
	"company/internal/hosttest"
	"company/internal/image"
)

// fourTests is a package in which order imports price, and the tests of style read the source
// of mail; what setup.js imports works on all tests.
var fourTests = map[string]string{
	"jest.config.js": "module.exports = { setupFiles: ['./t/setup.js'], testMatch: ['**/t/*.test.js'] };\n", "t/setup.js": "require('../src/start');\n", "src/start.js": "",
	"src/price.js": "exports.of = (n) => 2 * n;\n", "t/price.test.js": "test('prices', () => expect(require('../src/price').of(1) % 2).toBe(0));\n",
	"src/order.js": "const { of } = require('./price');\nexports.sum = (n) => of(n) + 1;\n", "t/order.test.js": "const { sum } = require('../src/order');\n\ntest('sums up', () => expect(sum(2)).toBe(5));\n",
	"src/mail.js": "exports.greeting = 'Hello';\n", "t/mail.test.js": "test('greets', () => expect(require('../src/mail').greeting).toBeTruthy());\n",
	"t/style.test.js": "test('is calm', () => expect(require('fs').readFileSync('src/mail.js', 'utf8')).not.toContain('!'));\n",
	"t/more.test.js":  "test('more', () => {});\n",
}

// Of slow tests of jest a ticket runs the files that import what it touches (GAT-3).
func TestFirstStepOfJest(t *testing.T) {
	hosttest.Variant(t, "another runner in two steps; TestFirstStep shows Go's")
	b := setup(t, nil).withDocker()
	b.runner.FirstStepAfter = 1
	fixture := filepath.Join("..", "..", "test", "fixtures", "node-jest")
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(fixture, name))
		if err != nil {
			t.Fatal(err)
		}
		b.writeFiles(map[string]string{name: string(text)})
	}
	b.writeFiles(fourTests)
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
	img, err := images.Ensure(b.ctx, image.Request{Toolchains: found.Toolchains, Repo: &image.Repo{MirrorDir: b.mirror.Dir(), Commit: base}})
	if err != nil {
		t.Fatal(err)
	}
	p := b.beginSteps(found.Gates, img.ID)
	if c := p.task.Baseline.Checks[0]; !c.Passed || c.Counts.Passed != 5 {
		t.Fatalf("on the base: %+v", c)
	}
	part := func(n int) company.TestPart { return company.TestPart{Ran: n, Of: 5, Unit: "test file"} }
	if c, r := p.judge("breaks", map[string]string{"src/price.js": "exports.of = (n) => 4 * n;\n"}); r.Passed || c.Part == nil || *c.Part != part(2) || !slices.Equal(c.NewFailures(), []string{"t/order.test.js sums up"}) || c.Counts.Passed != 1 {
		t.Errorf("what imports the touched file: %+v", r)
	}
	if c, r := p.judge("shouts", map[string]string{"src/mail.js": "exports.greeting = 'Hello!';\n"}); !r.Passed || c.Part == nil || *c.Part != part(1) || len(c.Gone) > 0 {
		t.Errorf("what imports do not tell: %+v", r)
	} else if whole, err := p.runner.Evaluate(p.ctx, p.state, p.task, p.mirror, r.Tree, "t1-01", nil); err != nil || whole.Passed || !slices.Equal(whole.Checks[0].NewFailures(), []string{"t/style.test.js is calm"}) {
		t.Errorf("the whole: %+v, %v", whole, err)
	}
	if c, r := p.judge("new", map[string]string{"src/post.js": "exports.by = require('./mail').greeting;\n", "t/post.test.js": "test('posts', () => expect(require('../src/post').by).toBe('Hello'));\n"}); !r.Passed || c.Part == nil || *c.Part != (company.TestPart{Ran: 1, Of: 6, Unit: "test file"}) {
		t.Errorf("new files: %+v", r)
	}
	for name, files := range map[string]map[string]string{
		"setup":   {"src/start.js": "globalThis.started = true;\n"},
		"deleted": {"t/more.test.js": "", "src/mail.js": fourTests["src/mail.js"] + "// more\n"},
		"config":  {"jest.config.js": strings.Replace(fourTests["jest.config.js"], "};", " };", 1)},
		"most":    {"src/price.js": fourTests["src/price.js"] + "// more\n", "src/mail.js": fourTests["src/mail.js"] + "// more\n"},
	} {
		if c, r := p.judge(name, files); !r.Passed || c.Part != nil || c.Counts.Passed < 4 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
