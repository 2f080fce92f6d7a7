package e2e

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/adapters/scripted"
	"company/internal/company"
	"company/internal/lib/hosttest"
	"company/internal/present/feed"
	"company/test/testenv"
)

// killPoint is a moment at which the company's process is killed. The
// process cannot have gone further: the model's next reply or a push is held
// back, or the process waits before an effect.
type killPoint struct {
	name string
	hold *stop  // the reply that is held back; nil: none
	at   string // prefix of the key of the effect that is not begun; "": none
	kind string // the event after which the process dies
	sub  string // its subtask
	// set prepares the house once the reply is due (hold is set), or before
	// the company starts; what it returns undoes it after the kill.
	set func(t *testing.T, h *testenv.House) (undo func())
	// goOn lets the held reply go before the event is waited for.
	goOn bool
	// met is checked between the kill and the resume.
	met     func(t *testing.T, h *testenv.House)
	planned bool   // a manager plans the task
	not     string // an event that must not have happened before the kill
	// again: another point, or TestKillEverywhere on its way, shows the same.
	again bool
}

func killPoints() []killPoint {
	return []killPoint{
		{name: "before the base is judged", at: "baseline t1", kind: "task.prepared", not: "task.baseline"},
		{name: "prepared and not planned", hold: stopAt("t1-plan.1", 0), kind: "task.baseline", not: "plan.accepted",
			planned: true},
		{name: "while planning", hold: stopAt("t1-plan.1", 0), kind: "run.claimed", not: "plan.accepted", again: true,
			planned: true},
		{name: "planned", hold: stopAt("t1-01.1", 0), kind: "plan.accepted", not: "gate.finished", again: true},
		{name: "claimed", hold: stopAt("t1-01.1", 0), kind: "run.claimed", sub: "t1-01", not: "gate.finished", again: true},
		{name: "work not committed", hold: stopAt("t1-01.1", 3), kind: "run.claimed", sub: "t1-01", not: "gate.finished",
			again: true},
		{name: "committed", hold: stopAt("t1-01.1", 5), kind: "run.claimed", sub: "t1-01", not: "gate.finished",
			met: checkPushed},
		{name: "taken", at: "gate t1-01", kind: "run.ended", sub: "t1-01", not: "gate.finished"},
		{name: "gated", hold: stopAt("t1-01-review.1", 0), kind: "gate.finished", sub: "t1-01", not: "review.finished",
			again: true},
		{name: "merge intended", hold: stopAt("t1-01-review.1", 0), kind: "merge.intended", sub: "t1-01", set: lockBranch,
			goOn: true, met: branchAbsent, not: "merge.done"},
		{name: "merged", kind: "merge.done", sub: "t1-01", set: holdPush, not: "pr.opened", again: true},
		{name: "pull request intended", kind: "pr.intended", set: holdPush, not: "pr.opened"},
	}
}

// triplesAndTells is the staff of triplesInShell whose worker, with its last reply, edits a file that it read at first,
// or that came with the ticket of a plan.
func triplesAndTells(planned bool) *staff {
	s := triplesInShell()
	add := ticket("Add Triple", "Add triple.sh, with a check in checks/triple.sh. It prints three times its argument.",
		"triple.sh", "checks/triple.sh", "README.md")
	add["context"] = []string{"README.md", "greet.sh:1"}
	s.manager = submitPlan([]m{add})
	inOrder := s.worker
	s.worker = func(x scripted.Exchange) scripted.Reply {
		switch {
		case x.Turn == 0 && !planned:
			return scripted.Reply{Calls: []scripted.Call{
				{Tool: "read_file", Args: m{"path": "greet.sh"}}, {Tool: "read_file", Args: m{"path": "README.md"}}}}
		case x.Turn != 5:
			return inOrder(x)
		}
		return scripted.Reply{Calls: []scripted.Call{
			{Tool: "edit_file", Args: m{"path": "README.md", "old": "that greet", "new": "that greet and triple"}},
			{Tool: "finish", Args: m{"summary": "Triple is there and checked", "commit": "Tell of Triple"}},
		}}
	}
	return s
}

