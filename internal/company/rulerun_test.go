package company_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	. "company/internal/company"
)

func TestOldFenceChangesNothing(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1)
	run, old := s.offer(1)
	s.must(string(run), Release{Run: run, Fence: old, Why: "the lease was lost"})
	s.must(Company, Offer{Run: run})
	fence := s.claim(run)
	s.mustRefuse(EStale, EndRun{Run: run, Fence: old, Outcome: RunEnded{Status: RunSuccess, Head: s.oid()}})
	s.mustRefuse(EStale, Release{Run: run, Fence: old})
	s.mustRefuse(EStale, Reserve{Run: run, Fence: old, One: Amount{MicroUSD: 1}})
	s.checkSubStatus(1, SubtaskRunning)
	s.must(string(run), EndRun{Run: run, Fence: fence, Outcome: RunEnded{Status: RunSuccess, Head: s.oid()}})
	s.mustRefuse(EStale, EndRun{Run: run, Fence: fence, Outcome: RunEnded{Status: RunError}})
}

func TestFenceOnlyGrows(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1)
	run, fence := s.offer(1)
	s.must(string(run), Release{Run: run, Fence: fence})
	s.must(Company, Offer{Run: run})
	if next := s.claim(run); next <= fence {
		t.Fatalf("fence %d after %d", next, fence)
	}
	s.mustRefuse(EStale, s.claimOf(run, "w2")) // it is held

	m := newStory(t, Settings{})
	m.claim("t1-plan.1")
	m.mustRefuse(EStale, Claim{Run: "t1-plan.1", Epoch: 1, Worker: "m2"})
}

func TestOldEpochCannotClaim(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1)
	s.must(Company, Offer{Run: s.workRun(1, 1)})
	s.must(Company, StartOffice{Office: "k3fq"})
	s.must(Company, Offer{Run: s.workRun(1, 1)})
	s.mustRefuse(EStale, Claim{Run: s.workRun(1, 1), Epoch: 1, Offer: 2, Worker: "w1"})
	s.claim(s.workRun(1, 1))

	m := newStory(t, Settings{})
	m.must(Company, StartOffice{Office: "k3fq"})
	m.mustRefuse(EStale, Claim{Run: "t1-plan.1", Epoch: 1, Worker: "m1"})
	m.claim("t1-plan.1")
}

func TestStartVoidsClaims(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1)
	run, fence := s.offer(1)
	s.must(Company, StartOffice{Office: "k3fq"})
	s.checkSubStatus(1, SubtaskAssigned)
	s.mustRefuse(EStale, EndRun{Run: run, Fence: fence, Outcome: RunEnded{Status: RunSuccess, Head: s.oid()}})
	if !s.isOfferDue() {
		t.Fatalf("the run is not offered again")
	}
	s.must(Company, Offer{Run: run})
	s.claim(run) // under its own id: no attempt is lost
	s.checkSubStatus(1, SubtaskRunning)

	// A task that has ended holds nothing after a start either.
	s.must(President, Cancel{Task: s.id})
	s.must(Company, StartOffice{Office: "k3fq"})
	if s.task().Runs[run].Held {
		t.Errorf("a dead process still holds %s", run)
	}
}

// The offer is in the ledger before its item is on the queue, and it is due that
// the item lies there until the run is claimed: whatever becomes of the queue, no
// run waits for an item that will not come.
func TestItemIsDueWhileOnOffer(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1)
	run := s.workRun(1, 1)
	onQueue := func(want ...OfferID) {
		t.Helper()
		var got []OfferID
		for _, e := range s.due(9) {
			if e.Kind == EffectEnqueue {
				got = append(got, e.Offer)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("on the queue are to be %v, want %v", got, want)
		}
	}
	onQueue()
	s.must(Company, Offer{run})
	s.mustIgnore(Offer{run})
	onQueue(OfferID{run, 1, 1})
	s.must(President, Pause{Task: s.id})
	onQueue()
	s.must(President, Pause{Task: s.id, Off: true})
	onQueue()
	s.must(Company, Offer{run})
	onQueue(OfferID{run, 1, 2})
	s.must(Company, StartOffice{Office: "k3fq"})
	onQueue()
	s.must(Company, Offer{run})
	onQueue(OfferID{run, 2, 3})
	s.must(President, Stop{})
	onQueue()
	s.must(President, Resume{})
	s.must(Company, Offer{run})
	onQueue(OfferID{run, 3, 4})
	s.claim(run)
	onQueue()
	s.must(President, Cancel{Task: s.id})
	onQueue()
}

