package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/engine/replay"
	"company/internal/lib/hosttest"
	"company/test/testenv"
)

// TestReplay does a task again from its record, with no model to be had: two workers at
// once, a red gate and the rework, a conflict that the merger resolves, and an answer of the
// president's. The reviewer reads that a worker wrote outside of its write set (SUB-18). The
// company that serves the office gives the record, also as a file that is enough elsewhere. Then a changed prompt is
// found where it is.
func TestReplay(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	plan, work := collidingTickets()
	good := work["t1-01"]
	work["t1-01"] = replyByRun(
		writeFilesAndFinish("Say hey", "greet.sh", "echo hey\n", "checks/greet.sh",
			"sleep 0.02; time sh greet.sh; test \"$(sh greet.sh)\" = hi\n"), good)
	hold := stopAt("t1-02-review.1", 0)
	h := openTinyProject(t, &staff{
		manager: replyByRun(replyInSteps(call("ask_president", m{"question": "hi or hey?"})), plan),
		worker:  replyByTicket(work), stops: []*stop{hold},
		merger: replyInSteps(
			call("run_command", m{"command": "git diff --name-only --diff-filter=U"}),
			call("read_file", m{"path": "greet.sh"}),
			call("write_file", m{"path": "greet.sh", "content": "# greets\necho hi\n"}),
			call("git_commit", m{"message": "Merge both greetings"}),
			call("finish", m{"summary": "both sides live on"})),
	})
	h.LetManagerPlan()
	t.Cleanup(hold.release)
	waitForSummary(t, h.Start("submit", "--no-input", "greet better"), 2)
	h.MustRun(patience, "answer", "a1", "hi")
	p := h.Start("resume")
	mergeSecond(h, p, t, hold)
	waitForSummary(t, p, 0)
	checkBriefHolds(t, h, "t1-02-review.1", "## Changed outside of the write set",
		"The write set is farewell.sh, checks/farewell.sh.", `\ngreet.sh`)
	runAndExpect(t, h, []string{"beyond: greet.sh"}, "show", "t1-02")
	head := h.Git(h.Origin, "rev-parse", integrationBranch(h, 1))
	if err := h.Model.Close(); err != nil {
		t.Fatal(err)
	}
	// The company that serves drops the names of bases whose tasks have ended, and fetches what
	// stands at the origin: not these.
	kept := []string{"for-each-ref", "refs/heads", "refs/company/runs"}
	refs := h.Git(mirror(t, h), kept...)
	temp := filepath.Join(h.Dir, "temp")
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	h.Env = append(h.Env, "TMPDIR="+temp)
	// The task has the agents of its submission. Its gates are those of the config.
	h.Config(tinyGates + "agents: {worker: {persona: Be brief.}}\n")
	serving := startServing(t, h)
	killed := killReplay(t, h, temp)

	var same replay.Report
	h.JSON(&same, "replay", "t1")
	file := filepath.Join(h.Dir, "t1.record")
	h.MustRun(patience, "replay", "t1", "--save", file)
	endServing(t, serving)
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
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 || len(officeContainers(t, killed)) > 0 {
		t.Errorf("a killed replay left %v, %v, and of its containers %v", left, err, officeContainers(t, killed))
	}
	if now := h.Git(mirror(t, h), kept...); now != refs {
		t.Errorf("the office's store has changed:\n%s\n%s", refs, now)
	}

	if stored, said := playRecord(t, file); !stored.Same || stored.Head != same.Head || stored.Tree != same.Tree ||
		len(stored.Runs) != len(same.Runs) {
		t.Errorf("from its file: %+v\n%s", stored, said)
	}

	h.Config("gates: {lint: none, test: \"exit 1\"}\n")
	r := h.Run(patience, "replay", "t1", "-o", "json")
	var other replay.Report
	if err := json.Unmarshal([]byte(r.Stdout), &other); err != nil || r.Code != 1 ||
		!strings.Contains(r.Stderr, "E_DIVERGED") {
		t.Fatalf("exit %d, %v\n%s\n%s", r.Code, err, r.Stdout, r.Stderr)
	}
	if other.Same || other.Divergence == nil {
		t.Errorf("with other gates: %+v", other)
	}
}

// killReplay kills a replay while it has a container, and gives the id of its office.
func killReplay(t *testing.T, h *testenv.House, temp string) (office string) {
	t.Helper()
	cmd := h.Command("replay", "t1", "-q")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	var o struct{ ID string }
	hosttest.Eventually(t, "the replay has a container", func() (any, bool) {
		found, _ := filepath.Glob(filepath.Join(temp, "company-replay-*", "office", "state", "company", "*", "office.json"))
		if len(found) == 0 {
			return nil, false
		}
		text, _ := os.ReadFile(found[0])
		return o, json.Unmarshal(text, &o) == nil && len(officeContainers(t, o.ID)) > 0
	})
	return o.ID
}

// officeContainers are the containers of an office, in any state.
func officeContainers(t *testing.T, id string) []string {
	t.Helper()
	out, err := exec.CommandContext(
		t.Context(), "docker", "ps", "-a", "--filter", "label=company.office="+id, "--format", "{{.Names}}").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// TestReplayOfInterruptedWork: three tickets are merged as a stack after their approvals,
// a worker got a message, and the company was killed in the middle of a run. What comes of
// the replay is the same.
func TestReplayOfInterruptedWork(t *testing.T) {
	hosttest.Long(t, "TestReplay replays workers, a rework and a conflict")
	t.Parallel()
	plan := []m{}
	for _, name := range []string{"one", "two", "three"} {
		plan = append(
			plan, ticket("Add "+name, "Add "+name+".sh, which prints "+name+", and its check.", name+".sh",
				"checks/"+name+".sh"))
	}
	hold := stopAt("t1-02.1", 2)
	t.Cleanup(hold.release)
	h := openTinyProject(
		t, &staff{manager: submitPlan(plan), stops: []*stop{hold},
			worker: replyByTicket(map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{
				"t1-01": addPart("one", ""), "t1-02": addPart("two", ""), "t1-03": addPart("three", ""),
			})})
	h.LetManagerPlan()
	p := h.Start("submit", "--no-input", "--approve", "merge", "add three parts")
	hold.wait(t, p)
	h.MustRun(patience, "tell", "t1-02", "mind the checks")
	p.Event(patience, "review.finished", "t1-01")
	p.Event(patience, "review.finished", "t1-03")
	p.Kill()
	hold.release()
	waitForSummary(t, h.Start("resume", "--no-input"), 2)
	for _, id := range []string{"a1", "a2", "a3"} {
		h.MustRun(patience, "approve", id)
	}
	waitForSummary(t, h.Start("resume"), 0)
	head := h.Git(h.Origin, "rev-parse", integrationBranch(h, 1))
	var same replay.Report
	h.JSON(&same, "replay", "t1")
	if !same.Same || string(same.Tree) != h.Git(h.Origin, "rev-parse", head+"^{tree}") || string(same.Head) != head ||
		len(same.Merges) != 3 {
		t.Errorf("head %s: %+v", head, same)
	}
}
