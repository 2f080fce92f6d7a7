package checkfinder

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem/ecosystemtest"
	"company/internal/lib/boundedparse/parsetest"
)

func gatesOf(lint, test string) (out []company.GateCommand) {
	if lint != "" {
		out = append(out, company.GateCommand{Name: "lint", Command: lint})
	}
	if test != "" {
		out = append(out, company.GateCommand{Name: "test", Command: test})
	}
	return out
}

// printed is a line for each command: kind, agreement, command, folder, places.
func printed(f Found) string {
	var b strings.Builder
	for _, c := range f.Commands {
		mark := map[bool]string{true: "=", false: "/"}[c.Agrees]
		if c.CIOnly {
			mark += "?"
		}
		fmt.Fprintf(&b, "%s %s %s", c.Kind, mark, c.Command)
		if c.Dir != "" {
			fmt.Fprintf(&b, " in %s", c.Dir)
		}
		fmt.Fprintf(&b, " (%s)\n", strings.Join(c.At, ", "))
	}
	return b.String()
}

func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		gates []company.GateCommand
		want  string
	}{
		"Go with workflows, a Makefile and a guide": {map[string]string{
			".github/workflows/ci.yml": `on: push
jobs:
  test:
    steps:
      - run: go install gotest.tools/gotestsum@latest
      - run: |
          go build ./...
          gotestsum -- -race ./... | tee out.txt
      - run: golangci-lint run
      - run: cd cmd/tool && go test -tags ${{ matrix.tags }} ./...
`,
			"Makefile": "GO ?= go\n.PHONY: test\ntest: generate\n\t@$(GO) test \\\n\t  ./...\n\nlint:\n\tgolangci-lint " +
				"run\n\nbuild:\n\tgo build\n",
			"CONTRIBUTING.md": "# Work\n\nRun:\n\n```console\n$ make test\nok\n$ make install\n```\n\n```go\ntest()\n```\n",
		}, gatesOf("go vet ./...", "go test ./..."), `test = gotestsum -- -race ./... (.github/workflows/ci.yml:8)
test /? go test -tags ${{ matrix.tags }} ./... in cmd/tool (.github/workflows/ci.yml:10)
test = make test (Makefile:3, CONTRIBUTING.md:6)
lint / golangci-lint run (.github/workflows/ci.yml:9)
lint / make lint (Makefile:7)
`},
		"Node with a workspace": {map[string]string{
			".gitlab-ci.yml": "unit:\n  script:\n    - npm ci\n    - npm run lint\n    - cd web && npm t -- --ci\n",
			"package.json": "{\n \"scripts\": {\n  \"test\": \"npm run unit\",\n  \"unit\": \"jest\",\n  \"lint\": " +
				"\"eslint .\",\n  \"build\": \"tsc\"\n }\n}",
			"web/package.json": `{"scripts": {"test": "vitest run"}}`,
			"README.md":        "~~~~sh\nnpm install\nnpm test\n~~~~\n",
		}, gatesOf("npx eslint .", "npx jest --ci"), `test / npm t -- --ci in web (.gitlab-ci.yml:5)
test = npm test (package.json:3, README.md:3)
test / npm test in web (web/package.json:1)
lint = npm run lint (.gitlab-ci.yml:4, package.json:5)
`},
		"yarn, whose words are scripts": {map[string]string{
			"package.json": `{"scripts": {"test": "mocha"}}`, "yarn.lock": "",
			".travis.yml": "script:\n  - yarn install\n  - yarn test\n  - yarn lint\n",
		}, gatesOf("", "npm test"), `test = yarn test (.travis.yml:3, package.json:1)
lint / yarn lint (.travis.yml:4)
`},
		"Python with tox and nox": {map[string]string{
			".github/workflows/tests.yaml": "jobs:\n  t:\n    steps:\n    - run: python -m pip install tox pytest\n    - run: " +
				"tox -e py${{ matrix.py }}\n    - run: tox -e lint\n",
			"tox.ini": "[tox]\nenvlist = py3\n\n[testenv]\ndeps = pytest\ncommands =\n    coverage run -m pytest " +
				"{posargs:tests}\n\n[testenv:lint]\ncommands = ruff check .\n[testenv:docs]\ncommands = sphinx-build docs\n",
			"noxfile.py": "import nox\n\n@nox.session(name=\"tests\")\ndef run_tests(session):\n    " +
				"session.install('.')\n    session.run('python', '-m', 'pytest', *session.posargs)\n",
			"CONTRIBUTING.rst": "Hacking\n=======\n\nRun the tests::\n\n    $ python3 -m unittest\n\n.. code-block:: " +
				"python\n\n   pytest()\n",
		}, gatesOf("ruff check .", "python3 -m pytest"), `test =? tox -e py${{ matrix.py }} (.github/workflows/tests.yaml:5)
test = tox (tox.ini:4)
test = nox -s tests (noxfile.py:4)
test / python3 -m unittest (CONTRIBUTING.rst:6)
lint = tox -e lint (.github/workflows/tests.yaml:6, tox.ini:9)
`},
		"scripts of the tree, and what is not a check": {map[string]string{
			".github/workflows/a.yml": "jobs:\n  a:\n    steps:\n    - run: |\n        if [ -f x ]; then\n          test -f " +
				"y\n        fi\n        for d in a b; do (cd $d && ./run-tests.sh); done\n        ./scripts/test.sh --fast\n     " +
				"   bash scripts/lint.sh\n        docker run test\n        echo 'go test ./...'\n        cat <<E\n        " +
				"pytest\n        E\n        pytest --version\n",
		}, nil, `test /? ./run-tests.sh (.github/workflows/a.yml:8)
test / ./scripts/test.sh --fast (.github/workflows/a.yml:9)
lint / bash scripts/lint.sh (.github/workflows/a.yml:10)
`},
		"other toolchains": {map[string]string{
			".gitlab-ci.yml": "t:\n  script:\n  - bundle exec rspec\n  - mvn -B verify\n  - ./gradlew check\n  - ctest " +
				"--test-dir build\n  - meson test -C build\n  - cargo nextest run\n  - composer test\n",
		}, gatesOf("", "cargo test --offline"), `test / bundle exec rspec (.gitlab-ci.yml:3)
test / mvn -B verify (.gitlab-ci.yml:4)
test / ./gradlew check (.gitlab-ci.yml:5)
test / ctest --test-dir build (.gitlab-ci.yml:6)
test / meson test -C build (.gitlab-ci.yml:7)
test = cargo nextest run (.gitlab-ci.yml:8)
test / composer test (.gitlab-ci.yml:9)
`},
		"nothing": {map[string]string{"README.md": "# Notes\n\n```\nhello\n```\n"}, nil, ""},
	} {
		if got := printed(Find(ecosystemtest.Tree(c.files), c.gates)); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// A broken definition is one line, and the others are read.
func TestFindWithABrokenDefinition(t *testing.T) {
	f := Find(ecosystemtest.Tree(map[string]string{
		".github/workflows/a.yml": "jobs: [\n", ".github/workflows/b.yml": "jobs: {a: {steps: [{run: make check}]}}\n",
		"package.json": "no JSON", "tox.ini": "[testenv\ncommands", "Makefile": "test:\n",
	}), nil)
	if len(f.Problems) != 1 || !strings.HasPrefix(f.Problems[0], ".github/workflows/a.yml cannot be read: line 1: ") {
		t.Errorf("%q", f.Problems)
	}
	if got := printed(f); got != "test / make check (.github/workflows/b.yml:1)\ntest / make test (Makefile:1)\n" {
		t.Error(got)
	}
}

// A gate that waits for a person is named before it fails.
func TestFindAGateThatAsks(t *testing.T) {
	for makefile, want := range map[string]string{
		"test: sure\n\t./all\nsure:\n\t@read -p 'Sure? ' x; test \"$$x\" = y\n": "make test asks at a terminal (read), and " +
			"a check has none",
		"test:\n\tls | while read f; do ./one $$f; done\n": "",
	} {
		f := Find(ecosystemtest.Tree(map[string]string{"Makefile": makefile}), gatesOf("", "make test"))
		if got := strings.Join(f.Problems, "|"); got != want {
			t.Errorf("%q: %q", makefile, got)
		}
	}
}

func TestSetting(t *testing.T) {
	for want, c := range map[string]Command{
		"gates.test: 'go test ./...'":               {Kind: Test, Command: "go test ./..."},
		"gates.test: 'cd web && echo ''it''; make'": {Kind: Test, Command: "echo 'it'; make", Dir: "web"},
		"": {Kind: Test, Command: "tox -e py${{ x }}", CIOnly: true},
	} {
		if got := c.Setting(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// Targets that call one another in a circle, and recipes that grow, come to an end.
func TestFindEnds(t *testing.T) {
	deep := "A=$(B)$(B)\nB=$(C)$(C)\nC=$(A)$(A)\ntest: check\n\t$(A) $(MAKE) check\ncheck: test\n\tmake test\n"
	f := Find(ecosystemtest.Tree(map[string]string{"Makefile": deep, "package.json": `{"scripts":{"test":"npm test"}}`}),
		gatesOf("", "make check"))
	if !slices.ContainsFunc(f.Commands, func(c Command) bool { return c.Command == "make test" && c.Agrees }) {
		t.Error(printed(f))
	}
}

func FuzzFind(f *testing.F) {
	f.Add("test: a\n\tgo test $(B)\n", "[testenv]\ncommands = a\n", "jobs: {a: {steps: [{run: 'cd x && pytest'}]}}",
		"```sh\n$ make test\n```\n")
	f.Fuzz(func(t *testing.T, makefile, tox, workflow, readme string) {
		found := Find(
			ecosystemtest.Tree(
				map[string]string{"Makefile": makefile, "tox.ini": tox, ".github/workflows/a.yml": workflow, "README.md": readme}),
			gatesOf("make lint", "make test"))
		for _, c := range found.Commands {
			if c.Command == "" || len(c.At) == 0 || strings.ContainsAny(c.Command, "\n") || c.Kind != Lint && c.Kind != Test {
				t.Errorf("%+v", c)
			}
		}
	})
}

// A value of the CI may hold the names that stand for others, and a script may have them itself:
// thirty values of a workflow of 1 KB came to gigabytes.
func TestValuesAreNotMultiplied(t *testing.T) {
	doubling, many := "go test ./first", "go test"
	for i := range 24 {
		doubling += fmt.Sprintf(" ${{CI_VALUE_%d_CI_VALUE_%d_}}", i+1, i+1)
	}
	for range 1500 {
		many += " ${{ a }} CI_VALUE_1_"
	}
	for name, script := range map[string]string{"values that name two others": doubling, "thousands of values": many} {
		text := "jobs: {j: {steps: [{run: '" + script + "'}]}}\n"
		var f Found
		_, allocated := parsetest.Measure(func() {
			f = Find(ecosystemtest.Tree(map[string]string{".github/workflows/a.yml": text}), nil)
		})
		if allocated > 512*parsetest.MiB { // 4 MiB, and 250 under the race detector, whose pools forget
			t.Errorf("%s: %d MiB allocated", name, allocated/parsetest.MiB)
		}
		if len(f.Commands) != 1 || !f.Commands[0].CIOnly || len(f.Commands[0].Command) > 2*len(script) {
			t.Errorf("%s: %d commands", name, len(f.Commands))
		}
	}
}

// A file that names a command thousands of times is a few places, and thousands of commands are
// compared with no more than some hundred.
func TestFindIsBounded(t *testing.T) {
	readme := "```sh\n"
	for i := range 1500 {
		readme += fmt.Sprintf("pytest\npytest tests/%d\n", i)
	}
	tree := ecosystemtest.Tree(map[string]string{"README.md": readme + "```\n"})
	if f := Find(tree, nil); len(f.Commands) != maxCommands || len(f.Commands[0].At) > 20 {
		t.Errorf("%d commands, the first at %d places", len(f.Commands), len(f.Commands[0].At))
	}
	ci := "jobs:\n"
	for i := range 10 {
		ci += fmt.Sprintf("  j%d:\n    steps:\n", i) + fmt.Sprintf("      - run: ./a%d-test.sh", i)
		for n := range 60 {
			ci += fmt.Sprintf("; ./a%d-%d-test.sh", i, n)
		}
		ci += "\n"
	}
	if f := Find(ecosystemtest.Tree(map[string]string{".github/workflows/a.yml": ci}), nil); len(f.Unread) != 1 ||
		f.Unread[0].File != ".github/workflows/a.yml" {
		t.Errorf("commands of the CI that have no room are not told: %+v", f.Unread)
	}
	c := collector{room: maxFollowed}
	for i := range 3000 {
		c.addScript(fmt.Sprintf("pytest tests/%d", i), source{file: "README.md", line: 1}, shellState{})
	}
	if len(c.commands) > 500 {
		t.Errorf("%d commands are compared with one another", len(c.commands))
	}
}

// Scripts that name one another thousands of times each are followed once. This test did not end before.
func TestScriptsOfScripts(t *testing.T) {
	t.Parallel()
	text := func(next string) string {
		var b strings.Builder
		for i := range 3000 {
			fmt.Fprintf(&b, "npm run %s x%d; ", next, i)
		}
		return b.String()
	}
	manifest := fmt.Sprintf(`{"scripts": {"test": %q, "a": %q, "b": %q, "c": %q, "d": "true"}}`, text("a"), text("b"),
		text("c"), text("d"))
	f := Find(
		ecosystemtest.Tree(
			map[string]string{"package.json": manifest,
				"Makefile":                "all: " + strings.Repeat("all ", 3000) + "\n\t" + text("test") + "\n",
				".github/workflows/a.yml": workflow(text("a"), "make all")}), gatesOf("", "npm test"))
	if len(f.Commands) == 0 {
		t.Error("the test script is not found")
	}
}
