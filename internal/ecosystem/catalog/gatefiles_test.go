package catalog_test

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem/catalog"
)

// Whoever reviews is told when the files change that say what checks do.
func TestGateFiles(t *testing.T) {
	for p, want := range map[string]bool{
		"Makefile": true, "web/package.json": true, "vitest.config.mts": true, ".eslintrc.json": true, ".eslintrc": true,
		"jest.config.js":   true,
		"eslint.config.js": true, "tests/conftest.py": true, "package-lock.json": false, "main.go": false,
		"docs/Makefile.md": false, ".mocharc.yml": true, "package.jsonc": false,
		".cargo/config.toml": true, "crates/a/.cargo/config": true, "x.cargo/config.toml": false, "config.toml": false,
		"Cargo.toml": true, "Cargo.lock": false,
		"go.work": true, "go.mod": false, "build/rules.mk": true, "ava.config.js": true, ".taprc": true, ".npmrc": true,
		"src/main.rs": false,
		"build.rs":    true, "pytest/__init__.py": true, "src/unittest.py": true, "node_modules/x/index.js": true,
		"vendor/a/b.go": true, "vendor/modules.txt": false, "testing/x.go": false, "x.pth": true, "unittest/test_a.py": false,
	} {
		if catalog.IsGateFile(p) != want {
			t.Errorf("%s: %v", p, !want)
		}
	}
	// A name is one of those, and a name like it that applications use is not.
	for want, names := range map[bool]string{
		true: ".yarnrc .yarnrc.yml .yarn/releases/yarn-4.1.0.cjs web/.yarn/plugins/@yarnpkg/plugin-x.cjs .pnp.loader.mjs " +
			".pnpmfile.cjs .pnpmfile.mjs pnpm-workspace.yaml " +
			"tsconfig.json tsconfig.spec.json web/tsconfig.build.json tsconfig-base.json jsconfig.json .npmrc bunfig.toml " +
			"patches/jest+29.7.0.patch " +
			"babel.config.js .babelrc .babelrc.json .swcrc .nycrc .c8rc.json jest.unit.config.ts jest.setup.ts setupTests.js " +
			"vitest.workspace.ts playwright.config.ts .prettierrc .prettierrc.yaml prettier.config.mjs " +
			".oxlintrc.json eslint-suppressions.json karma.conf.js webpack.config.js turbo.json " +
			"pytest.ini tox.ini setup.cfg noxfile.py mypy.ini .coveragerc pyrightconfig.json .pylintrc manage.py " +
			".golangci.yml .golangci.yaml .golangci.toml .golangci.json staticcheck.conf magefile.go magefiles/test.go " +
			"rustfmt.toml .config/nextest.toml a/.cargo/config.toml " +
			"Makefile.inc makefile.common rules.mak .clang-tidy CMakeUserPresets.json toolchain.cmake.in " +
			"build-aux/test-driver test-driver tests/local.am " +
			".rubocop_todo.yml .standard.yml gems.rb rakefile .bundle/config .rspec-local " +
			"vendor/bin/phpunit api/vendor/autoload.php vendor/composer/autoload_real.php " +
			"vendor/phpunit/phpunit/src/TextUI/Command.php phpstan.neon phpstan-baseline.neon psalm.xml " +
			".php-cs-fixer.dist.php tests/Pest.php " +
			"gradle.properties gradle/wrapper/gradle-wrapper.properties gradlew mvnw buildSrc/src/main/java/X.java " +
			"src/test/resources/META-INF/services/org.junit.platform.engine.TestEngine ktlint.gradle.kts " +
			"gradle/libs.versions.toml .mvn/settings.xml config/checkstyle/checkstyle.xml " +
			"Directory.Build.props Directory.Build.targets Directory.Packages.props a/a.csproj test.runsettings global.json " +
			"mix.exs Package.swift deno.json BUILD.bazel .bazelrc Taskfile.yml justfile .editorconfig",
		false: "resources/views/vendor/mail/html/button.blade.php vendor/acme/left/src/Left.php src/vendor.php " +
			"src/app/app.config.ts src/config.ts auth.config.js yarn.lock pnpm-lock.yaml src/tsconfig.ts xtsconfig.json " +
			".gitignore .env arc.js my.yarnrc docs/Makefile.rst app/helpers/users_helper.rb " +
			"src/patches/a.txt x.patch services/org.junit.X rustfmt.rs golangci.yml go.mod Cargo.lock composer.lock " +
			"Gemfile.lock src/main/java/Build.java build.txt makefile.py tools/Makefile.go makefile.test.ts Makefile.rb",
	} {
		for p := range strings.FieldsSeq(names) {
			if catalog.IsGateFile(p) != want {
				t.Errorf("%s: %v", p, !want)
			}
		}
	}
	// What a gate runs from the repository defines it, too.
	pinned := []company.GateCommand{
		{Command: "CI=1 ./scripts/test.sh --all && python3 -u tools/check.py src | tee out.txt"},
		{Command: "make test", Report: "( node 'lint.cjs' )", Dir: "web"}, {Command: "sh ../all.sh", Dir: "web"},
		{Command: "(cd -P 'ui/e2e' && ./run.sh; cd .. && sh lint.sh) && ./after.sh"},
		{Command: "cd api && cd $HERE && ./check\ncd /opt && ./x", Dir: "src"},
		{Command: "codespell -I docs/words.txt --exclude-file=docs/lines.txt src/a.c && mypy --config-file ci/mypy.conf pkg",
			Dir: "lib"},
	}
	for p, want := range map[string]bool{
		"scripts/test.sh": true, "tools/check.py": true, "web/lint.cjs": true, "all.sh": true, "ui/e2e/run.sh": true,
		"ui/lint.sh": true, "after.sh": true, "src/api/check": true,
		"lib/docs/words.txt": true, "lib/docs/lines.txt": true, "lib/ci/mypy.conf": true, "lib/src/a.c": false,
		"lib/pkg": false, "docs/words.txt": false,
		"run.sh": false, "ui/after.sh": false, "ui/e2e/lint.sh": false, "src/check": false,
		"src": false, "out.txt": false, "lint.cjs": false, "web/scripts/test.sh": false, "test.sh": false,
	} {
		if catalog.IsGateFileOf(pinned, p) != want || catalog.IsGateFile(p) {
			t.Errorf("%s: %v", p, !want)
		}
	}
	task := &company.Task{Subtasks: []*company.Subtask{
		{Changes: []company.Change{{Path: "a.go"}, {Path: "package.json"}}},
		{Changes: []company.Change{{Path: "package.json"}, {Path: "Makefile"}}},
	}}
	if got := strings.Join(catalog.GateFilesOf(task), " "); got != "Makefile package.json" {
		t.Errorf("%s", got)
	}
}

// A canary is planted by what may decide where a gate looks, and not by files of other toolchains.
func TestSteersGate(t *testing.T) {
	gates := []company.GateCommand{{Command: "./test.sh"}}
	for path, want := range map[string]bool{"test.sh": true, "package.json": true, "Makefile": true,
		".editorconfig": false, ".tool-versions": false, "app.csproj": false, "main.go": false} {
		if got := catalog.SteersGate(gates, path); got != want {
			t.Errorf("%s steers a gate: %v", path, got)
		}
	}
}