// checkPushed: the worker's commit is in the run's quarantine, and nowhere else.
func checkPushed(t *testing.T, h *testenv.House) {
	t.Helper()
	dir := filepath.Join(h.State(), "git/runs/t1-01.1.git")
	if got := h.Git(dir, "show", "-s", "--format=%s", "refs/heads/agent/t1-01-add-triple"); got != "[t1-01] Add Triple" {
		t.Errorf("the quarantine holds %q", got)
	}
}

func mirror(t *testing.T, h *testenv.House) string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(h.State(), "git/repo-*.git"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("mirrors: %v, %v", dirs, err)
	}
	return dirs[0]
}

// lockBranch makes moving the integration branch fail, as another git would
// that is at it: the merge is decided on and not done. A lock that stays the same
// would be taken for a dead git's when the office is opened.
func lockBranch(t *testing.T, h *testenv.House) func() {
	t.Helper()
	lock := filepath.Join(mirror(t, h), "refs/heads", integrationBranch(h, 1)+".lock")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	free, alive := make(chan struct{}), sync.WaitGroup{}
	alive.Go(func() {
		for {
			select {
			case <-free:
				return
			case <-time.After(200 * time.Millisecond):
				_ = os.Chtimes(lock, time.Time{}, time.Now()) // an error shows when it is removed
			}
		}
	})
	return func() {
		close(free)
		alive.Wait()
		if err := os.Remove(lock); err != nil {
			t.Error(err)
		}
	}
}

func branchAbsent(t *testing.T, h *testenv.House) {
	t.Helper()
	if refs := h.Git(mirror(t, h), "for-each-ref", "refs/heads/"+integrationBranch(h, 1)); refs != "" {
		t.Errorf("the integration branch was moved: %s", refs)
	}
}

