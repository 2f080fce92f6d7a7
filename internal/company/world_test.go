package company_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	. "company/internal/company"
)

// knobs say how hostile a world is; percentages of what could go wrong.
type knobs struct {
	Seed                               uint64
	Calm, Steps, Tasks, Active         int // Calm: steps in a kind world before the hostile ones
	Gates                              int // 0, 1 or 2 gates
	Cap                                int64
	DayCap, OfficeCap                  int64 // 0: none
	Workers                            int   // more than the 3 that there are
	Writers                            int   // of each project; 0: as many as there are workers
	Settings                           Settings
	DryRun                             bool
	Drop, Delay, Dup, Lost             int // of outcomes, and of runs whose holder is gone
	BadPlan, Question, Broken, Partial int
	Escalate, Red, Finding, Conflict   int
	Overlap, Protected, Greedy, GiveUp int
	Replan                             int
	Reject, Restart, Stop, Pause       int
	Cancel, Hostile, Fails, Sleep      int
	Reopen                             int // more often than any president would
	Deps, Refused, Unwritten           int
	RedBase, Absent, Services          int // of the checks of the base
	Archive                            int // tasks that are over leave the state at any moment
	Crowd                              int // of tests of merges that wait for the others of their wave
	Wide                               int // so many more subtasks in a wave
	After                              int // tasks that begin after an earlier one
	Pushed                             int // of deliveries of follow-ups before which others pushed to the branch
}

// world does what is due in a company, well or badly, in any order. It has a
// git, a forge and a queue of its own, and knows what really happened there.
type world struct {
	*bench
	k        knobs
	rng      *rand.Rand
	kind     bool // everything goes well from here on
	oids     int
	queue    []OfferID
	outbox   []sent // outcomes that are still on their way, or come again
	lost     map[string]bool
	refs     map[TaskID]OID
	trees    map[string]OID
	red      map[OID]bool
	merges   map[SubtaskID]map[OID]bool
	pushes   int // so often others push to the branch before the next follow-up is delivered
	forge    map[int]TaskID
	gather   bool            // each test of a merge waits for the others of its wave
	mostHeld int             // so many runs were held at a time
	spoil    int             // so many stacks of three and more are red, also when all goes well
	hopeless map[TaskID]bool // given up, since what they wait for cannot be tried again
}

type sent struct {
	id, actor string
	c         Command
}

func newWorld(t tester, k knobs) *world {
	w := &world{
		bench: newBench(t), k: k, rng: rand.New(rand.NewPCG(k.Seed, 7)), lost: map[string]bool{}, refs: map[TaskID]OID{},
		trees: map[string]OID{}, red: map[OID]bool{}, merges: map[SubtaskID]map[OID]bool{}, forge: map[int]TaskID{},
	}
	if k.DayCap > 0 || k.OfficeCap > 0 {
		caps := OfficeCaps{Day: Amount{NoCap, NoCap}, Office: Amount{NoCap, NoCap}}
		if k.DayCap > 0 {
			caps.Day.MicroUSD = k.DayCap
		}
		if k.OfficeCap > 0 {
			caps.Office.MicroUSD = k.OfficeCap
		}
		w.must(Company, SetOfficeCaps{caps})
	}
	if k.Writers > 0 {
		w.must(Company, StartOffice{Office: "k3fq", Workers: 3, Writers: k.Writers})
	}
	if k.Workers > 0 {
		w.must(President, ScaleWorkers{By: k.Workers - 3})
	}
	set := k.Settings
	set.Cap = Amount{MicroUSD: k.Cap, Tokens: NoCap}
	for i := range k.Tasks {
		c := Submit{Instruction: fmt.Sprintf("do the thing %d", i), Project: Project{ID: []string{"p", "q"}[i%2], Path: "/p"},
			Settings: set, DryRun: k.DryRun && i == 0}
		if c.Priority = []Priority{"", PriorityLow, PriorityHigh}[i%3]; i%3 == 2 {
			c.Tags, c.Deadline = []string{"api"}, w.now.Add(time.Minute)
		}
		if i > 0 && k.After > 0 && w.chance(k.After) && !(k.DryRun && i == 1) {
			c.After = []TaskID{NewTaskID(i)}
		}
		w.must(President, c)
	}
	return w
}

func (w *world) chance(percent int) bool { return !w.kind && w.rng.IntN(100) < percent }