// An item of an earlier offer claims nothing, in the same epoch either.
func TestEarlierOfferCannotBeClaimed(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1)
	run, fence := s.offer(1)
	first := Claim{Run: run, Epoch: 1, Offer: 1, Worker: "w2"}
	s.mustRefuse(EStale, first) // it is held
	s.must("w1", Release{Run: run, Fence: fence})
	s.mustRefuse(EStale, first)
	s.must(Company, Offer{run})
	s.mustRefuse(EStale, first)
	s.claim(run)
}

// A run on offer counts as work of its task: the limit on tasks does not take
// its item from the queue, where it has a worker's place.
func TestOfferIsUnderWay(t *testing.T) {
	t.Parallel()
	f := &fleet{bench: newBench(t)}
	f.must(President, ScaleWorkers{By: -2})
	f.submit("a", 1)
	f.submit("b", 1)
	f.must(Company, Offer{"t2-01.1"})
	var keys []string
	for _, e := range f.due(1) {
		keys = append(keys, e.Key)
	}
	f.is(keys, "enqueue t2-01.1 1.1")
}

func TestNothingIsDueAfterStop(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(2)
	run, fence := s.offer(1)
	s.must(President, Stop{})
	if due := s.due(9); len(due) > 0 {
		t.Fatalf("%s is due", due[0].Key)
	}
	s.mustRefuse(EStopped, Offer{Run: s.workRun(2, 1)})
	s.mustRefuse(EStopped, s.claimOf(s.workRun(2, 1), "w1"))
	s.mustRefuse(EStopped, Reserve{Run: run, Fence: fence, One: Amount{MicroUSD: 1}})
	s.mustRefuse(EStopped, Submit{Instruction: "x", Project: Project{ID: "p", Path: "/p"}})
	s.mustIgnore(EnforceDeadlines{})
	s.mustIgnore(Stop{})
	s.must(President, Resume{})
	s.mustRefuse(EStale, EndRun{Run: run, Fence: fence, Outcome: RunEnded{Status: RunError}})
	if !s.isOfferDue() {
		t.Errorf("nothing goes on after the resume")
	}
}

func TestCapIsNeverPassed(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{Cap: Amount{MicroUSD: 100, Tokens: NoCap}}).plan(2)
	a, fa := s.offer(1)
	b, fb := s.offer(2)
	s.must(string(a), Reserve{Run: a, Fence: fa, One: Amount{MicroUSD: 60}, Many: Amount{MicroUSD: 90}})
	evs := s.must(string(b), Reserve{Run: b, Fence: fb, One: Amount{MicroUSD: 60}, Many: Amount{MicroUSD: 90}})
	if n := len(EventsOf[BudgetReserved](evs)); n != 0 {
		t.Fatalf("120 of 100 are granted")
	}
	if s.task().BudgetShortfall != nil {
		t.Errorf("the president is asked while another run may give some back")
	}
	s.must(string(a),
		EndRun{Run: a, Fence: fa, Outcome: RunEnded{Status: RunSuccess, Head: s.oid(), Spent: Amount{MicroUSD: 60}}})
	if n := len(
		EventsOf[BudgetReserved](s.must(
			string(b), Reserve{Run: b, Fence: fb, One: Amount{MicroUSD: 30}, Many: Amount{MicroUSD: 90}}))); n != 1 {
		t.Fatalf("what was given back is not granted")
	}
	// Nothing that is sent makes sums wrap around.
	s.mustRefuse(EInvalid, Reserve{Run: b, Fence: fb, One: Amount{MicroUSD: 1}, Many: Amount{MicroUSD: 1<<63 - 1}})
}

