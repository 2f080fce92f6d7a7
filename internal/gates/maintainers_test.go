package gates

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem/checkfinder"
	"company/internal/ecosystem/ecosystemtest"
)

// detectUnrun is what addMaintainerChecks makes of a CI definition beside a Go module.
func detectUnrun(t *testing.T, ci string, o Options) Project {
	t.Helper()
	tree := ecosystemtest.Tree(
		map[string]string{".github/workflows/ci.yml": ci, "go.mod": "module example.com/a\n", "a_test.go": "package a\n"})
	p := Project{Toolchains: []string{"go"},
		Gates: []company.GateCommand{{Name: Lint, Command: "go vet ./..."}, {Name: Test, Command: "go test ./..."}}}
	found := checkfinder.Find(tree, p.Gates)
	p.addMaintainerChecks(tree, &found, o)
	return p
}

// Each check of the CI is run by what was found, is a gate of its own that judges where it is green on
// the base, or is named with the reason.
func TestChecksOfTheCI(t *testing.T) {
	p := detectUnrun(t, `on: push
env: {SHARED: "a b", SECRET: "${{ secrets.X }}"}
jobs:
  test:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        tags: [sqlite, postgres]
    steps:
      - uses: actions/checkout@v4
      - uses: golangci/golangci-lint-action@v6
      - run: go vet ./... && go test -race ./...
      - run: go test -tags ${{ matrix.tags }} ./...
        env: {OWN: 1}
      - run: go test -run '^$' -bench . ./...
      - run: ./test.sh ${{ github.sha }}
      - run: sudo ./integration-test.sh
      - run: pytest docs
  mac:
    runs-on: macos-latest
    steps: [{run: ./mac-test.sh}]
`, Options{})
	var names []string
	for _, g := range p.Gates {
		names = append(names, g.Name)
	}
	if want := []string{"lint", "test", "test (go test -tags sqlite ./...)",
		"test (go test -tags postgres ./...)"}; !slices.Equal(names, want) {
		t.Errorf("gates %q, want %q", names, want)
	}
	if p.Gates[1].From != ".github/workflows/ci.yml:12" || p.Gates[1].Provisional {
		t.Errorf("the test gate: %+v", p.Gates[1])
	}
	if g := p.Gates[2]; !g.Provisional || g.Report != "export SHARED='a b'; export OWN=1; go test -tags sqlite ./..." {
		t.Errorf("the gate of the CI: %+v", g)
	}
	var unrun []string
	for _, u := range p.Unrun {
		unrun = append(unrun, u.String())
	}
	all := strings.Join(unrun, "\n")
	for _, want := range []string{
		"./test.sh ${{ github.sha }} (.github/workflows/ci.yml:16) is not run here: it has a value that only the CI knows",
		"sudo ./integration-test.sh (.github/workflows/ci.yml:17) is not run here: it wants to be root",
		"pytest docs (.github/workflows/ci.yml:18) is not run here: it needs python, which no other check needs",
		"go test -race ./... (.github/workflows/ci.yml:12) is not run here: its tests are run here without -race",
		"golangci/golangci-lint-action (.github/workflows/ci.yml:11) is not run here: an action from outside " +
			"this repository",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("not named: %s\nin\n%s", want, all)
		}
	}
	if strings.Contains(all, "bench") || strings.Contains(all, "mac-test") {
		t.Errorf("named though it is not a check on Linux:\n%s", all)
	}
}

// A check of the CI that looks closer at the tests of a gate is named, also behind a target, unless the gate does too.
func TestCloserChecksOfTheCI(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ step, gate, want string }{
		"the flag": {"go test -race ./...", "go test ./...", "go test -race ./... (.github/workflows/ci.yml:1) is not run here: " +
			"its tests are run here without -race"},
		"behind a target": {"make race", "go test ./...", "make race (.github/workflows/ci.yml:1) is not run here: its tests " +
			"are run here without -race"},
		"the gate has it": {"go test -race ./...", "go test -race ./...", ""},
		"no such flag":    {"go test -v -count=1 ./...", "go test ./...", ""},
	} {
		tree := ecosystemtest.Tree(map[string]string{
			".github/workflows/ci.yml": "jobs: {a: {steps: [{run: " + c.step + "}]}}\n", "go.mod": "module example.com/a\n",
			"Makefile": "race:\n\tgo test -race ./...\n"})
		p := Project{Toolchains: []string{"go"}, Gates: []company.GateCommand{{Name: Test, Command: c.gate}}}
		found := checkfinder.Find(tree, p.Gates)
		p.addMaintainerChecks(tree, &found, Options{})
		var got []string
		for _, u := range p.Unrun {
			if got = append(got, u.String()); u.OfCI {
				t.Errorf("%s makes the work unverified: %s", name, u)
			}
		}
		if strings.Join(got, "\n") != c.want || len(p.Gates) != 1 {
			t.Errorf("%s: %q, gates %+v", name, got, p.Gates)
		}
	}
}

