package e2e

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// runRefused runs a command that must end with this exit code and error code.
func runRefused(t testing.TB, h *testenv.House, exit int, code string, args ...string) string {
	t.Helper()
	r := h.Run(patience, args...)
	if r.Code != exit || !strings.Contains("\n"+r.Stderr, "\nerror["+code+"]: ") {
		t.Fatalf("company %s: exit %d, want %d and %s\n%s\n%s", strings.Join(args, " "), r.Code, exit, code,
			r.Stdout, r.Stderr)
	}
	return r.Stderr
}

// runAndExpect runs a command that must end well and whose result holds these words.
func runAndExpect(t testing.TB, h *testenv.House, words []string, args ...string) string {
	t.Helper()
	out := h.MustRun(patience, args...).Stdout
	for _, w := range words {
		if !strings.Contains(out, w) {
			t.Errorf("company %s does not say %q:\n%s", strings.Join(args, " "), w, out)
		}
	}
	return out
}

// TestQuestionToPullRequest: the manager asks, the task waits, the president
// answers and resumes; then everything that a president looks at, and the
// merge, which is the president's own (SUB-2, CLI-7, REV-1). SUB-14: an
// instruction that can be meant in two ways calls nobody but the manager, who
// asks in a line; the verdict is INCOMPLETE, exit 2, when nobody is there.
func TestQuestionToPullRequest(t *testing.T) {
	t.Parallel()
	brain := &staff{
		manager: replyByRun(replyInSteps(call("ask_president", m{"question": "Shall it say goodbye\x1b]0;owned\x07 or " +
			"farewell?"})), submitPlan(farewellTicket())),
		worker: saysGoodbye(),
	}
	h := openTinyProject(t, brain)
	h.LetManagerPlan()
	sum := waitForSummary(t, h.Start("submit", "--no-input", "add a farewell"), 2)
	if sum.Result != "INCOMPLETE" || sum.Status != "awaiting_input" || sum.Next != `company answer a1 "…"` {
		t.Fatalf("summary: %+v", sum)
	}
	if n := h.Model.Calls().Total; n != 1 {
		t.Errorf("%d model calls for a question of the manager", n)
	}
	if st := runAndExpect(t, h, []string{"NEEDS YOU\n  ! a1", `company answer a1 "…"`, "t1    needs you"},
		"status"); strings.Contains(st, "\x1b") || strings.Contains(st, "\x07") {
		t.Errorf("status steers the terminal: %q", st) // T18
	}
	runRefused(t, h, 1, "E_INVALID", "approve", "t1") // a clarification is answered in words
	runAndExpect(t, h, []string{"a1: answered."}, "answer", "a1", "goodbye, please")
	runRefused(t, h, 1, "E_CONFLICT", "answer", "a1", "again")
	if sum := waitForSummary(t, h.Start("resume", "t1"), 0); sum.Result != "COMPLETE" ||
		sum.Next != "review the pull request: company pr show 1" {
		t.Fatalf("summary: %+v", sum)
	}
	if !strings.Contains(requestText(t, h, "t1-plan.2", 1), "goodbye, please") {
		t.Error("the manager was not told the answer")
	}
	checkDelivered(t, h, 1, 1, 1)
	presidentLooks(t, h)
	presidentMerges(t, h)
}

