package main

import (
	"company/internal/lib/hosttest"
	"fmt"
	"go/token"
	"io"
	"slices"
	"strings"
	"testing"
)

// The named mutants, with every test run; make mutants tries a sample of all
// the others too.
func TestShort(t *testing.T) {
	hosttest.Long(t, "each mutant of the core is built and tested")
	t.Chdir("../..")
	var out strings.Builder
	ok, err := run(
		t.Context(),
		options{folder: coreFolder, short: true, names: names, parallel: 2, patience: patience, out: &out,
			progress: io.Discard})
	if err != nil || !ok {
		t.Errorf("a named mutant was not noticed: %v\n%s", err, &out)
	}
}

// All directives of the core fit.
func TestDirectivesOfTheCore(t *testing.T) {
	t.Chdir("../..")
	s, err := load(t.Context(), coreFolder, coreFolder)
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.mutants()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 1000 {
		t.Errorf("only %d mutants of the core", len(all))
	}
	for _, n := range names {
		if _, err := n.find(all); err != nil {
			t.Error(err)
		}
	}
}

const small = "test/mutants/testdata/small"

func loadSmall(t *testing.T) (*source, []*mutant) {
	t.Helper()
	t.Chdir("../..")
	s, err := load(t.Context(), small, small)
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.mutants()
	if err != nil {
		t.Fatal(err)
	}
	return s, all
}

// What is known of a small package is what is found: one mutant that goes
// unnoticed, one that no test reaches, one that never ends, one that a directive
// rightly takes out. Those that do not compile are none.
func TestSmallPackage(t *testing.T) {
	hosttest.Long(t, "each mutant is built and tested")
	t.Chdir("../..")
	var out strings.Builder
	o := options{folder: small, parallel: 2, patience: 1, out: &out, progress: io.Discard}
	ok, err := run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if ok {
		t.Error("two mutants go unnoticed, and that is good")
	}
	for _, want := range []string{
		"small.go:24 number in Even\n  - func Even(n int) bool { return n%2 == 0 }\n  + func Even(n int) bool { return n%1 " +
			"== 0 }\n",
		"small.go:27 swap in Idle (survived, no test comes there)\n  - func Idle() bool { return false }\n  + func Idle() " +
			"bool { return true }\n",
		"small.go     18      14       1      1            2\n",
		"18 mutants were made, 18 tried, 2 not noticed: 11.1 %, at most 0.0 % may be\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("not in the report:\n%s", want)
		}
	}
	o.most, o.function = 50, "Even"
	if ok, err := run(t.Context(), o); err != nil || !ok {
		t.Errorf("half of them may go unnoticed: %v, %v", ok, err)
	}
	if t.Failed() {
		t.Log(out.String())
	}
	o.function = "Odd"
	if _, err := run(t.Context(), o); err == nil {
		t.Error("to try nothing is a success")
	}
}