// A run whose calls are dear is granted them one by one, so that others work beside it.
func TestDearRunLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{Cap: Amount{MicroUSD: 100, Tokens: NoCap}}).plan(3)
	for i, want := range []int64{40, 10, 10} {
		run, fence := s.offer(i + 1)
		evs := EventsOf[BudgetReserved](s.must(
			string(run), Reserve{Run: run, Fence: fence, One: Amount{MicroUSD: 10}, Many: Amount{MicroUSD: 40}}))
		if len(evs) != 1 || evs[0].Amount.MicroUSD != want {
			t.Errorf("run %d: %+v, want a grant of %d", i+1, evs, want)
		}
	}
}

// The end of a run is taken whatever it says of money: refused, the run would
// be held for good. What was granted stands for what cannot be, and no sum
// passes the largest number.
func TestAbsurdSpendingEndsARun(t *testing.T) {
	t.Parallel()
	const most = 1<<63 - 1
	granted := Amount{MicroUSD: 30, Tokens: 500}
	for _, c := range []struct{ told, want Amount }{
		{Amount{MicroUSD: -50, Tokens: -1}, granted},
		{Amount{MicroUSD: 7, Tokens: most}, Amount{MicroUSD: 7, Tokens: 500}},
		{Amount{MicroUSD: most, Tokens: most}, granted},
		{Amount{MicroUSD: 40, Tokens: 900}, Amount{MicroUSD: 40, Tokens: 900}}, // more than was granted, and possible
	} {
		s := newStory(t, Settings{Cap: Amount{MicroUSD: 100, Tokens: 1000}}).plan(1)
		run, fence := s.offer(1)
		s.must(string(run), Reserve{Run: run, Fence: fence, One: granted})
		s.must(string(run),
			EndRun{Run: run, Fence: fence, Outcome: RunEnded{Status: RunError, Error: "it broke", Spent: c.told}})
		if r := s.task().Runs[run]; !r.Ended || r.Spent != c.want || s.task().Spent != c.want {
			t.Errorf("%s: ended %v with %s, the task spent %s; want %s", c.told, r.Ended, r.Spent, s.task().Spent, c.want)
		}
	}
}

func TestAmountsDoNotWrap(t *testing.T) {
	t.Parallel()
	most := Amount{MicroUSD: 1<<63 - 1, Tokens: 1<<63 - 1}
	one := Amount{MicroUSD: 1, Tokens: 1}
	if got := most.Add(one); got != most {
		t.Errorf("most + 1 = %+v", got)
	}
	if got := one.Sub(Amount{MicroUSD: -1 << 62, Tokens: -1 << 62}).Sub(most); got != (Amount{}) {
		t.Errorf("a difference below nothing is %+v", got)
	}
	if got := (Amount{MicroUSD: NoCap, Tokens: 5}).Raise(most); got != (Amount{MicroUSD: NoCap, Tokens: 1<<63 - 1}) {
		t.Errorf("raised to %+v", got)
	}
	for _, a := range []Amount{most, {Tokens: -1}, {MicroUSD: 1<<50 + 1}} {
		if got := a.Countable(one); got.MicroUSD > 1<<50 || got.Tokens > 1<<50 || got.Tokens < 0 || got == a {
			t.Errorf("%+v counts as %+v", a, got)
		}
	}
}

