package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

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

// TestFailuresAreNamed runs tests that fail in each way and reads what is reported of them.
func TestFailuresAreNamed(t *testing.T) {
	plantModule(t)
	packages, err := listPackages(t.Context())
	if err != nil || len(packages) != 7 {
		t.Fatalf("%d packages, %v", len(packages), err)
	}
	printed, err := os.Create(filepath.Join(t.TempDir(), "printed"))
	if err != nil {
		t.Fatal(err)
	}
	defer printed.Close()
	r := &run{packages: packages, out: t.TempDir(), print: printed}
	all := phase{name: "planted", commands: [][]string{{"sh", "-c", "echo no; exit 4"}},
		tests: []testSet{{packages: func(goPackage) bool { return true }}}}
	got, err := r.phase(t.Context(), all)
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
		"exits||go test -count=1 ./exits",
		"kills TestKillTwice|kills/x_test.go:12|go test -count=1 ./kills -run '^TestKillTwice$'",
		"panics TestPanics|panics/x_test.go:10|go test -count=1 ./panics -run '^TestPanics$'",
		"red TestRed/a_row|red/x_test.go:12|go test -count=1 ./red -run '^TestRed$/^a_row$'",
		"sh -c echo no; exit 4||sh -c 'echo no; exit 4'",
	}
	if !slices.Equal(failed, want) {
		t.Errorf("failed:\n%s\nwant:\n%s", strings.Join(failed, "\n"), strings.Join(want, "\n"))
	}
	if len(got.flaky) != 1 || got.flaky[0].what != "flaky TestFlaky" || got.tests != 2 {
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
			if !run && p.dir() != measures && p.dir() != "test/archtest" {
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
