package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"company/internal/engine/replay"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// sqliteProject is a project with a database in Go that compiles for a minute and more.
func sqliteProject(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{
		"go.mod":   "module example.com/notes\n\ngo 1.24\n\nrequire modernc.org/sqlite v1.40.0\n",
		"notes.go": "package notes\n\n// Most is how many notes there may be.\nconst Most = 1\n",
		"notes_test.go": `package notes

import (
	"database/sql"
	"testing"

	_ "modernc.org/sqlite"
)

func TestMost(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.QueryRow("select 1").Scan(&n); err != nil || n > Most {
		t.Fatal(n, err)
	}
}
`,
	}
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tidy := exec.Command("go", "mod", "tidy")
	tidy.Dir = dir
	if out, err := tidy.CombinedOutput(); err != nil {
		t.Fatalf("go mod tidy: %v\n%s", err, out)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	return files
}

// TestWorkersBeginWhileTheBaseIsCompiled: a worker reads, edits and hands in while the base still
// compiles, over a kill; its work is judged once the base is.
func TestWorkersBeginWhileTheBaseIsCompiled(t *testing.T) {
	hosttest.Long(t, "compiles a database that was translated to Go")
	t.Parallel()
	h := testenv.New(t, &staff{
		manager: submitPlan([]m{ticket("Allow two notes", "Set Most in notes.go to 2.", "notes.go")}),
		worker: replyInSteps(
			call("read_file", m{"path": "notes.go"}),
			call("run_command", m{"command": "sed -i 's/Most = 1/Most = 2/' notes.go"}),
			call("git_commit", m{"message": "Allow two notes"}),
			call("finish", m{"summary": "two are allowed"}), // asks for a test, once
			call("finish", m{"summary": "two are allowed", "risks": "No test shows it."}),
		),
		reviewer: approveAfter("cat notes.go"),
	}, sqliteProject(t))
	h.Config("gates: {red_green: off}\n")
	p := h.Start("submit", "allow two notes")
	start := p.Event(10*time.Minute, "task.early_start", "")
	checkHolds(t, "the feed", start.Text, "the base is still being compiled")
	p.Event(patience, "run.claimed", "t1-01")
	p.Kill()
	p = h.Start("resume")
	handedIn := p.Event(10*time.Minute, "run.ended", "t1-01")
	prepared := p.Event(10*time.Minute, "task.prepared", "")
	if !handedIn.Time.Before(prepared.Time) {
		t.Errorf("handed in at %s, and the image was there at %s", handedIn.Time, prepared.Time)
	}
	if sum := waitForSummary(t, p, 0); sum.Result != "COMPLETE" {
		t.Fatalf("%+v\n%s", sum, p.Tell())
	}
	checkBriefHolds(t, h, "t1-01.1", "Nothing is compiled in your container")
	var same replay.Report // the image is there by now
	if h.JSON(&same, "replay", "t1"); !same.Same {
		t.Errorf("the replay is not the same: %+v", same)
	}
}

// TestReplayOfWorkThatBeganEarly: a task whose worker began before its base was judged is done again on a
// machine that judges the base at once.
func TestReplayOfWorkThatBeganEarly(t *testing.T) {
	hosttest.Long(t, "the checks of its base take two minutes")
	t.Parallel()
	files := tinyProject()
	slowUntil := time.Now().Add(2 * time.Minute).Unix()
	files["test.sh"] = fmt.Sprintf("while [ $(date +%%s) -lt %d ]; do sleep 1; done\n", slowUntil) + files["test.sh"]
	h := testenv.New(t, &staff{manager: submitPlan(farewellTicket()), worker: saysGoodbye()}, files)
	h.Config(tinyGates)
	p := h.Start("submit", "say goodbye")
	p.Event(patience, "task.early_start", "")
	waitForSummary(t, p, 0)
	var same replay.Report
	h.JSON(&same, "replay", "t1")
	if !same.Same {
		t.Errorf("replayed: %+v", same)
	}
}
