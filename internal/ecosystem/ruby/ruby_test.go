package ruby

import (
	"slices"
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// Which runner a project has, and by which gems it is run.
func TestCommands(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string // begins the command; empty: no project
		notes []string
		needs string
	}{
		"a task of rake": {map[string]string{"Rakefile": "Rake::TestTask.new(:test)\n", "test/test_a.rb": ""},
			"rake test", nil, ""},
		"a task of minitest": {map[string]string{"Gemfile": "gem 'minitest'\n", "Rakefile": "Minitest::TestTask.create\n",
			"test/a_test.rb": ""}, "rake test", nil, ""},
		"no task": {map[string]string{"Gemfile": "", "Rakefile": "task :build\n", "test/deep/a_test.rb": ""},
			"ruby -I lib -I test -e ", nil, ""},
		"specs before tests": {map[string]string{"Gemfile": "", "Rakefile": "Rake::TestTask.new\n", "test/test_a.rb": "",
			"spec/a_spec.rb": ""}, "rspec", nil, ""},
		"only a helper": {map[string]string{"Gemfile": "", "test/test_helper.rb": ""}, "",
			[]string{"a Ruby project without tests"}, ""},
		"a Rakefile of others": {map[string]string{"Rakefile": "task :deploy\n"}, "", nil, ""},
		"gems of Debian's": {map[string]string{"Gemfile": "gemspec\ngem \"rack\"\n",
			"x.gemspec":      "  s.add_dependency 'nokogiri', '~> 1'\n  s.add_development_dependency(\"concurrent-ruby\")\n",
			"spec/a_spec.rb": ""}, "rspec", nil,
			"gem-concurrent-ruby gem-nokogiri gem-rack"},
		"gems of nobody's": {map[string]string{"Gemfile": "gem 'rails-of-ours'\n# gem 'no'\n", "spec/a_spec.rb": ""}, "rspec",
			[]string{"Gemfile asks for gems that Debian does not have (rails-of-ours)"}, ""},
		"packed gems": {map[string]string{"Gemfile": "gem 'ours'\ngem 'rack'\n", "vendor/cache/ours-1.0.gem": "x",
			"spec/a_spec.rb": ""}, "export BUNDLE_PATH=/tmp/bundle && bundle install --local --quiet && bundle exec rspec", nil,
			""},
		"unpacked gems": {map[string]string{"Gemfile": "gem 'ours'\n", "vendor/bundle/ruby/3.1.0/gems/ours-1.0/a.rb": "x",
			"spec/a_spec.rb": ""}, "BUNDLE_PATH=vendor/bundle bundle exec rspec", nil, ""},
		"unpacked for another": {map[string]string{"Gemfile": "gem 'rack'\n",
			"vendor/bundle/ruby/2.7.0/gems/rack-1.0/a.rb": "x", "spec/a_spec.rb": ""}, "rspec",
			[]string{"vendor/bundle holds the gems of Ruby 2.7.0, and the image has Ruby 3.1"}, "gem-rack"},
		"a folder below": {map[string]string{"Gemfile": "", "spec/a_spec.rb": "", "tools/Rakefile": "Rake::TestTask.new\n",
			"tools/test/test_a.rb": ""}, "rspec", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tree := ecosystemtest.Tree(c.files)
			found := Ecosystem{}.Detect(tree, nil)
			got := ""
			if len(found) == 1 {
				got = found[0].Test.Command
			}
			if len(found) > 1 || (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
				t.Errorf("%+v", found)
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

// Which folders are projects of their own, and what each is checked by: a folder below
// one that is tested is a project where it has a Gemfile.
func TestFoldersOfProjects(t *testing.T) {
	const rubocop = ".rubocop.yml"
	for name, c := range map[string]struct {
		files map[string]string
		want  string // folders with lint and test
	}{
		"side by side": {map[string]string{"a/Gemfile": "", "a/spec/a_spec.rb": "", "b/.rspec": "",
			"b/spec/b_spec.rb": ""}, "a:  rspec, b:  rspec"},
		"one below with gems": {map[string]string{"Gemfile": "", "spec/a_spec.rb": "", "engine/Gemfile": "",
			"engine/spec/b_spec.rb": ""}, ":  rspec, engine:  rspec"},
		"one below without": {map[string]string{"Gemfile": "", "spec/a_spec.rb": "", "engine/.rspec": "",
			"engine/spec/b_spec.rb": ""}, ":  rspec"},
		"below one that is not": {map[string]string{"Gemfile": "", rubocop: "", "engine/.rspec": "",
			"engine/spec/b_spec.rb": ""}, ": rubocop , engine:  rspec"},
		"lint and test": {map[string]string{"Gemfile": "", rubocop: "", "spec/a_spec.rb": ""}, ": rubocop rspec"},
		"lint by the gems it has": {map[string]string{"Gemfile": "gem 'rubocop'\n", rubocop: "",
			"vendor/bundle/ruby/3.1.0/gems/rubocop-1/a.rb": ""}, ": BUNDLE_PATH=vendor/bundle bundle exec rubocop "},
		"settings of a linter":  {map[string]string{rubocop: ""}, ""},
		"specs of the packages": {map[string]string{"Gemfile": "", "vendor/x/spec/a_spec.rb": ""}, ""},
	} {
		var got []string
		for _, p := range (Ecosystem{}).Detect(ecosystemtest.Tree(c.files), nil) {
			lint, test := "", ""
			if p.Lint != nil {
				lint = p.Lint.Command
			}
			if p.Test != nil {
				test = p.Test.Command
			}
			got = append(got, p.Dir+": "+lint+" "+test)
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: %q, want %q", name, s, c.want)
		}
	}
}

// What the runners print for people names failures, too, and one that died said so.
func TestPlainOutput(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		failed string
		ended  bool
	}{
		"rspec": {"..F\n\nFinished in 0.1 seconds (files took 0.1 seconds to load)\n3 examples, 1 failure, 1 " +
			"pending\n\nFailed examples:\n\nrspec ./spec/a_spec.rb:3 # A fails\n", "spec/a_spec.rb A fails", true},
		"rspec, loaded": {"An error occurred while loading ./spec/b_spec.rb. - Did you mean?\n\n0 examples, 0 failures, 1 " +
			"error occurred outside of examples\n", "spec/b_spec.rb", true},
		"minitest": {"# Running:\n\n.F\n\n  1) Failure:\nTestA#test_x [a.rb:4]:\nExpected: 1\n\n2 runs, 2 assertions, " +
			"1 failures, 0 errors, 0 skips\n", "TestA#test_x", true},
		"one that died": {"# Running:\n\n.", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range (Ecosystem{}).PlainReaders() {
				for line := range strings.Lines(c.text) {
					r.ReadLine(strings.TrimRight(line, "\n"))
				}
				got := r.Finish()
				if got == nil {
					continue
				}
				names := ""
				for _, f := range got.Failed {
					names += f.Name
				}
				if names != c.failed || got.ParseError != "" || (len(got.Incomplete) == 0) != c.ended {
					t.Errorf("%+v", got)
				}
				return
			}
			t.Error("no reader knows it")
		})
	}
}

// A failing test is written in the manner of the tests that it lies beside.
func TestCanaryText(t *testing.T) {
	for sample, want := range map[string]string{
		"require 'test_helper'\nclass A < ActiveSupport::TestCase\nend\n": "require 'test_helper'\nclass Cw < " +
			"ActiveSupport::TestCase\n",
		"require 'minitest/autorun'\ndescribe 'x' do\nend\n": "require 'minitest/autorun'\ndescribe(\"ww\") { it(\"ww\") {",
		"require x\n": "class Cw < Minitest::Test\n",
	} {
		if got := loadLines(sample) + testText(plantTest, sample, "ww"); !strings.HasPrefix(got, want) {
			t.Errorf("%q", got)
		}
	}
}
