package generate

import (
	"strings"

	"company/internal/ecosystem"
	"company/internal/gates"
)

// exampleTree is a repository as small as one can be that shows how its checks are found.
type exampleTree struct {
	what  string
	files map[string]string
}

// exampleTrees has a repository for each toolchain, and some with more than lint and tests.
var exampleTrees = []exampleTree{
	{"a Go module with a program",
		map[string]string{"go.mod": "module example.com/a\n\ngo 1.24\n", "cmd/a/main.go": "package main\n\nfunc main() {}\n",
			"a_test.go": "package a\n"}},
	{"TypeScript with vitest and eslint", map[string]string{
		"package.json":  `{"scripts":{"lint":"eslint .","build":"tsc && vite build","test":"vitest run"},"devDependencies":{"eslint":"9","typescript":"5","vite":"7","vitest":"4"}}`,
		"tsconfig.json": "{}", "src/a.test.ts": "",
	}},
	{"unit tests and Playwright in one script", map[string]string{
		"package.json":         `{"scripts":{"test":"npm run test:unit && npm run test:e2e","test:unit":"vitest run","test:e2e":"playwright test"},"devDependencies":{"@playwright/test":"1","vitest":"4"}}`,
		"playwright.config.ts": "", "src/a.test.js": "",
	}},
	{"Nest with Postgres in its CI", map[string]string{
		"package.json": `{"scripts":{"build":"nest build","lint":"eslint src","test":"jest","test:e2e":"jest --config ./test/jest-e2e.json"},"devDependencies":{"@nestjs/cli":"11","eslint":"9","jest":"30"},"jest":{}}`,
		".github/workflows/ci.yml": "jobs:\n  test:\n    runs-on: ubuntu-latest\n    services:\n      db:\n        image: " +
			"postgres:16\n    steps:\n      - run: npm test\n      - run: npm run test:e2e\n",
		"test/app.e2e-spec.ts": "", "src/a.spec.ts": "",
	}},
	{"Python with pytest, ruff and mypy",
		map[string]string{
			"pyproject.toml": "[project]\nname = \"a\"\n\n[tool.ruff]\n\n[tool.mypy]\n\n[tool.pytest.ini_options]\ntestpaths " +
				"= [\"tests\"]\n", "tests/test_a.py": ""}},
	{"Python with tox",
		map[string]string{"tox.ini": "[testenv]\ndeps = pytest\ncommands = pytest tests\n", "setup.py": "",
			"tests/test_a.py": ""}},
	{"a Cargo workspace",
		map[string]string{"Cargo.toml": "[workspace]\nmembers = [\"a\", \"b\"]\n",
			"a/Cargo.toml": "[package]\nname = \"a\"\n", "b/Cargo.toml": "[package]\nname = \"b\"\n", "a/src/lib.rs": "",
			"b/src/lib.rs": ""}},
	{"C with CMake", map[string]string{"CMakeLists.txt": "project(a C)\nenable_testing()\nadd_executable(t " +
		"t.c)\nadd_test(t t)\n", "t.c": ""}},
	{"PHP with PHPUnit",
		map[string]string{"composer.json": `{"require-dev":{"phpunit/phpunit":"^9"}}`, "phpunit.xml": "<phpunit/>",
			"phpcs.xml": "<ruleset/>", "tests/ATest.php": ""}},
	{"Ruby with RSpec",
		map[string]string{"Gemfile": "gem 'rspec'\n", ".rspec": "", ".rubocop.yml": "", "spec/a_spec.rb": ""}},
	{"Java with Maven", map[string]string{"pom.xml": "<project/>", "src/test/java/ATest.java": ""}},
	{"a Makefile alone", map[string]string{"Makefile": "lint:\n\tshellcheck a.sh\ntest:\n\tsh a.sh\n", "a.sh": ""}},
	{"Go with further checks in its CI", map[string]string{
		"go.mod": "module example.com/a\n\ngo 1.24\n", "a_test.go": "package a\n",
		".github/workflows/ci.yml": "jobs:\n  test:\n    runs-on: ubuntu-latest\n    services:\n      redis:\n        " +
			"image: redis:7\n    steps:\n      - run: go vet ./...\n      - run: go test -race ./...\n      - run: go test " +
			"-tags integration ./...\n",
	}},
}

// renderDetection returns the table of the checks that are found in the example trees without any setting.
func renderDetection() (string, error) {
	var b strings.Builder
	writeHead(&b, "repository", "checks")
	for _, e := range exampleTrees {
		p, err := gates.DetectTree(ecosystem.TreeOfTexts(e.files), gates.Options{Proposals: true, Services: []string{"auto"}})
		if err != nil {
			return "", err
		}
		var checks []string
		for _, g := range p.Gates {
			line := quoteCode(g.Command)
			if g.Provisional {
				line += "*"
			}
			checks = append(checks, line)
		}
		name := e.what
		for _, s := range p.Services {
			name += " (starts " + s.Name + ")"
		}
		writeRow(&b, name, strings.Join(checks, "<br>"))
	}
	return b.String(), nil
}
