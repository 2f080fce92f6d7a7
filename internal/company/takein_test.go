package company_test

import (
	"strings"
	"testing"

	. "company/internal/company"
	"company/internal/company/historytest"
)

// followUpToPush is a world with a follow-up of t1, t2, whose head is about to be pushed.
func followUpToPush(t *testing.T, set func(*Settings)) *world {
	t.Helper()
	w := delivered(t)
	settings := w.s.Tasks["t1"].Settings
	if set != nil {
		set(&settings)
	}
	w.must(President,
		Submit{Instruction: "more", Project: Project{ID: "p", Path: "/p"}, Settings: settings, Follows: "t1"})
	w.untilPush(t)
	return w
}

// untilPush goes on until the push of t2 is due.
func (w *world) untilPush(t *testing.T) {
	t.Helper()
	for range 5000 {
		for _, e := range w.due(10) {
			if e.Kind == EffectDeliver && e.Task == "t2" {
				return
			}
		}
		w.workOn()
	}
	t.Fatalf("t2 is never pushed\n%s", w.tail())
}

// workOn does a piece of what is due, and nothing as the president.
func (w *world) workOn() {
	if due := w.due(10); len(due) > 0 {
		w.act(due[w.rng.IntN(len(due))])
	}
	if len(w.queue) > 0 {
		w.lease(w.rng.IntN(len(w.queue)))
	}
	w.unstuck()
}

// pushed is what others pushed on top of what t2 expects.
func (w *world) pushed() TakeInPush {
	t := w.s.Tasks["t2"]
	return TakeInPush{Task: "t2", Head: t.Head, Changes: []Change{{Path: "typo.go", Action: "modified"}},
		Pushed: BranchChange{Kind: BranchAhead, Delivered: t.RemoteHead(), Now: w.oid(), Commits: 2,
			By: []string{"Ann\x1b[2J"}, People: 1}}
}

// Commits that others push before a follow-up does become a ticket that needs no worker: the
// gates, the reviewer and the merge queue have it, and the push expects them at the remote.
func TestPushOfOthersIsTakenIn(t *testing.T) {
	t.Parallel()
	w := followUpToPush(t, nil)
	began, was := w.s.Tasks["t2"].RemoteHead(), w.s.Tasks["t2"].Head
	c := w.pushed()
	w.must(Company, c)
	f := w.s.Tasks["t2"]
	sub := f.Subtasks[len(f.Subtasks)-1]
	if f.Status != StatusExecuting || sub.Status != SubtaskInGate || sub.Head != c.Pushed.Now || sub.Base != began ||
		strings.ContainsRune(sub.TakenIn.By[0], 0x1b) {
		t.Fatalf("%s; %+v", f.Status, sub)
	}
	if strings.Contains(sub.Planned.Title+sub.Planned.Description, "Ann") {
		t.Errorf("agents read what others call themselves: %+v", sub.Planned)
	}
	if f.RemoteHead() != began {
		t.Error("the push would overwrite commits that are not merged")
	}
	w.goWell()
	w.settle()
	f = w.s.Tasks["t2"]
	sub = f.Subtasks[len(f.Subtasks)-1]
	if f.Status != StatusCompleted || sub.Merged == "" || sub.Started != 0 || sub.Review.Last == nil || f.PR.Head == was ||
		f.RemoteHead() != c.Pushed.Now {
		t.Errorf("%s, %+v; its pull request is at %s after %s", f.Status, sub, f.PR.Head, was)
	}
	if err := historytest.CheckInvariants(w.s); err != nil {
		t.Fatal(err)
	}
}

// A task takes in commits of others once. After that a person has it done again.
func TestTakeInIsBounded(t *testing.T) {
	t.Parallel()
	w := followUpToPush(t, nil)
	w.must(Company, w.pushed())
	w.untilPush(t)
	if _, err := w.do(Company, w.pushed()); CodeOf(err) != EConflict || w.s.Tasks["t2"].MayTakeIn() {
		t.Fatalf("taken in again: %v", err)
	}
	w.must(Company,
		ReportEffectFailure{Task: "t2", Key: "deliver",
			EffectFailed: EffectFailed{Code: EConflict, Error: "others pushed again", Human: true}})
	for _, e := range w.due(10) {
		if o, asks := e.Command.(OpenApproval); asks {
			w.must(Company, o)
		}
	}
	open := w.s.OpenApprovals("t2")
	if len(open) != 1 || open[0].Kind != AskTrouble {
		t.Fatalf("%+v", open)
	}
	w.must(President, Answer{Approval: open[0].ID, Option: OptApprove, By: "ann"})
	w.must(Company, w.pushed())
	w.goWell()
	w.settle()
	if f := w.s.Tasks["t2"]; f.Status != StatusCompleted || f.TakeIns != 1 {
		t.Errorf("%s, %d times", f.Status, f.TakeIns)
	}
}

