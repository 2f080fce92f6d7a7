package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/engine/replay"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// notesProject is a project that no ecosystem knows: its README names the test, which needs a
// program that the image does not have.
func notesProject(program string) map[string]string {
	return map[string]string{
		"README.md": "# Notes\n\nTo check them:\n\n```sh\nsh ./unit-test.sh\n```\n",
		"unit-test.sh": "set -e\necho 1+2 | " + program +
			" >/tmp/sum\ntest \"$(cat /tmp/sum)\" = 3\ngrep -q one notes.txt\necho 'ok: the notes are right'\n",
		"notes.txt": "one\n",
	}
}

func notesStaff() *staff {
	return &staff{
		manager: submitPlan([]m{ticket("Note two", "Add a second note to notes.txt.", "notes.txt")}),
		worker: replyInSteps(
			call("run_command", m{"command": "echo two >>notes.txt && sh ./unit-test.sh"}),
			call("git_commit", m{"message": "Note two"}),
			call("finish", m{"summary": "it is noted"}),
		),
		reviewer: approveAfter("cat notes.txt"),
	}
}

// ownFile is the president's own config for the checkout, or nothing.
func ownFile(t *testing.T, h *testenv.House) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(h.Dir, "config", "company", "repositories", "*.yaml"))
	if err != nil || len(files) != 1 {
		return ""
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDoctorFixesAProject: what doctor proposes is written by --fix, and the next task is tested by it.
func TestDoctorFixesAProject(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	h := testenv.New(t, notesStaff(), notesProject("awk -F+ '{ print $1 + $2 }'"))
	h.Config("gates: {red_green: off, canary: false}\n")
	runAndExpect(t, h, []string{`+   test: "sh ./unit-test.sh"`, "written"}, "doctor", "--fix", "--yes")
	if text := ownFile(t, h); !strings.Contains(text, `test: "sh ./unit-test.sh"`) ||
		!strings.HasPrefix(text, "# "+h.Repo) {
		t.Errorf("the own file is %q", text)
	}
	runAndExpect(t, h, []string{"nothing to fix"}, "doctor", "--fix")
	if sum := waitForSummary(t, h.Start("submit", "note two"), 0); sum.Result != "COMPLETE" ||
		!strings.Contains(sum.Why, "test passed") {
		t.Fatalf("%+v", sum)
	}
	checkDelivered(t, h, 1, 1, 1)
}

// TestQuestionsAreAnsweredByTheirLines: a repository without a check, and then a check that cannot start,
// are questions that name the line and the file. Each answer writes it, and the task goes on with it.
// A replay has both lines.
func TestQuestionsAreAnsweredByTheirLines(t *testing.T) {
	t.Parallel()
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	files := notesProject("bc")
	files["doc/bc.txt"] = "how it reckons\n" // what is called like a part of the tree is added by a person alone
	h := testenv.New(t, notesStaff(), files)
	h.Config("gates: {red_green: off, canary: false}\n")
	if sum := waitForSummary(t, h.Start("submit", "--no-input", "note two"), 2); sum.Result != "INCOMPLETE" {
		t.Fatalf("%+v", sum)
	}
	show := runAndExpect(
		t, h, []string{"no_gates of t1", "config/company/repositories/", `gates.test: "sh ./unit-test.sh"`,
			"company answer a1 --option write"}, "show", "a1")
	if ownFile(t, h) != "" {
		t.Fatalf("it is written before anybody said so\n%s", show)
	}
	runAndExpect(t, h, []string{`a1: gates.test: "sh ./unit-test.sh" is written into `}, "answer", "a1",
		"--option", "write")
	if sum := waitForSummary(t, h.Start("resume", "--no-input", "t1"), 2); sum.Result != "INCOMPLETE" {
		t.Fatalf("%+v", sum)
	}
	const setup = `container.setup: ["apt-get update && apt-get install -y bc"]`
	var shown struct {
		Question struct {
			Line    struct{ Key, File, Text string }
			Options []struct{ Name string }
		}
	}
	h.JSON(&shown, "show", "a2")
	if q := shown.Question; q.Line.Key != "container.setup" || q.Line.Text != setup || len(q.Options) != 3 ||
		q.Options[1].Name != "write" {
		t.Errorf("%+v", q)
	}
	runAndExpect(t, h, []string{"trouble of t1", "bc: not found", setup}, "show", "a2")
	runAndExpect(t, h, []string{"a2: " + setup + " is written into "}, "answer", "a2", "--option", "write")
	runRefused(t, h, 1, "E_CONFLICT", "answer", "a2", "--option", "write")
	if sum := waitForSummary(t, h.Start("resume", "t1"), 0); sum.Result != "COMPLETE" ||
		!strings.Contains(sum.Why, "test passed") {
		t.Fatalf("%+v", sum)
	}
	if text := ownFile(t, h); strings.Count(text, "\n") != 6 || !strings.Contains(text, "\n  setup: ") ||
		!strings.Contains(text, "\n  test: ") {
		t.Errorf("the own file is\n%s", text)
	}
	checkDelivered(t, h, 1, 1, 1)
	var same replay.Report
	if h.JSON(&same, "replay", "t1"); !same.Same {
		t.Errorf("the replay is not the same: %+v", same)
	}
}
