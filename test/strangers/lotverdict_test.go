package strangers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestOutputIsCounted(t *testing.T) {
	for _, c := range []struct {
		about, output string
		want          int
	}{
		{"jest", "Tests:       1 failed, 4 passed, 5 total\nTime: 1 s", 5},
		{"vitest", " Test Files  1 passed (1)\n\x1b[2m      Tests \x1b[22m \x1b[32m12 passed\x1b[39m (12)", 12},
		{"tape", "1..3\n# tests 3\n# pass  3\n", 3},
		{"mocha", "  4 passing (12ms)", 4},
		{"pytest", "===== 7 passed, 1 skipped in 0.1s =====", 7},
		{"unittest", "Ran 3 tests in 0.1s\n\nOK", 3},
		{"two crates", "test result: ok. 2 passed; 0 failed\ntest result: ok. 3 passed; 0 failed", 5},
		{"ctest", "100% tests passed, 0 tests failed out of 9", 9},
		{"go test -v", "=== RUN   TestA\n    --- PASS: TestA/b (0.1s)\n--- PASS: TestA (0.1s)\n--- SKIP: TestC (0s)\nok  \tx",
			2},
		{"go test -v, repeated",
			"--- PASS: TestA (0s)\n--- PASS: TestA (0s)\nok  \tx\t0.1s\n--- PASS: TestA (0s)\n--- PASS: TestA " +
				"(0s)\nFAIL\nFAIL\ty\t0.1s\n", 2},
		{"two runners", "  4 passing (12ms)\nℹ tests 1\n", 5},
		{"go prints none", "ok  \tx\t0.1s", -1},
	} {
		if got := countPrinted(c.output); got != c.want {
			t.Errorf("%s: %d tests, want %d", c.about, got, c.want)
		}
	}
	if mocha := newNames("ok", "  1) aws4 should sign:\n\n      AssertionError"); namesAny(
		"red: aws4 should sign", mocha) == "" {
		t.Errorf("a test of mocha is named %q", mocha)
	}
	names := newNames("ok", "--- FAIL: TestA (0.1s)\n    --- FAIL: TestA/b (0.1s)\nFAILED tests/test_x.py::test_y - "+
		"boom\nsrc/app.ts:12:3 - error")
	if got := strings.Join(names, " "); got != "TestA TestA/b tests/test_x.py::test_y src/app.ts" {
		t.Errorf("names %q", got)
	}
	if namesAny("gate test failed: test_y", names) == "" || namesAny("gate test failed", names) != "" {
		t.Error("the name of a test is found by its own part alone")
	}
}

func TestCasesAreJudged(t *testing.T) {
	c := lotCase{Green: []theirCommand{{Text: "npm test"}, {Text: "npm run build"}}, Counts: []int{4, -1},
		Red: theirCommand{Text: "npm run build"}, Names: []string{"src/app.ts"}}
	good := outcome{Result: "COMPLETE", Over: true, Counts: []int{4}}
	refused := outcome{Result: "ERROR", Over: true, Why: "gate build failed", Said: "src/app.ts: error",
		Failed: []string{"build"}}
	now := time.Now()
	for _, d := range []struct {
		about        string
		good, broken outcome
		asked        string
		want         Verdict
	}{
		{"both as they should", good, refused, "", Right},
		{"with a line", good, refused, "gates.services: [redis]", AskedSensibly},
		{"merged without a word", good, outcome{Result: "COMPLETE", Over: true}, "", MergedBlind},
		{"merged, with a word", good, outcome{Result: "COMPLETE", Over: true, Said: "not run: npm run build"}, "",
			MergedNamed},
		{"merged, since the same command passed here", good,
			outcome{Result: "COMPLETE", Over: true, Said: "build | `npm run build` | passed"}, "", MergedBlind},
		{"refused by no name", good, outcome{Result: "ERROR", Over: true, Why: "it failed"}, "", RefusedUnnamed},
		{"the good one is refused", outcome{Result: "ERROR", Over: true, Failed: []string{"lint"}}, outcome{}, "",
			RefusedWrongly},
		{"a question without a line", outcome{Result: "INCOMPLETE", Over: true, Question: "let it pass?"}, outcome{}, "",
			AskedVaguely},
		{"untested, though tests ran", outcome{Result: "COMPLETE", Over: true, Untested: "ran no test"}, outcome{}, "",
			CountedWrong},
		{"one is counted as skipped", outcome{Result: "COMPLETE", Over: true, Counts: []int{3}, Skipped: 1}, refused,
			"", Right},
		{"another count", outcome{Result: "COMPLETE", Over: true, Counts: []int{9}}, outcome{}, "", CountedWrong},
		{"a check that judged nothing",
			outcome{Result: "COMPLETE", Over: true, Counts: []int{4}, Unverified: []string{"make e2e is not run here"}}, refused,
			"", NotPlain},
		{"no count at all", outcome{Result: "COMPLETE", Over: true}, refused, "", Right},
		{"not over", outcome{Result: "INCOMPLETE"}, outcome{}, "", Cut},
		{"a registry that is away",
			outcome{Result: "INCOMPLETE", Over: true, Away: awayRegistry{now, now.Add(3 * time.Second), true}}, outcome{}, "",
			RegistryTold},
		{"told too late", outcome{Result: "INCOMPLETE", Over: true, Away: awayRegistry{now, now.Add(time.Minute), true}},
			outcome{}, "", RegistryMissed},
		{"told without a line", outcome{Result: "INCOMPLETE", Over: true, Away: awayRegistry{now, now, false}}, outcome{}, "",
			RegistryMissed},
	} {
		if got, why := c.judge(d.good, d.broken, d.asked); got != d.want {
			t.Errorf("%s: %s (%s), want %s", d.about, got, why, d.want)
		}
	}
	none := lotCase{Green: []theirCommand{{Text: "npm test"}}, Counts: []int{0}, Red: theirCommand{Text: "npm test"}}
	if got, why := none.judge(outcome{Result: "COMPLETE", Over: true, Untested: "ran no test"},
		outcome{Result: "INCOMPLETE", Over: true, Said: "npm test is red"}, ""); got != Right {
		t.Errorf("untested, as the runner says: %s (%s)", got, why)
	}
	bare := lotCase{Green: []theirCommand{{Text: "npm run build"}}, Counts: []int{-1},
		Red: theirCommand{Text: "npm run build"}}
	if got, _ := bare.judge(outcome{Result: "COMPLETE", Over: true, Untested: "none of them is a test"}, refused,
		""); got != Right {
		t.Errorf("a project without tests that is said to be untested: %s", got)
	}
}