func (w *world) oid() OID {
	w.oids++
	return OID(fmt.Sprintf("%040x", w.oids))
}

// send brings an outcome in: now, later, twice, or never.
func (w *world) send(actor string, c Command) {
	w.cmds++
	m := sent{fmt.Sprintf("c%d", w.cmds), actor, c}
	switch {
	case w.chance(w.k.Drop):
		return
	case w.chance(w.k.Delay):
		w.outbox = append(w.outbox, m)
		return
	case w.chance(w.k.Dup):
		w.outbox = append(w.outbox, m)
	}
	w.bringOutcome(m)
}

func (w *world) bringOutcome(m sent) {
	_, _ = w.doID(m.id, m.actor, m.c) // a refusal is as good an answer as any
}

// live goes through the kind and then through the hostile part of the history.
func (w *world) live() {
	w.t.Helper()
	w.kind = true
	for range w.k.Calm {
		w.step()
		w.noteHeld()
	}
	w.kind = false
	for range w.k.Steps {
		w.step()
		w.noteHeld()
	}
}

// noteHeld counts the runs that are held now.
func (w *world) noteHeld() {
	held := 0
	for _, t := range w.s.Tasks {
		for _, r := range t.Runs {
			if r.Held {
				held++
			}
		}
	}
	w.mostHeld = max(w.mostHeld, held)
}

// step is one thing that happens in a hostile world.
func (w *world) step() {
	w.now = w.now.Add(time.Duration(w.rng.IntN(300)) * time.Millisecond)
	switch n := w.rng.IntN(100); {
	case n < 8 && len(w.outbox) > 0:
		i := w.rng.IntN(len(w.outbox))
		m := w.outbox[i]
		if !w.chance(30) {
			w.outbox = append(w.outbox[:i:i], w.outbox[i+1:]...)
		}
		w.bringOutcome(m)
	case n < 16:
		w.president()
	case n < 18 && w.chance(w.k.Restart):
		w.send(Company, StartOffice{Office: "k3fq", Writers: w.k.Writers})
		w.outbox = w.outbox[:len(w.outbox)/2] // a process is gone, with half of what was on its way
		if w.chance(30) {
			w.queue = nil // which is derived, and may be deleted
		}
	case n < 22 && w.chance(w.k.Hostile):
		w.intruder()
	case n < 26 && w.chance(w.k.Sleep):
		if next := NextDue(w.s, w.now); !next.IsZero() {
			w.now = next
		}
	case w.k.Archive > 0 && n < 28 && w.chance(w.k.Archive):
		w.archiveAny()
	case n < 27:
		if w.k.Unwritten > 0 && w.chance(w.k.Unwritten) {
			w.writeFile()
		}
		w.passThroughSnapshot()
	case n < 50 && len(w.queue) > 0:
		w.lease(w.rng.IntN(len(w.queue)))
	default:
		if due := w.due(w.k.Active); len(due) > 0 {
			w.act(due[w.rng.IntN(len(due))])
		}
	}
	w.unstuck()
}

// archiveAny takes tasks that are over out of the state.
func (w *world) archiveAny() {
	for _, t := range w.s.SortedTasks() {
		if w.s.Tasks[t.ID] == t && w.s.LeadOf(t) == t && w.chance(60) {
			w.archive(t.ID)
		}
	}
}

// unstuck asserts that no open task waits for nothing: something of it is due, is held back with a reason, or a person
// is asked.
func (w *world) unstuck() {
	w.t.Helper()
	if w.s.Office.Stopped {
		return
	}
	due := map[TaskID]bool{}
	effects, holds := FindDue(w.s, w.now, w.k.Active)
	for _, e := range effects {
		if _, deadlocked := e.Command.(EndDeadlock); deadlocked {
			w.t.Fatalf("%s is found deadlocked at %s\n%s\n%s", e.Task, w.now, w.tail(), outline(w.s.Tasks[e.Task]))
		}
		due[e.Task] = true
	}
	for _, h := range holds {
		switch h.Kind {
		case HoldAnswer, HoldMoney: // a question says so
		case HoldTasks:
			due[h.Task] = due[h.Task] || w.waitsForOthers(w.s.Tasks[h.Task])
		default:
			due[h.Task] = true
		}
	}
	if w.s.Spending.ShortAt(w.now) != nil && (w.asksSoon() || w.s.Spending.Question != "" || w.asked()) {
		return // all wait for the president, or for midnight
	}
	for _, id := range w.s.Open {
		t := w.s.Tasks[id]
		if t.Paused || len(t.PausedSubtasks()) > 0 || due[id] || len(w.s.OpenApprovals(id)) > 0 || w.asksInTrouble(id) {
			continue
		}
		w.t.Fatalf("%s (%s) waits for nothing at %s\n%s\n%s", id, t.Status, w.now, w.tail(), outline(t))
	}
}

