package company_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	. "company/internal/company"
	"company/internal/company/historytest"
)

// tester is what testing.T and rapid.T have in common.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

var _ tester = (*testing.T)(nil)

// bench is a company without a world: a state, the events that made it, and
// everything that must hold of each of them. Whatever a test does with it, it
// asserts that Decide is pure and deterministic, that Apply is a fold of the
// stored events, and every invariant.
type bench struct {
	t        tester
	s        *State // what Decide sees
	shadow   *State // made from the stored events by Apply alone; Decide never sees it
	thawed   *State // the same, taken through a snapshot now and then
	checker  historytest.Checker
	log      []Event
	now      time.Time
	cmds     int
	moves    map[string]bool   // of tasks and subtasks, that were seen
	archives map[Hash]*Archive // that were stored, as they are read
	// watch is called after each event, with its task, and at each look at what is
	// due; nil: nobody watches.
	watch func(changed ...TaskID)
}

func newBench(t tester) *bench {
	b := &bench{t: t, s: NewState(), shadow: NewState(), thawed: NewState(), moves: map[string]bool{},
		archives: map[Hash]*Archive{}, now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	b.must(Company, StartOffice{Office: "k3fq", Version: "test", Workers: 3})
	return b
}

// do decides a command under an id of its own.
func (b *bench) do(actor string, c Command) ([]Event, error) {
	b.t.Helper()
	b.cmds++
	return b.doID(fmt.Sprintf("c%d", b.cmds), actor, c)
}

func (b *bench) doID(id, actor string, c Command) ([]Event, error) {
	b.t.Helper()
	b.now = b.now.Add(7 * time.Millisecond)
	m := Meta{ID: id, Actor: actor, Now: b.now}
	sent := c
	c = b.withArchives(c)
	evs, err := Decide(b.s, m, c)
	again, err2 := Decide(b.s, m, c)
	if !reflect.DeepEqual(evs, again) || CodeOf(err) != CodeOf(err2) {
		b.t.Fatalf("%T is decided in two ways:\n%v %v\n%v %v", c, evs, err, again, err2)
	}
	if !reflect.DeepEqual(b.s, b.shadow) {
		b.t.Fatalf("deciding %T has changed the state", c)
	}
	if err != nil {
		if e := (*Error)(nil); !errors.As(err, &e) || e.Code == "" || e.Message == "" || len(evs) > 0 {
			b.t.Fatalf("%T is refused without a coded error: %v, %d events", c, err, len(evs))
		}
		return nil, err
	}
	if run, fence, fenced := fencedBy(sent); fenced && len(evs) > 0 && !b.checker.Held(run, fence) {
		b.t.Fatalf("%T of %s under the old fence %d changes something: %s", c, run, fence, evs[0].Kind)
	}
	for i := range evs {
		evs[i] = b.apply(evs[i])
	}
	return evs, nil
}

// withArchives is a command with the archives of the tasks that it is about.
func (b *bench) withArchives(c Command) Command {
	targets := ArchivedTargets(b.s, c)
	if len(targets) == 0 {
		return c
	}
	with := RestoreArchived{Command: c, Archives: map[TaskID]*Archive{}}
	for _, id := range targets {
		_, blob := b.s.ArchiveHolding(id)
		with.Archives[id] = b.archives[blob]
	}
	return with
}

// archive takes a task that is over out of the state, if it may leave.
func (b *bench) archive(id TaskID) bool {
	b.t.Helper()
	text, err := b.s.EncodeArchive(id)
	if err != nil {
		b.t.Fatalf("the archive of %s: %v", id, err)
	}
	a, err := DecodeArchive(text)
	if err != nil {
		b.t.Fatalf("the archive of %s: %v", id, err)
	}
	blob := blobHash(text)
	b.archives[blob] = a
	evs, err := b.do(Company, ArchiveTask{Task: id, Blob: blob})
	return err == nil && len(evs) > 0
}

// blobHash is the name under which a blob is kept.
func blobHash(text []byte) Hash {
	sum := sha256.Sum256(text)
	return Hash(hex.EncodeToString(sum[:]))
}

// task finds a task, archived or not, or nil.
func (b *bench) task(id TaskID) *Task {
	if t := b.s.Tasks[id]; t != nil {
		return t
	}
	if a := b.archives[b.blobOf(id)]; a != nil {
		return b.s.WithArchive(a).Tasks[id]
	}
	return nil
}

func (b *bench) blobOf(id TaskID) Hash {
	_, blob := b.s.ArchiveHolding(id)
	return blob
}

// fencedBy tells who a command claims to come from, if that is a run's holder.
func fencedBy(c Command) (RunID, uint64, bool) {
	switch c := c.(type) {
	case EndRun:
		return c.Run, c.Fence, true
	case Release:
		return c.Run, c.Fence, true
	case Reserve:
		return c.Run, c.Fence, true
	case ProposePlan:
		return c.Run, c.Fence, true
	}
	return "", 0, false
}

// apply stores one event as the ledger does, and folds it.
func (b *bench) apply(e Event) Event {
	b.t.Helper()
	e.Seq = b.s.Seq + 1
	raw, err := json.Marshal(e)
	if err != nil {
		b.t.Fatalf("event %s: %v", e.Kind, err)
	}
	var stored Event
	if err := json.Unmarshal(raw, &stored); err != nil {
		b.t.Fatalf("event %s: %v", raw, err)
	}
	before := b.s.View()
	b.shadow.View() // so that it shares as much
	for _, s := range []*State{b.s, b.shadow, b.thawed} {
		if err := Apply(s, stored); err != nil {
			b.t.Fatalf("a decided event is not a valid one: %v\n%s", err, raw)
		}
	}
	if err := b.checker.Observe(before, stored, b.s); err != nil {
		b.t.Fatalf("%v\n%s", err, b.tail())
	}
	if err := historytest.CheckInvariants(b.s); err != nil {
		b.t.Fatalf("after event %d: %v\n%s", stored.Seq, err, b.tail())
	}
	if t := b.s.Tasks[stored.Task]; t != nil {
		for _, sub := range t.Subtasks {
			if !t.KnowsLeaveNeed(sub) {
				b.t.Fatalf("after event %d (%s) the leave that %s needs is not that of its changes", stored.Seq,
					stored.Kind, sub.ID)
			}
		}
	}
	b.noteMoves(before, stored)
	b.log = append(b.log, stored)
	if b.watch != nil {
		b.watch(stored.Task)
	}
	return stored
}

// noteMoves remembers which moves were made, to see that the tables hold no others.
func (b *bench) noteMoves(before *State, e Event) {
	was, now := before.Tasks[e.Task], b.s.Tasks[e.Task]
	if was == nil || now == nil {
		return
	}
	if was.Status != now.Status {
		b.moves["task "+string(was.Status)+" "+string(now.Status)] = true
	}
	for _, sub := range was.Subtasks {
		if at := now.Subtask(sub.ID); at != nil && at.Status != sub.Status {
			b.moves["sub "+string(sub.Status)+" "+string(at.Status)] = true
		}
	}
}

// tail is the end of the story, for a failure's message.
func (b *bench) tail() string {
	out := ""
	for _, e := range b.log[max(0, len(b.log)-25):] {
		out += fmt.Sprintf("%4d %-9s %-6s %-14s %-18s %.160s\n", e.Seq, e.Task, e.Subtask, e.Run, e.Kind, e.Data)
	}
	return out
}

// passThroughSnapshot takes the third state through its snapshot.
func (b *bench) passThroughSnapshot() {
	b.t.Helper()
	s := NewState()
	if err := json.Unmarshal(asJSON(b.t, b.thawed), s); err != nil {
		b.t.Fatalf("the snapshot does not read: %v", err)
	}
	b.thawed = s
}

// settle compares the three states, and the one that a replay of the ledger
// makes, with its history checker.
func (b *bench) settle() {
	b.t.Helper()
	want := string(asJSON(b.t, b.s))
	again, err := historytest.Replay(b.log)
	if err != nil {
		b.t.Fatalf("replay: %v", err)
	}
	for name, s := range map[string]*State{"fold": b.shadow, "snapshot": b.thawed, "replay": again} {
		if got := string(asJSON(b.t, s)); got != want {
			b.t.Fatalf("the %s differs:\n%s\n%s", name, got, want)
		}
	}
}

func (b *bench) must(actor string, c Command) []Event {
	b.t.Helper()
	evs, err := b.do(actor, c)
	if err != nil {
		b.t.Fatalf("%T: %v", c, err)
	}
	return evs
}

// claimOf is the claim of a run as of now: the newest offer is taken up.
func (b *bench) claimOf(run RunID, worker string) Claim {
	b.t.Helper()
	c := Claim{Run: run, Epoch: b.s.Office.Epoch, Worker: worker}
	if t := b.s.Tasks[run.Task()]; t != nil && t.Runs[run] != nil {
		c.Offer, c.From = t.Runs[run].Offers, t.Head
	}
	return c
}

func asJSON(t tester, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%T does not marshal: %v", v, err)
	}
	return raw
}

