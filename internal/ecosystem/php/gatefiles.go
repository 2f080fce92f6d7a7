package php

import (
	"slices"
	"strings"

	"company/internal/ecosystem"
)

// gateFiles configure analysers and runners beside PHPUnit and PHP_CodeSniffer, or are
// loaded before the tests. A baseline lists what an analyser passes over.
var gateFiles = []string{
	manifest, "bootstrap.php", "phpstan*.neon", "phpstan*.neon.dist", "phpstan*.php", "psalm*.xml", "psalm*.xml.dist", ".php-cs-fixer.php", ".php-cs-fixer.dist.php", ".php_cs*",
	"Pest.php", "behat.*", "codeception.*", "*.suite.yml", "phpspec.*", "infection.json*", "rector.php", "ecs.php", "grumphp.*", "phpmd.xml", "pint.json", "php.ini", ".user.ini",
}

// vendored are the folders of packages with the runners of checks and with what is loaded before
// them: a vendor in the tree stands in the place of the packages that the lock file names.
var vendored = []string{"vendor/bin", "vendor/composer", "vendor/phpunit", "vendor/squizlabs"}

// IsGateFile says whether a file configures a check, or is a runner; the manifest says which code is
// loaded in the tests.
func (Ecosystem) IsGateFile(file string) bool {
	isVendored := func(dir string) bool { return ecosystem.LiesIn(file, dir) }
	return strings.HasSuffix("/"+file, "/vendor/autoload.php") || slices.ContainsFunc(vendored, isVendored) || ecosystem.HasName(file, gateFiles) || ecosystem.HasName(file, settings) || ecosystem.HasName(file, lintSettings)
}
