package php

import (
	"slices"
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

const loader = "COMPOSER_DISABLE_NETWORK=1 composer dump-autoload --quiet --no-interaction --no-scripts --no-plugins " +
	"&& "

// Which PHPUnit runs a project's tests, and what it has to go without.
func TestCommands(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
		notes []string
		needs string
	}{
		"settings that load": {map[string]string{"composer.json": "{}", "phpunit.xml.dist": `<phpunit bootstrap="x.php"/>`},
			loader + "phpunit", nil, ""},
		"settings that do not": {map[string]string{"composer.json": "{}", "phpunit.xml": "<phpunit/>",
			"phpunit.xml.dist": `<phpunit bootstrap="x.php"/>`},
			loader + "phpunit --bootstrap vendor/autoload.php", nil, ""},
		"no manifest": {map[string]string{"phpunit.xml": "<phpunit/>"}, "phpunit", nil, ""},
		"no tests": {map[string]string{"composer.json": "{}", "src/A.php": ""}, "",
			[]string{"a PHP project without tests"}, ""},
		"its own": {map[string]string{"composer.json": `{"require":{"a/b":"1"}}`, "phpunit.xml": "",
			"vendor/autoload.php": "", "vendor/phpunit/phpunit/phpunit": "x"}, "php vendor/phpunit/phpunit/phpunit", nil, ""},
		"packages elsewhere": {map[string]string{
			"composer.json": `{"require":{"php":">=8","ext-json":"*","ext-curl":"*","ext-pdo_pgsql":"*","guzzlehttp/guzzle":"^7"},"require-dev":{"phpstan/phpstan":"*"}}`, "tests/ATest.php": ""}, loader + "phpunit --bootstrap vendor/autoload.php tests", nil, "ext-curl ext-pdo_pgsql"},
		"an odd extension": {map[string]string{"composer.json": `{"require":{"ext-swoole":"*"}}`, "tests/ATest.php": ""},
			loader + "phpunit --bootstrap vendor/autoload.php tests", []string{"composer.json asks for ext-swoole"}, ""},
		"a newer PHPUnit": {map[string]string{"composer.json": `{"require-dev":{"phpunit/phpunit":"^10.5 || ^11"}}`,
			"tests/ATest.php": ""}, loader + "PATH=vendor/bin:$PATH phpunit --bootstrap vendor/autoload.php tests", nil, ""},
		"of a lock file": {map[string]string{"composer.json": `{"require":{"a/b":"1"},"extra":[]}`,
			"composer.lock": `{"packages":[{"name":"a/b","require":{"ext-curl":"*","c/d":"*"}},{"name":"c/d","require":[]}]}`,
			"phpunit.xml":   `<phpunit bootstrap="x.php"/>`}, loader + "phpunit", nil, "ext-curl"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := ecosystemtest.Tree(c.files)
			found := Ecosystem{}.Detect(tree, nil)
			got := ""
			if len(found) == 1 {
				got = found[0].Test.Command
			}
			if len(found) > 1 || got != c.want {
				t.Errorf("%q", got)
			}
			notes := tree.Notes()
			if len(notes) != len(c.notes) ||
				slices.ContainsFunc(c.notes, func(n string) bool { return !strings.HasPrefix(notes[0], n) }) {
				t.Errorf("notes %q", notes)
			}
			if needs := strings.Join((Ecosystem{}).Needs(tree, func(string) bool { return true }, nil), " "); needs != c.needs {
				t.Errorf("needs %q", needs)
			}
		})
	}
}
