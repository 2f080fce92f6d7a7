package php

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// composerJSON is what counts of a composer.json.
type composerJSON struct {
	Require map[string]string `json:"require"`
	Dev     map[string]string `json:"require-dev"`
}

// readComposer reads what a project asks for; what cannot be read asks for nothing,
// and composer reports its fault.
func readComposer(t *ecosystem.Tree, dir string) (c composerJSON) {
	if json.Unmarshal([]byte(t.ReadManifest(dir, manifest)), &c) != nil {
		return composerJSON{}
	}
	return c
}

// listRequirements are the names that a project asks for, sorted.
func (c composerJSON) listRequirements() []string {
	all := slices.Sorted(maps.Keys(c.Require))
	for name := range c.Dev {
		all = append(all, name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// withoutNeed are packages that no test needs.
var withoutNeed = lazyregexp.New(`^(phpunit/phpunit|phpstan/.*|squizlabs/php_codesniffer|friendsofphp/php-cs-fixer|vimeo/psalm|psalm/.*|rector/rector|infection/infection|composer/.*|phing/phing|slevomat/coding-standard|dealerdirect/.*|ergebnis/composer-normalize)$`)

var packageRE = lazyregexp.New(`^[a-z0-9_.-]{1,60}/[a-z0-9_.-]{1,60}$`)

// noteMissing tells of what a project has to go without.
func noteMissing(t *ecosystem.Tree, dir string) {
	c := readComposer(t, dir)
	at := path.Join(dir, manifest)
	var packages, extensions []string
	for _, name := range c.listRequirements() {
		extension, is := strings.CutPrefix(name, "ext-")
		switch {
		case is && extensionPackages[extension] == "" && !slices.Contains(builtIn, extension):
			extensions = append(extensions, ecosystem.PrintablePath(name))
		case packageRE.MatchString(name) && !withoutNeed.MatchString(name) && !t.HasFile(path.Join(dir, "vendor"), "autoload.php"):
			packages = append(packages, name)
		}
	}
	if len(packages) > 0 {
		t.AddNote("%s asks for packages that no registry here has (%s): what needs them is red, until vendor/ is in the repository (`composer install`, and not in .gitignore)", at, joinSome(packages))
	}
	if len(extensions) > 0 {
		t.AddNote("%s asks for %s, which the image does not have (container.setup can install more of Debian)", at, joinSome(extensions))
	}
	wants := c.Dev["phpunit/phpunit"] + c.Require["phpunit/phpunit"]
	if wants != "" && vendoredProgram(t, dir, "phpunit/phpunit/phpunit") == "" && !fitsDebian.MatchString(wants) {
		t.AddNote("%s wants PHPUnit %s, the image has %s", at, ecosystem.PrintablePath(wants[:min(len(wants), 40)]), debianPHPUnit)
	}
}

// debianPHPUnit is the version of Debian's PHPUnit, and fitsDebian a requirement that
// it meets.
const debianPHPUnit = "9.6"

var fitsDebian = lazyregexp.New(`(^|[|\s,^~>=])\^?~?v?9(\.|$|[|\s,*])|\*|>=\s*[0-9]\b`)

func joinSome(names []string) string {
	const most = 8
	out := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		out += ", …"
	}
	return out
}
