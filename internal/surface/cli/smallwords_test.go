package cli

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/test/heldoffice"
)

// An id behind a group of commands is shown, a budget at rest names the caps of the next task, and a task without a
// pull request is told as that.
func TestGroupShowsID(t *testing.T) {
	o := heldoffice.Open(t)
	id := string(o.Submit("do it", o.Repo))
	pull := string(o.Delivered("the second", "c.txt"))
	planned := string(o.Planned("a dry run", 1))
	o.Must(company.Cancel{Task: company.TaskID(id)})
	o.Serve()
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"plan " + planned, 0, "subtasks:"},
		{"budget " + id, 0, id},
		{"budget", 0, "caps of each new task (budget.usd, budget.tokens): 5M tokens"},
		{"pr " + pull, 0, "1"},
		{"pr 1", 0, pull},
		{"pr show " + id, 1, "error[E_NOT_FOUND]: " + id + " has no pull request"},
		{"pr show t99", 1, "there is no task t99"},
		{"pr shwo", 64, "did you mean this? company pr show"},
		{"pr nosuch", 64, `unknown command "nosuch"`},
	} {
		r := o.Run(t.Context(), execute, strings.Fields(c.args)...)
		if r.Code != c.code || !strings.Contains(r.Out+r.Err, c.want) {
			t.Errorf("%s: %+v", c.args, r)
		}
	}
}