// due is Due, with what must hold of it at every moment (the same state calls
// for the same effects, no key twice, the limit on tasks, the clock's part).
func (b *bench) due(active int) []Effect {
	b.t.Helper()
	if b.watch != nil {
		b.watch()
	}
	out := Due(b.s, b.now, active)
	if !reflect.DeepEqual(out, Due(b.s, b.now, active)) {
		b.t.Fatalf("one state calls for two sets of effects")
	}
	keys, tasks := map[string]bool{}, map[TaskID]bool{}
	for _, e := range out {
		t := b.s.Tasks[e.Task]
		resting := b.s.Spending.ShortAt(b.now) != nil && t != nil && e.Run != ""
		if r := t.Runs[e.Run]; resting && (r == nil || !r.Held) {
			b.t.Fatalf("%q begins a run while the office's budget is used up", e.Key)
		}
		resting = resting && t.Runs[e.Run].Waiting
		paused := resting || t != nil && (t.Paused || t.Subtask(e.Subtask) != nil && t.Subtask(e.Subtask).Paused)
		switch {
		case keys[e.Key] || e.Key == "":
			b.t.Fatalf("the effect %q is due twice", e.Key)
		case t == nil || t.Status.Ended() || b.s.Office.Stopped:
			b.t.Fatalf("%q is due for a task that has ended, or is stopped", e.Key)
		case paused != e.Drain || e.Drain && !t.HeldRun():
			b.t.Fatalf("%q is due for what is paused (%v), and nobody's turn has to end", e.Key, paused)
		case e.Kind == EffectEnqueue &&
			(!b.s.OnOffer(t.Runs[e.Run]) || e.Offer != (OfferID{e.Run, b.s.Office.Epoch, t.Runs[e.Run].Offers})):
			b.t.Fatalf("%q puts on the queue what may not be claimed: %+v", e.Key, e.Offer)
		case e.Kind == EffectCommand && e.Command == nil, e.Kind != EffectCommand && e.Command != nil:
			b.t.Fatalf("%q is a note without a command, or the other way round", e.Key)
		case e.Fail == "":
			b.t.Fatalf("nobody counts the failures of %q", e.Key)
		case e.Kind == EffectWork && (t.Runs[e.Run].Deadline.IsZero() || e.Fence != t.Runs[e.Run].Fence):
			b.t.Fatalf("%q has no deadline, or the fence of another claim", e.Key)
		case e.Claim.Run != "" && e.Claim.Run != e.Run,
			(e.Claim.Run != "") != (e.Kind == EffectManage || e.Kind == EffectReview || e.Kind == EffectResolve):
			b.t.Fatalf("%q has an agent claim %+v", e.Key, e.Claim)
		case e.Claim.Run != "" && (t.Runs[e.Run] == nil || !t.Runs[e.Run].Held):
			if _, err := Decide(b.s, Meta{ID: "c", Actor: e.Claim.Worker, Now: b.now}, e.Claim); err != nil {
				b.t.Fatalf("%q cannot be claimed: %v", e.Key, err)
			}
		}
		keys[e.Key] = true
		if !b.s.UnderWay(t) {
			tasks[e.Task] = true
		}
	}
	if len(tasks) > active {
		b.t.Fatalf("%d tasks would work at once, %d may", len(tasks), active)
	}
	if next := NextDue(b.s, b.now); !next.IsZero() && !next.After(b.now) {
		b.t.Fatalf("the next due time %s is not after %s", next, b.now)
	}
	return out
}
