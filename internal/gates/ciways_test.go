package gates

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
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

// How the CI of ordinary projects calls its checks: by a manager of packages, by a target for all, in a shell that goes
// on, in files that it includes. What is found runs by itself; what is not is named.
func TestWaysOfTheCI(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a project of uv": {map[string]string{
			"pyproject.toml": "[project]\nname = 'a'\n[tool.pytest.ini_options]\n[tool.ruff]\n", "src/a/__init__.py": "",
			"tests/test_a.py": "import pytest\n",
			".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n    - run: uv sync\n    - run: uv run ruff check .\n    - " +
				"run: uv run ruff format --check\n    - run: uv run --group dev pytest --cov\n    - run: uv run black --check " +
				"src || true\n",
		}, "ruff check .\nPYTHONPATH=src python3 -m pytest\nruff format --check ?"},
		"a target for all": {map[string]string{
			"go.mod": "module x\n", "a_test.go": "package a\n",
			"Makefile":                 "ci: test e2e\ntest:\n\tgo test ./...\ne2e:\n\tgo test -tags e2e ./...\n",
			".github/workflows/ci.yml": "jobs: {a: {steps: [{run: make ci}]}}\n",
		}, "make ci ?"},
		"GitLab's shell and files": {map[string]string{
			"api/pyproject.toml": "[tool.pytest.ini_options]\n", "api/tests/test_a.py": "import pytest\n",
			".gitlab-ci.yml": "include: [ci/more.yml, {template: Security/SAST.gitlab-ci.yml}]\ntest: {before_script: [cd " +
				"api], script: [pip install -r r.txt, pytest]}\nlater: {when: manual, script: ./smoke-test.sh}\n",
			"ci/more.yml": "more: {script: ./more-test.sh}\n",
		}, "cd api && python3 -m pytest\n./more-test.sh ?\n- ./smoke-test.sh: its CI does not run it for a change false\n- " +
			"include Security/SAST.gitlab-ci.yml: defined outside this repository false"},
		"programs that are in no image leave room": {map[string]string{
			"go.mod": "module x\n", "a_test.go": "package a\n",
			".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n    - run: just test-a; just test-b; just test-c; just " +
				"test-d; just test-e; just test-f\n    - run: codespell\n    - {run: ./made-test.sh, working-directory: made}\n",
		}, "just test-a ?\njust test-b ?\njust test-c ?\njust test-d ?\njust test-e ?\njust test-f ?\ncodespell ?\n- cd " +
			"made && ./made-test.sh: its folder is not in the repository true"},
		"a CI that is not read": {map[string]string{"go.mod": "module x\n", "a_test.go": "package a\n",
			"Makefile": "e2e:\n\tgo test -tags e2e ./...\n", ".circleci/config.yml": "version: 2\n"},
			"- make e2e: the repository names it, and .circleci/config.yml, which may run it, is not read false\n- the jobs " +
				"of .circleci/config.yml: definitions of this kind of CI are not read false"},
		"files that git names": {map[string]string{
			"go.mod": "module x\n", "a_test.go": "package a\n",
			".github/workflows/ci.yml": "jobs:\n  a: {uses: o/r/.github/workflows/dependabot-automerge.yml@v1}\n  b:\n    " +
				"steps:\n    - run: black --check $(git ls-files '*.py')\n    - run: git ls-files | xargs -r shellcheck\n",
		}, "black --check $(git ls-files '*.py') ?\ngit ls-files | xargs -r shellcheck ?"},
		"what a generator writes is compared": {map[string]string{
			"go.mod": "module x\n", "a_test.go": "package a\n", "api/a.proto": "",
			"Makefile": "gen:\n\tgo generate ./...\ncheck-doc:\n\tgit diff --exit-code -- doc\n",
			".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n    - run: |\n        sudo apt-get install -y " +
				"protobuf-compiler\n        make gen\n        git diff --exit-code\n    - run: protoc --go_out=. a.proto\n      " +
				"working-directory: api\n    - run: go test ./...\n" +
				"    - run: test -z \"$(git status --porcelain)\"\n    - run: git diff --exit-code\n    - run: make check-doc\n",
		}, "go test ./...\nmake check-doc ?\nmake gen && git diff --exit-code ?\n(cd ./api && protoc --go_out=. a.proto) " +
			"&& test -z \"$(git status --porcelain)\" ?"},
		"environments in a list": {map[string]string{
			"pyproject.toml": "[project]\nname = 'a'\n[tool.pytest.ini_options]\n", "tests/test_a.py": "import pytest\n",
			"tox.ini": "[tox]\nenvlist = py311,lint\n[testenv]\ncommands = pytest\n[testenv:lint]\ncommands " +
				"= flake8 a\n[testenv:docs]\ncommands = sphinx-build a b\n",
			".github/workflows/ci.yml": "jobs: {a: {steps: [{run: 'tox -e py311,lint,docs'}, {run: hatch test}, {run: hatch " +
				"fmt --check}, {run: hatch build}]}}\n",
		}, "python3 -m pytest\nhatch test ?\ntox -e lint ?\nhatch fmt --check ?"},
		"builds with several targets": {map[string]string{
			"pom.xml": "<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>b</artifactId><version>1</version></project>", "src/test/java/ATest.java": "class ATest {}\n",
			"Makefile": "clean:\n\trm -rf out\nsmoke:\n\t./smoke.sh\n",
			".github/workflows/ci.yml": "jobs: {a: {steps: [{run: mvn -B clean install}, {run: mvn package -DskipTests}, " +
				"{run: make -j 4 clean smoke}, {run: ./gradlew clean spotlessCheck --no-daemon}]}}\n",
		}, "mvn -B install ?\nmake -j 4 smoke ?\n./gradlew spotlessCheck --no-daemon ?"},
		"scripts of the tree": {map[string]string{
			"go.mod": "module x\n", "a_test.go": "package a\n",
			"ci/run": "#!/usr/bin/env bash\nset -e\ngo test -tags ci ./...\n", "ci/pack.sh": "tar cf x.tar .\n",
			"dev.sh": "#!/bin/sh\ngo $1 ./...\n", "release.sh": "go test -tags all ./...\n",
			".github/workflows/ci.yml": "jobs: {a: {steps: [{run: bash ci/run}, {run: ./ci/pack.sh}, {run: ./dev.sh vet}, " +
				"{run: ./release.sh --dry}]}}\n",
		}, "bash ci/run ?\n./dev.sh vet ?"},
		"what would be written": {map[string]string{
			"go.mod": "module x\n", "a_test.go": "package a\n",
			".github/workflows/ci.yml": "jobs: {a: {steps: [{run: go mod tidy -diff}, {run: go mod tidy}, {run: addlicense " +
				"-check .}, {run: php -l a.php}, {run: python -m doctest README.md}, {run: yarn workspaces run types}, {run: " +
				"docker compose up --exit-code-from test}, {run: cargo deny check}]}}\n",
		}, "docker compose up --exit-code-from test ?\ngo mod tidy -diff ?\naddlicense -check . ?\n- python -m doctest " +
			"README.md: it needs python, which no other check needs true\n- php -l a.php: it needs php, which no other check " +
			"needs true\n- yarn workspaces run types: it needs yarn, which no other check needs true\n- cargo deny check: it " +
			"needs rust, which no other check needs true"},
		"actions that check": {map[string]string{
			"Cargo.toml": "[package]\nname = 'a'\nversion = '1.0.0'\n", "src/lib.rs": "#[test]\nfn t() {}\n",
			".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n    - uses: actions/checkout@v4\n    - uses: " +
				"actions-rs/cargo@v1\n      with: {command: test, args: --all-features}\n    - uses: actions-rs/cargo@v1\n      " +
				"with: {command: fmt, args: --all -- --check}\n    - uses: pre-commit/action@v3\n    - uses: " +
				"cypress-io/github-action@v6\n    - uses: ludeeus/action-shellcheck@master\n    - uses: " +
				"peaceiris/actions-gh-pages@v3\n",
		}, "cargo test --all-features ?\ncargo fmt --all -- --check ?\n- pre-commit/action: an action from outside " +
			"this repository false\n- cypress-io/github-action: an action from outside this repository " +
			"false\n- ludeeus/action-shellcheck: an action from outside this repository false"},
		"PHP with its own runner": {map[string]string{
			"composer.json": `{"require-dev":{"phpunit/phpunit":"^10"},"scripts":{"stan":"phpstan analyse"}}`,
			"phpunit.xml":   "<phpunit/>", "tests/ATest.php": "<?php\n",
			".github/workflows/ci.yml": "jobs:\n  a: {uses: o/r/.github/workflows/php.yml@v1}\n  b:\n    steps:\n    - run: " +
				"vendor/bin/phpunit\n    - run: composer stan\n",
		}, "COMPOSER_DISABLE_NETWORK=1 composer dump-autoload --quiet --no-interaction --no-scripts --no-plugins && " +
			"PATH=vendor/bin:$PATH phpunit --bootstrap vendor/autoload.php\ncomposer stan ?\n- o/r/.github/workflows/php.yml: " +
			"defined outside this repository false"},
	} {
		if got := detectChecks(t, c.files); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// A check that asks git has a repository, in a copy of the tree that other checks do not see.
func TestCheckHasARepository(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	files := map[string]string{
		"go.mod": "module x\n", "a_test.go": "package a\n", ".gitignore": "made/\n", "api/one.txt": "one\n",
		"api/made/two.txt": "two\n",
		"list.sh":          "#!/bin/sh\ngit ls-files | sort | tr '\\n' ' '\n",
		".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n    - {run: lint-all $(git ls-files), working-directory: " +
			"api}\n    - run: ./write.sh\n    - run: git diff --exit-code\n    - run: ./check.sh\n",
		"check.sh": "#!/bin/sh\ngit status --short\n", "write.sh": "#!/bin/sh\necho more >> api/one.txt\n",
	}
	p, err := DetectTree(ecosystemtest.Tree(files), Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func(command string) (string, int) {
		var gate company.GateCommand
		for _, g := range p.Gates {
			if g.Command == command {
				gate = g
			}
		}
		if gate.Command == "" {
			t.Fatalf("%q is none of the gates: %+v", command, p.Gates)
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-c", "lint-all() { echo \"$@\"; }\n"+checkScript(gate, false))
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, code := run("lint-all $(git ls-files)"); code != 0 || out != "one.txt\n" {
		t.Errorf("the files of a folder: %q, %d", out, code)
	}
	if out, code := run("./check.sh"); code != 0 || out != "" {
		t.Errorf("a script that asks: %q, %d", out, code)
	}
	if out, code := run("./write.sh && git diff --exit-code"); code != 1 || !strings.Contains(out, "+more") {
		t.Errorf("what was written is compared: %q, %d", out, code)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "api/one.txt")); err != nil || string(text) != "one\n" {
		t.Errorf("the tree of other checks is written to: %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
		t.Error("the tree of other checks has a repository")
	}
}
