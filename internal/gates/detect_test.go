package gates_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/gates"
	"company/internal/lib/hosttest"
)

// detect is what is found in these files, committed.
func detect(t *testing.T, files map[string]string, o gates.Options) gates.Project {
	t.Helper()
	b := setup(t, nil)
	b.writeFiles(files)
	b.git("add", "-A")
	b.git("commit", "-q", "--allow-empty", "-m", "more")
	base := b.commit("main")
	// What comes later, or only lies about, does not count.
	b.writeFiles(map[string]string{"go.mod": "module y\n", "y.go": "package y\n", "Makefile": "test:\n"})
	p, err := gates.Detect(b.ctx, b.mirror, base, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// formatGates shows gates one per line: name, folder, command, how it is read.
func formatGates(cmds []company.GateCommand) []string {
	out := []string{}
	for _, g := range cmds {
		l := g.Name + " | " + g.Dir + " | " + g.Command
		if g.Parse != "" {
			l += " | " + g.Parse
		}
		if g.Given && g.Report != "" {
			l += " | " + g.Report
		}
		out = append(out, l)
	}
	return out
}

func TestDetect(t *testing.T) {
	hosttest.Long(t, "a repository for each kind of project")
	goRoot := map[string]string{"go.mod": "module x\n", "x.go": "package x\n"}
	npm := func(text string) map[string]string { return map[string]string{"package.json": text} }
	vet, test := "lint |  | go vet ./... | lines", "test |  | go test ./... | go-json"
	for _, c := range []struct {
		name  string
		files map[string]string
		o     gates.Options
		want  []string
		tools string
		notes []string // each is part of some note
	}{
		{"Go", goRoot, gates.Options{}, []string{vet, test}, "go",
			[]string{"Go module: lint: go vet ./...; test: go test ./..."}},
		{"Go without lint", goRoot, gates.Options{Lint: gates.None}, []string{test}, "go", []string{"gates.lint is none"}},
		{"given", goRoot, gates.Options{Lint: gates.Auto, Test: "make check"}, []string{vet, "test |  | make check | plain"},
			"go make", []string{"test: make check (gates.test)"}},
		{"given, nothing to detect", nil, gates.Options{Test: "python3 t.py"}, []string{"test |  | python3 t.py | plain"},
			"python", []string{"no lint command was found"}},
		{"given go test -json", nil, gates.Options{Test: "go test -json ./..."},
			[]string{"test |  | go test -json ./... | go-json"}, "go", nil},
		{"given go test", nil, gates.Options{Lint: "golangci-lint run", Test: "GOFLAGS=-mod=mod go test ./a ./b -count=1"},
			[]string{"lint |  | golangci-lint run | lines",
				"test |  | GOFLAGS=-mod=mod go test ./a ./b -count=1 | go-json | GOFLAGS=-mod=mod go test -json ./a ./b -count=1"},
			"go", nil},
		{"given as a list", nil, gates.Options{Test: gates.QuoteArgs([]string{"go", "test", "-run", "A|B", "./a"})},
			[]string{"test |  | exec go test -run 'A|B' ./a | plain"}, "go", nil},
		{"given as a simple list", nil, gates.Options{Test: gates.QuoteArgs([]string{"go", "test", "./a"})},
			[]string{"test |  | exec go test ./a | go-json | exec go test -json ./a"}, "go", nil},
		{"given with more than go test", nil, gates.Options{Test: "go vet ./... && go test ./..."},
			[]string{"test |  | go vet ./... && go test ./... | plain"}, "go", nil},
		{"nothing", nil, gates.Options{}, []string{}, "", []string{"no lint command was found", "no test command was found"}},
		{"none", goRoot, gates.Options{Lint: gates.None, Test: gates.None}, []string{}, "go", nil},
		{"Go module without files", map[string]string{"go.mod": "module x\n"}, gates.Options{}, []string{}, "",
			[]string{"has no Go files"}},
		{"Go workspace",
			map[string]string{"go.work": "use (\n./a\n./b\n)\n", "a/go.mod": "module a\n", "a/a.go": "package a\n",
				"b/go.mod": "module b\n", "b/b.go": "package b\n", ".golangci.yml": ""},
			gates.Options{},
			[]string{"lint (a) | a | go vet ./... | lines", "lint (b) | b | go vet ./... | lines",
				"test (a) | a | go test ./... | go-json", "test (b) | b | go test ./... | go-json"}, "go", []string{"golangci"}},
		{"copies and data",
			map[string]string{"go.mod": "module x\n", "x.go": "package x\n", "testdata/m/go.mod": "module y\n",
				"testdata/m/y.go": "package y\n", "vendor/v/go.mod": "module v\n", "vendor/v/v.go": "package v\n",
				"node_modules/p/package.json": `{"scripts":{"test":"node --test"}}`, "_examples/e/go.mod": "module e\n",
				"_examples/e/e.go": "package e\n"},
			gates.Options{}, []string{vet, test}, "go", nil},

		{"node:test", npm(`{"scripts":{"pretest":"tsc","test":"node --test test/"}}`), gates.Options{},
			[]string{"test |  | npm test | tap"}, "node", nil},
		{"an audit after the tests",
			npm(`{"scripts":{"pretest":"npm run lint","test":"npm run tests-only","tests-only":"tape 'test/*.js'","posttest":"aud --production"}}`), gates.Options{}, []string{"test |  | npm run pretest && npm test --ignore-scripts | tap"}, "node",
			[]string{"package.json: posttest asks a registry for weaknesses of packages (aud --production): tests are run " +
				"without that"}},
		{"vitest with lint",
			npm(`{"scripts":{"test":"tsc --noEmit && vitest","lint":"eslint ."},"devDependencies":{"vitest":"1","eslint":"9"}}`),
			gates.Options{}, []string{"lint |  | npm run lint | lint", "test |  | npm test | junit"}, "node", nil},
		{"jest without a script", npm(`{"devDependencies":{"jest":"29"}}`), gates.Options{},
			[]string{"test |  | npx --no-install jest --ci | jest-json"}, "node", nil},
		{"mocha", npm(`{"scripts":{"test":"NODE_ENV=test mocha --exit"}}`), gates.Options{},
			[]string{"test |  | npm test | tap"}, "node", nil},
		{"some other runner", npm(`{"scripts":{"test":"./run-tests.sh | tee out"}}`), gates.Options{},
			[]string{"test |  | npm test | plain"}, "node", nil},
		{"vitest in a pipe", npm(`{"scripts":{"test":"vitest run | cat"}}`), gates.Options{},
			[]string{"test |  | npm test | plain"}, "node", nil},
		{"npm init's test is none", npm(`{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`),
			gates.Options{}, []string{}, "node", []string{"neither a test nor a lint"}},
		{"a linter that is not a dependency", npm(`{"scripts":{"test":"node --test","lint":"eslint ."}}`), gates.Options{},
			[]string{"test |  | npm test | tap"}, "node", []string{"its program (eslint) is not one of the dependencies"}},
		{"a manifest with odd types", npm(`{"scripts":{"test":"node --test"},"dependencies":["x"],"packageManager":"bun@1"}`),
			gates.Options{}, []string{"test |  | npm test | tap"}, "node", []string{"asks for bun"}},
		{"garbage for a manifest", npm("{{{"), gates.Options{}, []string{}, "",
			[]string{"package.json in the root cannot be read"}},
		{"yarn", map[string]string{"package.json": `{"scripts":{"test":"node --test"}}`, "yarn.lock": ""}, gates.Options{},
			[]string{"test |  | yarn test | tap"}, "yarn node", []string{"yarn package: test: yarn test"}},
		{"bun", map[string]string{"package.json": `{"scripts":{"test":"node --test"}}`, "bun.lock": ""}, gates.Options{},
			[]string{"test |  | npm test | tap"}, "node", []string{"bun is not supported"}},
		{"pnpm", map[string]string{"package.json": `{"scripts":{"test":"vitest"},"devDependencies":{"vitest":"2"}}`,
			"pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}, gates.Options{}, []string{"test |  | pnpm test | junit"}, "pnpm node",
			[]string{"pnpm package: test: pnpm test"}},
		{"pnpm beside npm",
			map[string]string{"a/package.json": `{"scripts":{"test":"node --test"}}`, "a/pnpm-lock.yaml": "",
				"b/package.json": `{"scripts":{"test":"node --test"}}`, "b/package-lock.json": "{}"},
			gates.Options{}, []string{"test (a) | a | pnpm test | tap", "test (b) | b | npm test | tap"}, "pnpm node", nil},
		{"workspaces below a root that tests them",
			map[string]string{
				"package.json":            `{"workspaces":["packages/*"],"scripts":{"test":"npm test --workspaces"},"devDependencies":{"eslint":"9"}}`,
				"packages/a/package.json": `{"scripts":{"test":"node --test","lint":"eslint ."}}`},
			gates.Options{}, []string{"lint | packages/a | npm run lint | lint", "test |  | npm test | plain"}, "node", nil},
		{"workspaces by themselves",
			map[string]string{"package.json": `{"workspaces":["packages/*"]}`,
				"packages/a/package.json": `{"scripts":{"test":"node --test"}}`,
				"packages/b/package.json": `{"scripts":{"test":"vitest"}}`},
			gates.Options{}, []string{"test (packages/a) | packages/a | npm test | tap", "test (packages/b) | packages/b | " +
				"npm test | junit"}, "node", nil},

		{"pytest by its config",
			map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n",
				"tests/test_a.py": "def test_a(): pass\n"},
			gates.Options{}, []string{"lint |  | ruff check . | lines", "test |  | python3 -m pytest | junit"}, "python", nil},
		{"pytest by its tests, with src",
			map[string]string{"setup.py": "", "src/p/__init__.py": "", "tests/test_a.py": "def test_a(): pass\n"},
			gates.Options{}, []string{"test |  | PYTHONPATH=src python3 -m pytest | junit"}, "python", nil},
		{"unittest", map[string]string{"setup.cfg": "[flake8]\n", "test_a.py": "import unittest\n"},
			gates.Options{}, []string{"lint |  | flake8 | lines", "test |  | python3 -m unittest discover -v | unittest"},
			"python flake8", nil},
		{"tests of unittest in files that pytest alone finds",
			map[string]string{"setup.py": "", "nest.py": "", "nest_test.py": "import unittest\n"},
			gates.Options{}, []string{"test |  | python3 -m pytest | junit"}, "python", nil},
		{"tests of unittest in files that it alone finds",
			map[string]string{"setup.py": "", "tests.py": "import unittest\n", "testing.py": "def helper(): pass\n"},
			gates.Options{}, []string{"test |  | python3 -m unittest discover -v | unittest"}, "python", nil},
		{"a file that is called like a test", map[string]string{"setup.py": "", "testing.py": "def helper(): pass\n"},
			gates.Options{}, nil, "python", nil},
		{"unittest in a folder that is not a package",
			map[string]string{"setup.py": "", "tests/test_a.py": "import unittest\n", "tests/b/__init__.py": "",
				"tests/b/test_b.py": "import unittest\n"},
			gates.Options{}, []string{"test |  | python3 -m unittest discover -s tests -v | unittest"}, "python", nil},
		{"unittest in a package",
			map[string]string{"setup.py": "", "p/__init__.py": "", "p/test/__init__.py": "",
				"p/test/test_a.py": "import unittest\n"},
			gates.Options{}, []string{"test |  | python3 -m unittest discover -v | unittest"}, "python", nil},
		{"unittest in two folders that are no packages",
			map[string]string{"setup.py": "", "a/test_a.py": "import unittest\n", "b/test_b.py": "import unittest\n"},
			gates.Options{}, []string{"test |  | python3 -m pytest | junit"}, "python", nil},
		{"requirements of the documentation",
			map[string]string{"pyproject.toml": "", "tests/test_a.py": "def test_a(): pass\n",
				"docs/requirements.txt": "sphinx\n"},
			gates.Options{}, []string{"test |  | python3 -m pytest | junit"}, "python", nil},
		{"Python without tests", map[string]string{"pyproject.toml": "[project]\n"}, gates.Options{}, []string{}, "python",
			[]string{"without tests"}},

		{"Rust", map[string]string{"Cargo.toml": "[package]\n"}, gates.Options{},
			[]string{"lint |  | cargo clippy --offline --all-targets | clippy-json",
				"test |  | cargo test --offline --no-fail-fast | cargo"}, "rust", nil},
		{"Rust with benchmarks of no release",
			map[string]string{"Cargo.toml": "[package]\n", "benches/b.rs": "#![feature(test)]\n"}, gates.Options{},
			[]string{"lint |  | cargo clippy --offline --bins --tests --examples | clippy-json",
				"test |  | cargo test --offline --no-fail-fast | cargo"}, "rust", nil},
		{"Rust workspace", map[string]string{"Cargo.toml": "[workspace]\nmembers=[\"a\"]\n", "a/Cargo.toml": "[package]\n"},
			gates.Options{Lint: gates.None},
			[]string{"test |  | cargo test --offline --no-fail-fast --workspace | cargo"}, "rust", nil},

		{"Make", map[string]string{"Makefile": "CC = cc\nlint:\n\ttrue\ntest: all\n\ttrue\ncheck:\n\ttrue\n"},
			gates.Options{}, []string{"lint |  | make lint | lint", "test |  | make test | plain"}, "make c", nil},
		{"Make whose check needs what all compiles",
			map[string]string{"Makefile": "all: x\nx: x.c\n\tcc -o x x.c\ncheck:\n\t./x\n", "x.c": "int main(){}"},
			gates.Options{}, []string{"test |  | make all check | plain"}, "make c ccache", nil},
		{"Make whose check compiles",
			map[string]string{"Makefile": "all: x\ncheck: x # and no more\n\t./x\n", "x.c": "int main(){}"}, gates.Options{},
			[]string{"test |  | make check | plain"}, "make c ccache", nil},
		{"Make that compiles nothing", map[string]string{"Makefile": "all: docs\ntest: ; true\n"}, gates.Options{},
			[]string{"test |  | make test | plain"}, "make", nil},
		{"Make with a sanitizer",
			map[string]string{"Makefile": "test:\n\ttrue\nasan.o: x\n\ttrue\nasan: x\n\ttrue\ntest-ubsan: asan\n\ttrue\n"},
			gates.Options{}, []string{"test |  | make test | plain"}, "make",
			[]string{"the Makefile has a target for a sanitizer; to judge with it: gates.test: make test-ubsan"}},
		{"Make with a sanitizer alone", map[string]string{"Makefile": "test:\n\ttrue\nsanitize: x\n\ttrue\n"},
			gates.Options{}, []string{"test |  | make test | plain"}, "make", []string{"gates.test: make sanitize"}},
		{"Make with a check", map[string]string{"GNUmakefile": "check::\n\ttrue\n"}, gates.Options{},
			[]string{"test |  | make check | plain"}, "make", nil},
		{"a variable is not a target", map[string]string{"Makefile": "test := x\nall:\n"}, gates.Options{}, []string{}, "make",
			[]string{"has no target test"}},
		{"Make beside Go", map[string]string{"go.mod": "module x\n", "x.go": "package x\n", "Makefile": "test:\n"},
			gates.Options{}, []string{vet, test}, "go", []string{"the Makefile's targets are not used"}},
		{"submodules",
			map[string]string{"go.mod": "module x\n", "x.go": "package x\n",
				".gitmodules": "[submodule \"lib\"]\n\tpath = lib\n\turl = ../lib\n"}, gates.Options{}, []string{vet, test}, "go",
			[]string{"there are submodules (.gitmodules): they are not fetched"}},
		{"Java", map[string]string{"pom.xml": ""}, gates.Options{}, []string{}, "java",
			[]string{"a Maven project without tests in src/test/java"}},

		{"two languages in the root",
			map[string]string{"go.mod": "module x\n", "x.go": "package x\n",
				"package.json": `{"scripts":{"test":"node --test"}}`},
			gates.Options{}, []string{vet, "test (go) |  | go test ./... | go-json", "test (node) |  | npm test | tap"},
			"go node", nil},
		{"two languages",
			map[string]string{"go.mod": "module x\n", "x.go": "package x\n",
				"web/package.json": `{"scripts":{"test":"node --test","lint":"tsc"},"devDependencies":{"typescript":"5"}}`},
			gates.Options{},
			[]string{"lint (go) |  | go vet ./... | lines", "lint (web) | web | npm run lint | tsc",
				"test (go) |  | go test ./... | go-json", "test (web) | web | npm test | tap"}, "go node", nil},
		{"only one of them",
			map[string]string{"go.mod": "module x\n", "x.go": "package x\n",
				"web/package.json": `{"scripts":{"test":"node --test"}}`},
			gates.Options{Paths: []string{"web/"}}, []string{"test | web | npm test | tap"}, "node",
			[]string{"outside of git.paths"}},
		{"a folder of a module",
			map[string]string{"go.mod": "module x\n", "pkg/a/x.go": "package x\n",
				"web/package.json": `{"scripts":{"test":"node --test"}}`},
			gates.Options{Paths: []string{"pkg/a"}}, []string{vet, test}, "go", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := detect(t, c.files, c.o)
			if got := formatGates(p.Gates); !slices.Equal(got, c.want) {
				t.Errorf("gates\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if got := strings.Join(p.Toolchains, " "); got != c.tools {
				t.Errorf("toolchains %q, want %q", got, c.tools)
			}
			all := strings.Join(p.Notes, "\n")
			for _, n := range c.notes {
				if !strings.Contains(all, n) {
					t.Errorf("no note says %q:\n%s", n, all)
				}
			}
			if strings.HasPrefix(c.tools, "make") && strings.Contains(all, "not used") {
				t.Errorf("make's targets are the gates, and a note says that they are not used:\n%s", all)
			}
			names := map[string]bool{}
			for _, g := range p.Gates {
				if names[g.Name] {
					t.Errorf("two gates are called %s", g.Name)
				}
				names[g.Name] = true
			}
		})
	}
}

// A repository of a hundred packages has a bounded number of gates, and says
// which parts have none; odd names never reach a shell or a terminal.
func TestDetectIsBounded(t *testing.T) {
	files := map[string]string{"o'dd $(x)/go.mod": "module o\n", "o'dd $(x)/o.go": "package o\n",
		"e\x1b[31m/go.mod": "module e\n", "e\x1b[31m/e.go": "package e\n"}
	for i := range 100 {
		files[fmt.Sprintf("p%02d/package.json", i)] = `{"scripts":{"test":"node --test"}}`
	}
	p := detect(t, files, gates.Options{})
	if len(p.Gates) > 16 || !strings.Contains(strings.Join(p.Notes, "\n"), "p42") {
		t.Errorf("%d gates, notes %q", len(p.Gates), p.Notes)
	}
	for _, n := range append(formatGates(p.Gates), p.Notes...) {
		if strings.ContainsRune(n, 0x1b) {
			t.Errorf("%q", n)
		}
	}
}
