package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/test/heldoffice"
)

// Tasks are listed the newest first, narrowed by state and number, as text, JSON and
// through a template.
func TestList(t *testing.T) {
	o := heldoffice.Open(t)
	for _, what := range []string{"the first", "the second", "the third"} {
		o.Must(company.Cancel{Task: o.Submit(what, o.Repo), Why: "no"})
	}
	open := o.Executing("the fourth", 1)
	deadline := time.Now().UTC().Truncate(time.Second).Add(48 * time.Hour)
	o.Must(company.Submit{
		Instruction: "the fifth", Project: company.Project{ID: "beside", Path: "/beside"}, Tags: []string{"api", "ui"},
		Deadline: deadline,
	})
	tagged := company.NewTaskID(o.View().LastTask)
	o.Must(company.Cancel{Task: tagged})
	for _, served := range []bool{true, false} {
		if served {
			o.Serve()
		} else {
			o.Close()
		}
		run := func(args ...string) heldoffice.Result {
			return o.Run(t.Context(), execute, append([]string{"list"}, args...)...)
		}
		if r := run("--state", "cancelled", "-n", "3"); r.Code != 0 || !strings.Contains(r.Out, "the third") ||
			!strings.Contains(r.Out, "the second") || strings.Contains(r.Out, "the first") ||
			!strings.Contains(r.Out, "and 1 more") {
			t.Errorf("served %v: %+v", served, r)
		}
		if got := renderJSON(t, run("--state", "open,failed", "-o", "json"),
			`{{range .tasks}}{{.id}} {{.status}} {{.cost_micro_usd | json}}{{end}}`); got != string(open)+" executing null" {
			t.Errorf("served %v: %s", served, got)
		}
		if r := run("--state", "paused"); r.Code != 0 || r.Out != "no tasks\n" {
			t.Errorf("served %v: %+v", served, r)
		}
		if r := run("--priority", "high,low"); r.Code != 0 || r.Out != "no tasks\n" {
			t.Errorf("served %v: %+v", served, r)
		}
		if got := renderJSON(t, run("--priority", "medium", "--tag", "api", "-o", "json"),
			`{{range .tasks}}{{.id}} {{.priority}} {{.tags | json}} {{.deadline}}{{end}}`); got != string(tagged)+
			` medium ["api","ui"] `+deadline.Format(time.RFC3339) {
			t.Errorf("served %v: %s", served, got)
		}
		requireRefusal(t, run("--priority", "urgent"), company.EUsage, "unknown priority")
		requireRefusal(t, run("--state", "lost"), company.EUsage, "unknown task state")
		requireRefusal(t, run("-n", "-1"), company.EUsage, "-n 20")
	}
}

// A list, a filter and an error say a state as company status does; JSON has the stored status.
func TestListSaysStatesAsStatusDoes(t *testing.T) {
	o := heldoffice.Open(t)
	o.Planned("only a plan", 2)
	o.Executing("the second", 1)
	o.Serve()
	for _, args := range [][]string{{"list"}, {"list", "--state", "done,working"},
		{"list", "--state", "completed,executing"}} {
		r := o.Run(t.Context(), execute, args...)
		if lines := strings.Split(r.Out, "\n"); r.Code != 0 || len(lines) != 4 ||
			strings.Join(strings.Fields(lines[1])[:3], " ") != "t2 working 0/1" ||
			strings.Join(strings.Fields(lines[2])[:4], " ") != "t1 planned only -" {
			t.Errorf("%v: %+v", args, r)
		}
	}
	if got := renderJSON(t, o.Run(t.Context(), execute, "list", "--state", "done", "-o", "json"),
		"{{range .tasks}}{{.status}}{{end}}"); got != "completed" {
		t.Error(got)
	}
	requireRefusal(t, o.Run(t.Context(), execute, "cancel", "t1"), company.EConflict, "t1 has ended already: done")
	requireRefusal(t, o.Run(t.Context(), execute, "retry", "t2"), company.EConflict, "t2 has not ended: working")
}

// What ended runs cost is summed by day, model and task.
func TestCosts(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Executing("the first", 1)
	run := offerRun(o, id, 1)
	fence := o.Claim(run, "")
	o.Must(company.Reserve{Run: run, Fence: fence, One: company.Amount{MicroUSD: 900, Tokens: 900},
		Many: company.Amount{MicroUSD: 900, Tokens: 900}})
	o.Must(company.EndRun{Run: run, Fence: fence,
		Outcome: company.RunEnded{Status: company.RunError, Error: "enough",
			Spent: company.Amount{MicroUSD: 500, Tokens: 100}, Models: []company.ModelSpent{
				{Model: "cheap", Spent: company.Amount{MicroUSD: 100, Tokens: 60}},
				{Model: "dear", Spent: company.Amount{MicroUSD: 300, Tokens: 30}},
			}}})
	o.Serve()
	got := renderJSON(t, o.Run(t.Context(), execute, "costs", "-o", "json"),
		`{{range .by_model}}{{.of}} {{.cost_micro_usd}} {{.tokens}}, {{end}}{{range .by_task}}{{.of}} {{.runs}}{{end}}, {{len .by_day}}`)
	if got != "dear 300 30, cheap 100 60, not recorded 100 10, t1 2, 1" {
		t.Error(got)
	}
	if r := o.Run(t.Context(), execute, "costs", "--days", "1"); r.Code != 0 || !strings.Contains(r.Out, "dear") ||
		!strings.Contains(r.Out, "in 2 finished runs") {
		t.Errorf("%+v", r)
	}
	requireRefusal(t, o.Run(t.Context(), execute, "costs", "--days", "-1"), company.EUsage, "--days 7")
}

// A status that redraws is for a terminal.
func TestStatusWatch(t *testing.T) {
	o := heldoffice.Open(t)
	requireRefusal(t, o.Run(t.Context(), execute, "status", "--watch"), company.EUsage, "needs a terminal")
}

// An instruction is written in the person's editor where none is given, and nothing is
// submitted where it is empty.
func TestInstructionFromAnEditor(t *testing.T) {
	o := heldoffice.Open(t)
	dir := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir()) // what a person wrote in an editor that failed stays there
	for name, script := range map[string]string{"empty": "exit 0", "broken": "exit 3"} {
		editor := filepath.Join(dir, name)
		if err := os.WriteFile(editor, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		o.Setenv("EDITOR", editor)
		r, _ := personAt(t, o, "", "submit")
		if r.Code != 64 || o.View().LastTask != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
