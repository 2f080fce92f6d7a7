package app_test

import (
	"errors"
	"fmt"
	"testing"

	"company/internal/company"
	"company/test/heldoffice"
)

// A task has the agents of the config from its submission on: a later config changes them when the
// task is reopened, and when a question about a model is answered with yes.
func TestTaskIsBoundAtItsSubmission(t *testing.T) {
	o := heldoffice.Open(t)
	o.Setenv("COMPANY_MODELS_DEFAULT_MODEL", "one")
	reopen := func() { o.Close(); o.Reopen() }
	reopen()
	id := o.Executing("add a limit", 1)
	model := func() string { return o.View().Tasks[id].Settings.Agents.Models["default"].Model }
	if model() != "one" {
		t.Fatalf("submitted with %q", model())
	}
	o.Setenv("COMPANY_MODELS_DEFAULT_MODEL", "two")
	reopen()
	if model() != "one" {
		t.Errorf("a restart gives %q", model())
	}
	named := o.View().Tasks[id].Settings.Agents
	named.Models = map[string]company.ModelBinding{"default": {Adapter: "openai", Model: "its own"}}
	evs := o.Must(
		company.Submit{Instruction: "another", Project: company.Project{ID: "p", Path: o.Repo},
			Settings: company.Settings{Agents: named}})
	if got := o.View().Tasks[evs[0].Task].Settings.Agents.Models["default"].Model; got != "its own" {
		t.Errorf("a submission with agents got %q", got)
	}

	trouble := func(code company.Code) company.ApprovalID {
		t.Helper()
		o.Must(company.ReportEffectFailure{Task: id, Key: "run t1-01",
			EffectFailed: company.EffectFailed{Code: code, Error: "it failed", Human: true}})
		f := o.View().Tasks[id].Failures["run t1-01"]
		o.Must(company.OpenApproval{
			Question: company.PendingQuestion{Key: fmt.Sprintf("trouble %s run t1-01 %d", id, f.NotBefore.UnixNano()),
				Task: id}})
		open := o.View().OpenApprovals(id)
		if len(open) != 1 {
			t.Fatalf("%+v", open)
		}
		return open[0].ID
	}
	o.Must(company.Answer{Approval: trouble(company.EDocker), Option: company.OptApprove})
	if model() != "one" {
		t.Errorf("a question about Docker gave %q", model())
	}
	o.Must(company.Answer{Approval: trouble(company.EModel), Option: company.OptApprove})
	if model() != "two" {
		t.Errorf("a question about a model gave %q", model())
	}
	o.Setenv("COMPANY_MODELS_DEFAULT_MODEL", "three")
	reopen()
	o.Must(company.Cancel{Task: id})
	o.Must(company.Retry{Task: id})
	if model() != "three" {
		t.Errorf("a retry gave %q", model())
	}
	o.Must(company.Cancel{Task: id})
	o.Must(company.Retry{Task: id, Rebind: &company.Rebinding{Agents: named, EscalateTo: []string{"default"}}})
	if model() != "its own" || len(o.View().Tasks[id].Settings.EscalateTo) != 1 {
		t.Errorf("a retry with agents gave %q", model())
	}
}

// STA-13: of two submissions that race for an exclusive base one is taken, and the other is told
// which one is in the way.
func TestOneOfTwoRacingSubmissions(t *testing.T) {
	o := heldoffice.Open(t)
	errs := make(chan error, 2)
	for i := range 2 {
		go func() {
			_, err := o.App.DoID(t.Context(), fmt.Sprintf("race-%d", i), company.President, company.Submit{
				Instruction: "do it", Base: "main", Project: company.Project{ID: "p", Path: o.Repo},
				Settings: company.Settings{Exclusive: true},
			})
			errs <- err
		}()
	}
	var refusals []*company.Error
	for range 2 {
		if e := (*company.Error)(nil); errors.As(<-errs, &e) {
			refusals = append(refusals, e)
		}
	}
	if len(o.View().Tasks) != 1 || len(refusals) != 1 || refusals[0].Code != company.EConflict ||
		refusals[0].CurrentTask != "t1" || refusals[0].CurrentState != company.StatusPending {
		t.Errorf("%d tasks, refused: %+v", len(o.View().Tasks), refusals)
	}
}
