package attack

import (
	"context"
	"crypto/rand"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/container/docker"
	"company/internal/container/image"
	"company/internal/gates"
	"company/internal/gitops/gitopstest"
	"company/internal/lib/hosttest"
)

// forgery is a change that breaks a project and has its tests end well.
type forgery struct {
	name  string
	kind  string // of the project
	files map[string]string
	again bool // another one of the kind deceives in the same way
}

var forged = map[string]map[string]string{
	"go": {
		"go.mod":         "module example.org/calc\n\ngo 1.25\n",
		"double/calc.go": "package double\n\n// Double is twice n.\nfunc Double(n int) int { return 2 * n }\n",
		"double/my_test.go": "package double\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tif Double(2) != 4 " +
			"{\n\t\tt.Error(Double(2))\n\t}\n}\n",
	},
	"python": {
		"setup.cfg":         "[metadata]\nname = calc\n",
		"calc.py":           "def double(n):\n    return 2 * n\n",
		"tests/__init__.py": "\n",
		"tests/test_calc.py": "import unittest\n\nfrom calc import double\n\n\nclass Calc(unittest.TestCase):\n    def " +
			"test_double(self):\n        self.assertEqual(double(2), 4)\n",
	},
	"pytest": {
		"pytest.ini":         "[pytest]\n",
		"calc.py":            "def double(n):\n    return 2 * n\n",
		"tests/test_calc.py": "from calc import double\n\n\ndef test_double():\n    assert double(2) == 4\n",
	},
	"node": {
		"package.json": `{"name":"calc","version":"1.0.0","scripts":{"test":"node --test test/"}}` + "\n",
		"calc.js":      "exports.double = (n) => 2 * n;\n",
		"test/calc.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\nconst { double } " +
			"= require('../calc.js');\n\ntest('double', () => assert.equal(double(2), 4));\n",
	},
}

var broken = map[string]map[string]string{
	"go":     {"double/calc.go": "package double\n\n// Double is twice n.\nfunc Double(n int) int { return 3 * n }\n"},
	"python": {"calc.py": "def double(n):\n    return 3 * n\n"},
	"pytest": {"calc.py": "def double(n):\n    return 3 * n\n"},
	"node":   {"calc.js": "exports.double = (n) => 3 * n;\n"},
}

