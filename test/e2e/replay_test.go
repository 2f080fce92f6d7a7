package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"company/internal/replay"
)

// TestReplay does a task again from its record, with no model to be had: two workers at
// once, a red gate and the rework, a conflict that the merger resolves, and an answer of the
// president's. Then a changed prompt is found where it is.
func TestReplay(t *testing.T) {
	t.Parallel()
	plan, work := collidingTickets()
	good := work["t1-01"]
	work["t1-01"] = replyByRun(writeFilesAndFinish("Say hey", "greet.sh", "echo hey\n", "checks/greet.sh", "sleep 0.02; time sh greet.sh; test \"$(sh greet.sh)\" = hi\n"), good)
	hold := stopAt("t1-02-review.1", 0)
	h := openTinyProject(t, &staff{
		manager: replyByRun(replyInSteps(call("ask_president", m{"question": "hi or hey?"})), plan), worker: replyByTicket(work), stops: []*stop{hold},
		merger: replyInSteps(
			call("run_command", m{"command": "git diff --name-only --diff-filter=U"}),
			call("read_file", m{"path": "greet.sh"}),
			call("write_file", m{"path": "greet.sh", "content": "# greets\necho hi\n"}),
			call("git_commit", m{"message": "Merge both greetings"}),
			call("finish", m{"summary": "both sides live on"})),
	})
	t.Cleanup(hold.release)
	waitForSummary(t, h.Start("submit", "--no-input", "greet better"), 2)
	h.MustRun(patience, "answer", "a1", "hi")
	p := h.Start("resume")
	mergeSecond(h, p, t, hold)
	waitForSummary(t, p, 0)
	head := h.Git(h.Origin, "rev-parse", integrationBranch(h, 1))
	if err := h.Model.Close(); err != nil {
		t.Fatal(err)
	}
	refs := h.Git(mirror(t, h), "for-each-ref")

	var same replay.Report
	h.JSON(&same, "replay", "t1")
	if !same.Same || string(same.Head) != head || string(same.Tree) != h.Git(h.Origin, "rev-parse", head+"^{tree}") {
		t.Errorf("head %s: %+v", head, same)
	}
	var runs []string
	for _, r := range same.Runs {
		runs = append(runs, string(r.Run))
	}
	for _, want := range []string{"t1-plan.2", "t1-01.2", "t1-02.1", "t1-02-merge.1", "t1-02-review.2"} {
		if !strings.Contains(" "+strings.Join(runs, " ")+" ", " "+want+" ") {
			t.Errorf("%s is not among the runs: %v", want, runs)
		}
	}
	if now := h.Git(mirror(t, h), "for-each-ref"); now != refs {
		t.Errorf("the office's store has changed:\n%s\n%s", refs, now)
	}

	h.Config(tinyGates + "agents: {worker: {persona: Be brief.}}\n")
	r := h.Run(patience, "replay", "t1", "-o", "json")
	var other replay.Report
	if err := json.Unmarshal([]byte(r.Stdout), &other); err != nil || r.Code != 1 || !strings.Contains(r.Stderr, "E_DIVERGED") {
		t.Fatalf("exit %d, %v\n%s\n%s", r.Code, err, r.Stdout, r.Stderr)
	}
	d := other.Divergence
	if other.Same || d == nil || d.Request != 1 || d.Message != 1 || !strings.Contains(d.Replayed, "Be brief.") || strings.Contains(d.Recorded, "Be brief.") {
		t.Errorf("%+v", d)
	}
}
