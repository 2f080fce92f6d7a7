package replay

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"company/internal/agent"
	"company/internal/company"
)

// deck is an office in memory whose commands a director may order.
type deck struct {
	t        *testing.T
	director *Director // nil: commands are decided as they come

	mu     sync.Mutex
	state  *company.State
	events []company.Event
	clock  time.Time
}

func (k *deck) View() *company.State {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state.View()
}

func (k *deck) commit(actor string) func(company.Command, time.Time) ([]company.Event, error) {
	return func(c company.Command, at time.Time) ([]company.Event, error) {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.clock = k.clock.Add(time.Second); at.IsZero() {
			at = k.clock
		}
		drafts, err := company.Decide(k.state, company.Meta{ID: "c", Actor: actor, Now: at}, c)
		for i := range drafts {
			drafts[i].Seq, drafts[i].Time = k.state.Seq+1, at
			if err := company.Apply(k.state, drafts[i]); err != nil {
				return nil, err
			}
		}
		k.events = append(k.events, drafts...)
		return drafts, err
	}
}

func (k *deck) Do(ctx context.Context, actor string, c company.Command) ([]company.Event, error) {
	if k.director == nil {
		return k.commit(actor)(c, time.Time{})
	}
	return k.director.Pace(ctx, actor, c, k.View, k.commit(actor))
}

func (k *deck) must(c company.Command) {
	k.t.Helper()
	if _, err := k.Do(k.t.Context(), company.Company, c); err != nil {
		k.t.Fatalf("%T: %v", c, err)
	}
}

func (k *deck) ID() string { return "aaaa" }

func (k *deck) ReadEvents(_ context.Context, _ company.TaskID, fn func(company.Event) error) error {
	for _, e := range k.events {
		if err := fn(e); err != nil {
			return err
		}
	}
	return nil
}

func (k *deck) ReadRun(context.Context, company.RunID, func(string, json.RawMessage) error) error {
	return nil
}

func (k *deck) Payloads() agent.Blobs { return nil }

// readFrom reads a record by way of its stream.
func readFrom(t *testing.T, from Source, id company.TaskID) (*Record, error) {
	return Read(t.Context(), id, func(fn func(Entry) error) error { return StreamRecord(t.Context(), from, id, fn) })
}

var (
	base  = company.OID(strings.Repeat("a", 40))
	gates = []company.GateCommand{{Name: "test", Command: "true"}}
)

func openDeck(t *testing.T, began time.Time) *deck {
	k := &deck{t: t, state: company.NewState(), clock: began}
	k.must(company.StartOffice{Office: "aaaa", Workers: 2})
	return k
}

// prepare brings a task to where its two workers are due; red is the verdict on the base,
// which comes last: the error is about that.
func (k *deck) prepare(red bool) error {
	k.t.Helper()
	k.must(company.RecordBase{Task: "t1",
		TaskBased: company.TaskBased{Base: company.Base{Branch: "main", OID: base}, Gates: gates, GateHash: "g",
			Integration: "develop-t1-aaaa"}})
	prepared := *k.View().Tasks["t1"].Prepared
	prepared.Image = "image"
	k.must(company.RecordPreparation{Task: "t1", TaskPrepared: prepared})
	k.must(company.Claim{Run: "t1-plan.1", Epoch: 1, Worker: "manager", From: base})
	fence := k.View().Tasks["t1"].Runs["t1-plan.1"].Fence
	one := func(title, file string) company.PlannedSubtask {
		return company.PlannedSubtask{Title: title, Description: title, AcceptanceCriteria: []string{"it works"},
			WriteSet: []string{file}, Effort: "medium"}
	}
	plan := company.Plan{Why: "two",
		Waves: []company.Wave{{Subtasks: []company.PlannedSubtask{one("one", "a"), one("two", "b")}}}}
	k.must(company.EndRun{Run: "t1-plan.1", Fence: fence, Outcome: company.RunEnded{Status: company.RunSuccess},
		Plan: &plan})
	exit := 0
	if red {
		exit = 1
	}
	tree := company.OID(strings.Repeat("b", 40))
	_, err := k.Do(k.t.Context(), company.Company,
		company.RecordBaseline{Task: "t1",
			Result: company.GateResult{Tree: tree, GateHash: "g", Image: "image", Passed: !red,
				Checks: []company.GateCheck{{Name: "test", Command: "true", Passed: !red, ExitCode: exit}}}})
	return err
}

// recordDeck is the record of a task whose second worker was offered first, and which was
// cancelled then.
func recordDeck(t *testing.T) (*Record, *deck) {
	t.Helper()
	k := openDeck(t, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	if _, err := k.Do(t.Context(), company.President,
		company.Submit{Instruction: "do it", Project: company.Project{ID: "p", Path: "/p"}}); err != nil {
		t.Fatal(err)
	}
	if err := k.prepare(false); err != nil {
		t.Fatal(err)
	}
	k.must(company.Offer{Run: "t1-02.1"})
	k.must(company.Offer{Run: "t1-01.1"})
	k.must(company.Cancel{Task: "t1", Why: "enough"})
	r, err := readFrom(t, k, "t1")
	if err != nil {
		t.Fatal(err)
	}
	return r, k
}

func openReplay(t *testing.T, r *Record) *deck {
	t.Helper()
	k := openDeck(t, time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC))
	first, err := r.Seed("/elsewhere", company.Bindings{})
	if err != nil {
		t.Fatal(err)
	}
	first.Seq = k.state.Seq + 1
	if err := company.Apply(k.state, first); err != nil {
		t.Fatal(err)
	}
	k.director = NewDirector(r, nil, func(string) {})
	return k
}

