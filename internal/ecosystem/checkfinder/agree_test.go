package checkfinder

import (
	"testing"

	"company/internal/company"
	"company/internal/ecosystem/ecosystemtest"
)

// A command of the CI is what a gate runs only where its arguments select the same.
func TestAgreement(t *testing.T) {
	const scripts = `{"scripts": {"test": "jest", "test:cov": "jest --coverage", "test:e2e": "jest --config ./test/jest-e2e.json",
		"lint": "eslint .", "check": "npm run lint && npm test", "all": "npm run check && npm run test:e2e", "ci": "npm run build && npm test"}}`
	for _, c := range []struct {
		gate, theirs string
		want         bool
	}{
		{"go test ./...", "go test -race -count=1 -timeout 60m ./...", true},
		{"go test ./...", "go test -p 1 ./internal/storage ./internal/stats", true},
		{"go test ./...", "go test -run=^$ -bench=. -timeout=60m ./...", false},
		{"go test ./...", "go test -tags integration ./...", false},
		{"go test -short ./...", "go test ./...", false},
		{"go test ./a", "go test ./...", false},
		{"go test ./...", "go test -cover .", true},
		{"go test .", "go test ./...", false},
		{"go test ./a/...", "go test ./a/b", true},
		{"go test ./a", "go test ./a/b", false},
		{"go test ./...", "gotestsum --format pkgname -- -race ./...", true},
		{"npx --no-install vitest run", "npx vitest --run --coverage", true},
		{"npx --no-install vitest run", "vitest run src/one", true},
		{"npx --no-install vitest run", "vitest run --config vitest.config.e2e.ts", false},
		{"npm test", "npm run test:cov", true},
		{"npm test", "npm run test:e2e", false},
		{"npm test", "npm run check", false},
		{"npm test && npm run lint", "npm run check", true},
		{"npm test && npm run lint", "npm run all", false},
		{"npm test", "npm run ci", true},
		{"npm test", "npm test -- --coverage", true},
		{"npm test", "npm test -- --grep slow", false},
		{"npx --no-install playwright test '--project=chromium' '--project=Mobile Chrome'",
			"npx playwright test --workers 1", true},
		{"npx --no-install playwright test --project=chromium", "npx playwright test --project=chromium", true},
		{"npx --no-install playwright test --project=chromium", "npx playwright test --project=firefox", false},
		{"npx --no-install playwright test --project=chromium --project=edge",
			"npx playwright test --project=chromium", true},
		{"npx --no-install playwright test --project=smoke", "npx playwright test", false},
		{"npm run test:e2e -- --project=chromium", "npm run test:e2e", true},
		{"python3 -m pytest", "pytest tests/unit --cov own -q", false}, // --cov may have taken no value
		{"python3 -m pytest", "pytest tests/unit --cov=own -q", true},
		{"python3 -m pytest", "pytest bench/", false},
		{"python3 -m pytest", "pytest --doctest-modules", false},
		{"python3 -m pytest toolz", "pytest", false},
		{"ruff check .", "ruff check src tests", true},
		{"ruff check .", "ruff check --select ALL .", false},
		{"phpunit", "vendor/bin/phpunit test/CommonMarkTestWeak.php", false},
		{"phpunit", "vendor/bin/phpunit --coverage-text", true},
		{"COMPOSER_DISABLE_NETWORK=1 composer dump-autoload --quiet && phpunit", "vendor/bin/phpunit --testdox", true},
		{"PATH=vendor/bin:$PATH phpunit", "vendor/bin/phpunit --testdox", true},
		{"cargo test --offline --no-fail-fast --workspace", "cargo test --verbose --all", true},
		{"cargo test --offline --no-fail-fast --workspace", "cargo test", true},
		{"cargo test --offline --no-fail-fast", "cargo test --workspace", false},
		{"cargo test --offline --no-fail-fast", "cargo test --all-features", false},
		{"make test", "make -C docs test", false},
		{"cargo clippy --offline --all-targets", "cargo clippy --all-targets -- -D warnings", false},
		{"make test", "make -j4 test", true},
		{"make test", "make test TAGS=slow", false},
	} {
		f := Find(ecosystemtest.Tree(map[string]string{
			"package.json": scripts, ".gitlab-ci.yml": "t:\n  script:\n    - |\n      " + c.theirs + "\n",
		}), gatesOf("", c.gate))
		if len(f.Commands) == 0 || f.Commands[0].Command != c.theirs && len(f.OfKind(Lint)) == 0 {
			t.Errorf("%s: it is not a check", c.theirs)
			continue
		}
		for _, cmd := range f.Commands {
			if cmd.Command == c.theirs && cmd.Agrees != c.want {
				t.Errorf("%s runs %s: %t", c.gate, c.theirs, cmd.Agrees)
			}
		}
	}
}

// What brings browsers or shows a report is not a check, though the program is one that tests.
func TestBrowsersAreFetchedByNoCheck(t *testing.T) {
	f := Find(ecosystemtest.Tree(map[string]string{
		".gitlab-ci.yml": "t:\n  script:\n    - npx playwright install --with-deps\n    - npx playwright install-deps\n    " +
			"- npx cypress verify\n    - npx playwright test\n    - npx cypress run\n    - npx playwright show-report\n",
	}), nil)
	if got := printed(f); got != "test / npx playwright test (.gitlab-ci.yml:6)\ntest / npx cypress run "+
		"(.gitlab-ci.yml:7)\n" {
		t.Error(got)
	}
}

// What waits for changes is not a check, and neither is what is run for a debugger.
func TestWatchersAreNoChecks(t *testing.T) {
	f := Find(ecosystemtest.Tree(map[string]string{
		"package.json": `{"scripts": {"test:watch": "jest --watch", "test:debug": "vitest --inspect --no-file-parallelism", "test:wait": "node --inspect-brk=9229 node_modules/.bin/jest --runInBand", "check:watch": "svelte-check --watch", "test": "jest"}}`,
		".gitlab-ci.yml": "t:\n  script:\n    - jest --watchAll\n    - jest --watch=false\n    - tsc --watch\n    - npm " +
			"run lint:watch\n",
	}), nil)
	if got := printed(f); got != "test / jest --watch=false (.gitlab-ci.yml:4)\ntest / npm test (package.json:1)\n" {
		t.Error(got)
	}
}

// A call of a task runner is a check for each of its targets, and one for all packages has those of
// every form that names it.
func TestTargetsOfTaskRunners(t *testing.T) {
	tree := ecosystemtest.Tree(map[string]string{".github/workflows/ci.yml": `jobs:
  a:
    steps:
      - run: npx nx affected -t lint test build --parallel=3
      - run: npx nx run-many --targets=typecheck,test
      - run: pnpm exec turbo run test --filter=...[origin/main]
      - run: npx lerna run lint --since main
      - run: npx nx run-many -t 'test; true'
`})
	found := Find(tree, []company.GateCommand{{Name: "test", Command: "npx --no-install nx run-many -t test"}})
	const want = `test = npx nx run-many -t test (.github/workflows/ci.yml:4, .github/workflows/ci.yml:5)
test / pnpm exec turbo run test (.github/workflows/ci.yml:6)
lint / npx nx run-many -t lint (.github/workflows/ci.yml:4)
lint / npx nx run-many -t typecheck (.github/workflows/ci.yml:5)
lint / npx lerna run lint (.github/workflows/ci.yml:7)
`
	if got := printed(found); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if env := found.Commands[2].Env; len(env) != 3 || env[0] != "NX_DAEMON=false" {
		t.Errorf("variables %q", env)
	}
}
