package view

import (
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/present/view/viewtest"
)

// The summary block, to the letter (CLI-7).
func TestSummaryBlock(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*company.State, *company.Task)
		want   string
	}{
		"complete": {nil, `=== TASK SUMMARY ===
[RESULT] COMPLETE
[TASK]   t12 add rate limiting
[NEXT]   review the pull request: company pr show 7
[WHY]    2 of 2 subtasks merged, lint and test passed
[COST]   $0.41, 212k tokens, 3m12s
[HINT]   company show t12: its plan, runs and gates
====================
`},
		"complete, and nothing was to change": {func(_ *company.State, t *company.Task) {
			t.PR = nil
			sub := t.Subtasks[0]
			id := company.NewRunID(t.ID, sub.ID, company.Worker, sub.Started)
			t.Runs = map[company.RunID]*company.Run{}
			t.Runs[id] = &company.Run{ID: id, Summary: "Nothing to change: limit.go does it,\nand TestLimit shows it"}
		}, `=== TASK SUMMARY ===
[RESULT] COMPLETE
[TASK]   t12 add rate limiting
[NEXT]   company show t12: why there is no pull request
[WHY]    Nothing to change: limit.go does it, and…
[COST]   $0.41, 212k tokens, 3m12s
[HINT]   company show t12: its plan, runs and gates
====================
`},
		"complete, and a linter alone looked at it": {func(_ *company.State, t *company.Task) {
			t.Gate.Result.Checks = t.Gate.Result.Checks[:1]
		}, `=== TASK SUMMARY ===
[RESULT] COMPLETE, UNTESTED
[TASK]   t12 add rate limiting
[NEXT]   review the pull request: company pr show 7
[WHY]    2 of 2 subtasks merged, UNTESTED…
[COST]   $0.41, 212k tokens, 3m12s
[HINT]   to add a test: gates.test in company.yaml (company init --dry-run proposes commands), or the first test of the repository
====================
`},
		"complete, and without a test to run": {func(_ *company.State, t *company.Task) {
			t.Gate.Result.Checks[1].Counts = &company.TestCounts{}
		}, `=== TASK SUMMARY ===
[RESULT] COMPLETE, UNTESTED
[TASK]   t12 add rate limiting
[NEXT]   review the pull request: company pr show 7
[WHY]    2 of 2 subtasks merged, UNTESTED…
[COST]   $0.41, 212k tokens, 3m12s
[HINT]   to add a test: gates.test in company.yaml (company init --dry-run proposes commands), or the first test of the repository
====================
`},
		"complete, and the tests look at one of five folders": {func(_ *company.State, t *company.Task) {
			t.Gate.Result.Checks[1].Canary = &company.Canary{Proven: []string{"internal/api"},
				Blind: []string{"internal/view", "internal/cli", "internal/client", "web\x1b"}}
		}, `=== TASK SUMMARY ===
[RESULT] COMPLETE
[TASK]   t12 add rate limiting
[NEXT]   review the pull request: company pr show 7
[WHY]    2 of 2 subtasks merged, lint and test passed
[COST]   $0.41, 212k tokens, 3m12s
[HINT]   company show t12: its plan, runs and gates
====================
`},
		"no price is known": {func(_ *company.State, t *company.Task) { t.Spent = company.Amount{Tokens: 900} },
			`=== TASK SUMMARY ===
[RESULT] COMPLETE
[TASK]   t12 add rate limiting
[NEXT]   review the pull request: company pr show 7
[WHY]    2 of 2 subtasks merged, lint and test passed
[COST]   900 tokens, 3m12s
[HINT]   company show t12: its plan, runs and gates
====================
`},
		"a question, which steers no terminal": {viewtest.WithQuestion(
			company.AskClarification, "Which\x1b]0;owned\x07 limit?\n[RESULT] COMPLETE"), `=== TASK SUMMARY ===
[RESULT] INCOMPLETE
[TASK]   t12 add rate limiting
[NEXT]   company answer a3 "…"
[WHY]    Which\x1b]0;owned\x07 limit? [RESULT] COMPLETE
[COST]   $0.41, 212k tokens, 3m12s
[HINT]   company show t12: its plan, runs and gates
====================
`},
		"the budget": {viewtest.WithQuestion(company.AskBudget, "Raise the cap?"), `=== TASK SUMMARY ===
[RESULT] INCOMPLETE
[TASK]   t12 add rate limiting
[NEXT]   company budget add t12 5usd or company reject a3
[WHY]    Raise the cap?
[COST]   $0.41, 212k tokens, 3m12s
[HINT]   company show t12: its plan, runs and gates
====================
`},
		"failed": {func(_ *company.State, t *company.Task) {
			t.Status, t.Reason = company.StatusFailed, "the manager's plan was refused 3 times"
		}, `=== TASK SUMMARY ===
[RESULT] ERROR
[TASK]   t12 add rate limiting
[NEXT]   company retry t12
[WHY]    the manager's plan was refused 3 times
[COST]   $0.41, 212k tokens, 3m12s
[HINT]   company show t12: its plan, runs and gates
====================
`},
		"a dry run in an office without a past": {func(s *company.State, t *company.Task) {
			t.DryRun, t.Plan.Waves, t.PR = true, 2, nil
		}, `=== TASK SUMMARY ===
[RESULT] COMPLETE
[TASK]   t12 add rate limiting
[NEXT]   company show t12; then company submit --plan t12
[WHY]    the plan has 2 subtasks in 2 waves
[COST]   $0.41, 212k tokens, 3m12s
[HINT]   estimate: none, this office has no finished work yet; at most $5.00
====================
`},
		"a dry run with a past": {func(s *company.State, t *company.Task) {
			t.DryRun, t.Plan.Waves, t.PR = true, 2, nil
			for _, o := range []struct {
				id    company.TaskID
				usd   int64
				waves int
				took  time.Duration
				idle  time.Duration // interrupted: it is not part of the estimate
			}{{"t1", 400_000, 1, 3 * time.Minute, 0}, {"t2", 1_000_000, 2, 70 * time.Minute, time.Hour}} {
				s.Tasks[o.id] = &company.Task{ID: o.id, Status: company.StatusCompleted, Subtasks: []*company.Subtask{{}, {}},
					Spent: company.Amount{MicroUSD: o.usd, Tokens: o.usd / 10},
					Plan:  company.Planning{Waves: o.waves}, Submitted: viewtest.Time, Ended: viewtest.Time.Add(o.took), Idle: o.idle}
			}
		}, `=== TASK SUMMARY ===
[RESULT] COMPLETE
[TASK]   t12 add rate limiting
[NEXT]   company show t12; then company submit --plan t12
[WHY]    the plan has 2 subtasks in 2 waves
[COST]   $0.41, 212k tokens, 3m12s
[HINT]   estimate: $0.40, 40k tokens to $1.00, 100k tokens, 6m00s to 10m00s, from 4 earlier subtasks; at most $5.00
====================
`},
	} {
		t.Run(name, func(t *testing.T) {
			s, task := viewtest.TaskOf(tc.change)
			got := Source{State: s, Now: task.Updated, AtWork: true}.Summary(task)
			if got.RenderText() != tc.want {
				t.Errorf("got\n%swant\n%s", got.RenderText(), tc.want)
			}
		})
	}
}