func TestWhatDoesNotCompileIsNoMutant(t *testing.T) {
	s, all := loadSmall(t)
	greet := slices.DeleteFunc(slices.Clone(all), func(m *mutant) bool { return m.function() != "Greet" })
	if len(greet) == 0 {
		t.Fatal("Greet has no mutants at all")
	}
	fit, err := s.keepCompiling(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range greet {
		if slices.Contains(fit, m) {
			t.Errorf("%s compiles", m.after())
		}
	}
	if err := s.build(t.Context(), t.TempDir(), "", greet); err == nil || !strings.Contains(err.Error(), "do not build") {
		t.Errorf("they build: %v", err)
	}
}

// The run fails and names a mutant that is missing, ambiguous, without a test,
// or not noticed by its test.
func TestNamedMutantsMustBeFound(t *testing.T) {
	_, all := loadSmall(t)
	for want, n := range map[string]named{
		"no such function": {"a", "Odd", number, nil, "TestEven"},
		"found 0 times":    {"b", "Even", number, []trait{mentions("3")}, "TestEven"},
		"found 2 times":    {"c", "Even", number, []trait{mentions("2")}, "TestEven"},
	} {
		if _, err := n.find(all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for want, n := range map[string]named{
		"TestEven: killed":           {"d", "Even", operator, nil, "TestEven"},
		"TestSteps: survived":        {"e", "Even", operator, nil, "TestSteps"},
		"on the clean package: uncl": {"f", "Even", operator, nil, "TestOdd"},
		"TestWithin: killed":         {"g", "Within", remove, []trait{mentions("most"), under("n", "most")}, "TestWithin"},
	} {
		var out strings.Builder
		ok, err := run(t.Context(), options{folder: small, short: true, names: []named{n}, patience: 1, out: &out})
		if err != nil || ok != strings.HasSuffix(want, killed) || !strings.Contains(out.String(), want) {
			t.Errorf("%v, %v, %q, want %q", ok, err, &out, want)
		}
	}
}

func parseBody(t *testing.T, body string) *file {
	t.Helper()
	f, err := parse(token.NewFileSet(), "x.go", "package x\n"+body)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Each kind, by what it makes of a line.
func TestKinds(t *testing.T) {
	for body, want := range map[string][]string{
		"func f() bool { return a && !b.c() }": {
			"negate func f() bool { return !(a && !b.c()) }", "drop (without a)",
			"operator func f() bool { return a || !b.c() }",
			"drop (without !b.c())", "negate func f() bool { return a && b.c() }", "remove (gone)",
		},
		"func f() {\n\tif a == nil {\n\t\tx, y = 1, true\n\t}\n}": {
			"operator if a != nil {", "remove (gone)", "number x, y = 2, true", "number x, y = 0, true", "swap x, y = 1, false",
		},
		"func f() {\n\tif a(b) {\n\t\tc()\n\t}\n}": {"negate if !(a(b)) {", "drop (without a(b))",
			"remove (gone)"},
		"func f() {\n\tfor i < 0 {\n\t\ti++\n\t}\n}": {"negate for !(i < 0) {", "operator for i <= 0 {",
			"number for i < 1 {", "number for i < (-1) {", "remove (gone)"},
		"func f() (int, error) {\n\treturn 1, bad\n}": {"remove (gone)"},
		"func f() (int, error) {\n\treturn 1, nil\n}": {"number return 2, nil", "number return 0, nil",
			"remove (gone)"},
		"func f() {\n\tx := min(a, b-c)\n}":               {"operator x := max(a, b-c)", "operator x := min(a, b+c)"},
		"func f() {\n\tif bad {\n\t\tpanic(`no`)\n\t}\n}": nil,
		"func f() {\n\tswitch a {\n\tcase b, c:\n\t\td()\n\t}}": {"case (gone)", "drop (without b)", "drop (without c)",
			"remove (gone)"},
		"func f() {\n\tswitch {\n\tcase a < b:\n\t}}": {"case (gone)", "negate case !(a < b):", "operator case a <= b:"},
	} {
		var got []string
		for _, m := range generate(parseBody(t, body)) {
			got = append(got, m.kind+" "+m.after())
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s\ngives %q\nwant  %q", body, got, want)
		}
	}
}

// A directive without a mutant is an error. A directive whose mutant a test
// notices fails the run.
func TestDirectives(t *testing.T) {
	for body, want := range map[string]string{
		"func f() {\n\t//mutant:equal swap why\n\tx = true\n}":              "",
		"func f() {\n\tx = true //mutant:equal swap,remove why it is so\n}": "",
		"func f() {\n\tx = 3 //mutant:equal number=4 why\n}":                "",
		"func f() {\n\tx = 3 //mutant:equal number=5 why\n}":                "no mutant of kind number=5",
		"func f() {\n\tx = true //mutant:equal swap\n}":                     "kind=put why",
		"func f() {\n\tx = true //mutant:equal\n}":                          "kind=put why",
		"func f() {\n\tx = true //mutant:equal sawp why\n}":                 `no kind of mutant is called "sawp"`,
		"func f() {\n\tx = true //mutant:equal number why\n}":               "no mutant of kind number",
	} {
		f := parseBody(t, body)
		made := generate(f)
		err := markEqual(f, made)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s\n%v, want %q", body, err, want)
		}
		if marked := slices.ContainsFunc(made, func(m *mutant) bool { return m.equal != "" }); marked != (want == "") {
			t.Errorf("%s\nmarked: %v", body, marked)
		}
	}
	f := parseBody(t, "func f() {\n\tx = true //mutant:equal swap why\n}")
	made := generate(f)
	if err := markEqual(f, made); err != nil {
		t.Fatal(err)
	}
	for verdict, good := range map[string]bool{killed: false, overtime: false, unclear: false, survived: true,
		unreached: true} {
		var results []result
		for _, m := range made {
			if m.kind == swap {
				results = append(results, result{mutant: m, verdict: verdict})
			}
		}
		if ok := report(options{out: io.Discard}, 1, results); ok != good {
			t.Errorf("%s, though a directive says that it is no change: good is %v", verdict, ok)
		}
	}
}

// A sample is the same for the same number, another for another one, and has
// its part of each kind.
func TestSample(t *testing.T) {
	f := parseBody(t, "func f() {\n"+strings.Repeat("\tx = y + z\n\tx = true\n", 50)+"}")
	all := generate(f) // of each line one removal, and one operator or swap
	one, same, other := sample(all, 1, 40), sample(all, 1, 40), sample(all, 2, 40)
	if !slices.Equal(one, same) || slices.Equal(one, other) {
		t.Error("the number does not make the sample")
	}
	count := map[string]int{}
	seen := map[*mutant]bool{}
	for _, m := range one {
		count[m.kind]++
		seen[m] = true
	}
	if len(seen) != 40 || fmt.Sprint(count) != "map[operator:10 remove:20 swap:10]" {
		t.Errorf("%d of %v", len(seen), count)
	}
	if len(sample(all, 1, 1000)) != len(all) {
		t.Error("a sample larger than all is not all")
	}
}

// The ways in which a test binary ends.
func TestJudge(t *testing.T) {
	for out, want := range map[string]string{
		"=== RUN   TestA\n--- FAIL: TestA (0.00s)\nFAIL\n":                                            killed + " TestA",
		"=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\npanic: test timed out after 1h\n": overtime + " TestB",
		"=== RUN   TestA\nruntime: out of memory: cannot allocate\n":                                  overmemory + " TestA",
		"something else": unclear + " ",
	} {
		if verdict, by := readVerdict(out, io.EOF); verdict+" "+by != want {
			t.Errorf("%s %s, want %s", verdict, by, want)
		}
	}
	if verdict, _ := readVerdict("testing: warning: no tests to run\nPASS\n", nil); verdict != unclear {
		t.Errorf("no test: %s", verdict)
	}
}
