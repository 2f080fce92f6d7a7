package cli

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/present/view"
	"company/internal/surface/cli/command"
	"company/internal/surface/cli/task"
	"company/internal/surface/terminalio"
	"company/test/heldoffice"
)

// A task is submitted after others, which every surface names; what cannot be waited for is
// refused with a way on.
func TestSubmitAfter(t *testing.T) {
	o := heldoffice.Open(t)
	first := o.Executing("the first", 1)
	delivered := o.Delivered("the second", "c.txt")
	planned := o.Planned("a dry run", 1)
	o.Must(company.Cancel{Task: o.Submit("the third", o.Repo)})
	cancelled := company.NewTaskID(o.View().LastTask)
	o.Serve()
	run := func(args ...string) heldoffice.Result { return o.Run(t.Context(), execute, args...) }
	r := run("submit", "--detach", "--after", string(first)+","+string(delivered), "--after", string(first), "use both")
	id := company.NewTaskID(o.View().LastTask)
	if r.Code != 0 || !strings.HasPrefix(r.Out, string(id)+" starts when merged: "+string(first)+", "+string(delivered)) ||
		!strings.HasSuffix(r.Out, "\nwatch it: company watch "+string(id)+"\n") || id == cancelled {
		t.Fatalf("%+v", r)
	}
	if task := o.Task(id); len(task.After) != 2 || task.Base != "main" || task.Status != company.StatusPending {
		t.Fatalf("%+v", task)
	}
	both := "waits for " + string(first) + ", " + string(delivered)
	for _, c := range []struct{ args, want string }{
		{"status", both},
		{"list", both},
		{"list --state waiting", both},
		{"show " + string(id), "waits for: " + string(first) + " (working), " + string(delivered) + " (#1 is to be merged)"},
		{"feed " + string(id), "it starts when " + string(first) + " and " + string(delivered) + " are merged"},
		{"show -o json " + string(id),
			`"waits_for":[{"task":"` + string(first) + `","status":"executing"},{"task":"` + string(delivered) +
				`","status":"completed","pr":1,"pr_state":"open"}]`},
	} {
		if r := run(strings.Fields(c.args)...); r.Code != 0 || !strings.Contains(r.Out, c.want) {
			t.Errorf("%s lacks %q: %+v", c.args, c.want, r)
		}
	}
	var ids bytes.Buffer
	env := command.NewEnvironment(
		terminalio.Console{In: strings.NewReader(""), Out: &ids, Err: io.Discard, LookupEnv: o.LookupEnv})
	execute(t.Context(), env, []string{"__complete", "--repo", o.Repo, "submit", "--after", ""})
	if got := strings.Fields(ids.String()); !slices.Contains(got, string(first)) ||
		!slices.Contains(got, string(delivered)) || !slices.Contains(got, string(id)) ||
		slices.Contains(got, string(planned)) || slices.Contains(got, string(cancelled)) {
		t.Errorf("completed: %v", got)
	}
	for _, c := range []struct {
		after string
		code  company.Code
		want  string
	}{
		{"t99", company.ENotFound, "company list"},
		{"x", company.EUsage, `invalid task id "x"`},
		{string(planned), company.EConflict, "company submit --plan " + string(planned)},
		{string(cancelled), company.EConflict, "company retry " + string(cancelled)},
	} {
		requireRefusal(t, run("submit", "--detach", "--after", c.after, "x"), c.code, c.want)
	}
	requireRefusal(t, run("submit", "--detach", "--after", string(first), "--follows", string(delivered), "x"),
		company.EUsage, "leave --after or --follows out")
	if last := company.NewTaskID(o.View().LastTask); last != id {
		t.Errorf("%s was submitted", last)
	}

	// A page, a program and a client of MCP submit by the same fields.
	cmd, err := task.PrepareSubmission(
		t.Context(), env.Entrance.ForCall(env.Console),
		view.Submission{Instruction: "over the API", After: []string{string(first), string(first)}})
	if err != nil || !slices.Equal(cmd.After, []company.TaskID{first}) || cmd.Base != "main" {
		t.Errorf("%v: %+v", err, cmd)
	}

	o.Must(company.Cancel{Task: first})
	o.Must(company.OpenApproval{Question: company.PendingQuestion{Key: "after " + string(id) + " " + string(first),
		Task: id}})
	q := o.View().OpenApprovals(id)[0]
	if r := run("show", string(q.ID)); !strings.Contains(r.Out, "begin without it") ||
		!strings.Contains(r.Out, "company answer "+string(q.ID)+" --option wait") {
		t.Errorf("the question: %+v", r)
	}
	if r := run("answer", string(q.ID), "--option", "wait"); r.Code != 0 || !strings.Contains(r.Out, "wait on") {
		t.Errorf("the answer: %+v", r)
	}
	if r := run("show", string(id)); !strings.Contains(r.Out, string(first)+" (cancelled)") {
		t.Errorf("afterwards: %+v", r)
	}
	o.Close()
	if r := run("status"); !strings.Contains(
		r.Out, string(id)+" is resting: it "+both+", and no company is running: company resume "+string(id)) {
		t.Errorf("without a company: %+v", r)
	}
}
