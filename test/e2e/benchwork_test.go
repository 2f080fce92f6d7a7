package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"company/internal/adapters"
	"company/internal/adapters/scripted"
	"company/internal/bench"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// hiddenGoodbye is a patch with the hidden test of the farewell.
const hiddenGoodbye = `diff --git a/checks/farewell.sh b/checks/farewell.sh
new file mode 100644
--- /dev/null
+++ b/checks/farewell.sh
@@ -0,0 +1,2 @@
+# this line is in the hidden test alone
+test "$(sh farewell.sh)" = goodbye
`

// writeCase writes a case of the tiny project.
func writeCase(t *testing.T, dir string) {
	t.Helper()
	files := map[string]string{
		"case.yaml":    "name: farewell\ninstruction: add a farewell\nrun: sh ./test.sh\nmust_pass: exit 0\n",
		"hidden.patch": hiddenGoodbye,
		"solution.patch": "diff --git a/farewell.sh b/farewell.sh\nnew file mode 100644\n--- /dev/null\n+++ " +
			"b/farewell.sh\n@@ -0,0 +1 @@\n+echo goodbye\n",
	}
	for name, text := range tinyProject() {
		files["repo/"+name] = text
	}
	for name, text := range files {
		path := filepath.Join(dir, "farewell", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// withUsage has replies report what they used.
func withUsage(do func(scripted.Exchange) scripted.Reply, input, cached int) func(scripted.Exchange) scripted.Reply {
	return func(x scripted.Exchange) scripted.Reply {
		r := do(x)
		r.Usage = &adapters.Usage{InputTokens: input, CachedTokens: cached, OutputTokens: 10}
		return r
	}
}

// TestBenchWork: of two attempts on a case the wrong one is not resolved and the right one
// is, as a task and solo; hidden tests are in no request; nothing is left or written to
// the user's office and config.
func TestBenchWork(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	var tries atomic.Int32
	wrong := writeFilesAndFinish("Add a farewell", "farewell.sh", "echo bye\n", "checks/mine.sh",
		"sh farewell.sh >/dev/null\n", "checks/farewell.sh", "true\n")
	right := writeFilesAndFinish("Add a farewell", "farewell.sh", "echo goodbye\n", "checks/mine.sh",
		"test \"$(sh farewell.sh)\" = goodbye\n")
	h := testenv.New(t, &staff{
		manager: submitPlan(
			[]m{ticket("Add a farewell", "Add a script that says farewell, and its check.", "farewell.sh", "docs/**")}),
		worker: withUsage(func(x scripted.Exchange) scripted.Reply {
			if x.Turn == 0 {
				tries.Add(1)
			}
			if n := tries.Load(); n == 1 || n == 3 || n == 4 { // the first attempt of each kind
				return wrong(x)
			}
			return right(x)
		}, 1000, 600),
	}, map[string]string{"README.md": "not this one\n"})
	h.LetManagerPlan()
	h.Config(tinyGates)
	cases, temp := filepath.Join(h.Dir, "cases"), filepath.Join(h.Dir, "temp")
	writeCase(t, cases)
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, solo := range []bool{false, true} {
		args := []string{"bench", "work", cases, "--repeat", "2", "--dir", temp, "-o", "json"}
		if solo {
			args = append(args, "--solo")
		}
		asked := h.Model.Calls().ByRun["t1-plan.1"]
		ran := h.MustRun(patience, args...)
		var r bench.Report
		if err := json.Unmarshal([]byte(ran.Stdout), &r); err != nil || len(r.Cases) != 1 ||
			(r.Cases[0].Solo != nil) != solo {
			t.Fatalf("solo %v: %v\n%s\n%s", solo, err, ran.Stdout, ran.Stderr)
		}
		c := r.Cases[0].Company
		checkAttempts(t, "company", c)
		if r.Total.Attempted != 2 || r.Total.Wrong != 1 {
			t.Errorf("%+v", r.Total)
		}
		if wrote := c.Attempts[1].WriteSet; wrote == nil || *wrote.Precision != 0.5 || *wrote.Recall != 0.5 {
			t.Errorf("write set %+v", wrote)
		}
		if roles := c.Attempts[1].Roles; roles[company.Manager].Requests == 0 || roles[company.Worker].Cached == 0 ||
			roles[company.Reviewer].Requests == 0 {
			t.Errorf("roles %+v", roles)
		}
		if !solo {
			continue
		}
		alone := *r.Cases[0].Solo
		checkAttempts(t, "one worker", alone)
		if a := alone.Attempts[1]; a.WriteSet != nil || *a.CachedShare != 0.6 || a.Runs != 1 ||
			a.CriticalTurns != a.Requests || len(a.Roles) != 1 {
			t.Errorf("one worker: %+v", a)
		}
		if now := h.Model.Calls().ByRun["t1-plan.1"]; now != 2*asked {
			t.Errorf("the manager was asked %d times, %d before", now, asked)
		}
	}
	for _, r := range h.Model.Requests() {
		if strings.Contains(string(r.Body), "this line is in the hidden test alone") ||
			strings.Contains(string(r.Body), "hidden.patch") {
			t.Errorf("a request holds a hidden test: %.2000s", r.Body)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(h.Repo, ".company")); err == nil {
		t.Error("an office was made where the user stands")
	}
	if said := h.MustRun(patience, "bench", "work", cases, "--check", "--dir", temp).Stdout; !strings.Contains(
		said, "red          green") {
		t.Errorf("the check says\n%s", said)
	}
}

// checkAttempts checks a wrong attempt and a right one.
func checkAttempts(t *testing.T, by string, r bench.Result) {
	t.Helper()
	if len(r.Attempts) != 2 {
		t.Fatalf("%s: %+v", by, r)
	}
	first, second := r.Attempts[0], r.Attempts[1]
	if first.Verdict != bench.Wrong || second.Verdict != bench.Resolved || r.Resolved != 1 || r.Wrong != 1 ||
		r.Share.Low <= 0 || r.Share.High >= 1 || !strings.Contains(first.Why, "FAIL checks/farewell.sh") {
		t.Errorf("%s: %+v", by, r)
	}
	if first.PullRequest == "" || !strings.Contains(second.PullRequest, "**Change.**") {
		t.Errorf("%s: the text of the pull request: %s", by, second.PullRequest)
	}
	if second.Requests < 4 || second.CriticalTurns < 4 || second.Tokens < 4000 || second.WallMS <= 0 ||
		second.CachedShare == nil || *second.CachedShare <= 0.3 || *second.CachedShare > 0.6 {
		t.Errorf("%s: %+v", by, second)
	}
}

// TestBenchWorkExamples: the cases of examples/work prove something.
func TestBenchWorkExamples(t *testing.T) {
	hosttest.Long(t, "TestBenchWork checks a case, and the rest is more of them")
	t.Parallel()
	h := testenv.New(t, nil, map[string]string{"README.md": "not this one\n"})
	root, err := testenv.Root()
	if err != nil {
		t.Fatal(err)
	}
	cases := filepath.Join(root, "examples", "work")
	folders, err := os.ReadDir(cases)
	if err != nil {
		t.Fatal(err)
	}
	pinned := readPinned(t)
	check := func(t *testing.T, are bool) {
		args := []string{"bench", "work", cases, "--check"}
		for _, f := range folders {
			if _, is := pinned[f.Name()]; is == are {
				args = append(args, "--case", f.Name())
			}
		}
		h.MustRun(time.Duration(len(args))*patience/4, args...)
	}
	check(t, true)
	t.Run("the others", func(t *testing.T) {
		hosttest.Long(t, "eleven more, two of them in a module of 150,000 lines")
		check(t, false)
	})
}

// TestBenchWorkRecorded: a recorded conversation is played by a program and by the one that it
// is compared with, both finish the case, and no token is another one. No model is asked. No role
// takes more tokens than are pinned.
func TestBenchWorkRecorded(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h := testenv.New(t, nil, map[string]string{"README.md": "not this one\n"})
	h.LetManagerPlan()
	h.Config(tinyGates)
	cases, temp := filepath.Join(h.Dir, "cases"), filepath.Join(h.Dir, "temp")
	writeCase(t, cases)
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	ran := h.MustRun(patience, "bench", "work", cases, "--recorded", "--long", "0", "--before", h.Bin, "--dir", temp,
		"-o", "json")
	var r bench.TokensReport
	if err := json.Unmarshal([]byte(ran.Stdout), &r); err != nil || len(r.Cases) != 1 || r.Cases[0].Before == nil {
		t.Fatalf("%v\n%s\n%s", err, ran.Stdout, ran.Stderr)
	}
	before, now := *r.Cases[0].Before, r.Cases[0].Now
	if now.Requests < 10 || now.Requests != before.Requests || now.Tools != before.Tools || now.System != before.System ||
		now.Cached == 0 || now.Cached >= now.Input || len(now.Roles) != 3 {
		t.Errorf("before %+v\nnow %+v", before, now)
	}
	checkTokens(t, r.Cases)
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