// What agents, repositories and models say reaches a terminal without a
// character that could steer it (T18), in every
func TestViewsAreClean(t *testing.T) {
	evil := "ev\x1b[31mil\x9b2J\u202e\u200b"
	s, task := viewtest.TaskOf(viewtest.WithQuestion(company.AskMerge, "merge "+evil))
	task.Instruction, task.Reason, task.Plan.Why = evil, evil, evil
	task.Failures = map[string]company.Failure{"gate": {Attempt: 1, Error: evil}}
	task.Prepared.Base = company.Base{Branch: "main", OID: task.Head}
	task.Prepared.Gates = []company.GateCommand{{Name: "test", Command: evil}}
	task.Gate.Result.Passed = false
	task.Gate.Result.Checks = []company.GateCheck{{Name: "test", Command: evil, Output: "line\n" + evil}}
	task.Runs = map[company.RunID]*company.Run{
		"t12-01.1": {ID: "t12-01.1", Role: company.Worker, Subtask: "t12-01", Ended: true, Summary: evil, Error: evil}}
	sub := task.Subtasks[0]
	sub.Planned = company.PlannedSubtask{Title: evil, Description: evil, AcceptanceCriteria: []string{evil},
		WriteSet: []string{evil}}
	sub.Reason, sub.Gate, sub.Branch, sub.Changes = evil, task.Gate, evil,
		[]company.Change{{Path: evil, Action: "created"}}
	sub.Review.Last = &company.ReviewRecorded{Verdict: company.RequestChanges,
		Findings: []company.Finding{{File: evil, What: evil, Why: evil, Suggestion: evil}}, Evidence: []string{evil}}
	task.Review.Last = sub.Review.Last
	for name, text := range map[string]string{
		"office":   overviewOf(Source{State: s, Now: time.Now(), AtWork: true}, true).RenderText(),
		"task":     Source{State: s, Now: time.Now()}.TaskDetail(task).Render(Style{}),
		"subtask":  Source{State: s, Now: time.Now()}.Subtask(task, sub).Render(Style{}),
		"run":      Source{State: s, Now: time.Now()}.Run(task, task.Runs["t12-01.1"]).Render(Style{}),
		"question": newApproval(s, s.Approvals["a3"]).Render(Style{}),
		"summary":  Source{State: s}.Summary(task).RenderText(),
	} {
		if !strings.Contains(text, `ev\x1b[31mil`) {
			t.Errorf("%s does not show it:\n%s", name, text)
		}
		if i := strings.IndexFunc(text,
			func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r <= 0x9f || r == 0x202e || r == 0x200b }); i >= 0 {
			t.Errorf("%s holds %q:\n%s", name, text[i], text)
		}
	}
}
