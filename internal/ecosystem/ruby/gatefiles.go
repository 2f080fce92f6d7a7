package ruby

import "company/internal/ecosystem"

// gateFiles lists files that configure the runners or linters, or that are loaded before every test.
var gateFiles = []string{
	"Gemfile", "gems.rb", "*.gemfile", "Appraisals", "Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb", "*.rake",
	"Guardfile",
	".rspec", ".rspec-local", ".rubocop*.yml", ".standard*.yml", ".reek.yml", ".simplecov", ".test-unit.yml",
	"test-unit.yml", "spec_helper.rb", "rails_helper.rb", "test_helper.rb",
}

// IsGateFile reports whether a file configures a check, defines rake tasks, or is a setting of bundler.
func (Ecosystem) IsGateFile(file string) bool {
	return ecosystem.HasName(file, gateFiles) || ecosystem.LiesIn(file, ".bundle")
}
