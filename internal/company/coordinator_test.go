package company_test

import (
	"context"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/company/decidertest"
)

// A holder gets with its claim all that its work needs, and asks later for what
// others may have changed: no state goes over.
func TestCoordinator(t *testing.T) {
	t.Parallel()
	d := decidertest.New(t)
	head := company.OID(strings.Repeat("1", 40))
	id := d.Submit("do it", "/p")
	d.Prepare(id, head, company.GateCommand{Name: "test", Command: "true"})
	held := company.CoordinatorOf(d)
	ctx := t.Context()

	asking := claimDue(ctx, t, d)
	if asking.Task.ID != id || asking.Subtask != nil || asking.Claimed.From != head || asking.Epoch != 1 ||
		len(asking.Clarifications) != 0 {
		t.Fatalf("%+v", asking)
	}
	run := asking.Claimed.ID
	if _, err := held.Claim(ctx, company.Claim{Run: run, Epoch: 1, Worker: "other"}); company.CodeOf(
		err) != company.EStale {
		t.Errorf("claimed twice: %v", err)
	}
	if _, err := held.Claim(ctx, company.Claim{Run: "no id"}); company.CodeOf(err) != company.EInvalid {
		t.Errorf("a claim of no run: %v", err)
	}
	evs, err := held.Decide(
		ctx, company.EndRun{Run: run, Fence: asking.Claimed.Fence, Question: "which?",
			Outcome: company.RunEnded{Status: company.RunSuccess}})
	if err != nil || len(evs) == 0 || evs[0].Actor != string(run) {
		t.Fatalf("%+v %v", evs, err)
	}
	if now, err := held.Standing(ctx, run, asking.Claimed.Fence); err != nil || now.Held {
		t.Errorf("after its end: %+v %v", now, err)
	}
	for _, e := range dueNow(d) {
		if e.Kind == company.EffectCommand {
			d.Must(e.Command)
		}
	}
	d.Must(company.Answer{Approval: "a1", Option: company.OptAnswer, Text: "that one"})

	planning := claimDue(ctx, t, d)
	if len(planning.Clarifications) != 1 || planning.Clarifications[0].Text != "that one" {
		t.Fatalf("%+v", planning.Clarifications)
	}
	run, fence := planning.Claimed.ID, planning.Claimed.Fence
	for _, c := range []struct {
		change company.Command
		fence  uint64
		want   company.Standing
	}{
		{nil, fence, company.Standing{Held: true}},
		{company.Pause{Task: id}, fence, company.Standing{Held: true, Paused: true}},
		{company.Pause{Task: id, Off: true}, fence - 1, company.Standing{}},
		{company.Cancel{Task: id}, fence, company.Standing{Held: true, Ended: company.StatusCancelled}},
	} {
		if c.change != nil {
			d.Must(c.change)
		}
		now, err := held.Standing(ctx, run, c.fence)
		if err != nil || now.Held != c.want.Held || now.Paused != c.want.Paused || now.Ended != c.want.Ended ||
			now.Asked != nil {
			t.Errorf("after %T: %+v %v", c.change, now, err)
		}
	}
	if _, err := held.Standing(ctx, "t9-plan.1", 1); company.CodeOf(err) != company.ENotFound {
		t.Errorf("of no run: %v", err)
	}
}

// A claim that is not the newest one any more when its answer comes is none.
func TestClaimThatIsVoidAtOnce(t *testing.T) {
	for _, gone := range []bool{true, false} {
		d := decidertest.New(t)
		d.Prepare(d.Submit("do it", "/p"), company.OID(strings.Repeat("1", 40)),
			company.GateCommand{Name: "test", Command: "true"})
		for _, e := range dueNow(d) {
			if e.Claim.Run == "" {
				continue
			}
			want := map[bool]company.Code{true: company.ENotFound, false: company.EStale}[gone]
			if a, err := company.CoordinatorOf(overtaken{d, gone}).Claim(t.Context(), e.Claim); company.CodeOf(err) != want ||
				a.Task != nil {
				t.Errorf("%+v %v", a, err)
			}
		}
	}
}

// overtaken lets another holder have a run right after each claim, or forgets
// the run.
type overtaken struct {
	*decidertest.Decider
	gone bool
}

func (o overtaken) View() *company.State {
	if o.gone {
		return company.NewState()
	}
	return o.Decider.View()
}

func (o overtaken) Do(ctx context.Context, actor string, c company.Command) ([]company.Event, error) {
	evs, err := o.Decider.Do(ctx, actor, c)
	if claim, ok := c.(company.Claim); ok && err == nil {
		o.Must(company.Release{Run: claim.Run, Fence: company.ClaimedFence(evs)})
		o.Must(claim)
	}
	return evs, err
}

// A holder sees the questions about packages for its task, and no others.
func TestQuestionsAboutPackages(t *testing.T) {
	d := decidertest.New(t)
	held := company.CoordinatorOf(d)
	ctx := t.Context()
	one, two := company.Dependency{Ecosystem: "npm", Name: "one"}, company.Dependency{Ecosystem: "npm", Name: "two"}
	var last company.Assignment
	for _, wanted := range []company.Dependency{two, one} {
		id := d.Must(
			company.Submit{Instruction: "do it", Project: company.Project{ID: "p", Path: "/p"},
				Settings: company.Settings{Deps: company.Ask}})[0].Task
		d.Prepare(id, company.OID(strings.Repeat("1", 40)), company.GateCommand{Name: "test", Command: "true"})
		d.Plan(id, company.Plan{Why: "one", Waves: []company.Wave{{Subtasks: []company.PlannedSubtask{{
			Title: "x", Description: "x", AcceptanceCriteria: []string{"y"}, WriteSet: []string{"a/**"}, Effort: "small"}}}}})
		run := company.NewRunID(id, company.NewSubtaskID(id, 1), company.Worker, 1)
		d.Must(company.Offer{Run: run})
		a, err := held.Claim(ctx, company.Claim{Run: run, Epoch: 1, Offer: 1, Worker: "w1"})
		if err != nil || a.Subtask == nil || a.Subtask.ID != company.NewSubtaskID(id, 1) {
			t.Fatalf("%+v %v", a, err)
		}
		if _, err := held.Decide(
			ctx, company.AskDependency{Run: run, Fence: a.Claimed.Fence, Dependency: wanted}); err != nil {
			t.Fatal(err)
		}
		last = a
	}
	now, err := held.Standing(ctx, last.Claimed.ID, last.Claimed.Fence)
	if err != nil || len(now.Asked) != 1 || now.Question(one) != now.Asked[0] || !now.Asked[0].Open() ||
		now.Question(two) != nil {
		t.Errorf("%+v %v", now, err)
	}
}

func dueNow(d *decidertest.Decider) []company.Effect {
	s := d.View()
	return company.Due(s, s.Time, 9)
}

// claimDue claims the run that an effect names, as its handler does.
func claimDue(ctx context.Context, t *testing.T, d *decidertest.Decider) company.Assignment {
	t.Helper()
	for _, e := range dueNow(d) {
		if e.Claim.Run == "" {
			continue
		}
		a, err := company.CoordinatorOf(d).Claim(ctx, e.Claim)
		if err != nil || a.Claimed.ID != e.Run {
			t.Fatalf("%+v %v", a, err)
		}
		return a
	}
	t.Fatal("no claim is due")
	return company.Assignment{}
}
