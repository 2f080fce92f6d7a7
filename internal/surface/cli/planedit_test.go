package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/test/heldoffice"
)

// company plan edit puts a person's plan in the place of the manager's before it is approved,
// by the manager's rules, with a company at work and without.
func TestPlanEdit(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Asked("write two", 2)
	other := o.Executing("write one", 1)
	for _, served := range []bool{true, false} {
		if served {
			o.Serve()
		} else {
			o.Close()
		}
		shown := o.Run(t.Context(), execute, "plan", "show", string(id))
		if shown.Code != 0 || !strings.Contains(shown.Out, "name: t1-01\n") || !strings.Contains(shown.Out, "- a is there") {
			t.Fatalf("served %v: %+v", served, shown)
		}
		file := filepath.Join(t.TempDir(), "plan.yaml")
		edit := func(text string) heldoffice.Result {
			t.Helper()
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return o.Run(t.Context(), execute, "plan", "edit", string(id), "-f", file)
		}
		if r := edit(shown.Out); r.Code != 0 || r.Out != "the plan of t1 is unchanged\n" {
			t.Errorf("served %v: %+v", served, r)
		}
		requireRefusal(t, edit(strings.ReplaceAll(shown.Out, "b/**", "a/x.go")), company.EPlan,
			"the plan was refused; the previous one remains")
		requireRefusal(t, edit(strings.ReplaceAll(shown.Out, "effort:", "efort:")), company.EInvalid, "correct "+file)
		requireRefusal(t, edit("subtasks: []\n"), company.EInvalid, "the plan has no subtasks")
		requireRefusal(t, o.Run(t.Context(), execute, "plan", "edit", string(id)), company.EUsage,
			"no editor to open")
		requireRefusal(t, o.Run(t.Context(), execute, "plan", "edit", string(other), "-f", file), company.EConflict,
			"the plan of t2 does not wait for your approval")
		requireRefusal(t, o.Run(t.Context(), execute, "plan", "edit", "t1-01"), company.EUsage, "invalid task id")
		requireRefusal(t, o.Run(t.Context(), execute, "plan", "show", "t9"), company.ENotFound, "there is no task t9")

		title := map[bool]string{true: "write the first", false: "write the very first"}[served]
		changed := strings.Replace(shown.Out, "title: write ", "title: "+title+" of ", 1)
		if r := edit(changed); r.Code != 0 || !strings.HasPrefix(r.Out, "the plan of t1 was replaced by yours: 2 subtasks\n") ||
			!strings.Contains(r.Err, "company approve t1") {
			t.Errorf("served %v: %+v", served, r)
		}
		if r := o.Run(t.Context(), execute, "show", string(id)); !strings.Contains(r.Out, title) {
			t.Errorf("served %v: %+v", served, r)
		}
	}
	if r := o.Run(t.Context(), execute, "feed"); strings.Count(r.Out, "you changed the plan: 2 subtasks in 1 wave") != 2 {
		t.Errorf("feed: %+v", r)
	}
	if r := o.Run(t.Context(), execute, "approve", string(id)); r.Code != 0 {
		t.Errorf("%+v", r)
	}
	requireRefusal(t, o.Run(t.Context(), execute, "plan", "edit", string(id)), company.EConflict,
		"does not wait for your approval")
}