// TestDirectorKeepsTheRecordedOrder: a command waits until the record has it next, and its
// events bear the recorded times.
func TestDirectorKeepsTheRecordedOrder(t *testing.T) {
	r, was := recordDeck(t)
	k := openReplay(t, r)
	if task := k.View().Tasks["t1"]; task.Project.Path != "/elsewhere" || task.Cap.Tokens != company.NoCap {
		t.Errorf("the task is %+v with the cap %+v", task.Project, task.Cap)
	}
	if err := k.prepare(false); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	waits, stop := context.WithCancelCause(t.Context())
	wg.Go(func() { // begins first, and comes second
		if _, err := k.Do(t.Context(), company.Company, company.Offer{Run: "t1-01.1"}); err != nil {
			t.Error(err)
		}
	})
	gone := errors.New("not due any more")
	stop(gone)
	if _, err := k.Do(waits, company.Company, company.Offer{Run: "t1-01.1"}); !errors.Is(err, gone) {
		t.Errorf("a command that is not due any more came to %v", err)
	}
	k.must(company.Offer{Run: "t1-02.1"})
	wg.Wait()
	<-k.director.Done()
	if report := k.director.Report(); !report.Same || len(report.Checks) != 1 {
		t.Errorf("%+v", report)
	}
	times := map[string]time.Time{}
	for _, e := range was.events {
		times[e.Kind+string(e.Run)] = e.Time
	}
	for _, e := range k.events[1:] {
		if want := times[e.Kind+string(e.Run)]; !e.Time.Equal(want) {
			t.Errorf("%s %s at %s, recorded at %s", e.Kind, e.Run, e.Time, want)
		}
	}
	if _, err := k.Do(t.Context(), company.Company, company.Offer{Run: "t1-01.2"}); err == nil {
		t.Error("something was decided after the end")
	}
}

// TestDirectorFindsAnotherVerdict: a check that ends with another code ends the replay.
func TestDirectorFindsAnotherVerdict(t *testing.T) {
	r, _ := recordDeck(t)
	k := openReplay(t, r)
	if err := k.prepare(true); company.CodeOf(err) != company.EStopped {
		t.Error(err)
	}
	<-k.director.Done()
	d := k.director.Report().Divergence
	if d == nil || d.Recorded != "green, test 0" || d.Replayed != "red, test 1" {
		t.Errorf("%+v", d)
	}
}

// TestReadRefusesWhatCannotBeReplayed: a task that goes on has no record yet, and the
// president's plan is not a model's reply.
func TestReadRefusesWhatCannotBeReplayed(t *testing.T) {
	_, k := recordDeck(t)
	k.events = k.events[:len(k.events)-1]
	if _, err := readFrom(t, k, "t1"); company.CodeOf(err) != company.EInvalid ||
		!strings.Contains(err.Error(), "has not ended") {
		t.Error(err)
	}
	for i := range k.events {
		if k.events[i].Kind == "plan.accepted" {
			k.events[i].Actor = company.President
		}
	}
	if _, err := readFrom(t, k, "t1"); company.CodeOf(err) != company.EInvalid ||
		!strings.Contains(err.Error(), "you changed its plan") {
		t.Error(err)
	}
	if _, err := readFrom(t, k, "t2"); company.CodeOf(err) != company.ENotFound {
		t.Error(err)
	}
}

// TestDirectorKnowsRecordedTrouble: as many failures of the outside as the record has are
// no obstacle, and as many are tried again as the president had tried again.
func TestDirectorKnowsRecordedTrouble(t *testing.T) {
	d := NewDirector(&Record{troubles: 2, retries: 1, steps: []step{{}}}, nil, func(string) {})
	for i, want := range [][2]bool{{true, true}, {true, false}, {false, false}} {
		for range 2 {
			if known, again := d.MeetTrouble(company.ApprovalID([]string{"a1", "a2", "a3"}[i])); known != want[0] ||
				again != want[1] {
				t.Errorf("trouble %d: known %t, again %t", i+1, known, again)
			}
		}
	}
}

// A conflict of a replay bears the recorded reason, which is in the merger's brief: none where
// the record has none.
func TestConflictsBearTheRecordedReason(t *testing.T) {
	t.Parallel()
	conflict := func(sub company.SubtaskID, why string) step {
		d := &company.ConflictReported{Head: base, Onto: base, Paths: []string{"a.go"}, Why: why}
		return step{place: place{kind: d.Kind(), subtask: sub}, data: d}
	}
	steps := []step{conflict("t1-01", "make x failed"), conflict("t1-01", "")}
	s := company.NewState()
	s.Tasks["t1"] = &company.Task{ID: "t1", Head: base, Queue: []company.SubtaskID{"t1-01"},
		Subtasks: []*company.Subtask{{ID: "t1-01", Head: base}}}
	d := NewDirector(&Record{Task: "t1", steps: append(steps, conflict("t1-02", "another's"))}, nil, func(string) {})
	for ; d.next < len(steps); d.next++ {
		var got company.Command
		command := company.ReportConflict{Task: "t1", Subtask: "t1-01",
			ConflictReported: *steps[d.next].data.(*company.ConflictReported)}
		want := command.Why
		command.Why = "the record has no file"
		_, err := d.Pace(t.Context(), company.Company, command, func() *company.State { return s },
			func(c company.Command, _ time.Time) ([]company.Event, error) {
				got = c
				return nil, nil
			})
		if c, ok := got.(company.ReportConflict); err != nil || !ok || c.Why != want {
			t.Errorf("%+v, %v; want %q", got, err, want)
		}
	}
}
