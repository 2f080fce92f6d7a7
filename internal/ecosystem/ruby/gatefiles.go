package ruby

import (
	"path"
	"slices"
)

// gateFiles configure the runners, or are loaded before every test.
var gateFiles = []string{"Gemfile", "Rakefile", ".rspec", ".rubocop.yml", "spec_helper.rb", "rails_helper.rb", "test_helper.rb"}

// IsGateFile says whether a file configures a check, or defines rake's tasks.
func (Ecosystem) IsGateFile(file string) bool {
	return slices.Contains(gateFiles, path.Base(file)) || path.Ext(file) == ".rake"
}
