package catalog_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem/catalog"
	"company/internal/ecosystem/ecosystemtest"
	"company/internal/ecosystem/testreport"
)

func TestLintFindings(t *testing.T) {
	for _, c := range []struct {
		name, out string
		odd       bool
		failed    []string
	}{
		{"go vet", "# example.com/m\n./a.go:3:2: fmt.Printf format %d has arg x of wrong type\n\tsee here\n# " +
			"example.com/m/b\nvet: b/b.go:9:1: undefined: y\nexit status 1\n",
			false, []string{"a.go: fmt.Printf format %d has arg x of wrong type", "b/b.go: undefined: y"}},
		{"ruff", "a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n[*] 1 fixable with the `--fix` option.\n",
			false, []string{"a.py: F401 [*] `os` imported but unused"}},
		{"flake8", "./a.py:1:1: F401 'os' imported but unused\n./a.py:7:1: F401 'os' imported but unused\n", false,
			[]string{"a.py: F401 'os' imported but unused", "a.py: F401 'os' imported but unused #2"}},
		{"a broken tool", "a.py:1:1: X1 y\nTraceback (most recent call last):\n", true, []string{"a.py: X1 y"}},
		{"nothing", "", false, []string{}},
	} {
		res, text := ecosystemtest.ReadReport(catalog.FormatOf(testreport.FormatFindings), []byte(c.out))
		if got := testNames(res.Failed); (res.ParseError != "") != c.odd || !slices.Equal(got, c.failed) || text != c.out {
			t.Errorf("%s: %q, %q, %q", c.name, res.ParseError, got, text)
		}
	}
}

// A second failure of a name is another one: that one is known does not
// excuse both.
func TestFailuresOfOneName(t *testing.T) {
	res, _ := ecosystemtest.ReadReport(catalog.FormatOf("tap"), []byte("1..2\nnot ok 1 - works\nnot ok 2 - works\n"))
	if got := testNames(res.Failed); !slices.Equal(got, []string{"works", "works #2"}) {
		t.Errorf("%q", got)
	}
}

// A failure that does not look like one has no name, and is counted: on a red
// base nothing new may hide behind the known names.
func TestFailuresWithoutTheirLines(t *testing.T) {
	for _, c := range []struct {
		name, kind, out string
		failed          int
		named           []string
	}{
		{"a name with a directive", "tap",
			"TAP version 13\nnot ok 1 - old\nnot ok 2 - new # TODO b\nnot ok 3 - new # SKIP b\nok 4 - x\n\n1..4\n# tests 4\n# " +
				"pass 1\n# fail 3\n", 3, []string{"old"}},
		{"what may fail", "tap", "not ok 1 - old\nnot ok 2 - later # TODO\n1..2\n# tests 2\n# fail 1\n# todo 1\n", 1,
			[]string{"old"}},
		{"suites are counted by us alone", "tap",
			"# Subtest: s\n    not ok 1 - old\n    1..1\nnot ok 1 - s\n1..1\n# tests 1\n# suites 1\n# fail 1\n", 2,
			[]string{"s", "s > old"}},
		{"print in a line of cargo", "cargo",
			"     Running unittests src/lib.rs (target/debug/deps/p-0123456789abcdef)\nrunning 3 tests\ntest old ... " +
				"FAILED\ntest new ... printedFAILED\ntest x ... ok\n\ntest result: FAILED. 1 passed; 2 failed; 0 ignored; 0 " +
				"measured; 0 filtered out\n", 2, []string{"p src/lib.rs old"}},
		{"nothing failed", "cargo",
			"     Running unittests src/lib.rs (target/debug/deps/p-0123456789abcdef)\nrunning 1 test\ntest x ... ok\n\ntest " +
				"result: ok. 1 passed; 0 failed; 0 ignored\n", 0, nil},
		{"an unexpected success", "unittest",
			"test_a (t.A.test_a) ... ok\ntest_b (t.A.test_b) ... unexpected success\n\nFAIL: test_old (t.A.test_old)\n\nRan 3 " +
				"tests in 0.1s\n\nFAILED (failures=1, unexpected successes=1)\n", 2, []string{"test_old (t.A.test_old)"}},
	} {
		for _, kind := range []string{c.kind, testreport.FormatPlain} {
			res, _ := ecosystemtest.ReadReport(catalog.FormatOf(kind), []byte(c.out))
			check := company.GateCheck{ExitCode: 1}
			if c.failed == 0 {
				check = company.GateCheck{Passed: true}
			}
			res.ApplyTo(&check)
			if check.Counts == nil || check.Counts.Failed != c.failed || !slices.Equal(testNames(res.Failed), c.named) {
				t.Errorf("%s as %q: %+v, %q", c.name, kind, check.Counts, testNames(res.Failed))
			}
		}
	}
}

