package company_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	. "company/internal/company"
)

// submitAfter submits a task that begins after others, and gives its id.
func (b *bench) submitAfter(after ...TaskID) TaskID {
	b.t.Helper()
	b.must(President,
		Submit{Instruction: "more", Project: Project{ID: "p", Path: "/p"},
			Settings: Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}}, After: after})
	return NewTaskID(b.s.LastTask)
}

// dueOf are the keys of the effects that are due of a task.
func (b *bench) dueOf(id TaskID) (keys []string) {
	for _, e := range b.due(9) {
		if e.Task == id {
			keys = append(keys, e.Key)
		}
	}
	return keys
}

// checkWaits compares what a task waits for.
func (b *bench) checkWaits(id TaskID, want ...TaskID) {
	b.t.Helper()
	var got []TaskID
	for _, a := range b.s.WaitsFor(b.s.Tasks[id]) {
		got = append(got, a.Task)
	}
	if !slices.Equal(got, want) {
		b.t.Fatalf("%s waits for %v, not for %v", id, got, want)
	}
	if shown := b.s.Shown(b.s.Tasks[id]); (shown == StatusWaiting) != (len(want) > 0) && shown != StatusAwaitingInput {
		b.t.Fatalf("%s is shown as %s", id, shown)
	}
}

// questionsOf are the open questions of a task.
func (b *bench) questionsOf(id TaskID) []*Approval { return b.s.OpenApprovals(id) }

// A task after another costs nothing until the pull request of that is merged, and begins by
// itself then.
func TestTaskBeginsAfterAnotherIsMerged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, knobs{Seed: 3, Tasks: 1, Active: 3, Gates: 2, Cap: 100_000})
	w.kind = true
	id := w.submitAfter("t1", "t1")
	w.checkWaits(id, "t1")
	if got := w.dueOf(id); len(got) > 0 {
		t.Fatalf("due of a task that waits: %v", got)
	}
	if w.s.AtRest(w.s.Tasks[id], w.now) {
		t.Error("a merge moves it, and it is at rest")
	}
	w.doAllOf("t1")
	if pr := w.s.Tasks["t1"].PR; pr == nil || pr.State != PROpen {
		t.Fatalf("no open pull request: %+v", pr)
	}
	w.checkWaits(id, "t1") // for the merge
	if got := w.dueOf(id); len(got) > 0 {
		t.Fatalf("due before the merge: %v", got)
	}
	early := w.based(w.s.Tasks[id])
	if evs, err := w.do(Company, early); err != nil || len(evs) > 0 {
		t.Errorf("a base of a task that waits: %v, %d events", err, len(evs))
	}
	w.must(Company, StartOffice{Office: "k3fq", Workers: 3}) // a restart changes nothing
	w.checkWaits(id, "t1")
	submitted := w.s.Tasks[id].Submitted
	w.now = w.now.Add(48 * time.Hour)
	w.must(President, SettlePR{Task: "t1", State: PRMerged})
	w.checkWaits(id)
	if got := w.dueOf(id); !slices.Equal(got, []string{"prepare " + string(id)}) {
		t.Fatalf("due after the merge: %v", got)
	}
	begun := w.now
	w.goWell()
	w.settle()
	got := w.s.Tasks[id]
	if got.Status != StatusCompleted || got.PR.Number != 2 {
		t.Fatalf("%s %+v", got.Status, got.PR)
	}
	if worked := got.WorkedFor(); worked > got.Ended.Sub(begun) || got.Ended.Sub(submitted) < 48*time.Hour {
		t.Errorf("the time in which it waited counts as work: %s", worked)
	}
}

// doAllOf does what is due of one task until nothing of it is.
func (w *world) doAllOf(id TaskID) {
	w.t.Helper()
	for range 1000 {
		moved := false
		for _, e := range w.due(w.k.Active) {
			if e.Task == id && w.stillDue(e.Key) {
				w.act(e)
				moved = true
			}
		}
		for i := len(w.queue) - 1; i >= 0; i-- {
			w.lease(i)
			moved = true
		}
		if !moved {
			return
		}
	}
	w.t.Fatalf("%s does not come to an end", id)
}