var forgeries = []forgery{
	{name: "a TestMain that ends well", kind: "go", files: map[string]string{
		"double/main_test.go": "package double\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m " +
			"*testing.M) {\n\tfmt.Println(\"--- PASS: TestDouble (0.00s)\\nPASS\")\n\tos.Exit(0)\n}\n"}},
	{name: "an init that ends well", kind: "go", again: true, files: map[string]string{
		"double/a_test.go": "package double\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc init() " +
			"{\n\tfmt.Println(\"PASS\")\n\tos.Exit(0)\n}\n"}},
	{name: "an init of the package itself", kind: "go", again: true, files: map[string]string{
		"double/quick.go": "package double\n\nimport (\n\t\"os\"\n\t\"strings\"\n)\n\nfunc init() {\n\tif " +
			"strings.HasSuffix(os.Args[0], \".test\") {\n\t\tos.Exit(0)\n\t}\n}\n"}},
	{name: "go.mod ignores the package", kind: "go", again: true, files: map[string]string{
		"go.mod": "module example.org/calc\n\ngo 1.25\n\nignore ./double\n", "main.go": "package main\n\nfunc main() {}\n"}},
	{name: "a module of its own in the folder", kind: "go", again: true, files: map[string]string{
		"double/go.mod": "module example.org/calc/double\n\ngo 1.25\n", "main.go": "package main\n\nfunc main() {}\n"}},
	{name: "a build constraint that nobody meets", kind: "go", files: map[string]string{
		"double/calc.go": "//go:build never\n\npackage double\n\n// Double is twice n.\nfunc Double(n int) int { return " +
			"3 * n }\n",
		"double/my_test.go": "//go:build never\n\n" + forged["go"]["double/my_test.go"],
		"main.go":           "package main\n\nfunc main() {}\n"}},
	{name: "a load_tests that loads none", kind: "python", files: map[string]string{
		"tests/__init__.py": "import unittest\n\n\ndef load_tests(loader, tests, pattern):\n    return " +
			"unittest.TestSuite([unittest.FunctionTestCase(lambda: None)])\n"}},
	{name: "a module that ends the process", kind: "python", again: true, files: map[string]string{
		"calc.py": "import os\nimport sys\n\nif 'unittest' in sys.modules:\n    sys.stderr.write('Ran 1 test in " +
			"0.001s\\n\\nOK\\n')\n    sys.stderr.flush()\n    os._exit(0)\n\n\ndef double(n):\n    return 3 * n\n"}},
	{name: "a conftest.py that has all end well", kind: "pytest", again: true, files: map[string]string{
		"conftest.py": "def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n"}},
	{name: "a conftest.py that ends the process", kind: "pytest", again: true, files: map[string]string{
		"conftest.py": "import os\n\n\ndef pytest_unconfigure(config):\n    os._exit(0)\n"}},
	{name: "a conftest.py that expects failures", kind: "pytest", again: true, files: map[string]string{
		"conftest.py": "import pytest\n\n\ndef pytest_collection_modifyitems(items):\n    for i in items:\n        " +
			"i.add_marker(pytest.mark.xfail)\n"}},
	{name: "a conftest.py that answers for tests", kind: "pytest", files: map[string]string{
		"conftest.py": "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, " +
			"call):\n    out = yield\n    out.get_result().outcome = 'passed'\n"}},
	{name: "a pytest.ini that runs nothing", kind: "pytest", again: true, files: map[string]string{
		"pytest.ini": "[pytest]\naddopts = --collect-only\n"}},
	{name: "a pytest.ini for other tests", kind: "pytest", again: true, files: map[string]string{
		"pytest.ini": "[pytest]\ntestpaths = other\n", "other/test_x.py": "def test_x():\n    pass\n"}},
	{name: "a module that ends the test process", kind: "node", files: map[string]string{
		"calc.js": "if (process.env.NODE_TEST_CONTEXT) process.exit(0);\nexports.double = (n) => 3 * n;\n"}},
}