// What does not fit the exit code, or is not a report, says nothing.
func TestUnparsableReports(t *testing.T) {
	deep := strings.Repeat("<a>", 5000)
	for _, c := range []struct {
		name, kind, out string
		exit            int
	}{
		{"no TAP at all", "tap", "hello\n", 0},
		{"no XML", testreport.FormatJUnit, "hello", 0},
		{"an empty file", testreport.FormatJUnit, " \n", 0},
		{"half an XML", testreport.FormatJUnit, `<testsuite><testcase name="a">`, 0},
		{"another XML", testreport.FormatJUnit, `<html></html>`, 0},
		{"deep XML", testreport.FormatJUnit, "<testsuite>" + deep, 0},
		{"entities", testreport.FormatJUnit,
			`<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>`, 0},
		{"no JSON", "jest-json", "[]", 0},
		{"other JSON", "jest-json", "{}", 0},
		{"red without a failure", "jest-json", `{"numTotalTests":0,"testResults":[]}`, 1},
		{"not cargo", "cargo", "hello\n", 1},
		{"not unittest", "unittest", "hello\n", 1},
		{"nothing reads it", "", "FAIL: x\n", 1},
	} {
		res, _ := ecosystemtest.ReadReport(catalog.FormatOf(c.kind), []byte(c.out))
		check := company.GateCheck{ExitCode: c.exit, Passed: c.exit == 0}
		if res.ApplyTo(&check); check.Counts != nil || len(check.Tests) > 0 {
			t.Errorf("%s: %+v", c.name, check)
		}
	}
}

// What has no end in the report has a name: else one that died would excuse
// another that dies, and a known failure all that it takes with it.
func TestUnfinishedTestsAreNamed(t *testing.T) {
	const cargoHead = "     Running unittests src/lib.rs (target/debug/deps/a-c93b59a92189d5d2)\n\nrunning 2 " +
		"tests\ntest bad ... FAILED\n"
	for _, c := range []struct {
		name, kind, out string
		exit            int
		failed          []string
	}{
		{"go: os.Exit in a test", "go-json", goEvents("run A", "run B", "pass A", "fail "), 1,
			[]string{"p (did not run to its end)", "p B"}},
		{"go: a panic among parallel tests", "go-json",
			goEvents("run A", "pause A", "run C", "pause C", "cont C", "run B", "fail B", "fail "), 1,
			[]string{"p (did not run to its end)", "p B", "p C"}},
		{"go: an end that is lost", "go-json",
			goEvents("run A", "run B", "output B|text--- FAIL: B\n", "pass A", "output |FAIL\n", "fail "), 1, []string{"p B"}},
		{"go: the lost end of a subtest", "go-json",
			goEvents("run A", "run A/s", "pass A", "run B", "fail B", "output |FAIL\n", "fail "), 1, []string{"p B"}},
		{"go: a lost end where all is well", "go-json", goEvents("run A", "pass A", "run B", "output |PASS\n", "pass "), 0,
			[]string{}},
		{"go: after the tests", "go-json", goEvents("run A", "pass A", "output |PASS\n", "fail "), 1,
			[]string{"p (package failed)"}},
		{"go: ended for its time", "go-json", goEvents("run A", "fail A", "run B"), 124,
			[]string{"p (did not run to its end)", "p A"}},
		{"go: before Go 1.24", "go-json", goEvents("output |FAIL\tp [build failed]\n", "fail "), 1,
			[]string{"p (build failed)"}},
		{"tap: fewer than planned", "tap", "1..3\nnot ok 1 - a\nok 2 - b\n", 1, []string{"(did not run to its end)", "a"}},
		{"tap: no plan", "tap", "not ok 1 - a\nok 2 - b\n", 1, []string{"(did not run to its end)", "a"}},
		{"tap: one after the other", "tap", "1..1\nnot ok 1 - a\n1..2\nok 1 - b\nok 2 - c\n", 1, []string{"a"}},
		{"tap: green by its exit code", "tap", "1..3\nok 1 - a\n", 0, []string{}},
		{"cargo: a binary that aborts", "cargo", cargoHead + "error: test failed, to rerun pass `--lib`\n", 101,
			[]string{"a src/lib.rs (did not run to its end)", "a src/lib.rs bad"}},
		{"cargo: one that does not", "cargo", cargoHead + "test fine ... ok\n\ntest result: FAILED. 1 passed; 1 failed;\n",
			101, []string{"a src/lib.rs bad"}},
		{"red, and all passed", "tap", "1..1\nok 1 - fine\n", 3, []string{"(exit code 3, and no test failed)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, _ := ecosystemtest.ReadReport(catalog.FormatOf(c.kind), []byte(c.out))
			check := company.GateCheck{ExitCode: c.exit, Passed: c.exit == 0}
			res.ApplyTo(&check)
			if got := testNames(check.Tests); check.Counts == nil || check.Counts.Failed != len(c.failed) ||
				!slices.Equal(got, c.failed) {
				t.Errorf("%q, %+v", got, check.Counts)
			}
		})
	}
}