// What the config names is what is run: the CI adds nothing to it, and is named.
func TestChecksOfTheCIBesideTheConfig(t *testing.T) {
	p := detectUnrun(t, "jobs: {a: {steps: [{run: go test -tags x ./...}]}}\n", Options{Test: "make check"})
	if len(p.Gates) != 2 || len(p.Unrun) != 1 || p.Unrun[0].Why != "gates.test names another command" {
		t.Errorf("%+v %+v", p.Gates, p.Unrun)
	}
}

// A definition of which not all can be read is named: nobody knows which checks it has.
func TestUnreadDefinitionsOfTheCI(t *testing.T) {
	many := "jobs:\n"
	for i := range 900 {
		many += fmt.Sprintf("  j%d: {steps: [{run: a}]}\n", i)
	}
	for ci, want := range map[string]string{
		"jobs:\n  a: [\n": "the jobs of .github/workflows/ci.yml (.github/workflows/ci.yml) is not run here: not all of it " +
			"can be read: line 2",
		many: "the first 200",
		"on: push\njobs: {a: {steps: [{run: go test ./...}]}}\n": "",
	} {
		p := detectUnrun(t, ci, Options{})
		if want == "" && len(p.Unrun) == 0 {
			continue
		}
		if len(p.Unrun) != 1 || !p.Unrun[0].OfCI || want == "" || !strings.Contains(p.Unrun[0].String(), want) {
			t.Errorf("%.60q: %+v", ci, p.Unrun)
		}
	}
}

// A check of the CI by make, or by a checker that Debian has, is run: each base has the one, and the image
// gets the other.
func TestProgramsOfTheCI(t *testing.T) {
	tree := ecosystemtest.Tree(map[string]string{
		".github/workflows/ci.yml": "jobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: make check-build\n  " +
			"    - run: codespell\n      - run: pip install yamllint\n",
		"Makefile": "check-build:\n\tgo build\n", "go.mod": "module example.com/a\n", "a_test.go": "package a\n",
	})
	p, err := DetectTree(tree, Options{})
	if err != nil || len(p.Unrun) > 0 {
		t.Fatal(err, p.Unrun)
	}
	var commands []string
	for _, g := range p.Gates {
		commands = append(commands, g.Command)
	}
	if !slices.Contains(commands, "make check-build") || !slices.Contains(commands, "codespell") ||
		!slices.Contains(p.Toolchains, "codespell") || slices.Contains(p.Toolchains, "yamllint") || len(p.Spare) > 0 {
		t.Errorf("gates %q, toolchains %q, spare %q", commands, p.Toolchains, p.Spare)
	}
}

// A CI that has changed since the gates were found has checks that no gate runs: they are named.
func TestNewerChecksOfTheCI(t *testing.T) {
	t.Parallel()
	const job = "jobs:\n  a:\n    steps:\n      - run: go test ./...\n      - run: sudo ./old.sh\n"
	was := detectUnrun(t, job, Options{})
	for more, want := range map[string]string{
		"":                         "",
		"      - run: echo fine\n": "",
		"      - run: go test -tags pg ./...\n": "go test -tags pg ./... (.github/workflows/ci.yml:6) is not run here: the " +
			"CI has it since the work on this pull request began, and the gates are from before",
		"      - run: sudo ./integration-test.sh\n": "sudo ./integration-test.sh (.github/workflows/ci.yml:6) is not run " +
			"here: it wants to be root",
	} {
		got := detectUnrun(t, job+more, Options{}).ListNewer(was.Gates, was.Unrun)
		if want == "" && len(got) == 0 {
			continue
		}
		if len(got) != 1 || !got[0].OfCI || got[0].String() != want {
			t.Errorf("%q: %v", more, got)
		}
	}
}

// What the CI does not judge by takes the place of no check that it judges by: without that one's name broken work
// would be called complete.
func TestNamesOfTheCIHaveRoom(t *testing.T) {
	t.Parallel()
	ci := "jobs:\n  a:\n    steps:\n"
	for i := range 20 {
		ci += fmt.Sprintf("      - {run: ./soft%d-test.sh; ./soft%d-lint.sh, continue-on-error: true}\n", i, i)
	}
	p := detectUnrun(t, ci+"      - run: sudo ./lint.sh\n", Options{})
	if len(p.Unrun) != maxUnrun || !p.Unrun[maxUnrun-1].OfCI || p.Unrun[0].OfCI {
		t.Errorf("%d, the last %+v", len(p.Unrun), p.Unrun[len(p.Unrun)-1])
	}
}
