package agentrun_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/company/decidertest"
)

// A run goes on after a restart with the agent that it began with, though its task was given other
// agents meanwhile; the next run has the others.
func TestRunKeepsItsAgent(t *testing.T) {
	b := setup(t, company.Settings{Agents: bindings("Be terse.")})
	died := errors.New("killed here")
	b.refuse = func(c company.Command) error {
		switch c.(type) {
		case company.EndRun, company.Release:
			return died
		}
		return nil
	}
	if err := b.carry(t.Context(), t, nil); !errors.Is(err, died) {
		t.Fatal(err)
	}
	b.refuse = nil
	b.Must(company.StartOffice{Office: decidertest.Office}) // the next process
	first := b.Task(b.task).Runs[b.run]

	other := bindings("Be long.")
	other.Manager.Profile, other.Models["second"] = "second", company.ModelBinding{Adapter: "openai", Model: "another"}
	b.Must(company.ReportEffectFailure{Task: b.task, Key: "plan",
		EffectFailed: company.EffectFailed{Code: company.EModel, Error: "no such model", Human: true}})
	key := fmt.Sprintf("trouble %s plan %d", b.task, b.Task(b.task).Failures["plan"].NotBefore.UnixNano())
	b.Must(company.OpenApproval{Question: company.PendingQuestion{Key: key, Task: b.task}})
	open := b.View().OpenApprovals(b.task)
	if len(open) != 1 || !b.View().TakesConfig(open[0].ID) {
		t.Fatalf("%+v", open)
	}
	b.Must(company.Answer{Approval: open[0].ID, Option: company.OptApprove, Rebind: &company.Rebinding{Agents: other}})

	if err := b.carry(t.Context(), t, nil); err != nil {
		t.Fatal(err)
	}
	if r := b.end(t); r.Briefing.Model != first.Briefing.Model || r.Briefing.Persona != agent.TextHash("Be terse.") {
		t.Errorf("it went on as %+v, and began as %+v", r.Briefing, first.Briefing)
	}
	if got := b.Task(b.task).AgentOf(&company.Run{Role: company.Manager}); got.Profile != "second" ||
		got.Persona != "Be long." {
		t.Errorf("the next run has %+v", got)
	}
}

// A run whose model the config does not have any more says so, and a person is asked.
func TestLostModelIsAQuestion(t *testing.T) {
	b := setup(t, company.Settings{})
	b.lost = company.E(company.EConfig, `model profile "p" has changed since the task was submitted`).
		Fix("restore the profile").NeedsPerson()
	if err := b.carry(t.Context(), t, nil); err != nil {
		t.Fatal(err)
	}
	if r := b.end(t); r.Status != company.RunError || !strings.Contains(r.Error, "has changed since") {
		t.Errorf("%+v", r)
	}
	if f := b.Task(b.task).Failures["plan"]; !f.NeedsPerson || f.Code != company.EConfig || f.Hint == "" {
		t.Errorf("%+v", f)
	}
}
