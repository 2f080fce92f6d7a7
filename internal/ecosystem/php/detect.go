// Package php supports PHP: PHPUnit, composer's packages and its autoloader. It owns the protocol of
// composer's repositories, the layer with the packages of composer.lock files, and how these get into a
// tree. Package files are served from the addresses that the registry names. Scripts and plugins of
// packages are not run, and git is not used.
package php

import (
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// Ecosystem is PHP.
type Ecosystem struct{}

// Name returns the toolchain's name.
func (Ecosystem) Name() string { return "php" }

// Programs lists the programs that need the toolchain.
func (Ecosystem) Programs() []string { return []string{"php", "phpunit", "composer"} }

// Manifest returns the file name that marks a PHP project.
func (Ecosystem) Manifest() string { return manifest }

const manifest = "composer.json"

// settings lists PHPUnit's configuration files, in PHPUnit's own order of preference.
var settings = []string{"phpunit.xml", "phpunit.dist.xml", "phpunit.xml.dist"}

// lintSettings lists the configuration files of PHP_CodeSniffer.
var lintSettings = []string{".phpcs.xml", "phpcs.xml", ".phpcs.xml.dist", "phpcs.xml.dist"}

// Detect finds the PHP projects of a repository.
func (e Ecosystem) Detect(tree *ecosystem.Tree, _ []ecosystem.Component) []ecosystem.Component {
	var out []ecosystem.Component
	for _, dir := range projectFolders(tree) {
		if above := ecosystem.Covering(out, dir); above != nil && above.Test != nil && !tree.HasFile(dir, manifest) {
			continue
		}
		component := ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "PHP project", Test: findTest(tree, dir)}
		if slices.ContainsFunc(lintSettings, func(name string) bool { return tree.HasFile(dir, name) }) {
			run := vendoredProgram(tree, dir, "squizlabs/php_codesniffer/bin/phpcs")
			if run == "" {
				run = installedProgram(tree, dir, "phpcs", "squizlabs/php_codesniffer")
			}
			component.Lint = &company.GateCommand{Command: run, Report: run + " --report=emacs --basepath=.",
				Probe: run + " --version",
				Parse: testreport.FormatFindings}
		}
		if component.Lint == nil && component.Test == nil {
			tree.AddProject(e.Name(), dir)
			if dir == "" && tree.HasFile(dir, manifest) {
				tree.AddNote("a PHP project without tests of PHPUnit")
			}
			continue
		}
		noteMissing(tree, dir)
		out = append(out, component)
	}
	return out
}

// projectFolders lists the folders with a manifest, upper folders first.
func projectFolders(tree *ecosystem.Tree) []string {
	var dirs []string
	for _, name := range append([]string{manifest}, settings...) {
		for _, dir := range tree.FoldersWith(name) {
			if !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.SortFunc(dirs, ecosystem.CompareDepth)
	return dirs
}

var bootstrapSet = lazyregexp.New(`\bbootstrap\s*=`)

// findTest returns the check that runs PHPUnit: the repository's own, the one that composer installed, or
// Debian's. It returns nil if there are no tests.
func findTest(tree *ecosystem.Tree, dir string) *company.GateCommand {
	config := ""
	for _, name := range slices.Backward(settings) {
		if tree.HasFile(dir, name) {
			config = name
		}
	}
	if config == "" && !hasTests(tree, path.Join(dir, "tests")) {
		return nil
	}
	prepare, run := "", vendoredProgram(tree, dir, "phpunit/phpunit/phpunit")
	if tree.HasFile(dir, manifest) && !tree.HasFile(path.Join(dir, "vendor"), "autoload.php") {
		// If the packages are missing, this still loads the project's own classes.
		prepare = "COMPOSER_DISABLE_NETWORK=1 composer dump-autoload --quiet --no-interaction --no-scripts --no-plugins && "
	}
	if run == "" {
		run = installedProgram(tree, dir, "phpunit", "phpunit/phpunit")
		if tree.HasFile(dir, manifest) && !bootstrapSet.MatchString(tree.ReadManifest(dir, config)) {
			run += " --bootstrap vendor/autoload.php"
		}
	}
	last := ""
	if config == "" {
		last = " tests"
	}
	report := prepare + run + " --log-junit " + testreport.File
	return &company.GateCommand{Command: prepare + run + last, Report: report + last, Parse: testreport.FormatJUnit,
		Plant:  plantPHPUnit,
		Canary: report + " --filter " + ecosystem.CanaryPlaceholder + last}
}

// vendoredProgram returns the command that runs a program in the repository's vendor folder. It returns ""
// if the file does not exist.
func vendoredProgram(t *ecosystem.Tree, dir, file string) string {
	if at := path.Join(dir, "vendor", file); t.Files[at].Path == "" {
		return ""
	}
	return "php vendor/" + file
}

// installedProgram returns the command that runs a program installed by composer. It falls back to Debian's
// program if composer has not installed the package, because a registry may be unreachable.
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
