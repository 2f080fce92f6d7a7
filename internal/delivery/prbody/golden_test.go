package prbody

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"company/internal/company"
)

var writeGolden = flag.Bool("golden", false, "write the texts of testdata again")

// goldenCases are the pull requests whose text is kept in testdata, with what their forge
// makes different in them.
func goldenCases() map[string]struct {
	task *company.Task
	PROptions
} {
	type c = struct {
		task *company.Task
		PROptions
	}
	forges := map[string]PROptions{
		"github": {Pushed: true, TitleAbove: true, ClosingLines: []string{"Closes #12"}},
		"gitea": {Pushed: true, TitleAbove: true, PushedTo: "https://git.example.com/bot/app.git",
			ClosingLines: []string{"Closes #12"}},
		"local": {},
	}
	out := map[string]c{"long-github": {longInstruction(), forges["github"]}}
	for forge, o := range forges {
		for name, task := range map[string]*company.Task{"one": oneSubtask(), "many": manySubtasks(),
			"excused": excusedGates(), "partial": partialFailure(), "decided": decidedInPlace()} {
			out[name+"-"+forge] = c{task, o}
		}
		o.ClosingLines, o.EarlierTasks = nil, []*company.Task{oneSubtask()}
		out["followup-"+forge] = c{followUp(), o}
	}
	return out
}

// The text of a pull request changes with its golden files alone (FRG-1).
func TestGoldenTexts(t *testing.T) {
	for name, c := range goldenCases() {
		t.Run(name, func(t *testing.T) {
			got := PRBody(c.task, c.PROptions)
			file := filepath.Join("testdata", name+".md")
			if *writeGolden {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s is another one now; read it, and rewrite it with -golden:\n%s", file, got)
			}
			checkBounds(t, got)
			checkWords(t, c.task, got)
		})
	}
}

// splitOpen parts a text into its open part, with the lines that close issues, and its folded one.
func splitOpen(text string) (open, folded string) {
	inside := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "<details>"):
			inside = true
			folded += line
		case strings.HasPrefix(line, "</details>"):
			inside = false
			folded += line
		case inside:
			folded += line
		default:
			open += line
		}
	}
	return open, folded
}

// blankLines are several in a row, as they stand between folds.
var blankLines = regexp.MustCompile(`\n\n+`)

// checkBounds holds a text to the bounds of its open part, and of the whole.
func checkBounds(t errorReporter, text string) {
	t.Helper()
	checkBoundsBeside(t, "", text)
}

// errorReporter is a test, or one of rapid.
type errorReporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// writeAuthor returns what stands of the author above the fold.
func writeAuthor(task *company.Task) string {
	blocks := append(tellProblem(task, 40), tellRisks(task)...)
	for _, sub := range mergedTickets(task) {
		if len(task.Subtasks) == 1 {
			blocks = append(blocks, tellChange(task, sub, "**Change.** ")...)
		}
	}
	return joinBlocks(blocks)
}

// checkBoundsBeside is checkBounds for a text with so much of its author that the bounds hold beside that alone.
func checkBoundsBeside(t errorReporter, author, text string) {
	t.Helper()
	open, _ := splitOpen(text)
	open = strings.TrimSpace(blankLines.ReplaceAllString(open, "\n\n"))
	if n := countLines(open); n > MaxPRLines+countLines(author) {
		t.Errorf("%d open lines:\n%s", n, open)
	}
	for line := range strings.Lines(open) {
		if strings.HasPrefix(line, "  ") && !listMark.MatchString(line) {
			t.Errorf("a line that goes on, which GitHub would break there: %s", line)
		}
	}
	if n := len(strings.Fields(open)); n > MaxPRWords+len(strings.Fields(author)) {
		t.Errorf("%d open words:\n%s", n, open)
	}
	if len(text) > MaxPRBytes {
		t.Errorf("%d bytes", len(text))
	}
}

