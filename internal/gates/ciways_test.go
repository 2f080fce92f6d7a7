package gates

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// detectChecks prints the checks that a tree has of its CI, what they run, and those that are named.
func detectChecks(t *testing.T, files map[string]string) string {
	t.Helper()
	p, err := DetectTree(ecosystemtest.Tree(files), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, g := range p.Gates {
		if g.From != "" {
			line := g.Command
			if g.Dir != "" {
				line = "cd " + g.Dir + " && " + line
			}
			if g.Provisional {
				line += " ?"
			}
			out = append(out, line)
		}
	}
	for _, u := range p.Unrun {
		out = append(out, fmt.Sprintf("- %s: %s %v", u.Command, u.Why, u.OfCI))
	}
	return strings.Join(out, "\n")
}

// How the CI of ordinary projects calls its checks: by a manager of packages, by a target for all, in a shell that goes on, in
// files that it includes. What is found runs by itself; what is not is named.
func TestWaysOfTheCI(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a project of uv": {map[string]string{
			"pyproject.toml": "[project]\nname = 'a'\n[tool.pytest.ini_options]\n[tool.ruff]\n", "src/a/__init__.py": "", "tests/test_a.py": "import pytest\n",
			".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n    - run: uv sync\n    - run: uv run ruff check .\n    - run: uv run ruff format --check\n    - run: uv run --group dev pytest --cov\n    - run: uv run black --check src || true\n",
		}, "ruff check .\nPYTHONPATH=src python3 -m pytest\nruff format --check ?"},
		"a target for all": {map[string]string{
			"go.mod": "module x\n", "a_test.go": "package a\n", "Makefile": "ci: test e2e\ntest:\n\tgo test ./...\ne2e:\n\tgo test -tags e2e ./...\n",
			".github/workflows/ci.yml": "jobs: {a: {steps: [{run: make ci}]}}\n",
		}, "make ci ?"},
		"GitLab's shell and files": {map[string]string{
			"api/pyproject.toml": "[tool.pytest.ini_options]\n", "api/tests/test_a.py": "import pytest\n",
			".gitlab-ci.yml": "include: [ci/more.yml, {template: Security/SAST.gitlab-ci.yml}]\ntest: {before_script: [cd api], script: [pip install -r r.txt, pytest]}\nlater: {when: manual, script: ./smoke-test.sh}\n",
			"ci/more.yml":    "more: {script: ./more-test.sh}\n",
		}, "cd api && python3 -m pytest\n./more-test.sh ?\n- ./smoke-test.sh: its CI does not run it for a change false\n- include Security/SAST.gitlab-ci.yml: a definition of others, not in this repository false"},
		"programs that are in no image leave room": {map[string]string{
			"go.mod": "module x\n", "a_test.go": "package a\n",
			".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n    - run: just test-a; just test-b; just test-c; just test-d; just test-e; just test-f\n    - run: codespell\n    - {run: ./made-test.sh, working-directory: made}\n",
		}, "just test-a ?\njust test-b ?\njust test-c ?\njust test-d ?\njust test-e ?\njust test-f ?\ncodespell ?\n- cd made && ./made-test.sh: its folder is not in the repository true"},
		"a CI that is not read": {map[string]string{"go.mod": "module x\n", "a_test.go": "package a\n", ".circleci/config.yml": "version: 2\n"},
			"- the jobs of .circleci/config.yml: definitions of this kind of CI are not read false"},
		"files that git names": {map[string]string{
			"go.mod": "module x\n", "a_test.go": "package a\n",
			".github/workflows/ci.yml": "jobs:\n  a: {uses: o/r/.github/workflows/dependabot-automerge.yml@v1}\n  b:\n    steps:\n    - run: black --check $(git ls-files '*.py')\n    - run: git ls-files | xargs -r shellcheck\n",
		}, "- black --check $(git ls-files '*.py'): it asks git, and a check here has no repository true\n- git ls-files | xargs -r shellcheck: it asks git, and a check here has no repository true"},
		"PHP with its own runner": {map[string]string{
			"composer.json": `{"require-dev":{"phpunit/phpunit":"^10"},"scripts":{"stan":"phpstan analyse"}}`, "phpunit.xml": "<phpunit/>", "tests/ATest.php": "<?php\n",
			".github/workflows/ci.yml": "jobs:\n  a: {uses: o/r/.github/workflows/php.yml@v1}\n  b:\n    steps:\n    - run: vendor/bin/phpunit\n    - run: composer stan\n",
		}, "COMPOSER_DISABLE_NETWORK=1 composer dump-autoload --quiet --no-interaction --no-scripts --no-plugins && PATH=vendor/bin:$PATH phpunit --bootstrap vendor/autoload.php\ncomposer stan ?\n- o/r/.github/workflows/php.yml: a definition of others, not in this repository false"},
	} {
		if got := detectChecks(t, c.files); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}