// presidentLooks: what can be seen of a task that is done.
func presidentLooks(t *testing.T, h *testenv.House) {
	t.Helper()
	runAndExpect(t, h, []string{"t1    done   1/1 ", "test passed on ", "#1 open", "add a farewell"}, "status")
	runAndExpect(
		t, h, []string{"t1  done", "PLAN  1 subtask in 1 wave, 1 merged", "t1-01", "gates passed", "review: approve",
			"t1-plan.1", "t1-plan.2", "pull request #1, open: company pr show 1"}, "show", "t1")
	runAndExpect(
		t, h, []string{"t1-01  merged, wave 1  Add a farewell", "must:   the checks pass",
			"writes: farewell.sh, checks/farewell.sh", "+ test: sh ./test.sh, exit 0", "created   farewell.sh"}, "show", "t1-01")
	runAndExpect(t, h, []string{"t1-01.1  worker  done", "result.json", "transcript.ndjson", "git.log"}, "show", "t1-01.1")
	runAndExpect(t, h, []string{"a1  clarification of t1", "answer goodbye, please"}, "show", "a1")
	for _, id := range []string{"t1-01", "t1-01.1"} {
		log := runAndExpect(t, h, []string{"t1-01.1  w1", "+ write_file farewell.sh", "+ git_commit", "+ finish"}, "logs", "--full", id)
		if strings.Count(log, "\n") > 400 {
			t.Errorf("logs %s is not shortened: %d lines", id, strings.Count(log, "\n"))
		}
	}
	var log struct {
		Run       string
		ToolCalls []struct{ Name string } `json:"tool_calls"`
	}
	h.JSON(&log, "logs", "--full", "t1-01")
	if log.Run != "t1-01.1" || len(log.ToolCalls) < 4 {
		t.Errorf("logs -o json: %+v", log)
	}
	// The patch of each is what git makes of it.
	want := []string{"diff --git a/checks/farewell.sh b/checks/farewell.sh", "+echo goodbye"}
	whole := runAndExpect(t, h, want, "diff", "t1")
	for _, id := range []string{"t1-01", "t1-01.1"} {
		if got := runAndExpect(t, h, want, "diff", id); got != whole {
			t.Errorf("diff %s differs from the task's:\n%s", id, got)
		}
	}
	if got := runAndExpect(t, h, want, "pr", "diff", "1"); got != whole {
		t.Errorf("pr diff 1 differs from the task's:\n%s", got)
	}
	apply := exec.Command("git", "apply", "--check", "-")
	apply.Dir, apply.Env, apply.Stdin = h.Repo, h.Env, strings.NewReader(whole)
	if out, err := apply.CombinedOutput(); err != nil {
		t.Errorf("the patch does not apply: %v\n%s", err, out)
	}
	runAndExpect(t, h, []string{"#1  open   t1    develop-t1-", "-> main", "add a farewell"}, "pr", "list")
	runAndExpect(
		t, h, []string{"#1  open  develop-t1-", "2 files: 2 created", "# add a farewell", "| test | `sh ./test.sh` | 0 |",
			"company pr merge 1"}, "pr", "show", "1")
	feed := runAndExpect(t, h, []string{"pull request #1", "+ complete"}, "feed", "t1")
	if first, _, _ := strings.Cut(feed, "\n"); !strings.HasSuffix(first, "> add a farewell") {
		t.Errorf("the feed does not begin with the submission: %q", first)
	}
	if left := h.Git(h.Repo, "status", "--porcelain"); left != "" {
		t.Errorf("looking changed the checkout:\n%s", left)
	}
}

// presidentMerges: company notes a merge once it is there, and never makes it.
func presidentMerges(t *testing.T, h *testenv.House) {
	t.Helper()
	text := runRefused(t, h, 1, "E_PROTECTED", "pr", "merge", "1")
	mainUnmoved(t, h)
	_, fix, ok := strings.Cut(text, "  fix:  ")
	fix, _, _ = strings.Cut(fix, " && company pr merge 1")
	if !ok || !strings.Contains(fix, "git merge --no-ff") {
		t.Fatalf("no commands to run:\n%s", text)
	}
	cmd := exec.Command("sh", "-c", fix)
	cmd.Env = h.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", fix, err, out)
	}
	runAndExpect(t, h, []string{"#1 is merged"}, "pr", "merge", "1")
	runAndExpect(t, h, []string{"#1 is merged"}, "pr", "merge", "1") // a repeat is harmless
	runRefused(t, h, 1, "E_CONFLICT", "pr", "close", "1")
	runAndExpect(t, h, []string{"#1  merged"}, "pr", "list")
	if log := h.Git(h.Origin, "log", "--format=%s%n%b", "main"); !strings.Contains(log, "\nTicket: t1-01") {
		t.Error("the president's merge is not in main")
	}
}