// Two runs that wait cannot hold each other up: who waits gives back what it
// has not used.
func TestWaitingRunGivesBack(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{Cap: Amount{MicroUSD: 100, Tokens: NoCap}}).plan(2)
	a, fa := s.offer(1)
	b, fb := s.offer(2)
	s.must(string(a), Reserve{Run: a, Fence: fa, One: Amount{MicroUSD: 50}})
	s.must(string(b), Reserve{Run: b, Fence: fb, One: Amount{MicroUSD: 50}})
	s.must(string(a), Reserve{Run: a, Fence: fa, One: Amount{MicroUSD: 60}, Used: Amount{MicroUSD: 10}})
	if got := s.task().Reserved().MicroUSD; got != 60 {
		t.Fatalf("%d are held, want 60", got)
	}
	evs := s.must(string(b), Reserve{Run: b, Fence: fb, One: Amount{MicroUSD: 40}, Used: Amount{MicroUSD: 50}})
	if len(EventsOf[BudgetReserved](evs)) != 1 {
		t.Fatalf("what a waiting run gave back is not granted")
	}
	// Now nobody is left who could give some back.
	s.must(string(b), Reserve{Run: b, Fence: fb, One: Amount{MicroUSD: 40}, Used: Amount{MicroUSD: 90}})
	q := s.ask(AskBudget)
	s.mustRefuse(EInvalid, Answer{Approval: q.ID, Option: OptApprove, Raise: Amount{Tokens: 5}})
	s.must(President, Answer{Approval: q.ID, Option: OptApprove})
	if len(EventsOf[BudgetReserved](s.must(
		string(b), Reserve{Run: b, Fence: fb, One: Amount{MicroUSD: 40}, Used: Amount{MicroUSD: 90}}))) != 1 {
		t.Errorf("nothing is granted after the raise")
	}
}

// A raise in a dimension that the cap does not count would answer the question
// and help nobody: the run would wait for good.
func TestRaiseMustRaise(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{Cap: Amount{MicroUSD: NoCap, Tokens: 10}})
	s.mustRefuse(EInvalid, RaiseBudget{Task: s.id, By: Amount{MicroUSD: 5}})
	run := NewRunID(s.id, "", Manager, 1)
	fence := s.claim(run)
	s.must(string(run), Reserve{Run: run, Fence: fence, One: Amount{Tokens: 500}})
	q := s.ask(AskBudget)
	s.mustRefuse(EInvalid, RaiseBudget{Task: s.id, By: Amount{MicroUSD: 5}})
	s.must(President, Answer{Approval: q.ID, Option: OptApprove})
	if len(EventsOf[BudgetReserved](s.must(string(run), Reserve{Run: run, Fence: fence, One: Amount{Tokens: 500}}))) != 1 {
		t.Errorf("a plain yes does not let the call through: the cap is %s", s.task().Cap)
	}
}

// Of two caps the one that is short must be raised; a cap that nothing is
// counted against does not stand in the question.
func TestRaiseOfWhatIsShort(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{Cap: Amount{MicroUSD: 100, Tokens: 1000}})
	run := NewRunID(s.id, "", Manager, 1)
	fence := s.claim(run)
	s.must(string(run), Reserve{Run: run, Fence: fence, One: Amount{Tokens: 800}})
	s.must(string(run), Reserve{Run: run, Fence: fence, One: Amount{Tokens: 500}, Used: Amount{Tokens: 800}})
	q := s.ask(AskBudget)
	want := "The next model call may cost 500 tokens, and 800 tokens of 1000 tokens are used. Raise the cap?"
	if q.Question != want {
		t.Errorf("the question is %q, want %q", q.Question, want)
	}
	if short := s.task().Short(); short != (Amount{Tokens: 300}) {
		t.Errorf("short by %+v", short)
	}
	s.mustRefuse(EInvalid, RaiseBudget{Task: s.id, By: Amount{MicroUSD: 500}})
	s.mustRefuse(EInvalid, Answer{Approval: q.ID, Option: OptApprove, Raise: Amount{MicroUSD: 500}})
	s.must(President, RaiseBudget{Task: s.id, By: Amount{Tokens: 300}})
	if len(EventsOf[BudgetReserved](s.must(
		string(run), Reserve{Run: run, Fence: fence, One: Amount{Tokens: 500}, Used: Amount{Tokens: 800}}))) != 1 {
		t.Errorf("what was short is there and not granted")
	}
}

