package prbody

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"company/internal/company"
)

func newPRTask() *company.Task {
	head := company.OID(strings.Repeat("a", 40))
	return &company.Task{
		ID: "t12", Instruction: "add rate limiting\nto the <b>API</b>, see #12 and @admin", Head: head,
		Spent: company.Amount{MicroUSD: 410_000, Tokens: 212_000},
		Prepared: &company.TaskPrepared{Integration: "develop-t12-k3fq",
			Base:  company.Base{OID: company.OID(strings.Repeat("b", 40))},
			Gates: []company.GateCommand{{Name: "test", Command: "go test ./... | tee out"}}},
		Subtasks: []*company.Subtask{{ID: "t12-01",
			Planned: company.PlannedSubtask{Title: "a | b <script>alert(1)</script> ![x](http://evil)"}, Merged: head,
			Started: 2}},
		Runs: map[company.RunID]*company.Run{"t12-01.1": {Turns: 3}, "t12-01.2": {Turns: 4}},
		Gate: &company.GateFinished{Head: head,
			Result: company.GateResult{Passed: true,
				Checks: []company.GateCheck{{Name: "test", Command: "go test ./... | tee out", Took: 1234 * time.Millisecond}}}},
		Review: company.ReviewState{Last: &company.ReviewRecorded{Head: head, Verdict: company.Approve,
			Evidence: []string{"TestLimit fixes #7"},
			Findings: []company.Finding{{Severity: company.Minor, File: "a.go", Line: 3, What: "@someone should look"}}}},
	}
}

func TestPRBody(t *testing.T) {
	text := PRBody(newPRTask(), PROptions{Pushed: true})
	if text != PRBody(newPRTask(), PROptions{Pushed: true}) {
		t.Error("not a function of the state")
	}
	for _, want := range []string{
		"# add rate limiting\n", "**t12-01** a", "(aaaaaaa)", "> to the &lt;b&gt;API",
		"| test | `go test ./... \\| tee out` | 0 | 1.23s |",
		"approve of aaaaaaa", "- minor, unverified: `a.go:3` @\u200bsomeone should look", "in 2 runs and 7 turns",
		"git fetch origin develop-t12-k3fq\n", "go test ./... | tee out\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	// What agents and people wrote is inert on a forge: no HTML, no image, no
	// mention, nothing that closes an issue.
	for _, bad := range []string{"<b>", "<script>", "![x](", "@admin", "@someone", "#12", "#7", "UNTESTED"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q stands in\n%s", bad, text)
		}
	}
	if local := PRBody(newPRTask(), PROptions{}); strings.Contains(local, "git fetch origin") ||
		!strings.Contains(local, "company diff t12") {
		t.Errorf("not pushed anywhere, and yet\n%s", local)
	}
}

// Only the lines of the forge itself close issues, at the very end.
func TestPRBodyClosing(t *testing.T) {
	task := newPRTask()
	task.Instruction = "Issue #12: \"Fixes #3\"\n\n> Closes #4\n> resolves acme/app#5"
	text := PRBody(task, PROptions{ClosingLines: []string{"Closes #12", "Closes up/app#7"}})
	if !strings.HasSuffix(text, "\n\nCloses #12\nCloses up/app#7\n") || len(closingWordsRE.FindAllString(text, -1)) != 2 {
		t.Errorf("%q closes\n%s", closingWordsRE.FindAllString(text, -1), text)
	}
	if closingWordsRE.MatchString(PRBody(task, PROptions{})) {
		t.Error("an issue is closed without a forge")
	}
}

// What was refused is in the text by its kind, with how often, and nothing of
// an attacker's words.
func TestPRBodyRefused(t *testing.T) {
	task := newPRTask()
	if text := PRBody(task, PROptions{}); strings.Contains(text, "Refused") {
		t.Error("nothing was refused")
	}
	task.Runs["t12-01.1"] = &company.Run{ID: "t12-01.1", Fence: 7, RefusedAccesses: []company.RefusedAccess{
		{Kind: "path", Times: 12_345, Events: company.MaxRefusedEvents, What: "/etc/shadow|<b>` @admin"},
		{Kind: "push", Times: 1, Events: 1, What: "a big file"},
	}}
	text := PRBody(task, PROptions{})
	for _, want := range []string{"## Refused accesses", "- t12-01.1: path at least 12345 times, push 1 time\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "shadow") {
		t.Errorf("an attacker's words stand in\n%s", text)
	}
}