func TestOffersAreFound(t *testing.T) {
	for text, want := range map[string]string{
		"start it with gates.services: [redis, postgres]?":            "gates.services [redis, postgres]",
		"go on without its packages, with container.deps: off: later": "container.deps off",
		`set gates.test="npx vitest run" in company.yaml`:             "gates.test npx vitest run",
		"let it pass, unverified?":                                    " ",
	} {
		key, value, _ := findOffer(text)
		if key+" "+value != want {
			t.Errorf("%q: %q, want %q", text, key+" "+value, want)
		}
	}
}

// A draw that was interrupted goes on from the rows that are there.
func TestRowsAreKept(t *testing.T) {
	root := t.TempDir()
	file := drawFile(root, strings.Repeat("a", 40), 1, false)
	for _, r := range []CaseRow{{Number: 2, Name: "b", Verdict: MergedBlind}, {Number: 1, Name: "a", Verdict: Right},
		{Number: 2, Name: "c", Verdict: Cut}} {
		r.Commit, r.Draw, r.Measured = strings.Repeat("a", 40), 1, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		if err := appendLine(file, r); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, `{"Number":3,"Na`...), 0o644); err != nil {
		t.Fatal(err)
	}
	rows, err := readRows(file)
	if err != nil || len(rows) != 2 || rows[0].Name != "a" || rows[1].Name != "c" {
		t.Fatalf("%v, %v", rows, err)
	}
	draws, err := readDraws(root)
	if err != nil || len(draws) != 1 {
		t.Fatalf("%v, %v", draws, err)
	}
	second := CaseRow{Commit: strings.Repeat("a", 40), Draw: 1, Again: true, Number: 2, Verdict: Cut,
		Measured: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}
	if err := appendLine(drawFile(root, second.Commit, 1, true), second); err != nil {
		t.Fatal(err)
	}
	if draws, err = readDraws(root); err != nil || len(draws) != 2 {
		t.Fatalf("%v, %v", draws, err)
	}
	page := writeDraws(draws)
	for _, want := range []string{"## Draw 1 of commit aaaaaaaaaaaa\n", "## Draw 1 of commit aaaaaaaaaaaa, walked again\n",
		"The verdict of the first walk: 1 of 1.", "**Right: 1 of 2.**", "| merged blind |", "| right |"} {
		if strings.Contains(page, want) == (want == "| merged blind |") {
			t.Errorf("%q is wrong in the page:\n%s", want, page)
		}
	}
	if rows, err := readRows(filepath.Join(root, "none")); err != nil || rows != nil {
		t.Errorf("a draw that has not begun: %v, %v", rows, err)
	}
}
