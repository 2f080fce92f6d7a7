package php

import (
	"slices"
	"strings"

	"company/internal/ecosystem"
)

// gateFiles lists files that configure analysers and runners other than PHPUnit and PHP_CodeSniffer, or
// that are loaded before the tests. A baseline lists the findings that an analyser ignores.
var gateFiles = []string{
	manifest, "bootstrap.php", "phpstan*.neon", "phpstan*.neon.dist", "phpstan*.php", "psalm*.xml", "psalm*.xml.dist",
	".php-cs-fixer.php", ".php-cs-fixer.dist.php", ".php_cs*",
	"Pest.php", "behat.*", "codeception.*", "*.suite.yml", "phpspec.*", "infection.json*", "rector.php", "ecs.php",
	"grumphp.*", "phpmd.xml", "pint.json", "php.ini", ".user.ini",
}

// vendored lists folders with packages that run checks or that are loaded before them. A vendor folder in
// the tree replaces the packages of the lock file.
var vendored = []string{"vendor/bin", "vendor/composer", "vendor/phpunit", "vendor/squizlabs"}

// IsGateFile reports whether a file configures a check or is a runner. The manifest counts because it
// decides which code the tests load.
func (Ecosystem) IsGateFile(file string) bool {
	isVendored := func(dir string) bool { return ecosystem.LiesIn(file, dir) }
	return strings.HasSuffix("/"+file, "/vendor/autoload.php") || slices.ContainsFunc(vendored, isVendored) ||
		ecosystem.HasName(file, gateFiles) || ecosystem.HasName(file, settings) || ecosystem.HasName(file, lintSettings)
}
