package checkfinder

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem/ecosystemtest"
)

// checksOf prints the checks of a tree: their kind, = where a gate does the same, /? where only the CI can run them,
// and what a check runs for them.
func checksOf(files map[string]string, gates ...string) string {
	var all []company.GateCommand
	for _, g := range gates {
		all = append(all, company.GateCommand{Name: g, Command: g})
	}
	var out []string
	for _, c := range Find(ecosystemtest.Tree(files), all).Commands {
		mark := map[bool]string{true: "=", false: "/"}[c.Agrees]
		if c.CIOnly {
			mark += "?"
		}
		if !c.OfCI {
			mark += "-"
		}
		line := c.Kind + " " + mark + " " + c.Bare()
		if c.Dir != "" {
			line += " in " + c.Dir
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// workflow is a workflow with one job that has these steps.
func workflow(steps ...string) string {
	text := "jobs:\n  a:\n    steps:\n"
	for _, s := range steps {
		text += "      - run: |\n          " + strings.ReplaceAll(s, "\n", "\n          ") + "\n"
	}
	return text
}

func compareChecks(t *testing.T, got, want string) {
	t.Helper()
	if got != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, strings.TrimSpace(want))
	}
}

// A target or a script that the CI runs is a check by what it comes to, whatever it is called. What prepares or
// publishes is none.
func TestChecksBehindTargets(t *testing.T) {
	t.Parallel()
	compareChecks(t, checksOf(map[string]string{
		".github/workflows/a.yml": workflow(
			"make ci", "make presubmit", "make codestyle", "make build", "make release", "npm ci", "npm run unit",
			"npm run everything", "composer stan", "just ci", "cargo xtask ci", "make pre-release-all", "npm run ci:publish"),
		"Makefile": "ci: vet e2e\nvet:\n\tgo vet ./...\ne2e:\n\tgo test -tags e2e ./...\npresubmit: vet\n\tgo test " +
			"./...\ncodestyle:\n\tflake8\nbuild:\n\tgo test ./...\nrelease:\n\tgo test -tags release ./...\npre-release-all: " +
			"release\n",
		"package.json":  `{"scripts": {"unit": "vitest run unit", "everything": "npm run style && npm run unit", "style": "prettier --check .", "ci:publish": "npm run unit && npm publish"}}`,
		"composer.json": `{"scripts": {"stan": ["@php vendor/bin/phpstan analyse"], "post-install-cmd": "phpunit"}}`,
	}, "go vet ./...", "go test ./..."), `
test / make ci
test = make presubmit
test / npm run unit
test / npm run everything
test / just ci
test / cargo xtask ci
test /- make e2e
lint / make codestyle
lint / composer stan
lint =- make vet
`)
}

// What stands before a check makes it none the less one. What only makes the place in which it runs is left out where a
// check is made of it.
func TestChecksBehindWrappers(t *testing.T) {
	t.Parallel()
	compareChecks(t, checksOf(map[string]string{".github/workflows/a.yml": workflow(
		"uv run --package foo --with x pytest -k one", "uv --directory api run pytest -k two",
		"poetry -C api run pytest -k three", "uv run scripts/run_tests.py", "python -m pytest -k four",
		"docker compose -f ci.yml run --rm -e A=b app go test -tags d ./...",
		"docker run --rm -v /a:/b golang:1 bash -c 'go test -tags b ./...'", "docker run test",
		"conda run -n x pytest -k five",
		"bash -ec 'cd web && npm test'", "cargo +nightly test --all-features", "cargo hack check --each-feature",
		"cargo llvm-cov --lcov --output-path x", "cargo miri setup",
		"pnpm run --filter x test:all", "yarn workspace x test", "yarn tsc --noEmit", "pnpm -s test",
		"nix develop .#ci -c go test -tags n ./...", "composer exec phpunit -- --group a", "hatch run lint:all",
		"poetry run black --check .", "go run honnef.co/go/tools/cmd/staticcheck@latest ./...", "go tool golangci-lint run",
		"php -d memory_limit=-1 vendor/bin/phpstan.phar analyse",
	)}, "cargo test"), `
test / pytest -k one
test / pytest -k two
test / pytest -k three
test / python3 scripts/run_tests.py
test / python3 -m pytest -k four
test / go test -tags d ./...
test / go test -tags b ./...
test / pytest -k five
test / npm test in web
test / cargo test --all-features
test = cargo llvm-cov --lcov --output-path x
test / pnpm run --filter x test:all
test / yarn workspace x test
test / pnpm -s test
test / go test -tags n ./...
test / composer exec phpunit -- --group a
lint / cargo hack check --each-feature
lint / yarn tsc --noEmit
lint / hatch run lint:all
lint / black --check .
lint / go run honnef.co/go/tools/cmd/staticcheck@latest ./...
lint / go tool golangci-lint run
lint / php -d memory_limit=-1 vendor/bin/phpstan.phar analyse
`)
}

// Scripts of the tree are checks by their names, also by those of programs.
func TestScriptsOfTheTree(t *testing.T) {
	t.Parallel()
	compareChecks(
		t, checksOf(
			map[string]string{".github/workflows/a.yml": workflow(
				"script/test", "bin/test", "script/cibuild", "./ci.sh", "test -f x", "/usr/bin/test x", "./configure",
				"ci/install-packages")}), `
test / script/test
test / bin/test
test / script/cibuild
test / ./ci.sh
`)
}

// What ends well whatever it finds, and what the script goes on after, is not a check.
func TestWhatNeverFails(t *testing.T) {
	t.Parallel()
	compareChecks(t, checksOf(map[string]string{".github/workflows/a.yml": workflow(
		"flake8 --exit-zero src", "pylint src || true", "mypy src || echo soft", "ruff check src || exit 0",
		"npm run lint || :", "./test-server.sh &", "black .", "isort .", "ruff format", "gofmt -l .",
		"npx prettier --write .", "cargo fmt", "vendor/bin/php-cs-fixer fix",
		"flake8 || (cat log; exit 1)", "black --check .", "ruff format --check", "cargo fmt -- --check", "deno fmt",
		"terraform fmt -check -recursive", "vendor/bin/php-cs-fixer fix --dry-run",
	)}), `
lint / flake8
lint / black --check .
lint / ruff format --check
lint / cargo fmt -- --check
lint / terraform fmt -check -recursive
lint / vendor/bin/php-cs-fixer fix --dry-run
`)
}

// A script that looks at what a linter prints, and fails by that, is a check as a whole.
func TestOutputThatIsLookedAt(t *testing.T) {
	t.Parallel()
	compareChecks(t, checksOf(map[string]string{".github/workflows/a.yml": workflow(
		`test -z "$(gofmt -l .)"`, "if [ -n \"$(gofmt -s -l .)\" ]; then\n  echo no\n  exit 1\nfi",
		`if [ -n "$(gofmt -d .)" ]; then echo only said; fi`, `test -n "$(git status)"`,
	)}), `
lint / test -z "$(gofmt -l .)"
lint / if [ -n "$(gofmt -s -l .)" ]; then echo no; exit 1; fi
`)
}

// Lines of a job of GitLab run in one shell: its folder and its variables last. Those of GitHub's steps do not.
func TestShellOfAPipeline(t *testing.T) {
	t.Parallel()
	compareChecks(t, checksOf(map[string]string{
		".gitlab-ci.yml": "default: {before_script: [cd api, export TAGS=a]}\nt: {script: [go test -tags one " +
			"./..., 'cd ..', go test -tags $TAGS ./...]}\n",
		".github/workflows/a.yml": workflow(
			"cd web\nexport GOFLAGS=-tags=e2e\ngo test ./...", "go test ./...", "go test -tags $TAGS ./..."),
	}, "go test ./..."), `
test / go test ./... in web
test = go test ./...
test /? go test -tags $TAGS ./...
test / go test -tags one ./... in api
test / go test -tags $TAGS ./...
`)
}

// A linter of the files that another command lists is a check together with that command. find itself ends well
// whatever each file's command says.
func TestFilesThatAreFound(t *testing.T) {
	t.Parallel()
	compareChecks(t, checksOf(map[string]string{".github/workflows/a.yml": workflow(
		"find . -name '*.sh' -exec shellcheck {} +", `find . -name '*.sh' -exec shellcheck {} \;`,
		"find . -name '*.c' | xargs -n 1 clang-format --dry-run -Werror", "ls | xargs rm",
		"cat list | sort | xargs -P 4 shellcheck -x",
	)}), `
lint / find . -name '*.sh' -exec shellcheck {} +
lint / find . -name '*.c' | xargs -n 1 clang-format --dry-run -Werror
lint / cat list | sort | xargs -P 4 shellcheck -x
`)
}

// Environments of tox are known by each of its files, by a variable, and by the names that its interpreters get; so are
// sessions of nox.
func TestSessionsAreKnown(t *testing.T) {
	t.Parallel()
	ci := "jobs:\n  a:\n    strategy: {matrix: {env: [style, py311]}}\n    env: {TOXENV: '${{ matrix.env }}'}\n    " +
		"steps:\n      - run: tox\n      - {run: tox run -e style, env: {TOXENV: ''}}\n      - {run: nox -s tests-3.11, " +
		"env: {TOXENV: ''}}\n"
	for file, text := range map[string]string{
		"tox.ini": "[testenv]\ncommands = pytest\n[testenv:style]\ncommands = ruff check .\n",
		"tox.toml": "[env_run_base]\ncommands = [[\"pytest\"]]\n[env.style]\ncommands = [[\"ruff\", \"check\", " +
			"\".\"]]\n",
		"pyproject.toml": "[tool.tox.env_run_base]\ncommands = [[\"pytest\"]]\n[tool.tox.env.style]\ncommands = " +
			"[[\"ruff\", \"check\", \".\"]]\n",
	} {
		f := Find(
			ecosystemtest.Tree(
				map[string]string{".github/workflows/a.yml": ci, file: text,
					"noxfile.py": "@nox.session(python=['3.11'])\ndef tests(session):\n    session.run('pytest')\n"}),
			gatesOf("ruff check .", "PYTHONPATH=src python3 -m pytest"))
		for _, c := range f.Commands {
			if !c.Agrees {
				t.Errorf("%s: %s %v", file, c.Command, c.Env)
			}
		}
		if len(f.Commands) < 4 {
			t.Errorf("%s: %+v", file, f.Commands)
		}
	}
}

// A target that other files name, and that a command of the CI comes to, is not told as one that the CI does not run.
func TestTargetsThatTheCIComesTo(t *testing.T) {
	t.Parallel()
	for _, c := range Find(
		ecosystemtest.Tree(
			map[string]string{".github/workflows/a.yml": workflow("make ci"),
				"Makefile": "ci: e2e\ne2e:\n\tgo test -tags e2e ./...\nlint:\n\tgolangci-lint run\n"}),
		gatesOf("", "go test ./...")).Commands {
		if want := c.Command == "make e2e"; c.InCI != want {
			t.Errorf("%s: %v", c.Command, c.InCI)
		}
	}
}

// A gate that builds beside the tree runs the tests of a build wherever the CI has it.
func TestTestsOfABuild(t *testing.T) {
	t.Parallel()
	elsewhere := "      - {run: ctest --build-config Release, working-directory: '${{ steps.a.outputs.dir }}'}\n      - " +
		"{run: ctest -C Release, working-directory: '${{ github.workspace }}/build'}\n"
	compareChecks(t, checksOf(map[string]string{".github/workflows/a.yml": workflow(
		"mkdir build\ncd build\ncmake ..\nmake -j4\nctest -V", "cd /tmp/b && ctest",
		"ctest --test-dir build --output-on-failure -j 4", "make -C build test VERBOSE=1",
		"cmake --build build --target test", "make -j$(nproc) check",
		"ctest -R one", "make distcheck", "make -C lib check", "GTEST_FILTER=a ctest", "CTEST_OUTPUT_ON_FAILURE=1 ctest",
	) + elsewhere, "lib/Makefile": "check:\n"},
		"cmake -S . -B ../company-build && ctest --test-dir ../company-build --no-tests=error"), `
test = ctest -V in build
test =? ctest
test = ctest --test-dir build --output-on-failure -j 4
test = make -C build test VERBOSE=1
test = make -j$(nproc) check
test / ctest -R one
test / make -C lib check
test / GTEST_FILTER=a ctest
test = CTEST_OUTPUT_ON_FAILURE=1 ctest
test =? ctest --build-config Release
test = ctest -C Release in build
`)
	compareChecks(
		t, checksOf(
			map[string]string{".github/workflows/a.yml": workflow(
				"./configure && make check", "make distcheck", "ninja -C b test")},
			"cd ../company-build && ./configure && make -j 2 && make -k check"), `
test = make check
test = ninja -C b test
`)
}

// unittest looks for all tests where it is told none, with or without that word.
func TestDiscoverIsTheDefault(t *testing.T) {
	t.Parallel()
	compareChecks(
		t, checksOf(
			map[string]string{".github/workflows/a.yml": workflow(
				"python -m unittest", "python -m unittest discover", "python -m unittest discover -s tests")},
			"python3 -m unittest discover -v"), `
test = python3 -m unittest
test = python3 -m unittest discover
test / python3 -m unittest discover -s tests
`)
}

// A part of what a gate runs is run by it: a crate of the workspace, a kind of its tests, its types alone.
func TestPartsOfCargo(t *testing.T) {
	t.Parallel()
	compareChecks(t, checksOf(map[string]string{".github/workflows/a.yml": workflow(
		"cargo test -p a", "cargo test --lib", "cargo test --test integration", "cargo test some_name",
		"cargo test --workspace --exclude b", "cargo check", "cargo clippy --all-targets",
		"cargo test -p a --features x", "cargo test --all-features", "cargo test --benches",
		"cargo check --no-default-features", "cargo clippy -- -D warnings", "cargo test -- --ignored",
		"cross test --target a",
	)}, "cargo clippy --all-targets --workspace", "cargo test --workspace"), `
test = cargo test -p a
test = cargo test --lib
test = cargo test --test integration
test = cargo test some_name
test = cargo test --workspace --exclude b
test / cargo test -p a --features x
test / cargo test --all-features
test / cargo test --benches
test / cargo test -- --ignored
test / cross test --target a
lint = cargo check
lint = cargo clippy --all-targets
lint / cargo check --no-default-features
lint / cargo clippy -- -D warnings
`)
}

// pnpm runs a script by its name alone, as yarn does, and programs of packages.
func TestScriptsByTheirNames(t *testing.T) {
	t.Parallel()
	compareChecks(t, checksOf(map[string]string{
		".github/workflows/a.yml": workflow(
			"pnpm lint", "pnpm run lint", "pnpm prettier --check .", "pnpm turbo --filter ./a run typecheck --concurrency 2",
			"pnpm install", "bun test", "bun run unit"),
		"package.json": `{"scripts": {"lint": "eslint .", "unit": "vitest run"}, "packageManager": "pnpm@9.0.0"}`,
	}, "pnpm run lint"), `
test / bun test
test / bun run unit
lint = pnpm lint
lint = pnpm run lint
lint / pnpm prettier --check .
lint / pnpm turbo run typecheck
`)
}
