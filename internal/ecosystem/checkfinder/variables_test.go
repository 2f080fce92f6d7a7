package checkfinder

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem/ecosystemtest"
)

// findInCI is what a workflow with these steps, beside these files, proposes where the gate is go test of the root.
func findInCI(steps string, files ...string) Found {
	tree := map[string]string{"go.mod": "module example.com/a\n", "Makefile": "test-slow:\n\tDB=b go test ./...\n",
		".github/workflows/ci.yml": "jobs:\n  a:\n    strategy: {matrix: {db: [lite, pg], dir: [tools, other]}}\n    " +
			"steps:\n" + steps}
	for _, f := range files {
		tree[f] = "module example.com/b\n"
	}
	return Find(ecosystemtest.Tree(tree), []company.GateCommand{{Name: "test", Command: "go test ./..."}})
}

// A gate runs what the CI runs in another folder only where it looks there: above it, over all of its
// folder, with no project of its own in between.
func TestAgreementByFolder(t *testing.T) {
	for _, c := range []struct {
		gate, gateDir, theirs, in string
		own                       string // a file of the tree
		want                      bool
	}{
		{"go test ./...", "", "go test ./...", "tools", "tools/a.go", true},
		{"go test ./...", "", "go test ./...", "tools", "tools/go.mod", false},
		{"go test ./...", "", "go test ./...", "a/b/c", "a/go.mod", false},
		{"go test ./...", "tools", "go test ./...", "tools", "tools/go.mod", true},
		{"go test ./...", "tools", "go test ./...", "toolsmith", "a.go", false},
		{"go test ./...", "tools", "go test ./...", "", "tools/go.mod", false},
		{"go test .", "", "go test .", "tools", "a.go", false},
		{"go test", "", "go test", "tools", "a.go", false},
		{"go test ./a", "", "go test ./a", "tools", "a.go", false},
		{"python3 -m pytest", "", "pytest", "tests", "a.py", true},
		{"python3 -m pytest", "", "pytest", "backend", "backend/pyproject.toml", false},
		{"npx --no-install vitest run", "", "npx vitest run", "web", "web/package.json", false},
		{"cargo test --workspace", "", "cargo test", "crates/a", "crates/a/Cargo.toml", true},
		{"cargo test", "", "cargo test", "crates/a", "crates/a/Cargo.toml", false},
	} {
		f := Find(
			ecosystemtest.Tree(
				map[string]string{c.own: "",
					".github/workflows/ci.yml": fmt.Sprintf(
						"jobs:\n  a:\n    steps:\n      - run: %s\n        working-directory: %s\n", c.theirs, c.in)}),
			[]company.GateCommand{{Name: "test", Command: c.gate, Dir: c.gateDir}})
		if len(f.Commands) != 1 || f.Commands[0].Agrees != c.want {
			t.Errorf("%s in %q checks %s in %q: %+v", c.gate, c.gateDir, c.theirs, c.in, f.Commands)
		}
	}
}

// One command with other variables is another check, whether they stand at the step, before the
// command or in the matrix; what says how a check is shown, and by which version, makes none.
func TestChecksByTheirVariables(t *testing.T) {
	for name, c := range map[string]struct{ steps, want string }{
		"by their steps": {"      - {run: go test ./..., env: {DB: a}}\n      - {run: go test ./..., env: {DB: b}}\n",
			"= DB=a|/ DB=b"},
		"of the matrix":       {"      - {run: go test ./..., env: {DB: '${{ matrix.db }}'}}\n", "= DB=lite|/ DB=pg"},
		"a choice":            {"      - {run: go test ./..., env: {GOFLAGS: -tags=slow}}\n", "/ GOFLAGS=-tags=slow"},
		"a choice before it":  {"      - run: RUN_E2E=1 go test ./...\n", "/ RUN_E2E=1"},
		"a choice turned off": {"      - run: RUN_E2E=0 go test ./...\n      - run: go test ./...\n", "= RUN_E2E=0|= "},
		"how it is shown": {"      - {run: go test ./..., env: {CI: true, FORCE_COLOR: 1}}\n      - {run: go test " +
			"./..., env: {GO_VERSION: 1.22}}\n", "= CI=true FORCE_COLOR=1"},
		"before a part":       {"      - run: make test-slow\n", "/ "},
		"another word for it": {"      - run: go test ./...\n      - {run: go test -v ./..., env: {DB: b}}\n", "= |/ DB=b"},
		"known to the CI": {"      - {run: go test ./..., env: {KEY: '${{ secrets.KEY }}'}}\n      - run: go test " +
			"./...\n", "= "},
	} {
		var got []string
		for _, cmd := range findInCI(c.steps).Commands {
			if cmd.OfCI {
				got = append(got, map[bool]string{true: "= ", false: "/ "}[cmd.Agrees]+strings.Join(cmd.listVariables(), " "))
			}
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A check in a folder that is not known, or not of the tree, is not a gate's; one in a folder of the matrix is
// looked for in each.
func TestChecksInFoldersOfTheCI(t *testing.T) {
	f := findInCI(`      - {run: go test ./..., working-directory: '${{ matrix.dir }}'}
      - {run: go test ./..., working-directory: ../elsewhere}
      - {run: go vet ./..., working-directory: '${{ steps.x.outputs.dir }}'}
      - run: cd "$SOMEWHERE" && go test -v ./...
      - {run: go test -race ./..., working-directory: '${{ github.workspace }}/'}
`, "other/go.mod")
	const want = `test = go test ./... in tools (.github/workflows/ci.yml:5)
test / go test ./... in other (.github/workflows/ci.yml:5)
test /? go test ./... (.github/workflows/ci.yml:6)
test /? go test -v ./... (.github/workflows/ci.yml:8)
test = go test -race ./... (.github/workflows/ci.yml:9)
test / make test-slow (Makefile:1)
lint /? go vet ./... (.github/workflows/ci.yml:7)
`
	if got := printed(f); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// However many checks a CI has that the gates run, one that they do not run is told.
func TestCheckBehindManyOthers(t *testing.T) {
	var steps strings.Builder
	for i := range 40 {
		fmt.Fprintf(&steps, "      - run: go test ./p%d\n", i)
	}
	f := findInCI(steps.String() + "      - run: make e2e\n      - run: ./scripts/integration.sh\n")
	if got := printed(f); !strings.Contains(got, "test / make e2e (") ||
		!strings.Contains(got, "test / ./scripts/integration.sh (") || len(f.Commands) != maxCommands+2 {
		t.Errorf("%d commands:\n%s", len(f.Commands), got)
	}
}
