// Package php is the ecosystem of PHP: PHPUnit, composer's packages and its autoloader. It
// owns the protocol of composer's repositories, which is served with the addresses of files
// that the registry names, the layer of packages that composer.lock files name, and how they
// come into a tree. Scripts and plugins of packages are not run, and git is not asked.
package php

import (
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// Ecosystem is PHP.
type Ecosystem struct{}

// Name is the toolchain.
func (Ecosystem) Name() string { return "php" }

// Programs are the programs that need the toolchain.
func (Ecosystem) Programs() []string { return []string{"php", "phpunit", "composer"} }

// Manifest is the file by which a project is known.
func (Ecosystem) Manifest() string { return manifest }

const manifest = "composer.json"

// settings are the files of PHPUnit, in the order in which it looks for them.
var settings = []string{"phpunit.xml", "phpunit.dist.xml", "phpunit.xml.dist"}

// lintSettings are the files of PHP_CodeSniffer.
var lintSettings = []string{".phpcs.xml", "phpcs.xml", ".phpcs.xml.dist", "phpcs.xml.dist"}

// Detect finds the PHP projects of a repository.
func (e Ecosystem) Detect(t *ecosystem.Tree, _ []ecosystem.Component) []ecosystem.Component {
	var out []ecosystem.Component
	for _, dir := range projectFolders(t) {
		if above := ecosystem.Covering(out, dir); above != nil && above.Test != nil && !t.HasFile(dir, manifest) {
			continue
		}
		p := ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "PHP project", Test: findTest(t, dir)}
		if slices.ContainsFunc(lintSettings, func(name string) bool { return t.HasFile(dir, name) }) {
			run := vendoredProgram(t, dir, "squizlabs/php_codesniffer/bin/phpcs")
			if run == "" {
				run = installedProgram(t, dir, "phpcs", "squizlabs/php_codesniffer")
			}
			p.Lint = &company.GateCommand{Command: run, Report: run + " --report=emacs --basepath=.", Probe: run + " --version", Parse: testreport.FormatFindings}
		}
		if p.Lint == nil && p.Test == nil {
			t.AddProject(e.Name(), dir)
			if dir == "" && t.HasFile(dir, manifest) {
				t.AddNote("a PHP project without tests of PHPUnit")
			}
			continue
		}
		noteMissing(t, dir)
		out = append(out, p)
	}
	return out
}

// projectFolders are the folders with a manifest, the upper ones first.
func projectFolders(t *ecosystem.Tree) []string {
	var dirs []string
	for _, name := range append([]string{manifest}, settings...) {
		for _, dir := range t.FoldersWith(name) {
			if !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.SortFunc(dirs, ecosystem.CompareDepth)
	return dirs
}

var bootstrapSet = lazyregexp.New(`\bbootstrap\s*=`)

// findTest is PHPUnit: the repository's own, the one that composer has installed, or Debian's.
func findTest(t *ecosystem.Tree, dir string) *company.GateCommand {
	config := ""
	for _, name := range slices.Backward(settings) {
		if t.HasFile(dir, name) {
			config = name
		}
	}
	if config == "" && !hasTests(t, path.Join(dir, "tests")) {
		return nil
	}
	prepare, run := "", vendoredProgram(t, dir, "phpunit/phpunit/phpunit")
	if t.HasFile(dir, manifest) && !t.HasFile(path.Join(dir, "vendor"), "autoload.php") {
		// Without the packages it still loads the project's own classes.
		prepare = "COMPOSER_DISABLE_NETWORK=1 composer dump-autoload --quiet --no-interaction --no-scripts --no-plugins && "
	}
	if run == "" {
		run = installedProgram(t, dir, "phpunit", "phpunit/phpunit")
		if t.HasFile(dir, manifest) && !bootstrapSet.MatchString(t.ReadManifest(dir, config)) {
			run += " --bootstrap vendor/autoload.php"
		}
	}
	last := ""
	if config == "" {
		last = " tests"
	}
	report := prepare + run + " --log-junit " + testreport.File
	return &company.GateCommand{Command: prepare + run + last, Report: report + last, Parse: testreport.FormatJUnit, Plant: plantPHPUnit,
		Canary: report + " --filter " + ecosystem.CanaryPlaceholder + last}
}

// vendoredProgram is how a program of the packages in the repository is run; empty:
// it is not there.
func vendoredProgram(t *ecosystem.Tree, dir, file string) string {
	if at := path.Join(dir, "vendor", file); t.Files[at].Path == "" {
		return ""
	}
	return "php vendor/" + file
}

// installedProgram is how a program is run that is Debian's where composer has not installed
// the package that the project asks for: a registry may be away.
func installedProgram(t *ecosystem.Tree, dir, program, of string) string {
	if readComposer(t, dir).dependsOn(of) {
		return "PATH=vendor/bin:$PATH " + program
	}
	return program
}

func hasTests(t *ecosystem.Tree, dir string) bool {
	for _, p := range t.FilesBelow(dir) {
		if d, name := ecosystem.SplitPath(p); isTestFile(name) && !ecosystem.IsForeignDir(d) {
			return true
		}
	}
	return false
}

func isTestFile(name string) bool { return strings.HasSuffix(name, "Test.php") }