// checkWords holds that no word of the text is a part of a word of the task alone: nothing
// is cut inside one.
func checkWords(t *testing.T, task *company.Task, text string) {
	t.Helper()
	known := map[string]bool{}
	for _, w := range strings.Fields(UnescapeMarkdown(task.Instruction)) {
		known[w] = true
	}
	for line := range strings.Lines(PlainText(text)) {
		words := strings.Fields(line)
		for i, w := range words {
			if w == "…" && i > 0 && strings.HasPrefix(line, "> ") && !known[words[i-1]] {
				t.Errorf("%q is cut in %q", words[i-1], line)
			}
		}
	}
}

func goldenOID(c string) company.OID { return company.OID(strings.Repeat(c, 40)) }

func ended(sub company.SubtaskID, role company.Role, n, turns int, micro int64, more func(*company.Run)) *company.Run {
	r := &company.Run{
		ID: company.NewRunID("t12", sub, role, n), Role: role, Subtask: sub, Ended: true, Status: company.RunSuccess,
		Turns: turns,
		Spent: company.Amount{MicroUSD: micro, Tokens: micro / 4}, EndedAt: time.Date(2026, 1, 2, 3, n, 0, 0, time.UTC),
	}
	if role == company.Worker || role == company.Merger {
		r.Head = goldenOID("a")
	}
	if more != nil {
		more(r)
	}
	return r
}

func runsOf(t *company.Task, list ...*company.Run) {
	t.Runs = map[company.RunID]*company.Run{}
	t.Spent = company.Amount{}
	for _, r := range list {
		t.Runs[r.ID] = r
		t.Spent = t.Spent.Add(r.Spent)
	}
}

// oneSubtask is the usual task: one ticket, whose review is the one of the whole.
func oneSubtask() *company.Task {
	head, merged := goldenOID("a"), goldenOID("c")
	review := company.ReviewRecorded{
		Head: merged, Verdict: company.Approve, Whole: true,
		Evidence: []string{
			"limit_test.go:14 TestLimit sends 101 requests and reads 429 for the last",
			"ran `go test ./api -run TestLimitOff`: the header stays away where the limit is 0",
			"the README names the variable API_LIMIT (README.md:31)",
		},
		Checked: []string{"the diff; limit_test.go, read", "go test ./api -run TestLimitOff, passed", "the diff"},
		Findings: []company.Finding{{Severity: company.Minor, File: "api/limit.go", Line: 40,
			What: "the map of clients is never emptied", Why: "a client that never comes back stays in memory",
			Suggestion: "drop entries older than the window"}},
	}
	t := &company.Task{
		ID: "t12", Instruction: "The API has to be protected: add rate limiting to it, 100 requests a minute for each " +
			"client, and tell about it in the README. Without a limit set, nothing changes.", Head: merged,
		Plan: company.Planning{Accepted: "t12-plan.1", Title: "Add rate limiting to the API",
			Decisions: []string{"A client is an IP address; X-Forwarded-For is not read."}},
		Prepared: &company.TaskPrepared{Integration: "develop-t12-k3fq", Base: company.Base{OID: goldenOID("b")},
			Gates: []company.GateCommand{{Name: "lint", Command: "go vet ./..."}, {Name: "test", Command: "go test ./..."}}},
		Subtasks: []*company.Subtask{{
			ID: "t12-01", Wave: 1, Status: company.SubtaskCompleted, Merged: merged, Head: head, Started: 1,
			Planned: company.PlannedSubtask{Title: "Limit requests of a client",
				Description:        "A token bucket for each client in api/limit.go.",
				AcceptanceCriteria: []string{"the 101st request within a minute gets 429", "without API_LIMIT nothing changes"}},
			Changes: []company.Change{{Path: "api/limit.go"}, {Path: "api/limit_test.go"}, {Path: "README.md"}},
		}},
		Gate: &company.GateFinished{Head: merged, Result: company.GateResult{Passed: true, Checks: []company.GateCheck{
			{Name: "lint", Command: "go vet ./...", Passed: true, Took: 2100 * time.Millisecond},
			{Name: "test", Command: "go test ./...", Passed: true, Took: 9400 * time.Millisecond,
				Counts: &company.TestCounts{Passed: 84, Skipped: 1}, Canary: &company.Canary{Proven: []string{"api"}}},
		}, RedGreen: &company.RedGreen{Files: 1, Fresh: 3, Cases: 3, Shown: 3, Proof: []string{
			"example.com/app/api TestLimit", "example.com/app/api TestLimit/429", "example.com/app/api TestLimit/second_client",
			"example.com/app/api TestLimit/window",
			"example.com/app/api TestLimitOff", "example.com/app/api TestWindow",
		}}}},
	}
	t.Review.Last = &review
	t.Subtasks[0].Review.Last = &review
	runsOf(t,
		ended("", company.Manager, 1, 4, 90_000, nil),
		ended("t12-01", company.Worker, 1, 17, 260_000, func(r *company.Run) {
			r.Problem = "Nothing bounds how often a client calls the API: one script that asked 4,000 times a minute kept the " +
				"others waiting."
			r.Summary = "api.Limit counts the requests of a client in a window of a minute and answers 429 beyond " +
				"API_LIMIT.\n\n- 0 or nothing turns it off, so that nothing changes for who does not set it\n- It stands before " +
				"the log, since a refused request is logged, too"
			r.Risks = "The map of clients grows with each new address until a restart."
			r.Decisions = []string{"Retry-After holds whole seconds, rounded up."}
		}),
		ended("t12-01", company.Reviewer, 1, 8, 120_000, nil),
	)
	return t
}