// What runners print for people names its failures too: a project's own
// command is not a reason to read none of them.
func TestPlainReports(t *testing.T) {
	for _, c := range []struct {
		name, text    string
		failed, unrun []string
		odd           bool
	}{
		{"go test", "ok  \tm/a\t0.01s\n--- FAIL: TestBad (0.00s)\n    --- FAIL: TestBad/in (0.00s)\n        x_test.go:3: " +
			"no\nFAIL\nFAIL\tm/b\t0.02s\nFAIL\n",
			[]string{"m/b TestBad", "m/b TestBad/in"}, nil, false},
		{"go test, a package that does not build",
			"# m/c\nc.go:3:1: syntax error\nFAIL\tm/c [build failed]\nok  \tm/a\t0.01s\nFAIL\n", []string{"m/c (build failed)"},
			[]string{"m/c (build failed)"}, false},
		{"go test, a panic", "--- FAIL: TestBad (0.00s)\npanic: x [recovered]\n\tpanic: x\n\ngoroutine 7 " +
			"[running]:\nFAIL\tm/b\t0.02s\nFAIL\n",
			[]string{"m/b (did not run to its end)", "m/b TestBad"}, []string{"m/b (did not run to its end)"}, false},
		{"go test, killed", "--- FAIL: TestBad (0.00s)\n", []string{"(did not run to its end)", "TestBad"},
			[]string{"(did not run to its end)"}, false},
		{"go vet and make", "go test ./...\n--- FAIL: TestBad (0.00s)\nFAIL\nFAIL\tm/b\t0.02s\nFAIL\nmake: *** " +
			"[Makefile:2: test] Error 1\n", []string{"m/b TestBad"}, nil, false},
		{"pytest", "..F.\n=== FAILURES ===\nE  assert 1 == 2\n=== short test summary info ===\nFAILED " +
			"tests/test_a.py::test_x[1 - 2] - assert 1 == 2\nERROR tests/test_b.py::test_y - fixture 'z' not found\n=== 1 " +
			"failed, 3 passed, 1 error in 0.12s ===\n",
			[]string{"tests/test_a.py::test_x[1", "tests/test_b.py::test_y"}, nil, false},
		{"pytest, a file that is not collected",
			"=== short test summary info ===\nERROR tests/test_b.py - ImportError: no\n!!! Interrupted: 1 error during " +
				"collection !!!\n=== 1 error in 0.08s ===\n",
			[]string{"tests/test_b.py"}, []string{"tests/test_b.py"}, false},
		{"pytest without its summary", "F.\n1 failed, 1 passed in 0.02s\n", nil, nil, true},
		{"unittest", "test_a (t.A) ... FAIL\n======\nFAIL: test_a (t.A)\n------\nRan 2 tests in 0.001s\n\nFAILED " +
			"(failures=1)\n", []string{"test_a (t.A)"}, nil, false},
		{"cargo", "   Running unittests src/lib.rs (target/debug/deps/p-0123456789abcdef)\n\nrunning 2 tests\ntest t::bad " +
			"... FAILED\ntest t::good ... ok\n\ntest result: FAILED. 1 passed; 1 failed\n", []string{"p src/lib.rs t::bad"},
			nil, false},
		{"cargo that does not compile",
			"error[E0308]: mismatched types\nerror: could not compile `p` (lib test) due to 1 previous error\n",
			[]string{"could not compile p lib test"}, []string{"could not compile p lib test"}, false},
		{"jest", "FAIL lib/a.test.js\n  ● suite › bad\n\n    expect(1).toBe(2)\n\nFAIL lib/b.test.js\n  ● Test suite " +
			"failed to run\n\n    Cannot find module\n\nTests:       1 failed, 2 passed, 3 total\n",
			[]string{"lib/a.test.js suite › bad", "lib/b.test.js (did not run)"},
			[]string{"lib/b.test.js (did not run)"}, false},
		{"jest of several projects",
			"PASS @x/b packages/b/b.test.js\nFAIL @x/a packages/a/a.test.js (5.1 s)\n  ● suite › bad\n\nTests:       1 " +
				"failed, 2 passed, 3 total\n",
			[]string{"packages/a/a.test.js suite › bad"}, nil, false},
		{"vitest of several projects",
			" FAIL  |@x/a| src/a.test.ts > suite > bad\nAssertionError: no\n FAIL  |client (chromium)| src/a.test.ts [ " +
				"src/a.test.ts ]\nError: no\n      Tests  1 failed | 2 passed (3)\n",
			[]string{"|@x/a| src/a.test.ts suite > bad", "|client (chromium)| src/a.test.ts (did not run)"},
			[]string{"|client (chromium)| src/a.test.ts (did not run)"}, false},
		{"jest that names too few", "Tests:       1 failed, 2 passed, 3 total\n", nil, nil, true},
		{"vitest", " FAIL  test/a.test.js > suite > bad\nAssertionError: no\n FAIL  test/b.test.js [ test/b.test.js " +
			"]\nError: no\n Test Files  2 failed (2)\n      Tests  1 failed | 2 passed (3)\n",
			[]string{"test/a.test.js suite > bad", "test/b.test.js (did not run)"},
			[]string{"test/b.test.js (did not run)"}, false},
		{"mocha", "  suite\n    ✓ good\n    1) bad\n\n\n  1 passing (3ms)\n  1 failing\n\n  1) suite\n       bad:\n     " +
			"AssertionError: no\n", []string{"suite bad"}, nil, false},
		{"TAP", "TAP version 13\nok 1 - a\nnot ok 2 - b\n1..2\n", []string{"b"}, nil, false},
		{"two of them", "--- FAIL: TestBad (0.00s)\nFAIL\nFAIL\tm/b\t0.02s\nFAIL\n=== short test summary info ===\nFAILED " +
			"t/test_a.py::test_x\n=== 1 failed in 0.12s ===\n", []string{"m/b TestBad", "t/test_a.py::test_x"}, nil, false},
		{"one that is read and one that is not",
			"--- FAIL: TestBad (0.00s)\nFAIL\nFAIL\tm/b\t0.02s\nFAIL\n1 failed, 1 passed in 0.02s\n", nil, nil, true},
		{"of nobody", "Error 1\nall is lost\nok then\n", nil, nil, true},
		{"nothing", "", nil, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, text := ecosystemtest.ReadReport(catalog.FormatOf(testreport.FormatPlain), []byte(c.text))
			if text != c.text {
				t.Errorf("people read %q", text)
			}
			check := company.GateCheck{ExitCode: 1}
			res.ApplyTo(&check)
			if odd := res.ParseError != ""; odd != c.odd || odd != (check.Counts == nil) {
				t.Fatalf("%q, %+v", res.ParseError, check)
			}
			if got := testNames(check.Tests); !slices.Equal(got, append([]string{}, c.failed...)) {
				t.Errorf("failed: %q", got)
			}
			if got := check.Unrun(); !slices.Equal(got, c.unrun) {
				t.Errorf("not run: %q", got)
			}
		})
	}
}