// Where an earlier task ends badly the president decides: begin without it, wait on, cancel.
func TestEarlierTaskEndsBadly(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world){
		"cancelled": func(w *world) { w.must(President, Cancel{Task: "t1"}) },
		"failed": func(w *world) {
			w.must(Company,
				ReportEffectFailure{Task: "t1", Key: "prepare",
					EffectFailed: EffectFailed{Code: EGit, Error: "no disk", Human: true}})
			w.askAll("t1")
			w.must(President, Answer{Approval: w.questionsOf("t1")[0].ID, Option: OptReject})
		},
		"closed": func(w *world) {
			w.doAllOf("t1")
			w.must(President, SettlePR{Task: "t1", State: PRClosed})
		},
	} {
		t.Run(name, func(t *testing.T) {
			begin := func(t *testing.T) (*world, TaskID, *Approval) {
				w := newWorld(t, knobs{Seed: 3, Tasks: 2, Active: 3, Gates: 2, Cap: 100_000})
				w.kind = true
				id := w.submitAfter("t1")
				end(w)
				w.askAll(id)
				open := w.questionsOf(id)
				if len(open) != 1 || open[0].Kind != AskAfter || !strings.Contains(open[0].Question, "t3 waits for t1, which ") {
					t.Fatalf("asked: %+v", open)
				}
				if got := w.dueOf(id); len(got) > 0 {
					t.Fatalf("due while it is asked: %v", got)
				}
				return w, id, open[0]
			}
			t.Run("begin without it", func(t *testing.T) {
				w, id, q := begin(t)
				w.must(President, Answer{Approval: q.ID, Option: OptApprove})
				w.checkWaits(id)
				if got := w.dueOf(id); !slices.Equal(got, []string{"prepare " + string(id)}) {
					t.Fatalf("due: %v", got)
				}
				if name != "closed" {
					w.must(President, Retry{Task: "t1"})
					w.checkWaits(id) // it has begun
				}
				w.goWell()
				w.settle()
				if got := w.s.Tasks[id].Status; got != StatusCompleted {
					t.Error(got)
				}
			})
			t.Run("cancel", func(t *testing.T) {
				w, id, q := begin(t)
				w.must(President, Answer{Approval: q.ID, Option: OptReject})
				if got := w.s.Tasks[id]; got.Status != StatusCancelled || got.Reason == "" {
					t.Errorf("%s: %q", got.Status, got.Reason)
				}
				w.must(President, Retry{Task: id}) // it waits again, and asks again
				w.askAll(id)
				if len(w.questionsOf(id)) != 1 {
					t.Error("a task that is retried does not ask again")
				}
			})
			t.Run("wait on", func(t *testing.T) {
				w, id, q := begin(t)
				w.must(President, Answer{Approval: q.ID, Option: OptWait})
				w.askAll(id)
				w.checkWaits(id, "t1")
				if open := w.questionsOf(id); len(open) > 0 || w.s.AtRest(w.s.Tasks[id], w.now) {
					t.Fatalf("asked again: %+v", open)
				}
				if name == "closed" {
					return
				}
				w.must(President, Retry{Task: "t1"})
				w.must(President, Cancel{Task: "t1"})
				w.askAll(id)
				if len(w.questionsOf(id)) != 1 {
					t.Fatal("it ended badly again, and nobody is asked")
				}
			})
			t.Run("the question is withdrawn", func(t *testing.T) {
				w, id, q := begin(t)
				if name == "closed" {
					w.must(Company, RecordPRFeedback{Task: "t1", State: PRMerged}) // people opened it again
				} else {
					w.must(President, Retry{Task: "t1"})
					w.checkWaits(id, "t1")
					w.doAllOf("t1")
					w.must(President, SettlePR{Task: "t1", State: PRMerged})
				}
				if a := w.s.Approvals[q.ID]; a.Option != OptWithdrawn || len(w.questionsOf(id)) > 0 {
					t.Fatalf("the question: %+v", a)
				}
				w.checkWaits(id)
				w.goWell()
				w.settle()
				if got := w.s.Tasks[id].Status; got != StatusCompleted {
					t.Error(got)
				}
			})
		})
	}
}

// askAll asks the questions of a task that are due.
func (w *world) askAll(id TaskID) {
	for _, e := range w.due(9) {
		if _, asks := e.Command.(OpenApproval); asks && e.Task == id {
			w.act(e)
		}
	}
}

// Of several earlier tasks all count, also those that wait themselves, are archived, or are
// follow-ups of a pull request.
func TestTaskAfterSeveral(t *testing.T) {
	t.Parallel()
	w := newWorld(t, knobs{Seed: 3, Tasks: 2, Active: 3, Gates: 2, Cap: 100_000})
	w.kind = true
	w.doAllOf("t1")
	w.doAllOf("t2")
	w.must(President,
		Submit{Instruction: "and this", Project: w.task("t1").Project, Settings: w.task("t1").Settings, Follows: "t1"})
	third := w.submitAfter("t3", "t2")
	fourth := w.submitAfter(third)
	w.checkWaits(third, "t3", "t2")
	w.must(President, SettlePR{Task: "t2", State: PRMerged})
	w.checkWaits(third, "t3")
	if !w.archive("t2") {
		t.Fatal("t2 is not archived")
	}
	w.checkWaits(third, "t3")
	if w.archive("t1") {
		t.Fatal("t1 is archived, and a task waits for its follow-up")
	}
	w.doAllOf("t3")
	w.checkWaits(third, "t3")
	w.must(President, SettlePR{Task: "t1", State: PRMerged})
	w.checkWaits(third)
	w.checkWaits(fourth, third)
	if w.s.AwaitsWorker(fourth, w.now) || len(w.dueOf(fourth)) > 0 {
		t.Error("something of a task is due that waits for one which waited")
	}
	after := w.submitAfter("t2") // archived, and merged
	w.checkWaits(after)
	w.doAllOf(third)
	w.must(President, SettlePR{Task: third, State: PRMerged})
	w.goWell()
	w.settle()
}

