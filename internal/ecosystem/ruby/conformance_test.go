package ruby

import (
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

func TestConformance(t *testing.T) {
	ecosystemtest.Exercise(t, Ecosystem{}, ecosystemtest.Fixture{
		Files: map[string]string{"Gemfile": "gem 'rspec'\n", ".rubocop.yml": "AllCops:\n", "lib/a.rb": "",
			"spec/a_spec.rb": "require 'a'\n", "spec/deep/b_spec.rb": ""},
		Lint: "rubocop", Test: "rspec",
		Lock: "Gemfile.lock",
		LockText: "GEM\n  remote: https://rubygems.org/\n  specs:\n    rake (13.2.1)\n\nPLATFORMS\n  " +
			"ruby\n\nDEPENDENCIES\n  rake (~> 13.0)\n", Packages: "gem rake@13.2.1",
		Reports: []ecosystemtest.Report{
			{File: "rspec.json", Format: formatRSpec, Passed: 1, Skipped: 1, Failed: []string{"spec/a_spec.rb A fails"}},
			{File: "rspec-broken.json", Format: formatRSpec, Failed: []string{"spec/b_spec.rb"},
				Unrun: []string{"spec/b_spec.rb"}},
			{File: "minitest.txt", Format: formatTest, Passed: 1, Skipped: 1,
				Failed: []string{"TestA#test_errs", "TestA#test_fails"}},
			{File: "testunit.txt", Format: formatTest, Passed: 1, Skipped: 1,
				Failed: []string{"test_errs(TestA)", "test_fails(TestA)"}},
		},
		Canaries: []ecosystemtest.Canary{{Change: map[string]string{"lib/a.rb": "1"}, Dirs: []string{"spec"}},
			{Change: map[string]string{"spec/deep/b_spec.rb": "1"}, Dirs: []string{"spec/deep"}},
			{Change: map[string]string{"Gemfile": "gem 'rspec' # more\n"}, Dirs: []string{"spec", "spec/deep"}}},
		GateFiles: []string{"Gemfile", "Rakefile", ".rspec", "lib/tasks/x.rake"},
	})
}