// asksInTrouble reports whether a cap of the office is in the way, and the question of
// it, which is asked by another task than of, could not be asked: the president hears of
// that trouble instead, and all wait for the answer.
func (w *world) asksInTrouble(of TaskID) bool {
	if w.s.Spending.ShortAt(w.now) == nil {
		return false
	}
	failed := func(id TaskID) bool {
		for key := range w.s.Tasks[id].Failures {
			if strings.HasPrefix(key, "ask day_budget ") || strings.HasPrefix(key, "ask office_budget ") {
				return true
			}
		}
		return false
	}
	return !failed(of) && slices.ContainsFunc(w.s.Open, failed)
}

// asked says whether the president has refused to raise the cap of the office that is
// in the way.
func (w *world) asked() bool {
	for _, id := range w.s.Open {
		if q := w.s.OfficeQuestion(w.s.Tasks[id]); q != nil {
			return w.s.ByKey[q.Key] != ""
		}
	}
	return false
}

// asksSoon says whether the question about the cap of the office is due to be asked, or
// will be once more.
func (w *world) asksSoon() bool {
	for _, id := range w.s.Open {
		if t := w.s.Tasks[id]; w.s.OfficeQuestion(t) != nil && waitsForTime(t, w.now) {
			return true
		}
	}
	for _, e := range w.due(1 << 20) {
		if c, asks := e.Command.(OpenApproval); asks &&
			(c.Question.Kind == AskDayBudget || c.Question.Kind == AskOfficeBudget) {
			return true
		}
	}
	return false
}

// outline is a task in a few lines, for a failure's message.
func outline(t *Task) string {
	out := fmt.Sprintf("%s %s paused=%v queue=%v intent=%v want=%v failures=%v review=%+v\n", t.ID, t.Status, t.Paused,
		t.Queue, t.MergeIntent, t.BudgetShortfall, t.Failures, t.Review)
	for _, sub := range t.Subtasks {
		out += fmt.Sprintf("  %s wave %d %s current=%s escalation=%q conflict=%v\n", sub.ID, sub.Wave, sub.Status,
			sub.Current, sub.Escalation, sub.Conflict != nil)
	}
	for _, r := range t.SortedRuns() {
		if !r.Ended {
			out += fmt.Sprintf("  %s held=%v offered=%d offers=%d fence=%d waiting=%v reserved=%s\n", r.ID, r.Held, r.Offered,
				r.Offers, r.Fence, r.Waiting, r.Reserved)
		}
	}
	return out
}

func outlines(s *State) string {
	out := ""
	for _, id := range s.Open {
		out += outline(s.Tasks[id])
	}
	return out
}

func waitsForTime(t *Task, now time.Time) bool {
	for key, f := range t.Failures {
		if f.NotBefore.After(now) && !t.RetriesExhausted(key, f) {
			return true
		}
	}
	return false
}

// lease takes an item from the queue and claims its run. A refused item is
// acknowledged; an item may come twice.
func (w *world) lease(i int) {
	item := w.queue[i]
	r := w.task(item.Run.Task()).Runs[item.Run]
	if r == nil || item.Number > r.Offers {
		w.t.Fatalf("the queue holds %v, which the ledger does not know", item)
	}
	if !w.chance(w.k.Dup) {
		w.queue = append(w.queue[:i:i], w.queue[i+1:]...)
	}
	newest := OfferID{item.Run, w.s.Office.Epoch, r.Offers}
	if _, err := w.do("w1", Claim{Run: item.Run, Epoch: item.Epoch, Offer: item.Number, Worker: "w1"}); err == nil &&
		item != newest {
		w.t.Fatalf("%v claims, the newest offer is %v", item, newest)
	}
}