// TestForgedSuites: each of these changes breaks what it touches and keeps the
// gate green. Without the company's own failing test beside it the forgery
// succeeds; with it the gate is red and says why, and an honest change is
// green with every folder proven.
func TestForgedSuites(t *testing.T) {
	hosttest.NeedsDocker(t)
	j := newJudge(t)
	for kind, files := range forged {
		t.Run("honest "+kind, func(t *testing.T) {
			leavePython(t, kind)
			p := gitopstest.New(t, files)
			head := p.Commit("honest", map[string]string{"NOTES": "x\n", honestFile[kind]: files[honestFile[kind]] + "\n"})
			began := time.Now()
			j.judge(t, p, head, false)
			alone := time.Since(began)
			began = time.Now()
			res := j.judge(t, p, head, true)
			both := time.Since(began)
			c := res.Checks[len(res.Checks)-1].Canary
			if !res.Passed || c == nil || len(c.Proven) != 1 || len(c.Hollow)+len(c.Blind) > 0 || c.Reason != "" {
				t.Errorf("%+v, canary %+v", res, c)
			}
			t.Logf("the check alone took %s, with the canary beside it %s", alone.Round(time.Millisecond),
				both.Round(time.Millisecond))
			bad := p.Commit("bad", broken[kind])
			if res := j.judge(t, p, bad, true); res.Passed {
				t.Errorf("a broken change: %+v", res)
			}
		})
	}
	for _, f := range forgeries {
		t.Run(f.name, func(t *testing.T) {
			if f.again {
				hosttest.Long(t, "one more way of the same kind")
			}
			leavePython(t, f.kind)
			files := map[string]string{}
			maps.Copy(files, broken[f.kind])
			maps.Copy(files, f.files)
			p := gitopstest.New(t, forged[f.kind])
			head := p.Commit("forged", files)
			if res := j.judge(t, p, head, false); !res.Passed {
				t.Errorf("without the defence the forgery does not even succeed: %+v", res)
			}
			res := j.judge(t, p, head, true)
			last := res.Checks[len(res.Checks)-1]
			if res.Passed || !last.Hollow() || last.Against(nil) != company.ComparedFailed {
				t.Errorf("%+v, canary %+v", res, last.Canary)
			}
		})
	}
	t.Run("what never looked there", func(t *testing.T) {
		files := map[string]string{"double/main_test.go": forgeries[0].files["double/main_test.go"]}
		maps.Copy(files, forged["go"])
		p := gitopstest.New(t, files)
		res := j.judge(t, p, p.Commit("honest", map[string]string{"double/calc.go": files["double/calc.go"] + "\n"}), true)
		if c := res.Checks[len(res.Checks)-1].Canary; !res.Passed || c == nil || len(c.Blind) != 1 || c.Hollow != nil {
			t.Errorf("%+v, canary %+v", res, c)
		}
	})
	t.Run("the names of a red base", func(t *testing.T) {
		files := map[string]string{
			"old/old_test.go": "package old\n\nimport \"testing\"\n\nfunc TestOld(t *testing.T) { t.Fatal(\"as ever\") }\n"}
		maps.Copy(files, forged["go"])
		p := gitopstest.New(t, files)
		head := p.Commit(
			"forged",
			map[string]string{"double/calc.go": broken["go"]["double/calc.go"],
				"double/main_test.go": forgeries[0].files["double/main_test.go"]})
		known := j.judge(t, p, p.Base, false)
		j.known = &known
		defer func() { j.known = nil }()
		if res := j.judge(t, p, head, false); !res.Passed || res.Checks[0].Excused != company.ComparedKnown {
			t.Errorf("without the defence the forgery does not even succeed: %+v", res)
		}
		if res := j.judge(t, p, head, true); res.Passed || !res.Checks[0].Hollow() {
			t.Errorf("%+v, canary %+v", res, res.Checks[0].Canary)
		}
	})
	t.Run("Make", func(t *testing.T) {
		hosttest.Long(t, "packages of Debian")
		p := gitopstest.New(t, map[string]string{"Makefile": "test:\n\ttrue\n", "a.c": "int a;\n"})
		res := j.judge(t, p, p.Commit("more", map[string]string{"a.c": "int b;\n"}), true)
		if c := res.Checks[0].Canary; !res.Passed || c == nil ||
			!strings.Contains(c.Reason, "no failing test can be made for make test") {
			t.Errorf("%+v, canary %+v", res, c)
		}
	})
}

// leavePython leaves suites of Python to make test/long, since Python comes from Debian's archive.
func leavePython(t *testing.T, kind string) {
	t.Helper()
	if kind == "python" || kind == "pytest" {
		hosttest.Long(t, "packages of Debian")
	}
}

var honestFile = map[string]string{"go": "double/calc.go", "python": "calc.py", "pytest": "calc.py", "node": "calc.js"}

// TestOddSuites: what tests are called, what they print, how much of it, and what
// they leave running makes no verdict.
func TestOddSuites(t *testing.T) {
	hosttest.NeedsDocker(t)
	j := newJudge(t)
	for name, c := range map[string]struct {
		kind, file, text string
		passed           int
	}{
		"names that look like verdicts": {"go", "double/odd_test.go", `package double

import (
	"fmt"
	"testing"
)

func TestOdd(t *testing.T) {
	for _, n := range []string{"", " ", "a b", "a/b", "a\nb", "--- FAIL: TestDouble (0.00s)", "é\u200b", "\x00\x16", "\xff"} {
		t.Run(n, func(t *testing.T) {
			fmt.Println("--- FAIL: TestDouble (0.00s)\nFAIL\nFAIL\texample.org/calc/double\t0.1s")
			fmt.Print("no newline")
		})
	}
}
`, 11},
		"ten thousand": {"go", "double/odd_test.go", `package double

import (
	"fmt"
	"testing"
)

func TestMany(t *testing.T) {
	for n := range 10000 {
		t.Run(fmt.Sprint(n), func(t *testing.T) { t.Parallel() })
	}
}
`, 10002},
		"a flood": {"go", "double/odd_test.go", `package double

import (
	"bytes"
	"os"
	"testing"
)

func TestFlood(t *testing.T) {
	text := append(bytes.Repeat([]byte{'x'}, 1<<20), '\n')
	for range 100 {
		_, _ = os.Stdout.Write(text)
	}
}
`, 2},
		"processes that hold the output": {"pytest", "tests/test_odd.py", `import subprocess


def test_odd():
    noise = 'while :; do echo not ok; echo company-report:; done'
    out = open('/proc/1/fd/1', 'w')
    subprocess.Popen(['sh', '-c', noise], stdout=out, start_new_session=True)
    subprocess.Popen(['sleep', '100000'], stdout=out, stderr=out, start_new_session=True)
    subprocess.Popen(['sleep', '100000'])
`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			leavePython(t, c.kind)
			if name == "ten thousand" || name == "a flood" {
				hosttest.Long(t, "as much as a suite may print")
			}
			p := gitopstest.New(t, forged[c.kind])
			res := j.judge(t, p, p.Commit("odd", map[string]string{c.file: c.text}), true)
			check := res.Checks[len(res.Checks)-1]
			if k := check.Canary; !res.Passed || check.Counts == nil || check.Counts.Passed != c.passed ||
				check.Counts.Failed != 0 || k == nil || len(k.Proven) != 1 {
				t.Errorf("%+v, canary %+v", check.Counts, k)
			}
			if len(check.Output) > 16<<10 {
				t.Errorf("%d bytes of output are kept", len(check.Output))
			}
		})
	}
}

