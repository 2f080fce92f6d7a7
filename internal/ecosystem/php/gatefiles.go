package php

import "company/internal/ecosystem"

// gateFiles configure analysers and runners beside PHPUnit and PHP_CodeSniffer, or are
// loaded before the tests. A baseline lists what an analyser passes over.
var gateFiles = []string{
	manifest, "bootstrap.php", "phpstan*.neon", "phpstan*.neon.dist", "phpstan*.php", "psalm*.xml", "psalm*.xml.dist", ".php-cs-fixer.php", ".php-cs-fixer.dist.php", ".php_cs*",
	"Pest.php", "behat.*", "codeception.*", "*.suite.yml", "phpspec.*", "infection.json*", "rector.php", "ecs.php", "grumphp.*", "phpmd.xml", "pint.json", "php.ini", ".user.ini",
}

// IsGateFile says whether a file configures a check; the manifest says which code is
// loaded in the tests.
func (Ecosystem) IsGateFile(file string) bool {
	return ecosystem.HasName(file, gateFiles) || ecosystem.HasName(file, settings) || ecosystem.HasName(file, lintSettings)
}