// What cannot be waited for is refused, and leaves no trace.
func TestRefusedAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, knobs{Seed: 3, Tasks: 3, Active: 3, Gates: 2, Cap: 100_000, DryRun: true}) // t1 is a dry run
	w.kind = true
	w.doAllOf("t2")
	w.must(President, SettlePR{Task: "t2", State: PRClosed})
	w.must(President, Cancel{Task: "t3"})
	many := make([]TaskID, MaxAfter+1)
	for i := range many {
		many[i] = NewTaskID(i + 1)
	}
	submit := Submit{Instruction: "more", Project: Project{ID: "p", Path: "/p"}, Settings: w.task("t2").Settings}
	for _, c := range []struct {
		name  string
		after []TaskID
		code  Code
		want  string
	}{
		{"unknown", []TaskID{"t99"}, ENotFound, "there is no task t99"},
		{"itself", []TaskID{"t4"}, ENotFound, "there is no task t4"},
		{"no task", []TaskID{"t1-01"}, EUsage, "invalid task id"},
		{"a dry run", []TaskID{"t1"}, EConflict, "t1 is a dry run"},
		{"closed", []TaskID{"t2"}, EConflict, "#1 closed"},
		{"cancelled", []TaskID{"t3"}, EConflict, "t3 was cancelled"},
		{"too many", many, EUsage, "wait for: 21"},
	} {
		cmd := submit
		cmd.After = c.after
		_, err := w.do(President, cmd)
		var e *Error
		if !errors.As(err, &e) || e.Code != c.code || e.Hint == "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if early := cmd.Validate(w.now); (c.code == EUsage) != (CodeOf(early) == EUsage) {
			t.Errorf("%s: in an office without a past: %v", c.name, early)
		}
	}
	w.archive("t3")
	cmd := submit
	if cmd.After = []TaskID{"t3"}; CodeOf(func() error { _, err := w.do(President, cmd); return err }()) != EConflict {
		t.Error("a task after one that was cancelled, and is archived")
	}
	cmd.After, cmd.Follows = []TaskID{"t2"}, "t2"
	if _, err := w.do(President, cmd); CodeOf(err) != EUsage {
		t.Errorf("a follow-up after a task: %v", err)
	}
	if w.s.LastTask != 3 {
		t.Errorf("%d tasks", w.s.LastTask)
	}
}

// About a closed pull request that no task waits for the forge is not asked by itself.
func TestClosedPullRequestThatIsAwaited(t *testing.T) {
	t.Parallel()
	w := delivered(t)
	id := w.submitAfter("t1")
	w.must(President, SettlePR{Task: "t1", State: PRClosed})
	if got := w.s.AwaitedPulls(); len(got) != 1 || got[0].Lead.ID != "t1" {
		t.Fatalf("the forge is asked about %+v", got)
	}
	w.must(President, Cancel{Task: id})
	if got := w.s.AwaitedPulls(); len(got) != 0 {
		t.Fatalf("the forge is asked about %+v", got)
	}
	before := asJSON(t, w.s)
	for _, state := range []PRState{PROpen, PRClosed} { // an answer that is older than the close
		if evs, err := w.do(Company, RecordPRFeedback{Task: "t1", State: state}); err != nil || len(evs) > 0 ||
			!reflect.DeepEqual(asJSON(t, w.s), before) {
			t.Errorf("%s: %v, %d events", state, err, len(evs))
		}
	}
}

// A pull request that people opened again is open, with all that an open one has: what is said
// there is heard, and a task waits for it. One that is merged stays so.
func TestReopenedPullRequest(t *testing.T) {
	t.Parallel()
	w := delivered(t)
	id := w.submitAfter("t1")
	w.must(President, SettlePR{Task: "t1", State: PRClosed})
	again := RecordPRFeedback{Task: "t1", State: PROpen, Reopened: true, Why: "so says GitHub",
		Items: []FeedbackItem{{ID: "comment:1", Text: "louder"}}, Settings: w.task("t1").Settings}
	if evs, err := w.do(Company, again); err != nil || len(evs) != 1 || w.task("t1").PR.State != PROpen {
		t.Fatalf("%v, %d events, %s", err, len(evs), w.task("t1").PR.State)
	}
	w.checkWaits(id, "t1")
	again.Reopened = false
	if evs, err := w.doID("hear", Company, again); err != nil || len(evs) != 2 {
		t.Fatalf("%v, %d events", err, len(evs))
	}
	w.must(President, SettlePR{Task: "t1", State: PRClosed})
	w.must(President, SettlePR{Task: "t1", State: PRMerged})
	w.checkWaits(id)
	again.Reopened = true
	if evs, err := w.do(Company, again); err != nil || len(evs) > 0 || w.task("t1").PR.State != PRMerged {
		t.Errorf("%v, %d events, %s", err, len(evs), w.task("t1").PR.State)
	}
	if _, err := w.do(President, SettlePR{Task: "t1", State: PRClosed}); CodeOf(err) != EConflict {
		t.Errorf("a merged one is closed: %v", err)
	}
}