// goWell is the benign end of every history: what is due is done and succeeds,
// the president answers, time passes when nothing else can. Every task that is
// open must complete, in a bounded number of rounds.
func (w *world) goWell() {
	w.t.Helper()
	w.kind, w.outbox = true, nil
	open := append([]TaskID(nil), w.s.Open...)
	w.bringOutcome(sent{"", President, Resume{}})
	for _, id := range open {
		w.bringOutcome(sent{"", President, Pause{Task: id, Off: true}})
	}
	for _, scope := range []BudgetScope{ScopeDay, ScopeOffice} {
		w.bringOutcome(sent{"", President, RaiseOfficeBudget{Scope: scope, By: Amount{MicroUSD: 100}}})
	}
	for range 3000 {
		if len(w.s.Open) == 0 {
			break
		}
		seq := w.s.Seq
		for _, a := range w.s.OpenApprovals("") {
			if w.s.Approvals[a.ID].Open() {
				w.answer(a)
			}
		}
		w.mergeAwaited()
		due := w.due(w.k.Active)
		w.rng.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
		for _, e := range due {
			if w.stillDue(e.Key) {
				w.act(e)
			}
		}
		for i := len(w.queue) - 1; i >= 0; i-- {
			w.lease(i)
		}
		w.unstuck()
		if w.s.Seq == seq {
			next := NextDue(w.s, w.now)
			if next.IsZero() {
				next = w.deadlineOfEnded()
			}
			if next.IsZero() {
				w.t.Fatalf("nothing happens any more, and no time is awaited\n%s\n%s", w.tail(), outlines(w.s))
			}
			w.now = next
		}
	}
	for _, id := range open {
		if t := w.task(id); t.Status != StatusCompleted && !w.hopeless[id] {
			w.t.Fatalf("%s ends as %s (%s) though everything went well\n%s\n%s", id, t.Status, t.Reason, w.tail(), outline(t))
		}
	}
}

// waitsForOthers reports whether a task waits for others, each of which may still be merged,
// or of which the president was asked.
func (w *world) waitsForOthers(t *Task) bool {
	for _, a := range w.s.WaitsFor(t) {
		if a.Trouble() != "" && w.s.ByKey["after "+string(t.ID)+" "+string(a.Task)] == "" {
			return false
		}
	}
	return len(w.s.WaitsFor(t)) > 0
}

// isFollowedUp reports whether somebody works on the pull request that a task opened.
func (w *world) isFollowedUp(lead TaskID) bool {
	return slices.ContainsFunc(w.s.Open, func(id TaskID) bool {
		return w.s.Tasks[id].Follows != "" && w.s.LeadOf(w.s.Tasks[id]).ID == lead
	})
}

// mergeAwaited has people merge the pull requests that tasks wait for, once nobody works on
// them: a merge would end that work.
func (w *world) mergeAwaited() {
	for _, id := range slices.Clone(w.s.Open) {
		for _, a := range w.s.WaitsFor(w.s.Tasks[id]) {
			switch {
			case a.Status == StatusCompleted:
				if lead := w.s.LeadIDOf(a.Task); !w.isFollowedUp(lead) { // either may be archived
					w.must(President, SettlePR{Task: lead, State: PRMerged})
				}
			case a.Trouble() != "" && len(w.s.OpenApprovals(id)) == 0: // it is to wait on
				w.retryAwaited(id, a.Task)
			}
		}
	}
}

// retryAwaited tries an ended task again for one that waits for it. Where that is refused for good, such as after the end
// of the pull request that it follows, people give up the one that waits.
func (w *world) retryAwaited(waiting, ended TaskID) {
	_, err := w.do(President, Retry{Task: ended})
	if err == nil || !strings.Contains(err.Error(), "is no longer open") {
		return
	}
	if w.hopeless == nil {
		w.hopeless = map[TaskID]bool{}
	}
	w.hopeless[waiting] = true
	w.must(President, Cancel{Task: waiting})
}

// deadlineOfEnded returns the first deadline to come of a run that an ended task has left behind, or the zero time.
func (w *world) deadlineOfEnded() time.Time {
	var first time.Time
	for _, t := range w.s.Tasks {
		for _, r := range t.Runs {
			if t.Status.Ended() && !r.Ended && r.Fence > 0 && w.now.Before(r.Deadline) &&
				(first.IsZero() || r.Deadline.Before(first)) {
				first = r.Deadline
			}
		}
	}
	return first
}

func (w *world) stillDue(key string) bool {
	for _, e := range Due(w.s, w.now, w.k.Active) {
		if e.Key == key {
			return true
		}
	}
	return false
}
