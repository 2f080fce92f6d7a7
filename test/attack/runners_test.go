package attack

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/container/image"
	"company/internal/ecosystem/depproxy"
	"company/internal/gates"
	"company/internal/gitops/gitopstest"
	"company/internal/lib/hosttest"
)

// runnerProject is a small project of a runner: its tests double 2.
type runnerProject struct {
	code   string // the file that is broken
	files  map[string]string
	red    string            // what the name of the failure ends with
	forged map[string]string // what has it end well whatever fails; nil: nothing does
}

// runnerOfNode is such a project of a package of npm's.
type runnerOfNode struct {
	script, dependency, version string
	more                        map[string]string // of the package.json
	runnerProject
}

// runnersOfNode are packages by runner: how their script starts it, and the same
// small project in its manner.
var runnersOfNode = map[string]runnerOfNode{
	"ava": {"ava --watch", "ava", "6.2.0", map[string]string{"type": "module"}, runnerProject{"calc.js", map[string]string{
		"calc.js": "export const double = (n) => 2 * n;\n",
		"test/calc.test.js": "import test from 'ava';\nimport { double } from '../calc.js';\n\ntest('double', (t) => " +
			"t.is(double(2), 4));\n",
	}, "double", nil}},
	"jest": {"jest --watchAll --json --outputFile=mine.json", "jest", "29.7.0", nil,
		runnerProject{"calc.js", map[string]string{
			"calc.js":      "exports.double = (n) => 2 * n;\n",
			"calc.test.js": "const { double } = require('./calc.js');\n\ntest('double', () => expect(double(2)).toBe(4));\n",
		}, "double", map[string]string{
			"jest.config.js": "module.exports = { globalTeardown: './end.js' };\n",
			"end.js":         "module.exports = () => process.exit(0);\n",
		}}},
	"mocha": {"mocha --watch --reporter spec", "mocha", "10.8.2", nil, runnerProject{"calc.js", map[string]string{
		"calc.js": "exports.double = (n) => 2 * n;\n",
		"test/calc.test.js": "const assert = require('node:assert');\nconst { double } = " +
			"require('../calc.js');\n\ndescribe('calc', () => {\n  it('double', () => assert.equal(double(2), 4));\n});\n",
	}, "double", map[string]string{"test/end.js": "after(() => process.exit(0));\n"}}},
	"vitest": {"vitest watch --reporter=json --outputFile=mine.json", "vitest", "2.1.8",
		map[string]string{"type": "module"}, runnerProject{"calc.js", map[string]string{
			"calc.js": "export const double = (n) => 2 * n;\n",
			"calc.test.js": "import { expect, test } from 'vitest';\nimport { double } from " +
				"'./calc.js';\n\ntest('double', () => expect(double(2)).toBe(4));\n",
			"vitest.config.js": "export default { test: { outputFile: 'theirs.txt', reporters: ['verbose'] } };\n",
		}, "double", map[string]string{
			"vitest.config.js": "export default { test: { globalSetup: './end.js' } };\n",
			"end.js":           "export default () => () => process.exit(0);\n",
		}}},
}

// TestRunnersOfNode: the gates of these runners end, whatever the script asks
// them for, name what fails, and prove that they look; a change that has them
// end well all the same is found out.
func TestRunnersOfNode(t *testing.T) {
	hosttest.Long(t, "other runners of the language that TestForgedSuites has with node:test")
	t.Run("jest and vitest", func(t *testing.T) { checkNodeRunners(t, "jest", "vitest") })
	t.Run("the others", func(t *testing.T) {
		hosttest.Long(t, "an image of its own for two more")
		checkNodeRunners(t, "ava", "mocha")
	})
}

