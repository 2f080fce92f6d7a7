package php

import (
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

func TestConformance(t *testing.T) {
	ecosystemtest.Exercise(t, Ecosystem{}, ecosystemtest.Fixture{
		Files: map[string]string{"composer.json": `{"require-dev":{"phpunit/phpunit":"^9"}}`, "phpcs.xml": "<ruleset/>", "src/A.php": "<?php\n", "tests/ATest.php": "<?php\n", "tests/deep/BTest.php": "<?php\n"},
		Lint:  "phpcs", Test: "COMPOSER_DISABLE_NETWORK=1 composer dump-autoload --quiet --no-interaction --no-scripts --no-plugins && phpunit --bootstrap vendor/autoload.php tests",
		Canaries:     []ecosystemtest.Canary{{Change: map[string]string{"src/A.php": "<?php\n1;\n"}, Dirs: []string{"tests"}}, {Change: map[string]string{"tests/deep/BTest.php": ""}, Dirs: []string{"tests/deep"}}, {Change: map[string]string{"phpcs.xml": ""}, Dirs: []string{"tests", "tests/deep"}}},
		PlantsByName: true,
		GateFiles:    []string{"composer.json", "phpunit.xml", "phpunit.xml.dist", "phpcs.xml", "tests/bootstrap.php"},
	})
}