// TestPlanApproval: with --approve plan the task waits; words send the plan
// back; a yes lets the work begin (SUB-2).
func TestPlanApproval(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, farewells())
	sum := waitForSummary(t, h.Start("submit", "--no-input", "--approve", "plan", "add a farewell"), 2)
	if sum.Next != "company approve a1 or company reject a1" ||
		!strings.Contains(sum.Why, "The plan has 1 subtask in 1 wave") {
		t.Fatalf("summary: %+v", sum)
	}
	if n := h.Model.Calls().Total; n != 1 {
		t.Errorf("%d model calls before the plan was approved", n)
	}
	runAndExpect(t, h, []string{"a1: no, with your words."}, "reject", "t1", "name it farewell2")
	waitForSummary(t, h.Start("resume", "--no-input"), 2)
	if !strings.Contains(requestText(t, h, "t1-plan.2", 1), "name it farewell2") {
		t.Error("the manager was not told the words")
	}
	runAndExpect(t, h, []string{"a2: yes: work on it."}, "approve", "t1")
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 1)
}

// TestQuiet: -q is not progress, for programs too; the result is on stdout. The
// instruction comes through a pipe.
func TestQuiet(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h := openTinyProject(t, farewells())
	cmd := h.Command("submit", "-q", "-o", "json", "--dry-run")
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("say goodbye\n"), &out, &errs
	if err := cmd.Run(); err != nil || errs.Len() > 0 || !strings.Contains(out.String(), `"instruction":"say goodbye"`) {
		t.Errorf("%v\n%s\n%s", err, out.String(), errs.String())
	}
}

// TestDayBudget: where the tokens of the day are used up the office rests, with one
// question for all tasks; more of them let it go on.
func TestDayBudget(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, farewells())
	h.Env = append(h.Env, "COMPANY_BUDGET_DAY_TOKENS=500")
	sum := waitForSummary(t, h.Start("submit", "--no-input", "add a farewell"), 2)
	if sum.Next != "company approve a1 or company reject a1" ||
		!strings.Contains(sum.Why, "Without an answer the work goes on at midnight.") {
		t.Fatalf("summary: %+v", sum)
	}
	if n := h.Model.Calls().Total; n != 0 {
		t.Errorf("%d model calls were made past the cap", n)
	}
	runAndExpect(t, h, []string{"the day: 0 tokens of 500 tokens used", "t1"}, "budget")
	runRefused(t, h, 1, "E_INVALID", "budget", "add", "--day", "5usd")
	runRefused(t, h, 64, "E_USAGE", "budget", "add", "--day", "t1", "5usd")
	runAndExpect(t, h, []string{"a1: no"}, "reject", "a1")
	runAndExpect(t, h, []string{"the budget of the day is used up", "company budget add --day "}, "status")
	runAndExpect(t, h, []string{"the day: 0 tokens of 2000k tokens used"}, "budget", "add", "--day", "2Mtokens")
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 1)
}

// TestBudgetAdd: at the cap the task waits with a question; more money lets it
// go on where it was.
func TestBudgetAdd(t *testing.T) {
	t.Parallel()
	h := openTinyProject(t, farewells())
	sum := waitForSummary(t, h.Start("submit", "--no-input", "--set", "budget.tokens=500", "add a farewell"), 2)
	if !strings.Contains(sum.Next, "company budget add t1") || !strings.Contains(sum.Why, "The next model call may cost") {
		t.Fatalf("summary: %+v", sum)
	}
	if n := h.Model.Calls().Total; n != 0 {
		t.Errorf("%d model calls were made past the cap", n)
	}
	runAndExpect(t, h, []string{"t1", "needs you: company budget add t1 "}, "budget")
	// Money does not let it on: nobody knows a price, so tokens are what is short.
	runRefused(t, h, 1, "E_INVALID", "budget", "add", "t1", "5usd")
	runAndExpect(t, h, []string{"the cap of t1 is"}, "budget", "add", "t1", "2Mtokens")
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 1)
	runRefused(t, h, 1, "E_CONFLICT", "budget", "add", "t1", "1Mtokens")
	said := runRefused(t, h, 64, "E_USAGE", "submit", "--dry-run", "--budget-usd", "0.0001", "add a farewell")
	if !strings.Contains(said, "no price is known for scripted") || !strings.Contains(said, "--budget-tokens 200k") {
		t.Errorf("a cap that nothing can hold: %s", said)
	}
	r := h.Run(patience, "submit", "--no-input", "--budget-tokens", "1k", "add a farewell")
	if r.Code != 2 || !strings.Contains(
		r.Stderr, "budget  1000 tokens (no price is known for scripted, so the limit of $5.00 does not apply)") {
		t.Errorf("exit %d, %s", r.Code, r.Stderr)
	}
}
