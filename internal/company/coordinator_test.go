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
	if asking.Task.ID != id || asking.Subtask != nil || asking.Claimed.From != head || asking.Epoch != 1 || len(asking.Clarifications) != 0 {
		t.Fatalf("%+v", asking)
	}
	run := asking.Claimed.ID
	if _, err := held.Claim(ctx, company.Claim{Run: run, Epoch: 1, Worker: "other"}); company.CodeOf(err) != company.EStale {
		t.Errorf("claimed twice: %v", err)
	}
	evs, err := held.Decide(ctx, company.EndRun{Run: run, Fence: asking.Claimed.Fence, Question: "which?", Outcome: company.RunEnded{Status: company.RunSuccess}})
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
		if err != nil || now.Held != c.want.Held || now.Paused != c.want.Paused || now.Ended != c.want.Ended || now.Asked != nil {
			t.Errorf("after %T: %+v %v", c.change, now, err)
		}
	}
	if _, err := held.Standing(ctx, "t9-plan.1", 1); company.CodeOf(err) != company.ENotFound {
		t.Errorf("of no run: %v", err)
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
