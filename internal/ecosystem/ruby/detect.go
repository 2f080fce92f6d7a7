// Package ruby is the ecosystem of Ruby: RSpec, minitest and test-unit by rake, with
// gems that are packages of Debian or lie in the repository. No registry of gems is
// served.
package ruby

import (
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
	"company/internal/testreport"
)

// Ecosystem is Ruby.
type Ecosystem struct{}

// Name is the toolchain.
func (Ecosystem) Name() string { return "ruby" }

// Programs are the programs that need the toolchain.
func (Ecosystem) Programs() []string {
	return []string{"ruby", "rake", "rspec", "bundle", "bundler", "gem"}
}

// Manifest is the file by which a project is known.
func (Ecosystem) Manifest() string { return "Gemfile" }

var manifests = []string{"Gemfile", "Rakefile", ".rspec"}

// Detect finds the Ruby projects of a repository.
func (e Ecosystem) Detect(t *ecosystem.Tree, _ []ecosystem.Component) []ecosystem.Component {
	var out []ecosystem.Component
	for _, dir := range projectFolders(t) {
		if above := ecosystem.Covering(out, dir); above != nil && above.Test != nil && !t.HasFile(dir, "Gemfile") {
			continue
		}
		gems := findGems(t, dir)
		p := ecosystem.Component{Dir: dir, Kind: e.Name(), Description: "Ruby project", Test: findTest(t, dir, gems)}
		if t.HasFile(dir, ".rubocop.yml") {
			run := gems.bundledCommand("rubocop")
			p.Lint = &company.GateCommand{Command: run, Report: run + " --format emacs", Probe: gems.bundledCommand("rubocop --version"), Parse: testreport.FormatFindings}
		}
		if p.Test == nil && t.HasFile(dir, "Gemfile") {
			t.AddProject(e.Name(), dir)
		}
		if p.Test == nil && dir == "" && t.HasFile(dir, "Gemfile") {
			t.AddNote("a Ruby project without tests in spec or test, or a Rakefile that runs them")
		}
		if p.Lint != nil || p.Test != nil {
			gems.noteMissing(t, dir)
			out = append(out, p)
		}
	}
	return out
}

// projectFolders are the folders with a manifest, the upper ones first.
func projectFolders(t *ecosystem.Tree) []string {
	var dirs []string
	for _, name := range manifests {
		for _, dir := range t.FoldersWith(name) {
			if !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	slices.SortFunc(dirs, ecosystem.CompareDepth)
	return dirs
}

// testTask matches what declares a task that runs tests: by rake's own class, by
// minitest's, or by hand.
var testTask = lazyregexp.New(`(?m)\bTestTask\.(?:new|create)\b|^\s*task\s*\(?\s*(?::test\b|["']test["']|test:)`)

// verbosely has both of Ruby's runners name each test, through rake's task and through
// minitest's own, which read different variables.
const verbosely = `TESTOPTS='-v' A='-v' `

// findTest is RSpec where there are specs, else rake's task, else the tests
// themselves.
func findTest(t *ecosystem.Tree, dir string, gems gemSources) *company.GateCommand {
	if hasFiles(t, path.Join(dir, "spec"), isSpec) {
		report := gems.bundledCommand("rspec --no-fail-fast --format progress --format json --out " + testreport.File)
		return &company.GateCommand{Command: gems.bundledCommand("rspec"), Report: report, Parse: formatRSpec, Plant: plantSpec, Canary: report + " --example " + ecosystem.CanaryPlaceholder}
	}
	if !hasFiles(t, path.Join(dir, "test"), isTestFile) {
		return nil
	}
	if testTask.MatchString(t.ReadManifest(dir, "Rakefile")) {
		run := gems.bundledCommand("rake test")
		only := "--name=/" + ecosystem.CanaryPlaceholder + "/"
		return &company.GateCommand{Command: run, Report: gems.bundledWith(verbosely, "rake test") + " 2>&1", Parse: formatTest, Plant: plantTest,
			Canary: gems.bundledWith(`TESTOPTS='-v `+only+`' A='-v' N='/`+ecosystem.CanaryPlaceholder+`/' `, "rake test") + " 2>&1"}
	}
	run := gems.bundledCommand(`ruby -I lib -I test -e 'Dir["test/**/{test_*,*_test}.rb"].sort.each { |f| require File.expand_path(f) }'`)
	return &company.GateCommand{Command: run, Report: run + " -- -v 2>&1", Parse: formatTest, Plant: plantTest, Canary: run + " -- -v --name=/" + ecosystem.CanaryPlaceholder + "/ 2>&1"}
}

// hasFiles says whether a file of that kind of name lies in or below a folder.
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
	return strings.HasPrefix(name, "test_") && strings.HasSuffix(name, ".rb") && name != "test_helper.rb" || strings.HasSuffix(name, "_test.rb")
}
