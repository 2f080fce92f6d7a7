package cli

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/test/heldoffice"
)

// A question of the office, which is about no task, is shown and answered by the commands for
// those of tasks.
func TestOfficeQuestionIsAnswered(t *testing.T) {
	o := heldoffice.Open(t)
	o.Executing("add a limit", 1)
	o.AskOffice("a7", company.AskDayBudget, "Raise the cap of today?")
	o.AskOffice("a8", company.AskDayBudget, "Raise it once more?")
	o.Must(company.SetOfficeCaps{Caps: company.OfficeCaps{Day: company.Amount{MicroUSD: 100, Tokens: company.NoCap},
		Office: company.Amount{MicroUSD: company.NoCap, Tokens: company.NoCap}}})
	o.Serve()
	command := func(args ...string) heldoffice.Result { return o.Run(t.Context(), execute, args...) }
	for _, answer := range []struct{ id, verb, out string }{{"a7", "reject", "a7: no.\n"},
		{"a8", "approve", "a8: yes.\n"}} {
		id := answer.id
		if r := command("status"); r.Code != 0 || !strings.Contains(r.Out, id+"  ") {
			t.Errorf("%+v", r)
		}
		if r := command("show", id); r.Code != 0 || !strings.HasPrefix(r.Out, id+"  day_budget of the office\n") {
			t.Errorf("%+v", r)
		}
		requireRefusal(t, command("answer", id, "my words"), company.EInvalid, "company approve "+id)
		requireRefusal(t, command("diff", id), company.EUsage, "company diff")
		if r := command("show", id, "-o", "json"); r.Code != 0 || !strings.Contains(r.Out, `"task":""`) {
			t.Errorf("%+v", r)
		}
		if r := command(answer.verb, id); r.Code != 0 || r.Out != answer.out {
			t.Errorf("%s: %+v", answer.verb, r)
		}
		if r := command("show", id); r.Code != 0 || !strings.Contains(r.Out, "answered ") {
			t.Errorf("%+v", r)
		}
		requireRefusal(t, command(answer.verb, id), company.EConflict, "company show "+id)
	}
}
