package checkers

import (
	"slices"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// A program is needed where a command calls it, and nowhere else.
func TestNeeds(t *testing.T) {
	for command, want := range map[string][]string{
		"codespell": {"codespell"}, "LANG=C shellcheck a.sh b.sh": {"shellcheck"},
		"go vet ./... && yamllint . | bats x": {"yamllint", "bats"}, "cd a; black --check .": {"black"},
		"./codespell": nil, "echo jq": nil, "npm run black": nil, "": nil,
		"python3 -m black --check .": {"black"}, "git commit -m black": nil,
		"find . -name '*.sh' -exec shellcheck {} +": {"shellcheck"},
		"ls a | xargs -n 1 yamllint -s":             {"yamllint"}, `test -z "$(codespell a)"`: {"codespell"},
		"find black -print": nil,
	} {
		if got := (Programs{}).Needs(nil, nil, []string{command}); !slices.Equal(got, want) {
			t.Errorf("%q needs %q, want %q", command, got, want)
		}
	}
}

func TestConformance(t *testing.T) { ecosystemtest.Exercise(t, Programs{}, ecosystemtest.Fixture{}) }
