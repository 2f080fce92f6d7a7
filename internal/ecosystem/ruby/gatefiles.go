package ruby

import "company/internal/ecosystem"

// gateFiles configure the runners and linters, or are loaded before every test.
var gateFiles = []string{
	"Gemfile", "gems.rb", "*.gemfile", "Appraisals", "Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb", "*.rake", "Guardfile",
	".rspec", ".rspec-local", ".rubocop*.yml", ".standard*.yml", ".reek.yml", ".simplecov", ".test-unit.yml", "test-unit.yml", "spec_helper.rb", "rails_helper.rb", "test_helper.rb",
}

// IsGateFile says whether a file configures a check, defines rake's tasks, or is
// bundler's settings.
func (Ecosystem) IsGateFile(file string) bool {
	return ecosystem.HasName(file, gateFiles) || ecosystem.LiesIn(file, ".bundle")
}