// checkNodeRunners judges projects of some runners in one image.
func checkNodeRunners(t *testing.T, names ...string) {
	t.Helper()
	files, runners := map[string]string{}, map[string]runnerProject{}
	for _, name := range names {
		s := runnersOfNode[name]
		runners[name] = s.runnerProject
		manifest := map[string]any{"name": "of-" + name, "version": "1.0.0", "scripts": map[string]string{"test": s.script},
			"devDependencies": map[string]string{s.dependency: s.version}}
		for k, v := range s.more {
			manifest[k] = v
		}
		files[name+"/package.json"] = marshal(t, manifest)
		for p, text := range s.files {
			files[name+"/"+p] = text
		}
	}
	// Newer ones of rollup need what npm's scripts install.
	files["package.json"] = marshal(
		t, map[string]any{"name": "all", "private": true, "workspaces": slices.Sorted(maps.Keys(runners)),
			"overrides": map[string]string{"rollup": "4.40.0"}})
	files["package-lock.json"] = npmLock(t, files)

	j := newJudge(t)
	up, err := depproxy.LoadClientSettings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	store, err := depproxy.Open(filepath.Join(t.TempDir(), "registries"), up)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	if j.images, err = image.New(image.Config{Registries: store, Runtime: j.runner.Runtime}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.images.Close)
	p := gitopstest.New(t, files)
	found, err := gates.Detect(t.Context(), p.Mirror, p.Base, gates.Options{Lint: gates.None})
	if err != nil || len(found.Gates) != len(runners) {
		t.Fatalf("%+v %v", found, err)
	}
	img, err := j.images.Ensure(t.Context(),
		image.Request{Toolchains: found.Toolchains, Repo: &image.Repo{MirrorDir: p.Mirror.Dir(), Commit: p.Base}})
	if err != nil {
		t.Fatal(err)
	}
	j.judgeRunners(t, p, found.Gates, img.ID, runners)
}

// judgeRunners has gates judge projects that lie in folders named by their runners:
// each gate goes green and red, names what fails, and proves that it looks; one that
// is forged ends well and is found hollow.
func (j *judge) judgeRunners(
	t *testing.T, p *gitopstest.Project, pinned []company.GateCommand, img string, projects map[string]runnerProject,
) {
	t.Helper()
	j.runner.Canary = true
	check := func(branch string, change map[string]string) map[string]company.GateCheck {
		t.Helper()
		res, err := j.runner.Run(t.Context(),
			gates.Job{Mirror: p.Mirror, Tree: p.Tree(p.Commit(branch, change)), Gates: pinned, Hash: gates.HashGates(pinned),
				Image: gates.ImageByID(img), Base: p.Base, BaseImage: gates.ImageByID(img), Label: "t1-01", Epoch: 1})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]company.GateCheck{}
		for i, c := range res.Checks {
			out[pinned[i].Dir] = c
		}
		return out
	}
	change := func(edit func(text string) string) map[string]string {
		out := map[string]string{}
		for name, s := range projects {
			out[name+"/"+s.code] = edit(s.files[s.code])
		}
		return out
	}
	for name, c := range check("honest", change(func(text string) string { return text + "\n" })) {
		if !c.Passed || c.Counts == nil || c.Counts.Passed != 1 || c.Canary == nil || len(c.Canary.Proven) != 1 ||
			len(c.Canary.Blind) > 0 {
			t.Errorf("%s, honest: %+v, canary %+v", name, c, c.Canary)
		}
	}
	worse := change(func(text string) string { return strings.Replace(text, "2 *", "3 *", 1) })
	for name, c := range check("broken", worse) {
		if c.Passed || len(c.Tests) != 1 || !strings.HasSuffix(c.Tests[0].Name, projects[name].red) {
			t.Errorf("%s, broken: %+v", name, c)
		}
	}
	for name, s := range projects {
		for p, text := range s.forged {
			worse[name+"/"+p] = text
		}
	}
	for name, c := range check("forged", worse) {
		if forged := projects[name].forged != nil; c.Passed != forged || c.Hollow() != forged {
			t.Errorf("%s, forged: %+v, canary %+v", name, c, c.Canary)
		}
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// npmLock is the lock file that the host's npm makes, as a developer does.
func npmLock(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if filepath.Base(name) != "package.json" {
			continue
		}
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit",
		"--no-fund")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm makes no lock file: %v: %s", err, out)
	}
	lock, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(lock)
}
