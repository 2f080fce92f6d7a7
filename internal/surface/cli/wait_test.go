package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/test/heldoffice"
)

// result is a command that runs beside the test.
func startCommand(t *testing.T, o *heldoffice.Office, args ...string) <-chan heldoffice.Result {
	t.Helper()
	ended := make(chan heldoffice.Result, 1)
	go func() { ended <- o.Run(t.Context(), execute, args...) }()
	return ended
}

// A wait ends with the task, by an event of another process, with its summary and
// the code that submit would have given.
func TestWaitEndsWithTheTask(t *testing.T) {
	o := heldoffice.Open(t)
	id, other := o.Executing("the first", 1), o.Executing("the second", 1)
	o.Serve()
	ended := startCommand(t, o, "wait", string(id), string(other), string(id))
	o.Must(company.Cancel{Task: id, Why: "not needed"})
	select {
	case r := <-ended:
		t.Fatalf("it did not wait for %s: %+v", other, r)
	case <-time.After(200 * time.Millisecond):
	}
	o.Must(company.Cancel{Task: other})
	r := <-ended
	if r.Code != 2 || strings.Count(r.Out, "=== TASK SUMMARY") != 2 || !strings.Contains(r.Out, "not needed") ||
		r.Err != "" {
		t.Errorf("%+v", r)
	}
	if r := o.Run(t.Context(), execute, "wait", string(id), "-o", "json"); r.Code != 2 || !json.Valid([]byte(r.Out)) ||
		!strings.Contains(r.Out, `"status":"cancelled"`) {
		t.Errorf("of an ended task: %+v", r)
	}
}

// What no company works on rests; what needs an answer does, too, and what is named
// wrongly is told apart.
func TestWaitOnTasksThatRest(t *testing.T) {
	o := heldoffice.Open(t)
	id := o.Executing("the first", 1)
	o.Serve()
	if r := o.Run(t.Context(), execute, "wait", string(id), "--timeout", "300ms"); r.Code != 2 ||
		!strings.Contains(r.Err, "timed out after 300ms") || !strings.Contains(r.Out, "[RESULT] INCOMPLETE") {
		t.Errorf("a timeout: %+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := o.Run(ctx, execute, "wait", string(id)); r.Code != 130 {
		t.Errorf("an interrupt: %+v", r)
	}
	o.Must(company.Pause{Task: id})
	if r := o.Run(t.Context(), execute, "wait", string(id)); r.Code != 2 || !strings.Contains(r.Out, "paused") {
		t.Errorf("a pause: %+v", r)
	}
	o.Must(company.Pause{Task: id, Off: true})
	ended := startCommand(t, o, "wait", string(id))
	time.Sleep(100 * time.Millisecond) // mostly it follows then; it may also find the office free at once
	o.Close()
	if r := <-ended; r.Code != 2 || !strings.Contains(r.Out, "company resume "+string(id)) {
		t.Errorf("without a company: %+v", r)
	}
	for args, want := range map[string]string{"t9": "E_NOT_FOUND", "t1-01": "E_USAGE", "x": "E_USAGE",
		string(id) + " --timeout 0s": "E_USAGE", "": "E_USAGE"} {
		r := o.Run(t.Context(), execute, append([]string{"wait"}, strings.Fields(args)...)...)
		if !strings.Contains(r.Err, want) || r.Out != "" || r.Code == 0 {
			t.Errorf("%q: %+v", args, r)
		}
	}
}