// manySubtasks has three tickets in two waves, one of which was sent back, and a review of
// the whole.
func manySubtasks() *company.Task {
	t := oneSubtask()
	t.Instruction = "Split the store from the API.\n\n1. An interface for it\n2. The one in memory behind that\n3. One " +
		"on disk\n"
	t.Plan = company.Planning{Accepted: "t12-plan.1", Title: "Put the store behind an interface", Waves: 2}
	t.Subtasks = nil
	for i, title := range []string{"Name the store's interface", "Keep the store in memory behind it",
		"Add a store on disk"} {
		id := company.NewSubtaskID("t12", i+1)
		t.Subtasks = append(t.Subtasks, &company.Subtask{
			ID: id, Wave: 1 + min(i, 1), Status: company.SubtaskCompleted, Head: goldenOID("d"),
			Merged: company.OID(strings.Repeat(string(rune('1'+i)), 40)), Started: 1 + i/2,
			Planned: company.PlannedSubtask{Title: title, Description: title + ".",
				AcceptanceCriteria: []string{"store/" + title[:4] + " has a test"}},
			Changes: []company.Change{{Path: "store/store.go"}, {Path: "store/f" + string(rune('1'+i)) + ".go"}},
			Review: company.ReviewState{Last: &company.ReviewRecorded{Head: goldenOID("d"), Verdict: company.Approve,
				Evidence: []string{"TestStore" + string(rune('1'+i))}}},
		})
	}
	last := &t.Subtasks[2].Planned
	// its review names nothing for it
	last.AcceptanceCriteria = append(last.AcceptanceCriteria, "a key with a slash has a file of its own")
	t.Subtasks[2].Review.Last.Findings = []company.Finding{
		{Severity: company.Minor, What: "there is no test of a full disk", Why: "the error is handled and never seen"}}
	t.Subtasks[2].Review.Last.Confirms = true
	t.Subtasks[2].Review.Last.Judged = []company.Judgement{
		{Number: 1, Status: company.FindingConfirmed, Why: "no test writes to a full disk"}}
	t.Review.Last = &company.ReviewRecorded{Head: t.Head, Verdict: company.Approve,
		Evidence: []string{"all callers use store.Store", "go test ./store/... on both"}}
	runsOf(t,
		ended("", company.Manager, 1, 6, 140_000, nil),
		ended("t12-01", company.Worker, 1, 9, 100_000,
			func(r *company.Run) { r.Summary = "store.Store has Get, Put and Close." }),
		ended("t12-02", company.Worker, 1, 11, 130_000,
			func(r *company.Run) { r.Summary = "The map lies behind store.Store; no caller changed." }),
		ended("t12-03", company.Worker, 1, 20, 300_000, func(r *company.Run) {
			r.Status, r.Summary = company.RunQualityFailed, "store.Disk writes one file a key."
		}),
		ended("t12-03", company.Worker, 2, 7, 90_000, func(r *company.Run) {
			r.Summary = "store.Disk writes one file a key; a slash in a key is escaped, since it would name a folder."
			r.Risks = "A full disk is an error that no test reaches."
		}),
		ended("t12-02", company.Merger, 1, 3, 20_000, func(r *company.Run) {
			r.Summary, r.EndedAt = "Both sides of store.go are kept.", r.EndedAt.Add(time.Hour)
		}),
		ended("", company.Reviewer, 1, 5, 80_000, nil),
	)
	return t
}

