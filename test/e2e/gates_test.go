package e2e

import (
	"slices"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
	"company/internal/present/feed"
	"company/test/testenv"
)

// prBody is the text of a pull request.
func prBody(h *testenv.House, pr string) string {
	return h.MustRun(patience, "pr", "show", pr).Stdout
}

func checkHolds(t testing.TB, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s does not say %q:\n%s", what, w, text)
		}
	}
}

// oldTest fails on the base, and nobody is asked to mend it.
const oldTest = "package calc\n\nimport \"testing\"\n\nfunc TestOld(t *testing.T) { t.Error(\"has been red for " +
	"years\") }\n"

// TestRedBase: the red tests of the base are known by name before a worker begins.
// A change that breaks something else is barred; one that does not is merged,
// and its pull request says what is red (GAT-1, GAT-6).
func TestRedBase(t *testing.T) {
	t.Parallel()
	files := calculator()
	files["old_test.go"] = oldTest
	triple := "package calc\n\n// Triple is three times n.\nfunc Triple(n int) int { return 3 * n }\n"
	test := "package calc\n\nimport \"testing\"\n\nfunc TestTriple(t *testing.T) {\n\tif Triple(2) != 6 " +
		"{\n\t\tt.Error(Triple(2))\n\t}\n}\n"
	broken := strings.Replace(files["calc.go"], "2 * n", "3 * n", 1)
	plan := submitPlan([]m{ticket("Add Triple", tripleDescription, "calc.go", "triple.go", "triple_test.go")})
	planning, next := stopAt("t1-plan.1", 0), stopAt("t2-plan.1", 0)
	h := testenv.New(t, &staff{
		stops:   []*stop{planning, next},
		manager: plan,
		worker: replyByRun(
			writeFilesAndFinish("Break Double", "calc.go", broken, "triple.go", triple, "triple_test.go", test),
			writeFilesAndFinish("Mend Double", "calc.go", files["calc.go"]),
		),
	}, files)
	h.LetManagerPlan()
	t.Cleanup(planning.release)
	t.Cleanup(next.release)
	p := h.Start("submit", "add a function that triples")
	base := p.Event(patience, "task.baseline", "") // a plan that takes as long
	planning.release()
	sum := waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	if sum.Result != "COMPLETE" || !strings.Contains(sum.Why, "test red as on the base") {
		t.Errorf("%+v", sum)
	}
	if base.Mark != feed.Stalled || !strings.Contains(base.Text, "before any work: test: example.com/calc TestOld") {
		t.Errorf("%+v", base)
	}
	// The broken test bars, by its name; the old one is nobody's fault.
	red := p.Until(patience, "a red gate", func(it feed.Item) bool {
		return it.Kind == "gate.finished" && it.Mark == feed.Failed
	})
	if !strings.Contains(red.Text, "example.com/calc TestDouble") || strings.Contains(red.Text, "TestOld") {
		t.Errorf("%+v", red)
	}
	checkBriefHolds(t, h, "t1-plan.1", "The results of these checks on the base are not known yet.")
	for _, run := range []string{"t1-01.1", "t1-01-review.1"} {
		checkBriefHolds(t, h, run, "example.com/calc TestOld")
	}
	checkBriefHolds(t, h, "t1-01.2", "These fail, and did not on the base: example.com/calc TestDouble",
		"## Your branch so far", "The unchecked summary of t1-01.1", "Break Double", "+++ b/triple_test.go")
	if n := h.Model.Calls().ByRun["t1-01-review.1"]; n != 1 {
		t.Errorf("%d calls of the reviewer: what breaks a test is not reviewed", n)
	}
	checkHolds(t, "the pull request", prBody(h, "1"), "red as on the base, 3 tests, 1 failed",
		"fails on the base too, and in nothing else here: `example.com/calc TestOld`",
		"New tests: 1. Red to green (they pass with this change and fail without it): 0",
		"do not compile or load: `example.com/calc`")
	runAndExpect(t, h, []string{"before: test: example.com/calc TestOld", "~ test"}, "show", "t1")
	var whole struct {
		Task struct {
			KnownRed []string `json:"known_red"`
		}
	}
	h.JSON(&whole, "show", "t1")
	if !slices.Equal(whole.Task.KnownRed, []string{"test: example.com/calc TestOld"}) {
		t.Errorf("%+v", whole)
	}

	// The same tree is not judged again for the next task.
	again := h.Start("submit", "add a function that triples")
	if b := again.Event(patience, "task.baseline", ""); !strings.Contains(b.Text, "(cached)") {
		t.Errorf("%+v", b)
	}
	h.MustRun(patience, "cancel", "t2")
	waitForSummary(t, again, 2)
}

