package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMain lets this program become another one offline, as main does.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == offlineArgument {
		panic(becomeOffline(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// plantModule makes a module with a package for each way in which tests fail, and enters its folder.
func plantModule(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	const head = "package x\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nvar _ = os.Exit\n\n"
	for name, text := range map[string]string{
		"go.mod":          "module planted\n\ngo 1.26\n",
		"green/x_test.go": head + "func TestGreen(t *testing.T) {}\n",
		"red/x_test.go": head + "func TestRed(t *testing.T) {\n\tt.Run(\"a row\", func(t *testing.T) {\n" +
			"\t\tt.Error(\"it is wrong\")\n\t})\n\tt.Run(\"another\", func(t *testing.T) {})\n}\n",
		"panics/x_test.go": head + "func TestPanics(t *testing.T) { panic(\"it ends\") }\n",
		"broken/x_test.go": head + "func TestBroken(t *testing.T) { missing() }\n",
		"exits/x_test.go":  head + "func TestMain(m *testing.M) { m.Run(); os.Exit(3) }\n\nfunc TestFine(t *testing.T) {}\n",
		"flaky/x_test.go": head + "func TestFlaky(t *testing.T) {\n\tif err := os.Mkdir(\"seen\", 0o755); err == nil {\n" +
			"\t\tt.Error(\"the first time\")\n\t}\n}\n",
		"kills/x_test.go": head + "func TestKillTwice(t *testing.T) {\n\tif err := os.Mkdir(\"seen\", 0o755); err == nil {\n" +
			"\t\tt.Error(\"the first time\")\n\t}\n}\n",
		"ends/x_test.go": head + "func TestWrong(t *testing.T) { t.Error(\"the first time\") }\n\n" +
			"func TestEnds(t *testing.T) { os.Exit(3) }\n",
		"offline/x_test.go": offlineTest,
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

// offlineTest is a test that fails if it can reach more than the loopback. The other address belongs to no network
// (RFC 5737), and nothing is sent to it.
const offlineTest = `package x

import (
	"net"
	"testing"
)

func TestOffline(t *testing.T) {
	here, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	if _, err := net.Dial("tcp", here.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if _, err := net.Dial("udp", "192.0.2.1:9"); err == nil {
		t.Fatal("it has a way out")
	}
}
`

// TestFailuresAreNamed runs tests that fail in each way and reads what is reported of them.
func TestFailuresAreNamed(t *testing.T) {
	plantModule(t)
	packages, err := listPackages(t.Context())
	if err != nil || len(packages) != 9 {
		t.Fatalf("%d packages, %v", len(packages), err)
	}
	printed, err := os.Create(filepath.Join(t.TempDir(), "printed"))
	if err != nil {
		t.Fatal(err)
	}
	defer printed.Close()
	if !offlineWorks() { // this user can make no network
		packages = slices.DeleteFunc(packages, func(p goPackage) bool { return p.dir() == "offline" })
	}
	r := &run{packages: packages, out: t.TempDir(), print: printed}
	all := phase{name: "planted", commands: [][]string{{"sh", "-c", "echo no; exit 4"}},
		tests: []testSet{{packages: func(goPackage) bool { return true }}}}
	got, err := r.runPhase(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	var failed []string
	for _, f := range got.failures {
		failed = append(failed, strings.Join([]string{f.what, f.place, f.repeat}, "|"))
	}
	slices.Sort(failed)
	want := []string{
		"broken|broken/x_test.go:10|go test -count=1 ./broken",
		"ends TestEnds||go test -count=1 ./ends",
		"ends TestWrong|ends/x_test.go:10|go test -count=1 ./ends -run '^TestWrong$'",
		"exits||go test -count=1 ./exits",
		"kills TestKillTwice|kills/x_test.go:12|go test -count=1 ./kills -run '^TestKillTwice$'",
		"panics TestPanics|panics/x_test.go:10|go test -count=1 ./panics -run '^TestPanics$'",
		"red TestRed/a_row|red/x_test.go:12|go test -count=1 ./red -run '^TestRed$/^a_row$'",
		"sh -c echo no; exit 4||sh -c 'echo no; exit 4'",
	}
	if !slices.Equal(failed, want) {
		t.Errorf("failed:\n%s\nwant:\n%s", strings.Join(failed, "\n"), strings.Join(want, "\n"))
	}
	if len(got.flaky) != 1 || got.flaky[0].what != "flaky TestFlaky" || got.tests != len(packages)-6 {
		t.Errorf("%d passed, flaky: %+v", got.tests, got.flaky)
	}
	r.results = append(r.results, got)
	if r.green() {
		t.Error("red tests are green")
	}
	var summary strings.Builder
	r.summarize(&summary, []phase{all, {name: "later"}})
	for _, part := range []string{"it is wrong", "undefined: missing", "panic: it ends", "later    not run",
		"FLAKY flaky TestFlaky", "    again: go test -count=1 ./red -run '^TestRed$/^a_row$'"} {
		if !strings.Contains(summary.String(), part) {
			t.Errorf("the summary does not say %q:\n%s", part, &summary)
		}
	}
}

// TestFewFlakyTestsAreGreen: two flaky tests are let pass, and a third is not.
func TestFewFlakyTestsAreGreen(t *testing.T) {
	for n, green := range []bool{true, true, true, false} {
		if r := (&run{results: []result{{flaky: make([]failure, n)}}}); r.green() != green {
			t.Errorf("with %d flaky tests: green %t", n, r.green())
		}
	}
}

// TestFullDiskIsNamed: /proc stands for a disk without room, since it has none.
func TestFullDiskIsNamed(t *testing.T) {
	if err := checkRoom(t.TempDir()); err != nil {
		t.Error(err)
	}
	if err := checkRoom(t.TempDir(), "/proc"); err == nil || !strings.Contains(err.Error(), "the disk of /proc has 0 MB") {
		t.Errorf("%v", err)
	}
}

// TestChosenPhasesAreBuilt: a phase that is named runs on the program as it is now.
func TestChosenPhasesAreBuilt(t *testing.T) {
	chosen, err := choosePhases("race,unit", "", false)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range chosen {
		names = append(names, p.name)
	}
	if !slices.Equal(names, []string{"build", "unit", "race"}) {
		t.Errorf("%v run", names)
	}
	if _, err := choosePhases("units", "", false); err == nil {
		t.Error("a phase that is not there was chosen")
	}
}

// TestEveryPackageIsRun: each package is run by a phase of make test, or is one of those that only make test/long runs.
func TestEveryPackageIsRun(t *testing.T) {
	t.Chdir("../..")
	packages, err := listPackages(t.Context())
	if err != nil || len(packages) < 100 {
		t.Fatalf("%d packages, %v", len(packages), err)
	}
	for _, list := range [][]phase{phases, longPhases} {
		for _, p := range packages {
			run := slices.ContainsFunc(list, func(one phase) bool {
				return slices.ContainsFunc(one.tests, func(tests testSet) bool { return tests.packages(p) })
			})
			if !run && p.dir() != "test/archtest" {
				t.Errorf("no phase runs %s", p.dir())
			}
		}
	}
	for _, dir := range slices.Concat(raced, withDocker, walks) {
		if !slices.ContainsFunc(packages, func(p goPackage) bool { return p.dir() == dir }) {
			t.Errorf("there is no package %s with tests", dir)
		}
	}
}

// TestUnracedTestsRun: unit runs each test of a raced package that skips itself there.
func TestUnracedTestsRun(t *testing.T) {
	t.Chdir("../..")
	packages, err := listPackages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	having, tests, err := findUnraced(selectPackages(packages, testSet{packages: only(raced...)}))
	if err != nil || len(having) < 5 || len(tests) < 20 {
		t.Errorf("%d tests in %d packages, %v", len(tests), len(having), err)
	}
	for _, name := range tests {
		if !strings.HasPrefix(name, "Test") {
			t.Errorf("%s calls hosttest.NotRaced, which a test must do itself to be found", name)
		}
	}
}