// excusedGates is delivered with checks that are red on the base too, and one that has no
// verdict.
func excusedGates() *company.Task {
	t := oneSubtask()
	old := []company.TestResult{{Name: "example.com/app/web TestOld", Status: "failed", Known: true}}
	t.Baseline = &company.GateResult{Checks: []company.GateCheck{
		{Name: "lint", Absent: true},
		{Name: "test", ExitCode: 1, Counts: &company.TestCounts{Passed: 83, Failed: 1}, Tests: old},
		{Name: "test (web)", ExitCode: 1},
	}}
	t.Prepared.Gates = append(t.Prepared.Gates, company.GateCommand{Name: "test (web)", Command: "npm test"})
	t.Prepared.Gates[0].Command = "golangci-lint run"
	t.Gate.Result.RedGreen = &company.RedGreen{Files: 1, Fresh: 1, Idle: []string{"example.com/app/api TestLimit"}}
	t.Gate.Result.Checks = []company.GateCheck{
		{Name: "lint", Command: "golangci-lint run", Absent: true, Excused: company.ComparedAbsent},
		{Name: "test", Command: "go test ./...", ExitCode: 1, Excused: company.ComparedKnown, Took: time.Second,
			Counts: &company.TestCounts{Passed: 83, Failed: 1}, Tests: old},
		{Name: "test (web)", Command: "npm test", ExitCode: 1, Excused: company.ComparedAsBefore, Took: 3 * time.Second},
	}
	t.Review = company.ReviewState{Waived: t.Head, Last: t.Review.Last}
	return t
}

// followUp goes on with the pull request of another task.
func followUp() *company.Task {
	t := oneSubtask()
	t.ID, t.Follows = "t13", "t12"
	t.Instruction = "Follow up pull request #7 (Add rate limiting to the API): 1 remark\n\nremark by ann on " +
		"api/limit.go:40:\n> please drop <old> entries, @bot"
	t.Plan.Title, t.Plan.Decisions = "Drop old clients", nil
	t.Subtasks[0].ID = "t13-01"
	t.Subtasks[0].Planned.Title = "Drop clients that are gone"
	runsOf(t, func() *company.Run {
		r := ended("t13-01", company.Worker, 1, 5, 50_000,
			func(r *company.Run) { r.Summary = "Clients older than the window are dropped." })
		r.ID = "t13-01.1"
		return r
	}())
	return t
}

// partialFailure has a ticket that was cancelled, and one that two runs broke off at, which
// was split from another one.
func partialFailure() *company.Task {
	t := manySubtasks()
	t.Subtasks[1].Status, t.Subtasks[1].Merged = company.SubtaskCancelled, ""
	t.Subtasks[1].Replanned, t.Subtasks[2].SplitFrom = "the stores are two things", "t12-02"
	t.Subtasks[2].Started = 4
	broken := ended("t12-03", company.Worker, 3, 2, 10_000,
		func(r *company.Run) { r.Status, r.Error = company.RunError, "the container ended" })
	t.Runs[broken.ID] = broken
	for n := 4; n < 7; n++ {
		r := ended("t12-03", company.Worker, n, 2, 10_000, func(r *company.Run) {
			r.Summary = "store.Disk writes one file a key, whole or not at all; version " + string(rune('0'+n)) +
				" of its format."
		})
		t.Runs[r.ID] = r
	}
	t.Review.Last = nil
	t.Gate.Result.RedGreen = &company.RedGreen{Files: 1, Fresh: 2, Shown: 2,
		Proof: []string{"example.com/app/store TestDisk", "example.com/app/store TestInterface"}}
	return t
}