// A review that was the only ticket's is told as what it is.
func TestPRBodySingleReview(t *testing.T) {
	task := newPRTask()
	const says = "That is the review of t12-01, the only ticket"
	if text := PRBody(task, PROptions{}); strings.Contains(text, says) {
		t.Errorf("a review of the whole is said to be the ticket's\n%s", text)
	}
	task.Review.Last.Whole = true
	if text := PRBody(task, PROptions{}); !strings.Contains(text, says) {
		t.Errorf("no %q in\n%s", says, text)
	}
}

// Files that were made again are named, of merges that were done alone.
func TestPRBodyRemadeLocks(t *testing.T) {
	gate := &company.GateFinished{Remade: []company.RemadeFile{{Path: "a|b.lock", Command: "cargo update --workspace"}}}
	task := &company.Task{Subtasks: []*company.Subtask{{ID: "t1-01", Merged: "1", Gate: gate}, {ID: "t1-02", Gate: gate}}}
	text := prRemade(task, PROptions{maxRows: 5})
	if !strings.Contains(text, "## Regenerated files") || strings.Count(text, "cargo update --workspace") != 1 ||
		!strings.Contains(text, "t1-01") || strings.Contains(text, "t1-02") {
		t.Error(text)
	}
	if text := prRemade(&company.Task{}, PROptions{}); text != "" {
		t.Errorf("without one: %s", text)
	}
}

// What was added is in the text, inert; follow-ups keep what came before them.
func TestPRBodyDependencies(t *testing.T) {
	task, before := newPRTask(), newPRTask()
	if text := PRBody(task, PROptions{}); strings.Contains(text, "Added dependencies") {
		t.Error("nothing was added")
	}
	task.Dependencies = []company.Dependency{{Ecosystem: "npm", Name: "@evil/x|y", Version: "1.0.0"}}
	before.Dependencies = []company.Dependency{{Ecosystem: "go", Name: "example.com/x", Version: "v1.0.0"}}
	text := PRBody(task, PROptions{EarlierTasks: []*company.Task{before}})
	for _, want := range []string{"## Added dependencies", "| npm | `@evil/x\\|y` | `1.0.0` |",
		"| go | `example.com/x` | `v1.0.0` |"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// Who reads the pull request is told that the checks ran with other packages than the lock files have.
func TestPRBodyLeftOut(t *testing.T) {
	task := newPRTask()
	task.Prepared.Notes = []string{"requirements.txt is not installed: deps.without has pypi",
		"deps.without has pypi: Debian's packages stand for its own, in Debian's versions: python3-bs4",
		"pyproject.toml wants Python 3.13"}
	got := PRBody(task, PROptions{})
	if strings.Count(got, "The **image of the checks** has other packages than are asked for: ") != 2 ||
		!strings.Contains(got, "in Debian's versions: python3-bs4") || strings.Contains(got, "3.13") {
		t.Errorf("%s", got)
	}
}

// What no price is known for has cost tokens, not $0.00, in the pull request as
// in company status (an unknown cost is never 0).
func TestPRBodyCost(t *testing.T) {
	task := newPRTask()
	if text := PRBody(task, PROptions{}); !strings.Contains(text, "\n$0.41, 212k tokens in 2 runs") {
		t.Errorf("the cost is not told\n%s", text)
	}
	task.Spent.MicroUSD = 0
	if text := PRBody(task, PROptions{}); !strings.Contains(text, "\n212k tokens in 2 runs") ||
		strings.Contains(text, "$0.00") {
		t.Errorf("an unknown cost is told as money\n%s", text)
	}
}

func TestPRBodyUntested(t *testing.T) {
	task := newPRTask()
	task.Prepared.Gates, task.Gate = nil, nil
	if text := PRBody(task, PROptions{Pushed: true}); !strings.Contains(text, "**UNTESTED**") {
		t.Error(text)
	}
}

// T18: nothing of what agents wrote steers a terminal or hides in a line.
func TestEscapeMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b]0;t\x07b\u009bc": "a]0;tbc", "a\u202eb\u200b\U000e0041c": "abc", "two\nlines\u2028here": "two lines here",
		"caf\xc3\xa9 \xff": "café \uFFFD",
	} {
		if got := escapeMarkdown(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Nothing is cut inside a word or an entity, and what is shortened says so.
func TestTruncateText(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 10, "short"},
		{"add rate limiting to it", 12, "add rate …"},
		{"add rate limiting", 8, "add rate …"},
		{strings.Repeat("x", 300), 100, strings.Repeat("x", 100) + " …"},
		{strings.Repeat("x", 98) + "&lt;y", 100, strings.Repeat("x", 98) + " …"},
		{"日本語", 4, "日 …"},
	} {
		if got := truncateText(c.in, c.n); got != c.want {
			t.Errorf("%q at %d: %q", c.in, c.n, got)
		}
	}
	if got := escapeMarkdown("it&#39;s &lt;b&gt; & #7"); strings.Contains(got, "&#") ||
		got != "it&amp;#\u200b39;s &amp;lt;b&amp;gt; &amp; #\u200b7" {
		t.Errorf("%q", got)
	}
}

