package cli

import (
	"reflect"
	"strings"
	"testing"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/office/config"
	"company/test/heldoffice"
)

// ADP-6: where the config names other models than the one that was used before, the ledger has
// what was and what is, once, when a task begins, and the feed says it in words. No key is in it.
func TestChangeOfModelsIsInTheFeed(t *testing.T) {
	o := heldoffice.Open(t)
	o.Setenv("COMPANY_MODELS_DEFAULT_MODEL", "one")
	o.Setenv("COMPANY_MODELS_DEFAULT_API_KEY_ENV", "SOME_KEY")
	o.Setenv("SOME_KEY", "sk-secret")
	reopen := func() { o.Close(); o.Reopen() }
	reopen()
	list := func() []company.AgentModels {
		loaded, err := config.Load(t.Context(), config.LoadOptions{OfficeDir: o.Paths.Root, Env: o.LookupEnv})
		if err != nil {
			t.Fatal(err)
		}
		return officeapp.ListAgentModels(loaded, func(name string) string { v, _ := o.LookupEnv(name); return v })
	}
	o.Must(company.StartOffice{Office: o.App.ID(), Version: "test", Agents: list()})
	o.Executing("the first", 1)
	o.Setenv("COMPANY_MODELS_DEFAULT_MODEL", "two")
	o.Setenv("COMPANY_MODELS_DEFAULT_BASE_URL", "http://elsewhere.invalid:99/v1")
	reopen()
	o.Executing("the second", 1)
	o.Executing("the third", 1)
	if !reflect.DeepEqual(o.View().Office.Agents, list()) {
		t.Errorf("the office knows %+v", o.View().Office.Agents)
	}
	o.Close()
	r := o.Run(t.Context(), execute, "feed", "-o", "json")
	const asked = "openai one at model.invalid → openai two at elsewhere.invalid:99"
	want := "the config names other models: manager: " + asked + "; worker: " + asked + "; reviewer: " + asked +
		"; merger: " + asked
	if r.Code != 0 || strings.Count(r.Out, want) != 1 || strings.Count(r.Out, "names other models") != 1 ||
		strings.Contains(r.Out, "sk-secret") || strings.Contains(r.Out, "SOME_KEY") {
		t.Errorf("%d, want once %q:\n%s%s", r.Code, want, r.Out, r.Err)
	}
}