// TestBaseThatDoesNotCompile: what does not build on the base excuses nothing.
// A test that can only fail, added behind it, is not a pass: the president sees
// what cannot be told and decides; the pull request says so (GAT-3, GAT-6).
func TestBaseThatDoesNotCompile(t *testing.T) {
	hosttest.Long(t, "TestRedBase has a base that is red; test/attack hides a test behind one that does not compile")
	t.Parallel()
	files := calculator()
	files["tax/tax.go"] = "package tax\n\n// Rate is in percent.\nfunc Rate() int { return undefined }\n"
	fails := "package tax\n\nimport \"testing\"\n\nfunc TestRate(t *testing.T) { t.Fatal(\"it can only fail\") }\n"
	h := testenv.New(t, &staff{
		manager: submitPlan([]m{ticket("Test the rate", "Add a test of tax.Rate.", "tax/tax_test.go")}),
		worker:  writeFilesAndFinish("Test the rate", "tax/tax_test.go", fails),
	}, files)
	h.LetManagerPlan()
	p := h.Start("submit", "--no-input", "test the rate")
	sum := waitForSummary(t, p, 2)
	if sum.Result != "INCOMPLETE" || sum.Next != "company approve a1 or company reject a1" {
		t.Fatalf("%+v", sum)
	}
	gate := p.Event(patience, "gate.finished", "t1-01")
	if gate.Mark != feed.Stalled ||
		!strings.Contains(gate.Text, "gate test is red as on the base, exit 1, and new failures cannot be told apart") {
		t.Errorf("%+v", gate)
	}
	asks := p.Event(patience, "approval.opened", "")
	checkHolds(t, "the question", asks.Text, "The check test is red (exit 1) on t1-01, and was red before any work",
		"nothing was run behind example.com/calc/tax (build failed)")
	runAndExpect(t, h, []string{"before: test: what is behind example.com/calc/tax (build failed) was not run on the " +
		"base", "undefined"}, "show", "t1")
	checkBriefHolds(t, h, "t1-01.1", "was not run on the base")
	if n := h.Model.Calls().ByRun["t1-01-review.1"]; n != 0 {
		t.Errorf("%d calls of the reviewer before the president has answered", n)
	}
	runAndExpect(t, h, []string{"a1: yes: let it pass"}, "approve", "a1")
	sum = waitForSummary(t, h.Start("resume", "--no-input"), 0)
	if sum.Result != "COMPLETE" || !strings.Contains(sum.Why, "test UNVERIFIED (red as on the base)") {
		t.Errorf("%+v", sum)
	}
	checkDelivered(t, h, 1, 1, 1)
	checkHolds(t, "the pull request", prBody(h, "1"), "**Before you merge:** **UNVERIFIED**: test is red on the base too",
		"nothing was run behind `example.com/calc/tax (build failed)`. The president saw that and let it pass.")
}

// TestNoTests: a repository without a test is worked on, and its pull request
// says that nothing was tested.
func TestNoTests(t *testing.T) {
	t.Parallel()
	files := calculator()
	delete(files, "calc_test.go")
	h := testenv.New(t, &staff{
		manager: submitPlan([]m{ticket("Add Triple", tripleDescription, "triple.go")}),
		worker: writeFilesAndFinish("Add Triple", "triple.go",
			"package calc\n\n// Triple is three times n.\nfunc Triple(n int) int { return 3 * n }\n"),
	}, files)
	waitForSummary(t, h.Start("submit", "add a function that triples"), 0)
	checkDelivered(t, h, 1, 1, 1)
	checkHolds(t, "the pull request", prBody(h, "1"), "**UNTESTED**: the tests' command ran, and ran no test.",
		"passed, no tests")
}