// holdPush makes the origin wait with the push, by a hook of its own: the pull
// request is decided on and not opened. A push whose company is gone goes
// through after all, while the next company tries the same.
func holdPush(t *testing.T, h *testenv.House) func() {
	t.Helper()
	free := filepath.Join(h.Dir, "free")
	hook := fmt.Sprintf("#!/bin/sh\nn=0\nwhile [ ! -e %q ] && [ $n -lt 1200 ]; do sleep 0.1; n=$((n+1)); done\n", free)
	if err := os.WriteFile(filepath.Join(h.Origin, "hooks/pre-receive"), []byte(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.WriteFile(free, nil, 0o600); err != nil {
			t.Error(err)
		}
	}
}

// outcome is what must be the same whether or not the company was killed.
type outcome struct {
	tree  string
	calls map[company.RunID]int
}

func outcomeOf(h *testenv.House) outcome {
	return outcome{tree: h.Git(h.Origin, "rev-parse", integrationBranch(h, 1)+"^{tree}"), calls: h.Model.Calls().ByRun}
}

// walkUndisturbed submits an instruction and waits for its end. A run that had to start again, which
// the caller's plan does not have, ends the test with the cause: it is not a measure for other walks.
func walkUndisturbed(t *testing.T, h *testenv.House, instruction string) outcome {
	t.Helper()
	p := h.Start("submit", instruction)
	waitForSummary(t, p, 0)
	o := outcomeOf(h)
	for run := range o.calls {
		if !strings.HasSuffix(string(run), ".1") {
			t.Fatalf("%s: a run started again\n%s", run, p.Tell())
		}
	}
	return o
}

const tripleIt = "Add Triple\n\nA script that prints three times its argument, with its check."

// TestKill kills the company at each point of its way, kill -9 and all its
// children with it, and lets it go on: the end is the one of a company that
// nobody killed (TST-2).
func TestKill(t *testing.T) {
	t.Parallel()
	wants := map[bool]outcome{}
	for _, planned := range []bool{false, true} {
		control := openTinyProject(t, triplesAndTells(planned))
		if planned {
			control.LetManagerPlan()
		}
		wants[planned] = walkUndisturbed(t, control, tripleIt)
		checkDelivered(t, control, 1, 1, 1)
		if planned {
			checkBriefHolds(t, control, "t1-01.1", "count as read:", "Scripts that greet.", "echo hello")
		}
		if readme := control.Git(control.Origin, "show", integrationBranch(control, 1)+":README.md"); !strings.Contains(
			readme, "and triple") {
			t.Errorf("planned %v: README.md was not edited: %s", planned, readme)
		}
	}
	for i, k := range killPoints() {
		t.Run(k.name, func(t *testing.T) {
			if k.again {
				hosttest.Long(t, "one more moment of the same kind")
			}
			t.Parallel()
			brain, want := triplesAndTells(k.planned), wants[k.planned]
			if k.hold != nil {
				brain.stops = []*stop{k.hold}
				t.Cleanup(k.hold.release)
			}
			h := openTinyProject(t, brain)
			if k.planned {
				h.LetManagerPlan()
			}
			if i/2%2 == 1 { // both drivers of the bus
				h.Env = append(h.Env, "COMPANY_BUS_DRIVER=file")
			}
			undo := func() {}
			if k.set != nil && k.hold == nil {
				undo = k.set(t, h)
			}
			var at *testenv.KillPoint
			if k.at != "" {
				at = h.StopAt("effect " + k.at)
			}
			p := h.Start("submit", tripleIt)
			if k.hold != nil && k.kind != "plan.accepted" {
				k.hold.wait(t, p)
				if k.set != nil {
					undo = k.set(t, h)
				}
				if k.goOn {
					k.hold.release()
				}
			}
			p.Event(patience, k.kind, k.sub)
			if at != nil {
				at.Wait(patience, p)
			}
			if k.name == "claimed" {
				p.Event(patience, "task.baseline", "") // the container of the base's checks is gone
				if len(h.Containers()) != 1 {
					t.Errorf("containers of the claimed run: %v", h.Containers())
				}
			}
			if k.goOn {
				p.Event(patience, "effect.failed", "")
			}
			p.Kill()
			if k.hold != nil {
				k.hold.release()
			}
			if at != nil {
				at.End()
			}
			if slices.ContainsFunc(p.Items(), func(it feed.Item) bool { return it.Kind == k.not }) {
				t.Fatalf("it came further than %s:\n%s", k.name, p.Tell())
			}
			if k.met != nil {
				k.met(t, h)
			}
			undo()

			again := h.Start("resume")
			if sum := waitForSummary(t, again, 0); sum.Result != "COMPLETE" || sum.Task != "t1" {
				t.Errorf("summary: %+v", sum)
			}
			checkDelivered(t, h, 1, 1, 1)
			checkFilesOfRuns(t, h)
			got := outcomeOf(h)
			if got.tree != want.tree {
				t.Errorf("tree %s, without a kill %s", got.tree, want.tree)
			}
			checkCallsRepeated(t, want.calls, got.calls, 1)
			if t.Failed() {
				t.Logf("before the kill:\n%s\nafter it:\n%s", p.Tell(), again.Tell())
			}
			changesNothing(t, h)
		})
	}
}

// checkFilesOfRuns: each run has its result and its conversation, whole, also where the
// company was killed before it had written them. (ART-1, LOG-1)
func checkFilesOfRuns(t *testing.T, h *testenv.House) {
	t.Helper()
	runs, err := filepath.Glob(filepath.Join(h.Repo, ".company/runtime/runs/t1-*"))
	if err != nil || len(runs) < 2 {
		t.Errorf("runs: %v, %v", runs, err)
	}
	for _, run := range runs {
		var res struct {
			RunID      string `json:"run_id"`
			Transcript string
		}
		readJSON(t, filepath.Join(run, "result.json"), &res)
		text, err := os.ReadFile(filepath.Join(run, "transcript.ndjson"))
		if sum := fmt.Sprintf("%x", sha256.Sum256(text)); err != nil || res.RunID != filepath.Base(run) ||
			sum != res.Transcript {
			t.Errorf("%s: the conversation has the hash %s, the result is %+v; %v", run, sum, res, err)
		}
	}
}

// checkCallsRepeated: the same runs as without a kill, and at most so many calls more.
func checkCallsRepeated(t *testing.T, want, got map[company.RunID]int, most int) {
	t.Helper()
	more := 0
	for run, n := range want {
		more += got[run] - n
		if got[run] < n {
			t.Errorf("%s asked the model %d times, without a kill %d", run, got[run], n)
		}
	}
	for run := range got {
		if want[run] == 0 {
			t.Errorf("%s is a run that there is not without a kill", run)
		}
	}
	if more > most {
		t.Errorf("%d model calls were repeated: %v, without a kill %v", more, got, want)
	}
}

// changesNothing: a resume with nothing to do leaves everything as it is.
func changesNothing(t *testing.T, h *testenv.House) {
	t.Helper()
	look := func() string {
		pulls, err := filepath.Glob(filepath.Join(h.State(), "pulls/*.json"))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(h.Git(h.Origin, "for-each-ref"), h.Git(mirror(t, h), "for-each-ref"), h.Model.Calls().Total, pulls,
			h.Containers())
	}
	before := look()
	runRefused(t, h, 1, "E_INVALID", "resume")
	if after := look(); after != before {
		t.Errorf("a second resume changed something:\n%s\n%s", before, after)
	}
}

// TestKillTwoWorkers kills the company while two workers are at it in their
// containers: each goes on where it was, in a clone and on a branch of its own (GIT-7, GIT-8).
func TestKillTwoWorkers(t *testing.T) {
	hosttest.Long(t, "TestKill has one worker at these moments")
	t.Parallel()
	write := func(n int) func(scripted.Exchange) scripted.Reply {
		return writeFilesAndFinish(fmt.Sprintf("Add part %d", n), fmt.Sprintf("part%d.sh", n), "echo part\n",
			fmt.Sprintf("checks/part%d.sh", n), fmt.Sprintf("test \"$(sh part%d.sh)\" = part\n", n))
	}
	staffed := func() *staff {
		return &staff{
			manager: submitPlan(
				[]m{ticket("Add part 1", "Add part1.sh", "part1.sh", "checks/part1.sh"),
					ticket("Add part 2", "Add part2.sh", "part2.sh", "checks/part2.sh")}),
			worker: replyByTicket(
				map[company.SubtaskID]func(scripted.Exchange) scripted.Reply{"t1-01": write(1), "t1-02": write(2)}),
		}
	}
	ctl := openTinyProject(t, staffed())
	ctl.LetManagerPlan()
	want := walkUndisturbed(t, ctl, "add two parts")

	brain := staffed()
	one, two := stopAt("t1-01.1", 1), stopAt("t1-02.1", 2)
	brain.stops = []*stop{one, two}
	t.Cleanup(one.release)
	t.Cleanup(two.release)
	h := openTinyProject(t, brain)
	h.LetManagerPlan()
	p := h.Start("submit", "add two parts")
	one.wait(t, p)
	two.wait(t, p)
	if up := h.Containers(); len(up) != 2 {
		t.Errorf("containers of two workers: %v", up) // SUB-17
	}
	p.Kill()
	one.release()
	two.release()
	waitForSummary(t, h.Start("resume"), 0)
	checkDelivered(t, h, 1, 1, 2)
	got := outcomeOf(h)
	if got.tree != want.tree {
		t.Errorf("tree %s, without a kill %s", got.tree, want.tree)
	}
	checkCallsRepeated(t, want.calls, got.calls, 2) // one of each worker
	for run, n := range got.calls {
		if strings.HasPrefix(string(run), "t1-0") && n > want.calls[run]+1 {
			t.Errorf("%s asked the model %d times, without a kill %d", run, n, want.calls[run])
		}
	}
	changesNothing(t, h)
}
