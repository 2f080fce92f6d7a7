// Package ruby supports Ruby: RSpec, and minitest and test-unit with rake. Gems are Debian packages or in
// the repository. No gem registry is served.
package ruby

import (
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/testreport"
	"company/internal/lib/lazyregexp"
)

// Ecosystem is Ruby.
type Ecosystem struct{}

// Name returns the toolchain's name.
func (Ecosystem) Name() string { return "ruby" }

// Programs lists the programs that need the toolchain.
func (Ecosystem) Programs() []string {
	return []string{"ruby", "rake", "rspec", "bundle", "bundler", "gem"}
}

// Manifest returns the file name that marks a Ruby project.
func (Ecosystem) Manifest() string { return "Gemfile" }

var manifests = []string{"Gemfile", "Rakefile", ".rspec"}

// Detect finds the Ruby projects of a repository.
func (e Ecosystem) Detect(tree *ecosystem.Tree, _ []ecosystem.Component) []ecosystem.Component {
	var out []ecosystem.Component
	for _, dir := range projectFolders(tree) {
		if above := ecosystem.Covering(out, dir); above != nil && above.Test != nil && !tree.HasFile(dir, "Gemfile") {
			continue
		}
		gems := findGems(tree, dir)
		component := ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "Ruby project",
			Test: findTest(tree, dir, gems)}
		if tree.HasFile(dir, ".rubocop.yml") {
			run := gems.bundledCommand("rubocop")
			component.Lint = &company.GateCommand{Command: run, Report: run + " --format emacs",
				Probe: gems.bundledCommand("rubocop --version"), Parse: testreport.FormatFindings}
		}
		if component.Test == nil && tree.HasFile(dir, "Gemfile") {
			tree.AddProject(e.Name(), dir)
		}
		if component.Test == nil && dir == "" && tree.HasFile(dir, "Gemfile") {
			tree.AddNote("a Ruby project without tests in spec or test, or a Rakefile that runs them")
		}
		if component.Lint != nil || component.Test != nil {
			gems.noteMissing(tree, dir)
			out = append(out, component)
		}
	}
	return out
}

// projectFolders lists the folders with a manifest, upper folders first.
func projectFolders(tree *ecosystem.Tree) []string {
	var dirs []string
	for _, name := range manifests {
		for _, dir := range tree.FoldersWith(name) {
			if !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.SortFunc(dirs, ecosystem.CompareDepth)
	return dirs
}

// testTask matches the declaration of a task that runs tests, with the class of rake or of minitest or as a
// plain task.
var testTask = lazyregexp.New(`(?m)\bTestTask\.(?:new|create)\b|^\s*task\s*\(?\s*(?::test\b|["']test["']|test:)`)

// verbosely sets the variables that make both runners print the name of each test. Rake's task and
// minitest's task read different variables.
const verbosely = `TESTOPTS='-v' A='-v' `

// findTest returns the command for RSpec if there are specs, or else for rake's test task. Without such a
// task it runs the test files directly. It returns nil if there are no tests.
func findTest(tree *ecosystem.Tree, dir string, gems gemSources) *company.GateCommand {
	if hasFiles(tree, path.Join(dir, "spec"), isSpec) {
		report := gems.bundledCommand("rspec --no-fail-fast --format progress --format json --out " + testreport.File)
		return &company.GateCommand{Command: gems.bundledCommand("rspec"), Report: report, Parse: formatRSpec,
			Plant: plantSpec, Canary: report + " --example " + ecosystem.CanaryPlaceholder}
	}
	if !hasFiles(tree, path.Join(dir, "test"), isTestFile) {
		return nil
	}
	if testTask.MatchString(tree.ReadManifest(dir, "Rakefile")) {
		run := gems.bundledCommand("rake test")
		only := "--name=/" + ecosystem.CanaryPlaceholder + "/"
		return &company.GateCommand{Command: run, Report: gems.bundledWith(verbosely, "rake test") + " 2>&1",
			Parse: formatTest, Plant: plantTest,
			Canary: gems.bundledWith(`TESTOPTS='-v `+only+`' A='-v' N='/`+ecosystem.CanaryPlaceholder+`/' `, "rake test") +
				" 2>&1"}
	}
	run := gems.bundledCommand(
		`ruby -I lib -I test -e 'Dir["test/**/{test_*,*_test}.rb"].sort.each { |f| require File.expand_path(f) }'`)
	return &company.GateCommand{Command: run, Report: run + " -- -v 2>&1", Parse: formatTest, Plant: plantTest,
		Canary: run + " -- -v --name=/" + ecosystem.CanaryPlaceholder + "/ 2>&1"}
}

// hasFiles reports whether a folder or one below it has a file for whose name is returns true.
func hasFiles(t *ecosystem.Tree, dir string, is func(name string) bool) bool {
	for _, p := range t.FilesBelow(dir) {
		if d, name := ecosystem.SplitPath(p); is(name) && !ecosystem.IsForeignDir(d) {
			return true
		}
	}
	return false
}

func isSpec(name string) bool { return strings.HasSuffix(name, "_spec.rb") }

func isTestFile(name string) bool {
	return strings.HasPrefix(name, "test_") && strings.HasSuffix(name, ".rb") && name != "test_helper.rb" ||
		strings.HasSuffix(name, "_test.rb")
}
