package task

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"company/internal/company"
	"company/internal/present/view"
	"company/internal/present/view/viewtest"
	"company/internal/surface/cli/command"
	"company/internal/surface/foreground"
	"company/internal/surface/terminalio"
	"company/internal/surface/terminalio/terminaltest"
)

// ERR-6: of several tasks any ERROR is 1, else any INCOMPLETE 2, else 0; no
// task at all is 0. The order of the tasks does not matter.
func TestExitCodeOfTasks(t *testing.T) {
	status := map[byte]company.TaskStatus{'c': company.StatusCompleted, 'f': company.StatusFailed,
		'x': company.StatusCancelled, 'w': company.StatusExecuting}
	for ends, want := range map[string]int{
		"": 0, "c": 0, "cc": 0, "f": 1, "x": 2, "w": 2, "cx": 2, "xc": 2, "wc": 2, "cf": 1, "fc": 1, "fx": 1, "xf": 1,
		"wfc": 1, "cwf": 1, "xw": 2,
	} {
		s := company.NewState()
		var sums []view.Summary
		for i := range ends {
			task := &company.Task{ID: company.NewTaskID(i + 1), Status: status[ends[i]], Submitted: viewtest.Time,
				Updated: viewtest.Time.Add(time.Minute), PR: &company.PullRequest{Number: 1}, Prepared: &company.TaskPrepared{}}
			s.Tasks[task.ID] = task
			sums = append(sums, view.Source{State: s}.Summary(task))
		}
		var out, errs bytes.Buffer
		env := command.NewEnvironment(terminalio.Console{Out: &out, Err: &errs, Output: "text"})
		if got := env.ReportError(t.Context(), printSummaries(env, sums)); got != want {
			t.Errorf("tasks that end %q: exit %d, want %d", ends, got, want)
		}
	}
}

// ERR-6: an interrupt before the tasks have ended is 130, and prints no summary.
func TestExitCodeOfAnInterrupt(t *testing.T) {
	var out, errs bytes.Buffer
	env := command.NewEnvironment(terminalio.Console{Out: &out, Err: &errs, Output: "text"})
	if got := env.ReportError(t.Context(),
		printEnd(env, foreground.End{Interrupted: true})); got != command.ExitInterrupt || out.Len()+errs.Len() > 0 {
		t.Errorf("exit %d\n%s%s", got, out.String(), errs.String())
	}
}

// X35, CLI-7: on a terminal a summary has a person's shape with the same facts, and --summary
// gives each command that ends with summaries the block that scripts get.
func TestSummaryOnATerminal(t *testing.T) {
	s := company.NewState()
	task := &company.Task{ID: "t1", Instruction: "add a limit", Status: company.StatusFailed, Reason: "the base is red",
		Submitted: viewtest.Time, Updated: viewtest.Time.Add(time.Minute), Prepared: &company.TaskPrepared{}}
	s.Tasks[task.ID] = task
	sums := []view.Summary{view.Source{State: s}.Summary(task)}
	for _, newCommand := range []func(*command.Environment) *cobra.Command{NewSubmit, NewResume, NewRetry, NewWait} {
		for _, block := range []bool{false, true} {
			person, tty := terminaltest.OpenPTY(t)
			env := command.NewEnvironment(terminalio.Console{Out: tty, Err: tty, Output: "text", NoColor: true})
			c := newCommand(env)
			if block {
				if err := c.Flags().Parse([]string{"--summary"}); err != nil {
					t.Errorf("%s: %v", c.Name(), err)
				}
			}
			_ = printSummaries(env, sums) // its code is that of TestExitCodeOfTasks
			fmt.Fprint(tty, "\nend> ")
			shown := terminaltest.ReadToPrompt(t, person, "end> ")
			if got := strings.Contains(shown, "=== TASK SUMMARY ===\n[RESULT] ERROR\n[TASK]   t1 add a limit\n"); got != block {
				t.Errorf("%s, --summary %v:\n%s", c.Name(), block, shown)
			}
			for _, fact := range []string{"t1", "the base is red", "company retry t1"} {
				if !strings.Contains(shown, fact) {
					t.Errorf("%s, --summary %v: no %q in\n%s", c.Name(), block, fact, shown)
				}
			}
		}
	}
}