// A green report counts its tests or has no count. "No test ran" is what a runner says.
func TestPlainReportsCountTests(t *testing.T) {
	no := &company.TestCounts{}
	for _, c := range []struct {
		name, text string
		want       *company.TestCounts
	}{
		{"go", "ok  \tx\t0.012s\n", nil},
		{"go, cached, with coverage", "ok  \tx\t(cached)\tcoverage: 80.0% of statements\n", nil},
		{"go -v", "--- PASS: TestA (0.00s)\n    --- PASS: TestA/b (0.00s)\n--- SKIP: TestB (0.00s)\nPASS\nok  \tx\t0.012s\n",
			&company.TestCounts{Passed: 2, Skipped: 1}},
		{"go -v, and a package without", "--- PASS: TestA (0.00s)\nPASS\nok  \tx\t0.012s\nok  \ty\t0.012s\n", nil},
		{"go, no test files", "?   \tx\t[no test files]\n", no},
		{"go, no tests", "ok  \tx\t0.012s [no tests to run]\n", no},
		{"go, some packages have tests", "?   \tx\t[no test files]\nok  \ty\t0.1s\n", nil},
		{"pytest", "3 passed in 0.01s\n", &company.TestCounts{Passed: 3}},
		{"pytest, with frames", "=== 3 passed, 1 skipped, 2 xfailed, 4 warnings in 0.01s ===\n",
			&company.TestCounts{Passed: 5, Skipped: 1}},
		{"pytest, none", "=== no tests ran in 0.01s ===\n", no},
		{"pytest, all left out", "=== 5 deselected in 0.01s ===\n", no},
		{"unittest", "...\n------\nRan 3 tests in 0.001s\n\nOK (skipped=1)\n", &company.TestCounts{Passed: 2, Skipped: 1}},
		{"unittest, none", "\n------\nRan 0 tests in 0.000s\n\nOK\n", no},
		{"vitest", " Test Files  1 passed (1)\n      Tests  2 passed | 1 skipped (3)\n",
			&company.TestCounts{Passed: 2, Skipped: 1}},
		{"vitest, none", "No test files found, exiting with code 0\n", no},
		{"jest", "Tests:       1 skipped, 1 todo, 2 passed, 4 total\n", &company.TestCounts{Passed: 2, Skipped: 2}},
		{"jest, none", "No tests found, exiting with code 0\n", no},
		{"mocha", "  2 passing (3ms)\n  1 pending\n", &company.TestCounts{Passed: 2, Skipped: 1}},
		{"mocha, none", "  0 passing (1ms)\n", no},
		{"rspec", "3 examples, 0 failures, 1 pending\n", &company.TestCounts{Passed: 2, Skipped: 1}},
		{"rspec, none", "0 examples, 0 failures\n", no},
		{"minitest", "# Running:\n...\n3 runs, 5 assertions, 0 failures, 0 errors, 1 skips\n",
			&company.TestCounts{Passed: 2, Skipped: 1}},
		{"test-unit", "Loaded suite x\n4 tests, 5 assertions, 0 failures, 0 errors, 1 pendings, 1 omissions, 0 " +
			"notifications\n", &company.TestCounts{Passed: 2, Skipped: 2}},
		{"two runners", "3 passed in 0.01s\n  2 passing (3ms)\n", &company.TestCounts{Passed: 5}},
		{"two runners, one without a number", "3 passed in 0.01s\nok  \tx\t0.012s\n", nil},
		{"unknown", "all is well\n", nil},
	} {
		res, _ := ecosystemtest.ReadReport(catalog.FormatOf(testreport.FormatPlain), []byte(c.text))
		check := company.GateCheck{Name: "test", Passed: true}
		res.ApplyTo(&check)
		if !reflect.DeepEqual(check.Counts, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, check.Counts, c.want)
		}
		verdict := company.GateResult{Passed: true, Checks: []company.GateCheck{check}}
		if untested := verdict.ExplainUntested() != ""; untested != (c.want == no) {
			t.Errorf("%s: untested %v", c.name, untested)
		}
	}
}

