package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"company/internal/adapters"
	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// writeFarewell writes a case: a tiny project that lacks a farewell.
func writeFarewell(t *testing.T) string {
	t.Helper()
	return filepath.Dir(writeFiles(t, "farewell", map[string]string{
		"case.yaml": "instruction: add a farewell\nrun: sh ./test.sh\nmust_pass: exit 0\n",
		"hidden.patch": "diff --git a/checks/farewell.sh b/checks/farewell.sh\nnew file mode 100644\n--- /dev/null\n+++ " +
			"b/checks/farewell.sh\n@@ -0,0 +1,2 @@\n+# this line is in the hidden test alone\n+test \"$(sh " +
			"farewell.sh)\" = goodbye\n",
		"solution.patch": "diff --git a/farewell.sh b/farewell.sh\nnew file mode 100644\n--- /dev/null\n+++ " +
			"b/farewell.sh\n@@ -0,0 +1 @@\n+echo goodbye\n",
		"repo/test.sh": "set -e\nfor check in checks/*.sh; do sh \"$check\" || { echo \"FAIL $check\"; exit 1; }; " +
			"done\necho ok\n",
		"repo/greet.sh":        "echo hello\n",
		"repo/checks/greet.sh": "test \"$(sh greet.sh)\" = hello\n",
		"repo/README.md":       "# Greetings\n",
	}))
}

// newOptions returns the options of the user of a house, in a folder that must be empty in the end.
func newOptions(t *testing.T, h *testenv.House) Options {
	t.Helper()
	temp := t.TempDir()
	t.Cleanup(func() {
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	})
	return Options{Program: h.Bin, Environ: h.Env, Dir: temp, Progress: func(line string) { t.Log(line) }}
}

// writeAndFinish returns the steps of a worker that writes files.
func writeAndFinish(files ...string) (steps []scripted.Reply) {
	for i := 0; i < len(files); i += 2 {
		steps = append(steps, callTool("write_file", map[string]any{"path": files[i], "content": files[i+1]}))
	}
	return append(steps, callTool("git_commit", map[string]any{"message": "Add a farewell"}),
		callTool("finish", map[string]any{"summary": "added"}))
}

// TestBenchWork: of two attempts on a case the wrong one is not resolved and the right one is, as a task and by one
// worker. Hidden tests are in no request. Nothing is left or written to the user's office.
func TestBenchWork(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	var tries atomic.Int32
	wrong := writeAndFinish("farewell.sh", "echo bye\n", "checks/farewell.sh", "true\n")
	right := writeAndFinish("farewell.sh", "echo goodbye\n", "checks/mine.sh", "test \"$(sh farewell.sh)\" = goodbye\n")
	recorded := play{
		manager: []scripted.Reply{planOneTicket("Add a farewell", "Add a script that says farewell.",
			[]string{"farewell.sh", "docs/**"})},
		command: "sh ./test.sh", files: []string{"farewell.sh"},
	}
	model := func(x scripted.Exchange) scripted.Reply {
		conversation := recorded
		if x.Header.Role == company.Worker {
			if x.Turn == 0 {
				tries.Add(1)
			}
			if conversation.worker = right; tries.Load() == 1 || tries.Load() == 2 { // the first attempt of each kind
				conversation.worker = wrong
			}
		}
		reply := conversation.reply(x)
		reply.Usage = &adapters.Usage{InputTokens: 1000, CachedTokens: 600, OutputTokens: 10}
		return reply
	}
	h := testenv.New(t, scripted.BrainFunc(model), map[string]string{"README.md": "not this one\n"})
	h.LetManagerPlan()
	h.Config("gates: {lint: none, test: \"sh ./test.sh\"}\n")
	cases := writeFarewell(t)
	o := newOptions(t, h)
	o.Repeat, o.Solo = 2, true
	r, err := Run(t.Context(), cases, o)
	if err != nil || len(r.Cases) != 1 || r.Cases[0].Solo == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	whole, alone := r.Cases[0].Company, *r.Cases[0].Solo
	checkAttempts(t, "company", whole, 3)
	checkAttempts(t, "one worker", alone, 1)
	second := whole.Attempts[1]
	if wrote := second.WriteSet; wrote == nil || *wrote.Precision != 0.5 || *wrote.Recall != 0.5 {
		t.Errorf("write set %+v", wrote)
	}
	if !strings.Contains(second.PullRequest, "**Change.**") || r.Total.Attempted != 2 || r.Total.Wrong != 1 {
		t.Errorf("%+v", r.Total)
	}
	if a := alone.Attempts[1]; a.WriteSet != nil || a.Runs != 1 || a.CriticalTurns != a.Requests {
		t.Errorf("one worker: %+v", a)
	}
	if slices.ContainsFunc(h.Model.Requests(), func(request scripted.Logged) bool {
		return strings.Contains(string(request.Body), "this line is in the hidden test alone")
	}) {
		t.Error("a request holds a hidden test")
	}
	if _, err := os.Stat(filepath.Join(h.Repo, ".company")); err == nil {
		t.Error("an office was made where the user stands")
	}
	checked, err := Check(t.Context(), cases, newOptions(t, h))
	if err != nil || !strings.Contains(checked.RenderText(), "red          green") {
		t.Errorf("the check says\n%s%v", checked.RenderText(), err)
	}
}

// checkAttempts checks a wrong attempt and a right one, with requests of so many roles.
func checkAttempts(t *testing.T, by string, r Result, roles int) {
	t.Helper()
	if len(r.Attempts) != 2 {
		t.Fatalf("%s: %+v", by, r)
	}
	first, second := r.Attempts[0], r.Attempts[1]
	if first.Verdict != Wrong || second.Verdict != Resolved || r.Resolved != 1 || r.Wrong != 1 ||
		!strings.Contains(first.Why, "FAIL checks/farewell.sh") {
		t.Errorf("%s: %+v", by, r)
	}
	if second.Requests < 4 || second.CriticalTurns < 4 || second.Tokens < 4000 || second.WallMS <= 0 ||
		len(second.Roles) != roles || second.CachedShare == nil || *second.CachedShare != 0.6 {
		t.Errorf("%s: %+v", by, second)
	}
}

// TestExamplesProve: the cases of examples/work prove something.
func TestExamplesProve(t *testing.T) {
	hosttest.Long(t, "nineteen cases, two of them in a module of 150,000 lines")
	t.Parallel()
	h := testenv.New(t, nil, map[string]string{"README.md": "not this one\n"})
	if _, err := Check(t.Context(), filepath.Join("..", "..", "examples", "work"), newOptions(t, h)); err != nil {
		t.Error(err)
	}
}
