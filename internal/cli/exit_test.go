package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/view"
	"company/internal/view/viewtest"
)

// ERR-6: the exit code of every way to end. An error is 1, wrong usage 64, an
// office whose holder does not answer 3, an interrupt 130.
func TestExitCodeOfAnError(t *testing.T) {
	live := context.Background()
	gone, cancel := context.WithCancelCause(live)
	cancel(errInterrupted)
	for name, x := range map[string]struct {
		ctx  context.Context
		err  error
		want int
	}{
		"none":                           {live, nil, 0},
		"none, after an interrupt":       {gone, nil, 0},
		"usage":                          {live, company.E(company.EUsage, "x"), 64},
		"usage, wrapped":                 {live, fmt.Errorf("a: %w", company.E(company.EUsage, "x")), 64},
		"held":                           {live, company.E(company.EHeld, "x"), 3},
		"config":                         {live, company.E(company.EConfig, "x"), 1},
		"stopped":                        {live, company.E(company.EStopped, "x"), 1},
		"not found":                      {live, company.E(company.ENotFound, "x"), 1},
		"of somebody else":               {live, errors.New("x"), 1},
		"interrupted":                    {gone, context.Canceled, 130},
		"a code":                         {live, &exitCode{code: 2}, 2},
		"a code beside an error":         {live, &exitCode{code: 2, err: company.E(company.EConfig, "x")}, 2},
		"a code, though interrupted":     {gone, &exitCode{code: 130}, 130},
		"an error that ended in time":    {live, context.DeadlineExceeded, 1},
		"usage that somebody gave up on": {gone, company.E(company.EUsage, "x"), 130},
	} {
		for range 2 { // deterministic
			var errs bytes.Buffer
			a := &app{err: &errs, output: "text"}
			if got := a.reportError(x.ctx, x.err); got != x.want {
				t.Errorf("%s: exit %d, want %d", name, got, x.want)
			}
		}
	}
}

// ERR-6: of several tasks any ERROR is 1, else any INCOMPLETE 2, else 0; no
// task at all is 0. The order of the tasks does not matter.
func TestExitCodeOfTasks(t *testing.T) {
	status := map[byte]company.TaskStatus{'c': company.StatusCompleted, 'f': company.StatusFailed, 'x': company.StatusCancelled, 'w': company.StatusExecuting}
	for ends, want := range map[string]int{
		"": 0, "c": 0, "cc": 0, "f": 1, "x": 2, "w": 2, "cx": 2, "xc": 2, "wc": 2, "cf": 1, "fc": 1, "fx": 1, "xf": 1, "wfc": 1, "cwf": 1, "xw": 2,
	} {
		s := company.NewState()
		var sums []view.Summary
		for i := range ends {
			task := &company.Task{ID: company.NewTaskID(i + 1), Status: status[ends[i]], Submitted: viewtest.Time, Updated: viewtest.Time.Add(time.Minute), PR: &company.PullRequest{Number: 1}, Prepared: &company.TaskPrepared{}}
			s.Tasks[task.ID] = task
			sums = append(sums, view.Source{State: s}.Summary(task))
		}
		var out, errs bytes.Buffer
		a := &app{out: &out, err: &errs, output: "text"}
		if got := a.reportError(context.Background(), a.printSummaries(sums)); got != want {
			t.Errorf("tasks that end %q: exit %d, want %d", ends, got, want)
		}
	}
}