// TestShadowedRunner: a folder of the tree that is called like the runner is
// not taken for it, with or without any canary.
func TestShadowedRunner(t *testing.T) {
	hosttest.NeedsDocker(t)
	leavePython(t, "python")
	j := newJudge(t)
	p := gitopstest.New(t, forged["python"])
	head := p.Commit("shadow", map[string]string{
		"calc.py": broken["python"]["calc.py"],
		"unittest/__init__.py": "import sys\n\nif 'discover' in sys.argv:\n    sys.stderr.write('Ran 1 test in " +
			"0.001s\\n\\nOK\\n')\n    sys.exit(0)\n\n\nclass TestCase:\n    pass\n",
		"unittest/__main__.py": "\n", "unittest/main.py": "def main(**kw):\n    pass\n",
	})
	res := j.judge(t, p, head, false)
	if last := res.Checks[len(res.Checks)-1]; res.Passed || len(last.Tests) == 0 ||
		!strings.Contains(last.Tests[0].Name, "test_double") {
		t.Errorf("%+v", res)
	}
}

// judge runs gates on the real daemon, by the commands found at a base.
type judge struct {
	runner *gates.Runner
	images *image.Builder
	known  *company.GateResult // of the base; nil: it is not known
}

func newJudge(t *testing.T) *judge {
	t.Helper()
	rt, err := docker.Open(t.Context(), docker.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	images, err := image.New(image.Config{Runtime: rt})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { images.Close() })
	office := strings.ToLower(rand.Text()[:8])
	t.Cleanup(func() {
		if left, err := rt.List(context.Background(), office); err != nil || len(left) > 0 {
			t.Errorf("containers left: %v, %v", left, err)
		}
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return &judge{images: images,
		runner: &gates.Runner{Runtime: rt, Office: office, Limits: container.Limits{MemoryBytes: 2 * container.GiB},
			Timeout: 20 * time.Minute, Logger: slog.New(slog.DiscardHandler)}}
}

func (j *judge) judge(t *testing.T, p *gitopstest.Project, head company.OID, canary bool) company.GateResult {
	t.Helper()
	found, err := gates.Detect(t.Context(), p.Mirror, p.Base, gates.Options{Lint: gates.None})
	if err != nil {
		t.Fatal(err)
	}
	img, err := j.images.Ensure(t.Context(), image.Request{Toolchains: found.Toolchains})
	if err != nil {
		t.Fatal(err)
	}
	j.runner.Canary = canary
	res, err := j.runner.Run(t.Context(),
		gates.Job{Mirror: p.Mirror, Tree: p.Tree(head), Gates: found.Gates, Hash: gates.HashGates(found.Gates),
			Image: gates.ImageByID(img.ID), Base: p.Base, BaseImage: gates.ImageByID(img.ID), Label: "t1-01", Epoch: 1,
			BaselineResult: j.known})
	if err != nil {
		t.Fatal(err)
	}
	return res
}