// Protected files that others changed need the president as those of a worker do.
func TestProtectedFilesOfOthers(t *testing.T) {
	t.Parallel()
	w := followUpToPush(t, nil)
	c := w.pushed()
	c.Changes = append(c.Changes, Change{Path: ".github/workflows/ci.yml", Action: "modified"},
		Change{Path: "company.yaml", Action: "created"})
	w.must(Company, c)
	for range 5000 {
		if open := w.s.OpenApprovals("t2"); len(open) > 0 {
			if a := open[0]; a.Kind != AskProtected || !strings.Contains(a.Question, ".github/workflows/ci.yml") ||
				!strings.Contains(a.Question, "company.yaml") {
				t.Errorf("%+v", a)
			}
			if f := w.s.Tasks["t2"]; f.Head != c.Head {
				t.Error("merged without the president")
			}
			return
		}
		w.workOn()
	}
	t.Fatalf("nobody is asked\n%s", w.tail())
}

// What cannot be taken in is refused.
func TestRefusedTakeIn(t *testing.T) {
	t.Parallel()
	w := followUpToPush(t, nil)
	for name, c := range map[string]struct {
		change func(*TakeInPush)
		code   Code
	}{
		"another head":       {func(c *TakeInPush) { c.Head = w.oid() }, EConflict},
		"of no follow-up":    {func(c *TakeInPush) { c.Task = "t1" }, EConflict},
		"a rewritten branch": {func(c *TakeInPush) { c.Pushed.Kind = BranchRewritten }, EInvalid},
		"on top of another":  {func(c *TakeInPush) { c.Pushed.Delivered = w.oid() }, EInvalid},
		"without commits":    {func(c *TakeInPush) { c.Pushed.Commits = 0 }, EInvalid},
		"too many files": {func(c *TakeInPush) {
			c.Changes = []Change{{Path: strings.Repeat("x", MaxChanges), Action: "created"}}
		}, EInvalid},
	} {
		cmd := w.pushed()
		c.change(&cmd)
		if _, err := w.do(Company, cmd); CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The manager does not plan commits of others again, and a retry keeps them.
func TestCommitsOfOthersAreKept(t *testing.T) {
	t.Parallel()
	w := followUpToPush(t, nil)
	c := w.pushed()
	w.must(Company, c)
	f := w.s.Tasks["t2"]
	sub := f.Subtasks[len(f.Subtasks)-1]
	if _, problems := f.Replan(sub.ID, []PlannedSubtask{okSubtask("again", "x/**")}, "smaller"); len(problems) != 1 ||
		!strings.Contains(problems[0].String(), "other people's commits") {
		t.Errorf("replanned: %v", problems)
	}
	w.must(President, Cancel{Task: "t2", Why: "not now"})
	w.must(President, Retry{Task: "t2", From: sub.ID})
	sub = w.s.Tasks["t2"].Subtask(sub.ID)
	if sub.Head != c.Pushed.Now || sub.Status != SubtaskInGate || sub.TakenIn == nil {
		t.Errorf("after the retry: %+v", sub)
	}
}

// The checker's own books refuse what the core never does.
func TestCheckerOfTakeIns(t *testing.T) {
	t.Parallel()
	w := followUpToPush(t, nil)
	c := w.pushed()
	next := NewSubtaskID("t2", len(w.s.Tasks["t2"].Subtasks)+1)
	taken := &PushTakenIn{Subtask: next, BranchChange: c.Pushed.Bounded(), Changes: c.Changes}
	good := w.log
	with := func(task TaskID, change func(*PushTakenIn)) error {
		d := *taken
		if change != nil {
			change(&d)
		}
		e := Meta{Now: w.now}.NewEvent(task, "", "", &d)
		e.Seq = good[len(good)-1].Seq + 1
		_, err := historytest.Replay(append(good[:len(good):len(good)], e))
		return err
	}
	if err := with("t2", nil); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"of the lead":       with("t1", nil),
		"on top of another": with("t2", func(d *PushTakenIn) { d.Delivered = w.oid() }),
		"rewritten":         with("t2", func(d *PushTakenIn) { d.BranchChange.Kind = BranchRewritten }),
		"a name that hides": with("t2", func(d *PushTakenIn) { d.By = []string{"a\x1b"} }),
	} {
		if err == nil {
			t.Errorf("%s: it passes", name)
		}
	}
}
