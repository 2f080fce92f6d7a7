package ciconfig

import (
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// A script of a matrix is one script for each value that the file lists; what it does not list stays
// open.
func TestScriptsOfAMatrix(t *testing.T) {
	defs := ReadDefinitions(ecosystemtest.Tree(map[string]string{".github/workflows/ci.yml": `jobs:
  a:
    runs-on: ${{ matrix.os }}
    strategy:
      matrix:
        os: [ubuntu-latest]
        suite: [unit, e2e]
        include: [{suite: slow, flags: "-x"}]
        broken: ${{ fromJSON(needs.x) }}
    steps:
      - run: npm run test:${{ matrix.suite }} -- ${{matrix.flags}}
      - run: make ${{ matrix.broken }} ${{ github.sha }}
  b:
    runs-on: macos-13
    steps: [{run: make test}]
`}))
	var got []string
	for _, j := range defs[0].Jobs {
		for _, s := range j.Steps {
			got = append(got, s.Script)
		}
	}
	want := "npm run test:unit -- -x|npm run test:e2e -- -x|npm run test:slow -- -x|make ${{ matrix.broken }} ${{ " +
		"github.sha }}"
	if strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
}