// TestOwnCommandWithTests: a command of the president's own is green and runs tests, of which
// its runner tells no number. They are no missing tests. The office has no registries, and
// ends all the same with the code of its task.
func TestOwnCommandWithTests(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	files := calculator()
	files["Makefile"] = "test:\n\tgo test ./...\n"
	h := testenv.New(t, &staff{
		manager: submitPlan([]m{ticket("Add Triple", tripleDescription, "triple.go")}),
		worker: writeFilesAndFinish("Add Triple", "triple.go",
			"package calc\n\n// Triple is three times n.\nfunc Triple(n int) int { return 3 * n }\n"),
	}, files)
	h.Config("gates: {test: make test}\ncontainer: {deps: off}\n")
	waitForSummary(t, h.Start("submit", "add a function that triples"), 0)
	checkDelivered(t, h, 1, 1, 1)
	if body := prBody(h, "1"); strings.Contains(body, "UNTESTED") || strings.Contains(body, "no tests") {
		t.Errorf("the pull request calls it untested:\n%s", body)
	}
}

// TestMissingLinter: a linter that was found and is not in the image is
// absent, neither passed nor failed; one that the president asked for is an
// error with what to do, before any worker begins.
func TestMissingLinter(t *testing.T) {
	t.Parallel()
	t.Run("found", func(t *testing.T) {
		t.Parallel()
		files := tinyProject()
		files["Makefile"] = "lint:\n\tno-such-linter .\n\ntest:\n\tsh ./test.sh\n"
		h := testenv.New(t, farewells(), files)
		p := h.Start("submit", "say goodbye")
		sum := waitForSummary(t, p, 0)
		checkDelivered(t, h, 1, 1, 1)
		if !strings.Contains(sum.Why, "test passed, lint absent") {
			t.Errorf("%+v", sum)
		}
		checkHolds(t, "the pull request", prBody(h, "1"), "lint is **absent**", "| absent |")
	})
	t.Run("asked for", func(t *testing.T) {
		t.Parallel()
		h := testenv.New(t, farewells(), tinyProject())
		h.LetManagerPlan()
		h.Config("gates: {lint: \"no-such-linter .\", test: \"sh ./test.sh\"}\n")
		p := h.Start("submit", "--no-input", "say goodbye")
		waitForSummary(t, p, 2)
		it := p.Event(patience, "approval.opened", "")
		for _, w := range []string{"the gate lint (no-such-linter .) cannot start on the base commit", "container.setup",
			"gates.lint"} {
			if !strings.Contains(it.Text, w) {
				t.Errorf("the president is not told %q: %s", w, it.Text)
			}
		}
		checkOnlyPlanned(t, h)
	})
}

// TestWhyNamesTheCause: a gate that cannot start because nothing was installed
// says why nothing was, and what to do, where the task's end is told.
func TestWhyNamesTheCause(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h := testenv.New(t, farewells(), map[string]string{
		"package.json": `{"name":"x","version":"1.0.0","scripts":{"test":"vitest run"},"devDependencies":{"vitest":"2.1.8"}}`,
		"bun.lock":     "{}\n", "a.test.js": "",
	})
	h.LetManagerPlan()
	h.Config("gates: {lint: none}\n")
	s := waitForSummary(t, h.Start("submit", "add a greeting"), 2)
	for _, want := range []string{"cannot start on the base commit",
		"package.json is locked by bun, which is not supported"} {
		if !strings.Contains(s.Why, want) {
			t.Errorf("WHY does not say %q: %s", want, s.Why)
		}
	}
	checkOnlyPlanned(t, h)
}

// checkOnlyPlanned: where the gates cannot start on the base, nothing but the plan asks a
// model.
func checkOnlyPlanned(t testing.TB, h *testenv.House) {
	t.Helper()
	for run, n := range h.Model.Calls().ByRun {
		if run != "t1-plan.1" {
			t.Errorf("%d model calls of %s, whose work nothing can judge", n, run)
		}
	}
}