func FuzzReports(f *testing.F) {
	kinds := []string{"go-json", "tap", "cargo", "unittest", testreport.FormatFindings, testreport.FormatJUnit,
		"jest-json", ""}
	files, err := filepath.Glob("../*/testdata/reports/*")
	if err != nil || len(files) < 9 {
		f.Fatalf("%v, %v", files, err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for i := range kinds {
			f.Add(i, 1, raw)
		}
	}
	f.Fuzz(func(t *testing.T, kind, exit int, out []byte) {
		res, _ := ecosystemtest.ReadReport(catalog.FormatOf(kinds[uint(kind)%uint(len(kinds))]), out)
		c := company.GateCheck{Name: "test", ExitCode: exit, Passed: exit == 0}
		res.ApplyTo(&c)
		if c.Passed != (exit == 0) || c.ExitCode != exit {
			t.Fatalf("the report changed the verdict: %+v", c)
		}
		if c.Counts != nil && (len(c.Tests) > c.Counts.Failed || c.Counts.Failed > 0 && len(c.Tests) == 0) {
			t.Fatalf("%d failed, %d named", c.Counts.Failed, len(c.Tests))
		}
		seen := map[string]bool{}
		for _, x := range c.Tests {
			if x.Name == "" || len(x.Name) > testreport.MaxName+10 || len(x.Message) > testreport.MaxMessage ||
				strings.ContainsAny(x.Name+x.Message, "\r\x00\x1b") || strings.Contains(x.Name, "\n") {
				t.Fatalf("%+v", x)
			}
			if seen[x.Name] {
				t.Logf("twice: %q", x.Name) // "a #2" may be a name of its own
			}
			seen[x.Name] = true
		}
	})
}

func goEvents(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		action, rest, _ := strings.Cut(e, " ")
		test, output, _ := strings.Cut(rest, "|")
		fmt.Fprintf(&b, `{"Action":%q,"Package":"p"`, action)
		if test != "" {
			fmt.Fprintf(&b, `,"Test":%q`, test)
		}
		if output != "" {
			fmt.Fprintf(&b, `,"Output":%q`, output)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// A hostile check prints in any shape: what is kept is
// bounded, and names stay apart and harmless.
func TestResultsAreBounded(t *testing.T) {
	res, _ := ecosystemtest.ReadReport(
		catalog.FormatOf("tap"),
		[]byte("not ok 1 - \x1b[31m"+strings.Repeat("x", 5000)+"\u202e1\nnot ok 2 - "+strings.Repeat("x", 5000)+"2\n1..2\n"))
	if len(res.Failed) != 2 || res.Failed[0].Name == res.Failed[1].Name {
		t.Fatalf("%+v", res.Failed)
	}
	for _, f := range res.Failed {
		if len(f.Name) > testreport.MaxName || strings.ContainsAny(f.Name, "\x1b\u202e\n") {
			t.Errorf("%d bytes: %q", len(f.Name), f.Name)
		}
	}
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, "not ok %d - t%d\n", i, i)
	}
	many.WriteString("1..5000\n")
	res, _ = ecosystemtest.ReadReport(catalog.FormatOf("tap"), []byte(many.String()))
	check := company.GateCheck{ExitCode: 1}
	if res.ApplyTo(&check); check.Counts.Failed != 5000 || len(check.Tests) != testreport.MaxNamedFailures {
		t.Errorf("%+v, %d named", check.Counts, len(check.Tests))
	}
	// A base with hundreds of red tests still says which they are.
	res, _ = ecosystemtest.ReadReport(
		catalog.FormatOf("tap"), []byte(strings.Join(strings.SplitAfter(many.String(), "\n")[:900], "")))
	if len(res.Failed) != 900 {
		t.Errorf("%d of 900 named", len(res.Failed))
	}
	res, _ = ecosystemtest.ReadReport(
		catalog.FormatOf("tap"), []byte(strings.ReplaceAll(many.String(), " - ", " - "+strings.Repeat("long ", 30))))
	if text, err := json.Marshal(res.Failed); err != nil || len(text) > 128<<10 || len(res.Failed) < 600 {
		t.Errorf("%d bytes of %d names, %v", len(text), len(res.Failed), err)
	}
}

func testNames(tests []company.TestResult) []string {
	out := []string{}
	for _, t := range tests {
		out = append(out, t.Name)
	}
	slices.Sort(out)
	return out
}