func TestDeadlineTakesTheRun(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{RunTimeout: time.Hour, ModelWait: time.Minute}).plan(1)
	run, fence := s.offer(1)
	s.must(string(run), Reserve{Run: run, Fence: fence, One: Amount{MicroUSD: 30}})
	s.mustIgnore(EnforceDeadlines{})
	if next := NextDue(s.s, s.now); !next.Equal(s.task().Runs[run].Deadline) {
		t.Errorf("the next due time is %s", next)
	}
	s.later(time.Hour + 3*time.Minute)
	if !s.isDue(EffectCommand) {
		t.Fatalf("nobody looks at the deadline")
	}
	s.must(Company, EnforceDeadlines{})
	s.mustRefuse(EStale, EndRun{Run: run, Fence: fence, Outcome: RunEnded{Status: RunSuccess, Head: s.oid()}})
	s.checkSubStatus(1, SubtaskPending)
	if s.isOfferDue() || s.sub(1).Escalation == "" {
		t.Errorf("the run starts again by itself: %+v", s.sub(1))
	}
	if s.task().Spent.MicroUSD != 30 {
		t.Errorf("what a lost run held does not count as spent: %s", s.task().Spent)
	}
}

// A paused task begins nothing; what was refused meanwhile is offered again.
func TestPause(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1)
	s.must(Company, Offer{Run: s.workRun(1, 1)})
	s.must(President, Pause{Task: s.id})
	s.mustIgnore(Pause{Task: s.id})
	if len(s.due(9)) > 0 {
		t.Errorf("something is due while paused")
	}
	s.mustRefuse(EConflict, s.claimOf(s.workRun(1, 1), "w1"))
	s.must(President, Pause{Task: s.id, Off: true})
	if !s.isOfferDue() {
		t.Errorf("the run is not offered again")
	}
}

// A pause lets turns end: a run that is held stays due until it is let go, and
// is offered again afterwards. It is not a failed attempt.
func TestPauseLetsTurnsEnd(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1)
	run := s.workRun(1, 1)
	s.must(Company, Offer{Run: run})
	s.claim(run)
	s.must(President, Pause{Task: s.id})
	due := s.due(9)
	if len(due) != 1 || due[0].Kind != EffectWork || due[0].Run != run || !due[0].Drain {
		t.Fatalf("due while paused: %+v", due)
	}
	s.must("w1", Release{Run: run, Fence: s.task().Runs[run].Fence, Why: "paused"})
	if due := s.due(9); len(due) > 0 {
		t.Fatalf("due when it was let go: %+v", due)
	}
	s.must(President, Pause{Task: s.id, Off: true})
	if due := s.due(9); len(due) != 1 || due[0].Command != (Offer{run}) || due[0].Drain {
		t.Errorf("due when the pause is lifted: %+v", due)
	}
}

// Work that keeps failing is the president's to decide, and goes on when he
// says so.
func TestRepeatedFailureAsksPresident(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	s.submit(Settings{EffectRetries: 1})
	fail := ReportEffectFailure{Task: s.id, Key: "prepare",
		EffectFailed: EffectFailed{Code: EDocker, Error: "no daemon", Hint: "start it"}}
	s.must(Company, fail)
	if s.isDue(EffectPrepare) {
		t.Errorf("it is tried again at once")
	}
	s.later(2 * time.Second)
	if !s.isDue(EffectPrepare) {
		t.Fatalf("it is not tried again")
	}
	s.must(Company, fail)
	s.later(time.Hour)
	if s.isDue(EffectPrepare) {
		t.Fatalf("it is tried for ever")
	}
	q := s.ask(AskTrouble)
	if !strings.Contains(q.Question, "no daemon") || !strings.Contains(q.Question, "start it") {
		t.Errorf("the president is told %q", q.Question)
	}
	s.must(President, Answer{Approval: q.ID, Option: OptApprove})
	if !s.isDue(EffectPrepare) {
		t.Errorf("it is not tried again after the answer")
	}
}

// STA-14: so many tasks at once and no more, the oldest first; who waits for
// the president takes no place.
func TestConcurrentTasks(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t)}
	for range 3 {
		s.submit(Settings{NoGates: "ask"})
	}
	tasks := func(active int) (ids string) {
		for _, e := range s.due(active) {
			ids += string(e.Task) + " "
		}
		return ids
	}
	if got := tasks(2); got != "t1 t2 " {
		t.Errorf("at work are %s", got)
	}
	s.id = "t1"
	p := s.preparation()
	p.Gates = nil
	s.must(Company, p)
	s.ask(AskNoGates)
	if got := tasks(2); got != "t2 t3 " {
		t.Errorf("at work are %s", got)
	}
}