// decidedInPlace has decisions of the manager, of its advice and of a worker, with words
// that want to be more than text.
func decidedInPlace() *company.Task {
	t := oneSubtask()
	t.Plan.Decisions = []string{
		"LimitBy stays as it is: the instruction's `per user` and the code's per address contradict each other, and " +
			"callers depend on the latter.",
		"No migration: <details> closes #7 for @admin",
	}
	t.Subtasks[0].Decisions = []string{"The old header stays beside the new one."}
	return t
}

// longInstruction has one of many lines, with code in it.
func longInstruction() *company.Task {
	t := oneSubtask()
	t.Plan.Title = ""
	t.Instruction = "Make the parser understand durations wherever the configuration reads a number of seconds, and " +
		"keep what is there.\n\n" +
		strings.Repeat("- a case that has to hold, with `code` and <tags>\n  - and one below it\n", 12) +
		"\n```go\nfunc F() {\n\treturn\n}\n```\n"
	return t
}

// An instruction as long as one may be, of one line or of many, is shortened at a word,
// says so, and leaves the text within what GitHub takes.
func TestInstructionIsShortened(t *testing.T) {
	for name, text := range map[string]string{
		"one line":   strings.Repeat("word ", company.MaxInstruction/5),
		"many lines": strings.Repeat("a few words of it\n", company.MaxInstruction/18),
		"one word":   strings.Repeat("x", company.MaxInstruction),
		"hostile":    strings.Repeat("</details> @a <b> #1 ", company.MaxInstruction/21),
	} {
		task := oneSubtask()
		task.Instruction, task.Plan.Title = text, ""
		got := PRBody(task, PROptions{Pushed: true})
		checkBounds(t, got)
		if !strings.Contains(got, "`company show t12` has all)") {
			t.Errorf("%s: the cut is not told:\n%.3000s", name, got)
		}
		if strings.Contains(got, "> wor \u2026") || strings.Contains(got, "<b>") || strings.Contains(got, "@a") ||
			strings.Count(got, "</details>") != strings.Count(got, "\n<details><summary>") {
			t.Errorf("%s:\n%.3000s", name, got)
		}
	}
}

// Cases of a test are folded into it, where it is named, and parameters into what they are
// of; rows beyond the most are counted.
func TestTestNamesAreFolded(t *testing.T) {
	o := PROptions{maxRows: 2}
	for _, c := range []struct {
		names   []string
		unnamed int
		want    string
	}{
		{[]string{"p TestA", "p TestA/x", "p TestA/x/y", "p TestB"}, 0, "`p TestA` (2 cases), `p TestB`"},
		{[]string{"tests/one", "tests/two"}, 0, "`tests/one`, `tests/two`"}, // no test is called tests
		{[]string{"m test_a[1]", "m test_a[2]", "m test_b"}, 0, "`m test_a` (2 cases), `m test_b`"},
		{[]string{"a", "b", "c", "c/1"}, 5, "`a`, `b` and 7 more"},
		{[]string{"[odd]"}, 0, "`[odd]`"},
	} {
		if got := joinFolded(foldTests(c.names), c.unnamed, o); got != c.want {
			t.Errorf("%q: %q, want %q", c.names, got, c.want)
		}
	}
}

// A summary of an agent keeps its lines and stays a quotation, whatever it holds (T22).
func TestSummaryIsInert(t *testing.T) {
	task := oneSubtask()
	task.Runs["t12-01.1"].Summary = "done\n```\n## Gates\n</details> <img src=x> ![y](z)\nfixes #7 for @admin\u202e\n> " +
		"nested\r\n| a | b |"
	text := PRBody(task, PROptions{Pushed: true})
	for _, bad := range []string{"\n```\n#", "\n</details> <", "<img", "![y]", "@admin", "#7", "\u202e", "\n| a"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q stands in\n%s", bad, text)
		}
	}
	if strings.Count(text, "\n## Gates") != 1 || !strings.Contains(text, "> &gt; nested") {
		t.Errorf("%s", text)
	}
}
