package cli

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/test/heldoffice"
)

// A subtask is paused by its id, alone or with tasks; what shows it names the command
// that lets it go on. Where one of several names is wrong, nothing is paused.
func TestPauseOfASubtask(t *testing.T) {
	o := heldoffice.Open(t)
	id, other := o.Executing("the first", 2), o.Executing("the second", 1)
	run := offerRun(o, id, 2)
	o.Claim(run, "w1")
	o.Serve()
	command := func(args ...string) heldoffice.Result { return o.Run(t.Context(), execute, args...) }
	requireRefusal(t, command("pause", "t1-02", "t1-09"), company.ENotFound, "company show t1")
	requireRefusal(t, command("pause", "t1-02", "t7-01"), company.ENotFound, "there is no task t7")
	requireRefusal(t, command("resume", "t1-09"), company.ENotFound, "company show t1")
	if paused := o.View().Tasks[id].PausedSubtasks(); len(paused) > 0 {
		t.Fatalf("%v", paused)
	}
	if r := command("pause", "t1-02"); r.Code != 0 || r.Out != "t1-02 paused; continue with: company resume t1-02\n" {
		t.Errorf("%+v", r)
	}
	if r := command("status"); !strings.Contains(r.Out, "  ~ t1-02 is paused: company resume t1-02\n") ||
		strings.Contains(r.Out, "resting") {
		t.Errorf("%s", r.Out)
	}
	if r := command("show", "t1"); !strings.Contains(r.Out, "t1-02    paused") ||
		!strings.Contains(r.Out, "paused: company resume t1-02\n") {
		t.Errorf("%s", r.Out)
	}
	if r := command("show", "t1-02"); !strings.HasPrefix(r.Out, "t1-02  paused, wave 1") ||
		!strings.Contains(r.Out, "\n  paused: company resume t1-02\n") {
		t.Errorf("%s", r.Out)
	}
	if got := renderJSON(t, command("show", "t1", "-o", "json"),
		`{{.task.paused}} {{.task.paused_subtasks | json}}{{range .task.plan}} {{.paused}}{{end}}`); got !=
		`false ["t1-02"] false true` {
		t.Error(got)
	}
	if r := command("pause", string(other), "t1-01", "-o",
		"json"); r.Out != `{"paused":["t2"],"paused_subtasks":["t1-01"],"schema_version":1}`+"\n" {
		t.Errorf("%+v", r)
	}
}
