package ruby

import (
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// A project whose .rspec stops at the first failure is run to its end.
func TestRSpecRunsToItsEnd(t *testing.T) {
	found := Ecosystem{}.Detect(
		ecosystemtest.Tree(
			map[string]string{".rspec": "--fail-fast\n", "Gemfile": "gem 'rspec'\n",
				"spec/a_spec.rb": "RSpec.describe('a') {}\n"}), nil)
	if len(found) != 1 || found[0].Test == nil || !strings.Contains(found[0].Test.Report, "rspec --no-fail-fast ") {
		t.Errorf("%+v", found)
	}
}