// The beginning of a long text is escaped as all of it would be.
func TestEscapeWithin(t *testing.T) {
	for _, part := range []string{"word ", "x", "fixes #7 ", "a\x1b[2J\u202e", "<&>", "日本語 ", "\n", "\u200b"} {
		for _, times := range []int{1, 20, 1000} {
			for _, n := range []int{10, 120} {
				s := strings.Repeat(part, times)
				if got, want := escapeWithin(s, n), truncateText(escapeMarkdown(s), n); got != want {
					t.Errorf("%d times %q within %d: %q, want %q", times, part, n, got, want)
				}
			}
		}
	}
}

// T22: words that close or reopen an issue, mentions and spans that end early
// are parted, whatever form they take.
func TestEscapeClosingWordsAndMentions(t *testing.T) {
	for _, in := range []string{
		"fixes #7", "Closes: #7", "resolved acme/app#7", "FIXES https://github.com/acme/app/issues/7", "close GH-7",
		"reopens #7",
	} {
		if got := escapeMarkdown(in); closingWordsRE.MatchString(got) {
			t.Errorf("%q: %q still closes", in, got)
		}
	}
	if got := escapeMarkdown("this fixes the parser"); got != "this fixes the parser" {
		t.Errorf("%q", got)
	}
	for in, want := range map[string]string{"a|b": "`a\\|b`", "a`b": "`` a`b ``", "a\n@b": "`a @b`"} {
		if got := codeSpan(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// The text stays within its lines, whatever it has to report, and a gate cannot
// end its own block.
func TestPRBodyIsBounded(t *testing.T) {
	task := newPRTask()
	task.Prepared.Gates = nil
	long := strings.Repeat("word ", 2000)
	task.Instruction = long + strings.Repeat("\nmore "+long, 25) // as much as an instruction may have
	for i := range 60 {
		sub := *task.Subtasks[0]
		sub.Planned.Title, sub.Planned.Description = long, long
		sub.Changes = []company.Change{{Path: strings.Repeat("d/", i) + "f"}}
		task.Subtasks = append(task.Subtasks, &sub)
		task.Prepared.Gates = append(task.Prepared.Gates, company.GateCommand{Name: "test", Command: "echo '```'\n# x"})
		task.Gate.Result.Checks = append(task.Gate.Result.Checks, task.Gate.Result.Checks[0])
		task.Review.Last.Evidence = append(task.Review.Last.Evidence, long)
		task.Review.Last.Findings = append(task.Review.Last.Findings, company.Finding{What: long, File: long})
	}
	text := PRBody(task, PROptions{Pushed: true})
	checkBounds(t, text)
	if !strings.Contains(text, "````sh\n") {
		t.Errorf("the fence can be ended from within\n%s", text)
	}
}

// Whatever is not simply green is said: what was red before, what cannot be
// told, flaky, absent and vanished tests, and a gate without any test (GAT-6).
func TestPRBodyBaseline(t *testing.T) {
	failed := func(names ...string) (out []company.TestResult) {
		for _, n := range names {
			out = append(out, company.TestResult{Name: n, Status: "failed", Known: true})
		}
		return out
	}
	task := newPRTask()
	base := company.GateResult{Checks: []company.GateCheck{
		{Name: "lint", Absent: true, ExitCode: 127},
		{Name: "test (api)", ExitCode: 1, Counts: &company.TestCounts{Passed: 3, Failed: 2},
			Tests: failed("pkg TestOld", "pkg TestMended")},
		{Name: "test (web)", ExitCode: 1},
		{Name: "test (cli)", ExitCode: 2},
	}}
	task.Baseline = &base
	task.Gate.Result = company.GateResult{Passed: true, Checks: []company.GateCheck{
		{Name: "lint", Absent: true, Excused: company.ComparedAbsent},
		{Name: "test (api)", ExitCode: 1, Excused: company.ComparedKnown, Counts: &company.TestCounts{Passed: 4, Failed: 1},
			Tests: failed("pkg TestOld"), Gone: []string{"pkg TestDropped"}},
		{Name: "test (web)", ExitCode: 1, Excused: company.ComparedAsBefore, Counts: &company.TestCounts{Failed: 1},
			Tests: []company.TestResult{{Name: "web/b (build failed)", Unrun: true}}},
		{Name: "test (cli)", Passed: true, Flaky: []string{"pkg TestNowAndThen @admin"}, Attempts: []int{1},
			Counts: &company.TestCounts{Passed: 2}},
	}}
	task.Subtasks[0].Changes = []company.Change{{Path: "web/package.json"}, {Path: "web/a.js"}}
	task.Prepared.Gates = []company.GateCommand{{Name: "lint"}, {Name: "test (api)"},
		{Name: "test (web)", Dir: "it's web", Command: "npm test"}, {Name: "test (cli)"}}
	text := PRBody(task, PROptions{})
	for _, want := range []string{
		"**UNVERIFIED**: test (web) is red on the base too",
		"nothing was run behind `web/b (build failed)`. The president saw that and let it pass.",
		"lint is **absent**", "| - | - | absent |", "what the **gates are made of**: `web/package.json`",
		"test (api) fails on the base too, and in nothing else here: `pkg TestOld`",
		"**no longer runs** them: `pkg TestDropped`", "| 1 | 0s | red as on the base, 5 tests, 1 failed |",
		"test (cli) is **flaky**", "test (cli) was red on the base and is green here.", "(cd 'it'\\''s web' && npm test)\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "UNTESTED") {
		t.Error(text)
	}
	none := newPRTask()
	none.Gate.Result.Checks[0].Passed, none.Gate.Result.Checks[0].Counts = true, &company.TestCounts{}
	if text := PRBody(none, PROptions{}); !strings.Contains(text, "**UNTESTED**: "+company.UntestedNoTests+".") ||
		!strings.Contains(text, "passed, no tests") {
		t.Error(text)
	}
	absent := newPRTask()
	absent.Baseline = &company.GateResult{Untested: true, Checks: base.Checks[:1]}
	if text := PRBody(absent, PROptions{}); !strings.Contains(text, "**UNTESTED**: "+company.UntestedNoChecks+".") {
		t.Error(text)
	}
}

// Whether a gate looks at what is changed is said: that it does, where it does
// not, and that nobody knows.
func TestPRBodyCanary(t *testing.T) {
	task := newPRTask()
	task.Gate.Result.Checks[0].Canary = &company.Canary{Proven: []string{"cli"}, Blind: []string{"docs/x"},
		Reason: "no failing test"}
	text := PRBody(task, PROptions{})
	for _, want := range []string{"turned it red in `cli`", "**does not run the tests** in `docs/x`",
		"is **unproven**: no failing test."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	task.Gate.Result.Checks = append(
		task.Gate.Result.Checks,
		company.GateCheck{Name: "test (e2e)", Passed: true,
			Canary: &company.Canary{Proven: []string{"docs/x"}, Blind: []string{"cli"}}})
	if text := PRBody(task, PROptions{}); strings.Contains(text, "does not run the tests") {
		t.Errorf("another check looks there:\n%s", text)
	}
}

// The pull request says which tests show the change, and when none do.
func TestPRBodyRedGreen(t *testing.T) {
	for want, r := range map[string]*company.RedGreen{
		"New tests: 3. Red to green (they pass with this change and fail without it): 2: `a`, `b`\n- These new tests pass " +
			"without this change too, so they do not show it: `c`": {
			Files: 1, Fresh: 3, Shown: 2, Proof: []string{"a", "b"}, Idle: []string{"c"}},
		"New tests: 2, new cases: 3. Red to green (they pass with this change and fail without it): 0\n- Without this " +
			"change these do not compile or load: `x/a`\n- New tests that were not run without this change: 2": {
			Files: 1, Fresh: 2, Cases: 3, Unseen: 2, Unbuilt: []string{"x/a"}},
		"No test was seen to fail without this change. Without it `x/a` does not compile or load. 2 new tests were not " +
			"run there.": {Files: 1, Fresh: 2, Unseen: 2, Unbuilt: []string{"x/a"}},
		"end before their tests are through, by a panic or an exit: `x/b`": {Files: 1, Died: []string{"x/b"}},
		"No test was added or changed.":                                    {},
		"Which tests fail without this change is not known: so be it":      {Files: 2, Reason: "so be it"},
	} {
		task := newPRTask()
		task.Gate.Result.RedGreen = r
		if text := PRBody(task, PROptions{}); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if text := PRBody(newPRTask(), PROptions{}); strings.Contains(text, "Red to green") ||
		strings.Contains(text, "No test was") {
		t.Error(text)
	}
}

// REV-4: the pull request names the status of findings: those left are unverified, a rejected one has
// the reason, and confirmed ones are counted.
func TestJudgedFindingsInPullRequest(t *testing.T) {
	finding := func(what string) company.Finding {
		return company.Finding{Severity: company.Blocking, File: "a.go", Line: 3, What: what}
	}
	sub := &company.Subtask{ID: "t1-01", Merged: "c", Review: company.ReviewState{
		Past: []company.JudgedFinding{
			{Finding: finding("no test"), Status: company.FindingConfirmed},
			{Finding: finding("a race"), Status: company.FindingRejected, Basis: "it is locked"},
			{Finding: finding("forgotten"), Status: company.FindingUnverified},
		},
		Last: &company.ReviewRecorded{Verdict: company.Approve,
			Findings: []company.Finding{{Severity: company.Minor, What: "a name"}}},
	}}
	got := prFindings(&company.Task{ID: "t1", Subtasks: []*company.Subtask{sub}}, PROptions{maxText: 600})
	for _, want := range []string{
		"\nOf earlier reviews: 1 finding confirmed by the next one, 1 unverified.\n",
		"- blocking, rejected (t1-01): `a.go:3` a race The next review: it is locked\n",
		"- minor, unverified (t1-01): a name\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "no test") || strings.Contains(got, "forgotten") {
		t.Errorf("one of an earlier review stands among those left:\n%s", got)
	}
	sub.Review.Last.Confirms, sub.Review.Last.Judged = true,
		[]company.Judgement{{Number: 2, Status: company.FindingConfirmed, Why: "go vet has it, too"}}
	if got := prFindings(&company.Task{ID: "t1", Subtasks: []*company.Subtask{sub}},
		PROptions{maxText: 600}); !strings.Contains(
		got, "- minor, confirmed (t1-01): a name The second reviewer: go vet has it, too\n") {
		t.Errorf("a finding that the second reviewer confirmed:\n%s", got)
	}
	sub.Review.Past, sub.Review.Last = sub.Review.Past[:1], nil
	if got := prFindings(&company.Task{ID: "t1", Subtasks: []*company.Subtask{sub}},
		PROptions{maxText: 600}); got != "## Findings left\n\nNone.\n\nOf earlier reviews: 1 finding confirmed by the next "+
		"one, 0 unverified.\n" {
		t.Errorf("%q", got)
	}
}

// REV-4: of reviews before the newest one those findings are left that are about the merged head, and minor ones
// that were confirmed, as of an approval that was taken back; not those that the newest review has again.
func TestFindingsOfWithdrawnApprovalInPullRequest(t *testing.T) {
	minor := func(what string) company.Finding { return company.Finding{Severity: company.Minor, What: what} }
	sub := &company.Subtask{ID: "t1-01", Merged: "c", Head: "h2", Review: company.ReviewState{
		Past: []company.JudgedFinding{
			{Finding: minor("a name"), Head: "h2", Status: company.FindingConfirmed, Basis: "read"},
			{Finding: minor("no doc"), Head: "h2", Status: company.FindingUnverified},
			{Finding: minor("a word"), Head: "h1", Status: company.FindingConfirmed},
			{Finding: minor("forgotten"), Head: "h1", Status: company.FindingUnverified},
			{Finding: minor("a loop"), Head: "h2", Status: company.FindingConfirmed},
		},
		Last: &company.ReviewRecorded{Head: "h2", Verdict: company.Approve, Findings: []company.Finding{minor("a loop")}},
	}}
	got := prFindings(&company.Task{ID: "t1", Subtasks: []*company.Subtask{sub}}, PROptions{maxText: 600, maxRows: 9})
	want := "## Findings left\n\n- minor, confirmed (t1-01): a name The reviewer after it: read\n- minor, unverified " +
		"(t1-01): no doc\n" +
		"- minor, confirmed (t1-01): a word It is of an earlier head, and may be mended.\n- minor, unverified (t1-01): a " +
		"loop\n" +
		"\nOf earlier reviews: 1 finding confirmed by the next one, 1 unverified.\n"
	if got != want {
		t.Errorf("%s", got)
	}
}

// What was tested before the review and what on the merged tree stands in the pull request.
func TestPRBodyFirstSteps(t *testing.T) {
	task := newPRTask()
	if text := PRBody(task, PROptions{Pushed: true}); strings.Contains(text, "two steps") {
		t.Errorf("no ticket was tested in two steps:\n%s", text)
	}
	part := []company.FirstStep{{Check: "test", TestPart: company.TestPart{Ran: 3, Of: 41}}}
	task.Subtasks[0].FirstSteps = part
	task.Subtasks = append(task.Subtasks, &company.Subtask{ID: "t12-02", FirstSteps: part})
	want := "Tested in two steps: before the review what a ticket's change can reach (t12-01: test, 3 of 41 packages), " +
		"and all on the merged tree."
	if text := PRBody(task, PROptions{Pushed: true}); !strings.Contains(text, want) {
		t.Errorf("does not say %q:\n%s", want, text)
	}
}

// A quotation has the blanks of its original: a ticket may be about them.
func TestQuotationKeepsBlanks(t *testing.T) {
	got := quoteText("return  1\n\t\"a\":   1\tx", 1000, "t1")
	if want := "> return  1\n>     \"a\":   1    x"; strings.TrimSpace(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What a review names again for another criterion stands there once, and one failure is no
// plural.
func TestRepeatedEvidence(t *testing.T) {
	if got := dropRepeated([]string{"- a", "- b", "- a", "- a"}); len(got) != 2 {
		t.Errorf("%q", got)
	}
	if got := gateStatusText(
		company.GateCheck{Excused: company.ComparedKnown,
			Counts: &company.TestCounts{Failed: 1}}); got != "red as on the base, 1 failure" {
		t.Error(got)
	}
	if got := gateStatusText(
		company.GateCheck{Passed: true, Counts: &company.TestCounts{Passed: 1}}); got != "passed, 1 test" {
		t.Error(got)
	}
}

// A finding that was mended is not among those left: it stands below them, with the commit that the reader finds it in.
func TestMendedFindingIsNotLeft(t *testing.T) {
	head, merged := goldenOID("d"), goldenOID("c")
	mended := func(what string) company.JudgedFinding {
		return company.JudgedFinding{Finding: company.Finding{Severity: company.Minor, File: "a.go", Line: 3, What: what},
			Head: goldenOID("e"), Status: company.FindingMended, Mended: head}
	}
	blocking := mended("no test")
	blocking.Severity = company.Blocking
	sub := &company.Subtask{ID: "t1-01", Merged: merged, Head: head, Review: company.ReviewState{
		Past: []company.JudgedFinding{mended("a name."), blocking},
		Last: &company.ReviewRecorded{Head: head, Verdict: company.Approve},
	}}
	task := &company.Task{ID: "t1", Subtasks: []*company.Subtask{sub}}
	const want = "## Findings left\n\nNone.\n\nFound in review and mended before this pull request:\n" +
		"- minor (t1-01): `a.go:3` a name. Mended in ccccccc.\n- blocking (t1-01): `a.go:3` no test. Mended in ccccccc.\n"
	if got := prFindings(task, PROptions{maxText: 600}); got != want {
		t.Errorf("%s", got)
	}
	if n, _ := openBlocking(task, 60); n != 0 {
		t.Error("a mended finding is open")
	}
	task.Settings.History = company.HistoryKeep
	if got := prFindings(task, PROptions{maxText: 600}); strings.Count(got, "Mended in ddddddd.") != 2 {
		t.Errorf("the ticket's own commits are there: %s", got)
	}
}

// What the author says of a change stands whole above the fold, its repairs as a list, whatever else there is to tell;
// it is not told again below.
func TestAuthorsTextIsWhole(t *testing.T) {
	task := excusedGates()
	run := task.Runs["t12-01.1"]
	run.Problem = "Three faults of the reader: it took a header of no length for the end of the stream, it read a name of " +
		"more than 255 bytes into the next entry, and it went on after a checksum that did not match, so that a broken " +
		"archive was unpacked."
	run.Summary = "The reader checks what it reads before it uses it.\n\n- A header of no length is an error; before, it " +
		"ended the stream, and the entries after it were lost.\n- A name has at most 255 bytes, as the format says; a " +
		"longer one is an error with its length.\n- A checksum that does not match ends the reading; this avoids the panic " +
		"of Next on what follows.\n\nErrors are of ErrFormat, which callers test for already."
	run.Risks = "Archives of writers that leave the checksum empty are refused now; the three that the tests have are not " +
		"of that kind."
	text := PRBody(task, PROptions{Pushed: true, ClosingLines: []string{"Closes #12"}})
	open, folded := splitOpen(text)
	flat := strings.Join(strings.Fields(open), " ")
	for _, want := range append(strings.Split(run.Summary, "\n"), run.Problem, run.Risks) {
		want = strings.Join(strings.Fields(want), " ")
		if !strings.Contains(flat, want) {
			t.Errorf("%q is cut in\n%s", want, open)
		}
		if want != "" && strings.Contains(folded, want) {
			t.Errorf("%q is told twice", want)
		}
	}
	if strings.Count(open, "\n- A ") != 3 {
		t.Errorf("the repairs are no list:\n%s", open)
	}
	checkBounds(t, text)

	run.Summary = strings.Repeat("It does one thing more than before. ", 60)
	open, folded = splitOpen(PRBody(task, PROptions{Pushed: true}))
	if !strings.Contains(open, "(The rest stands under \"What changed\", below.)") ||
		!strings.Contains(folded, strings.TrimSpace(run.Summary)) || strings.Contains(folded, run.Risks) {
		t.Errorf("a text without end is not cut, or what is left out is not told:\n%s", open)
	}
}

// A list without end is cut after some items, so that what a person must judge does not stand far below it.
func TestLongListIsCut(t *testing.T) {
	task := excusedGates()
	run := task.Runs["t12-01.1"]
	for _, field := range []*string{&run.Problem, &run.Summary, &run.Risks} {
		*field = strings.Repeat("- a\n", 480)
	}
	open, folded := splitOpen(PRBody(task, PROptions{Pushed: true}))
	if lines := strings.Count(open, "\n"); lines > 70 {
		t.Errorf("%d lines stand above the fold", lines)
	}
	if n := strings.Count(open, "\n- a."); n != 12+20+8 ||
		strings.Count(open, "\n- a. (The rest stands under \"What changed\", below.)\n") != 3 {
		t.Errorf("%d items before the cut, or no word on the rest:\n%s", n, open)
	}
	if n := strings.Count(folded, "\n> - a"); n != 3*480 {
		t.Errorf("%d items are told below", n)
	}
}

// What an author writes as a list stays one, with its numbers and its nesting.
func TestListsKeepTheirForm(t *testing.T) {
	for text, want := range map[string]string{
		"Three repairs:\n1. first\n   - nested one\n2. second;\n3) `x`": "**Change.** Three repairs:\n\n1. first.\n" +
			"   - nested one.\n2. second;\n3) `x`.",
		"- a\n\n  more of a\n\t* b\n\nThe end": "**Change.**\n- a. more of a.\n    * b.\n\nThe end.",
		"Two:\n   - a\n   - b":                 "**Change.** Two:\n- a.\n- b.",
		"2. b\n" + strings.Repeat(" ", 300) + "- " + strings.Repeat("word ", 25): "**Change.**\n\n2. b.\n            - " +
			strings.TrimSpace(strings.Repeat("word ", 25)) + ".",
		"It is so.\n\n- a\n\n\n    more": "**Change.** It is so.\n- a. more.",
	} {
		if got := joinBlocks(tellAuthor("**Change.** ", text, maxChange)); got != want {
			t.Errorf("%q is told as\n%s\nnot\n%s", text, got, want)
		}
	}
}

// A fenced block, indented code or a table is not a sentence: the text before it stands above the fold, and all of it
// below, as it was written.
func TestCodeStandsBelowTheFold(t *testing.T) {
	const rest = " (The rest stands under \"What changed\", below.)"
	for text, want := range map[string]string{
		"The call is:\n```go\nx := 1\n- y\n```\nIt ends.":        "**Change.** The call is:" + rest,
		"- one:\n  ~~~\n  x := 1\n  ~~~\n- two":                  "**Change.**\n- one:" + rest,
		"Call it so:\n\n    x := 1\n\nIt ends.":                  "**Change.** Call it so:" + rest,
		"- one:\n\n      x := 1\n":                               "**Change.**\n- one:" + rest,
		"What it costs:\n\n| a | b |\n|---|---|\n| x := 1 | d |": "**Change.** What it costs:" + rest,
		"```\nx := 1\n```":                                       "**Change.** (It stands under \"What changed\", below.)",
	} {
		task := oneSubtask()
		task.Runs["t12-01.1"].Summary = text
		open, folded := splitOpen(PRBody(task, PROptions{Pushed: true}))
		if !strings.Contains(open, want+"\n\n") || strings.Contains(open, "x := 1") {
			t.Errorf("%q is told as\n%s", text, open)
		}
		for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
			line = strings.TrimRight("> "+strings.ReplaceAll(line, "|", "\\|"), " ")
			if !strings.Contains(folded, line+"\n") {
				t.Errorf("%q is not below in\n%s", line, folded)
			}
		}
	}
	// Of several tickets it is left out above, too.
	task := manySubtasks()
	for _, run := range task.Runs {
		run.Summary, run.Risks = "Call it so:\n```\nx := 1\n```", "It fails with:\n```\nx := 1\n```"
	}
	open, folded := splitOpen(PRBody(task, PROptions{Pushed: true}))
	if strings.Contains(open, "x := 1") || strings.Contains(open, "'''") ||
		!strings.Contains(open, "\n- It fails with:\n- The rest stands under") ||
		strings.Count(folded, "> x := 1") < 2*len(mergedTickets(task)) {
		t.Errorf("%s", open)
	}
}

// A decision stands once in the text: whole above the fold, or, where there are many, below it.
func TestDecisionStandsOnce(t *testing.T) {
	for _, n := range []int{1, 3, 12} {
		task := oneSubtask()
		task.Plan.Decisions, task.Runs["t12-01.1"].Decisions = nil, nil
		for i := range n {
			task.Plan.Decisions = append(task.Plan.Decisions,
				fmt.Sprintf("Of the names that clients may have, number %d stays as it was before this change.", i+1))
		}
		text := strings.Join(strings.Fields(PRBody(task, PROptions{Pushed: true})), " ")
		for _, decision := range task.Plan.Decisions {
			if strings.Count(text, decision) != 1 {
				t.Errorf("%d decisions, and %q stands %d times in\n%s", n, decision, strings.Count(text, decision), text)
			}
		}
		if want := map[int]string{1: "1 decision was made for you: Of", 3: "3 decisions were made for you: (1) Of",
			12: "12 decisions were made for you, below."}[n]; !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
