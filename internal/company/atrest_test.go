package company_test

import (
	"fmt"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/company/decidertest"
)

// A task rests only when nobody but a person can move it.
func TestAtRest(t *testing.T) {
	t.Parallel()
	d := decidertest.New(t)
	id := company.TaskID("t1")
	// The decider's clock is not ours: no deadline may have passed.
	d.Must(company.Submit{Instruction: "do it", Project: company.Project{ID: "p", Path: "/p"},
		Settings: company.Settings{RunTimeout: 100 * 365 * 24 * time.Hour}})
	d.Prepare(id, company.OID("1111111111111111111111111111111111111111"),
		company.GateCommand{Name: "test", Command: "true"})
	is := func(what string, want bool) {
		t.Helper()
		if s := d.View(); s.AtRest(s.Tasks[id], time.Now()) != want {
			t.Errorf("%s: idle is %v", what, !want)
		}
	}
	is("the manager is due", false)
	run := company.NewRunID(id, "", company.Manager, 1)
	fence := d.Claim(run, "")
	is("the manager works", false)
	huge := company.Amount{MicroUSD: 1 << 40, Tokens: 1 << 40}
	d.Must(company.Reserve{Run: run, Fence: fence, One: huge, Many: huge})
	doDueCommands := func() {
		for _, e := range company.Due(d.View(), time.Now(), 1) {
			if e.Kind == company.EffectCommand {
				d.Must(e.Command)
			}
		}
	}
	doDueCommands()
	is("the manager waits for money", true)
	d.Must(company.Release{Run: run, Fence: fence})
	is("the manager is due again", false)
	part := func(name string) company.PlannedSubtask {
		return company.PlannedSubtask{
			Title: "Change " + name, Description: "Change what " + name +
				" does, so that everybody is content with it, and show that by a test.",
			AcceptanceCriteria: []string{"it is changed", "nothing else is"}, WriteSet: []string{name + ".go"},
			Effort: company.EffortMedium,
		}
	}
	d.Must(company.EndRun{Run: run, Fence: d.Claim(run, ""), Outcome: company.RunEnded{Status: company.RunSuccess},
		Plan: &company.Plan{
			Why: "they are apart", Waves: []company.Wave{{Subtasks: []company.PlannedSubtask{part("a"), part("b")}}},
		}})
	run = company.NewRunID(id, company.NewSubtaskID(id, 1), company.Worker, 1)
	d.Must(company.Offer{Run: run})
	is("a run is on offer", false)
	d.Must(company.Offer{Run: company.NewRunID(id, company.NewSubtaskID(id, 2), company.Worker, 1)})
	for n := range 2 {
		d.Must(company.ReportEffectFailure{Task: id, Key: "run " + string(company.NewSubtaskID(id, n+1)),
			EffectFailed: company.EffectFailed{Code: company.EInternal,
				Error: fmt.Sprintf("the queue is broken at its part %d", n+1), Human: true}})
		is("an offer cannot be put on the queue, and the question is due", false)
		doDueCommands()
		is("the president is asked about an offer", n == 1)
	}
	for _, a := range d.View().OpenApprovals(id) {
		if a.Kind == company.AskTrouble {
			d.Must(company.Answer{Approval: a.ID, Option: company.OptApprove})
			is("the president wants it tried again", false)
		}
	}
	d.Must(company.Reserve{Run: run, Fence: d.Claim(run, ""), One: huge, Many: huge})
	doDueCommands()
	is("a run is on offer, and the workers wait for money", true)
}
