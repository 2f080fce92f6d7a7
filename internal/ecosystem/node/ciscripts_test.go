package node

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// What a definition of continuous integration has in a comment is not a call.
func TestCommentedCallsOfTheCI(t *testing.T) {
	t.Parallel()
	calls := findCICalls(ecosystemtest.Tree(map[string]string{".github/workflows/ci.yml": `jobs:
  e2e:
    steps:
      - run: npm run test:unit # fast
      # - run: npm run test:e2e
      - run: |
          # npx playwright test --project=old
          npx playwright test --project=chromium
`}))
	if got := slices.Collect(maps.Keys(calls.scripts)); !slices.Equal(got, []string{"test:unit"}) {
		t.Errorf("scripts %q", got)
	}
	if !slices.Equal(calls.playwright, []string{" --project=chromium"}) {
		t.Errorf("calls of Playwright's runner: %q", calls.playwright)
	}
}

// Thousands of calls of Playwright's runner, each looked at for each package, took hours.
func TestManyCallsOfPlaywright(t *testing.T) {
	text := "jobs:\n"
	for i := range 3000 {
		text += fmt.Sprintf("  # \n      - run: npx playwright test a%d\n", i)
	}
	if calls := findCICalls(ecosystemtest.Tree(map[string]string{".github/workflows/ci.yml": text})); len(
		calls.playwright) != maxPlaywrightCalls {
		t.Errorf("%d calls", len(calls.playwright))
	}
}
