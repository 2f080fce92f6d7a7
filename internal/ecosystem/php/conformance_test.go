package php

import (
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

func TestConformance(t *testing.T) {
	ecosystemtest.Exercise(t, Ecosystem{}, ecosystemtest.Fixture{
		Files: map[string]string{"composer.json": `{"require-dev":{"phpunit/phpunit":"^9"}}`, "phpcs.xml": "<ruleset/>",
			"src/A.php": "<?php\n", "tests/ATest.php": "<?php\n", "tests/deep/BTest.php": "<?php\n"},
		Lint: "phpcs", Test: loader + "PATH=vendor/bin:$PATH phpunit --bootstrap vendor/autoload.php tests",
		Lock:     "composer.lock",
		LockText: `{"packages":[{"name":"Acme/Left","version":"v1.2.0","dist":{"type":"zip"}}],"packages-dev":[{"name":"acme/local","version":"dev-main","dist":{"type":"path"}}]}`, Packages: "packagist Acme/Left@v1.2.0",
		Served: ecosystemtest.Served{Package: company.Dependency{Ecosystem: ecosystem.Packagist, Name: "acme/left",
			Version: "v1.2.0"}, Needs: "packagist acme/right", Default: "https://repo.packagist.org",
			Files: map[string]string{"/packages.json": `{"metadata-url":"/base/p2/%package%.json"}`,
				"/p2/acme/left.json": `{"minified":"composer/2.0","packages":{"acme/left":[{"version":"v1.3.0-beta1","version_normalized":"1.3.0.0-beta1","require":{"acme/other":"*"}},` +
					`{"version":"v1.2.0","version_normalized":"1.2.0.0","require":{"php":">=7","ext-json":"*","acme/right":"^1"},"dist":{"type":"zip","url":"https://api.github.com/repos/acme/left/zipball/` + commit + `","reference":"` + commit + `","shasum":""}},` +
					`{"version":"v1.1.0","version_normalized":"1.1.0.0","require":"__unset"}]}}`,
				"https://codeload.github.com/acme/left/legacy.zip/" + commit: "zip"},
			Metadata: []string{"p2/acme/left.json"}, File: "dist/acme/left/v1.2.0/" + commit},
		Blame: []string{
			"Your requirements could not be resolved to an installable set of packages.",
			"Your lock file does not contain a compatible set of packages. Please run composer update.",
			`- Required package "acme/left" is not present in the lock file.`,
			`"./composer.json" does not contain valid JSON`,
			"The checksum verification of the file failed (downloaded from https://x/y)",
		},
		Canaries: []ecosystemtest.Canary{{Change: map[string]string{"src/A.php": "<?php\n1;\n"}, Dirs: []string{"tests"}},
			{Change: map[string]string{"tests/deep/BTest.php": ""}, Dirs: []string{"tests/deep"}},
			{Change: map[string]string{"phpcs.xml": ""}, Dirs: []string{"tests", "tests/deep"}}},
		PlantsByName: true,
		GateFiles:    []string{"composer.json", "phpunit.xml", "phpunit.xml.dist", "phpcs.xml", "tests/bootstrap.php"},
	})
}
