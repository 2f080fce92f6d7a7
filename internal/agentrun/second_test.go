package agentrun_test

import (
	"context"
	"encoding/json"
	"testing"

	"company/internal/agent"
	"company/internal/agentrun"
	"company/internal/agentrun/sandbox"
	"company/internal/company"
)

// choosing asks for its role's second model.
type choosing struct {
	asking
	has   *bool
	calls *[]agent.TranscriptCall
	turns int // the most replies of its run
}

func (c choosing) Prepare(context.Context, *agentrun.Session) (*sandbox.Spec, error) { return nil, nil }

func (c choosing) Brief(ctx context.Context, s *agentrun.Session) (agentrun.Brief, error) {
	*c.has = s.HasSecond()
	b, err := c.asking.Brief(ctx, s)
	b.Second, b.MaxTurns = true, c.turns
	run := b.Tools[0].Run
	b.Tools[0].Run = func(ctx context.Context, args json.RawMessage) (agent.Result, error) {
		var err error
		if *c.calls, err = s.ReadCalls(ctx); err != nil {
			return agent.Result{}, err
		}
		if len(*c.calls) == 0 {
			return agent.Result{Text: "once more"}, nil
		}
		return run(ctx, args)
	}
	return b, err
}

// A role that asks for its second model gets it where there is one, and the ledger
// names it; a tool can read which calls the run has made so far.
func TestRoleAsksItsSecondModel(t *testing.T) {
	for _, second := range []bool{true, false} {
		bound, want := bindings(""), "p"
		if second {
			bound.SecondReviewer.Profile, want = "second", "second"
		}
		b := setup(t, company.Settings{Agents: bound})
		var has bool
		var calls []agent.TranscriptCall
		if err := b.carry(t.Context(), t, choosing{has: &has, calls: &calls}); err != nil {
			t.Fatal(err)
		}
		if got := b.end(t).Briefing.Model.Profile; got != want || has != second {
			t.Errorf("asked %q, want %q; it has a second: %v", got, want, has)
		}
		if len(calls) != 1 || calls[0].Name != "done" || calls[0].Result != "once more" || calls[0].IsError {
			t.Errorf("%+v", calls)
		}
	}
}

// A role can bound its run below the turns of the config.
func TestRoleBoundsItsTurns(t *testing.T) {
	for turns, want := range map[int]company.RunStatus{0: company.RunSuccess, 1: company.RunError, 2: company.RunSuccess,
		1000: company.RunSuccess} {
		b := setup(t, company.Settings{})
		var has bool
		var calls []agent.TranscriptCall
		if err := b.carry(t.Context(), t, choosing{has: &has, calls: &calls, turns: turns}); err != nil {
			t.Fatal(err)
		}
		if r := b.end(t); r.Status != want {
			t.Errorf("with %d turns: %+v", turns, r)
		}
	}
}

// SUB-16: a worker has the model that the manager gave its subtask, and the ledger names it.
func TestWorkerHasTheModelOfItsSubtask(t *testing.T) {
	b := setup(t, company.Settings{EscalateTo: []string{"big"}})
	b.Plan(b.task, company.Plan{Waves: []company.Wave{{Subtasks: []company.PlannedSubtask{{
		Title: "do it", Description: "Do it in it.go, all of it.", AcceptanceCriteria: []string{"it works"},
		WriteSet: []string{"it.go"}, Effort: company.EffortSmall,
	}}}}})
	const sub = company.SubtaskID("t1-01")
	for n, want := range []string{"p", "big"} {
		offered := company.NewRunID(b.task, sub, company.Worker, n+1)
		b.Must(company.Offer{Run: offered})
		office, err := agentrun.New(b.office)
		if err != nil {
			t.Fatal(err)
		}
		var has bool
		var calls []agent.TranscriptCall
		role := choosing{has: &has, calls: &calls}
		role.after = func(_ agent.Outcome, end *company.EndRun) {
			*end = company.EndRun{Outcome: company.RunEnded{Status: company.RunError, Escalate: true, Error: "help"}}
		}
		if err := office.Execute(t.Context(),
			company.Effect{Run: offered,
				Claim: company.Claim{Run: offered, Epoch: b.View().Office.Epoch, Offer: 1, Worker: "w1"}}, role); err != nil {
			t.Fatal(err)
		}
		if r := b.Task(b.task).Runs[offered]; r.Briefing == nil || r.Briefing.Model.Profile != want {
			t.Errorf("%s asked %+v, want %s", offered, r.Briefing, want)
		}
		if n == 0 {
			guide := company.NewRunID(b.task, "", company.Manager, 2)
			b.Must(company.EndRun{Run: guide, Fence: b.Claim(guide, b.Task(b.task).Head),
				Outcome: company.RunEnded{Status: company.RunSuccess},
				Guide:   &company.Guide{Subtask: sub, Text: "mind the order", Model: "big"}})
		}
	}
}
