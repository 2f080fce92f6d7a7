package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/present/view"
)

// everyTask calls check for each task of the golden ledgers, with its events.
func everyTask(t *testing.T, check func(t *testing.T, src view.Source, task *company.Task, events []company.Event)) {
	t.Helper()
	n := 0
	for _, name := range []string{"ledger-1", "ledger-4"} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "company", "testdata", name+".ndjson"))
		if err != nil {
			t.Fatal(err)
		}
		state := company.NewState()
		byTask := map[company.TaskID][]company.Event{}
		for line := range strings.Lines(string(raw)) {
			var event company.Event
			err := json.Unmarshal([]byte(line), &event)
			if err == nil {
				err = company.Apply(state, event)
			}
			if err != nil {
				t.Fatal(err)
			}
			byTask[event.Task] = append(byTask[event.Task], event)
		}
		for id, task := range state.Tasks {
			n++
			check(t, view.Source{State: state, Now: state.Time}, task, byTask[id])
		}
	}
	if n < 10 {
		t.Errorf("only %d tasks", n)
	}
}

// LOG-3. Whatever becomes of a task, its log has each field that readers need.
func TestTaskLogOfEveryTask(t *testing.T) {
	statuses := map[LogStatus]bool{}
	everyTask(t, func(t *testing.T, src view.Source, task *company.Task, events []company.Event) {
		log := NewTaskLog(src, task, events)
		statuses[log.Status] = true
		text, err := log.Encode()
		var read map[string]any
		if err != nil || json.Unmarshal(text, &read) != nil {
			t.Fatalf("%s: %v", task.ID, err)
		}
		for _, field := range []string{"log_id", "task_id", "session_id", "status", "started_at", "ended_at", "artifacts",
			"events", "verification_root", "verified_files", "files_modified_count"} {
			if _, ok := read[field]; !ok {
				t.Errorf("%s has no %s", task.ID, field)
			}
		}
		if company.TaskOfLog(log.LogID) != string(task.ID) {
			t.Errorf("%s has the log %s", task.ID, log.LogID)
		}
		if len(log.Events) != len(events) || !filepath.IsAbs(log.VerificationRoot) {
			t.Errorf("%s: %d events, root %q", task.ID, len(log.Events), log.VerificationRoot)
		}
		ended := log.Status != LogQueued && log.Status != LogRunning
		if failed := log.Status == LogIncomplete || log.Status == LogError; failed != (log.ErrorReason != "") {
			t.Errorf("%s is %s because of %q", task.ID, log.Status, log.ErrorReason)
		}
		if ended != (log.EndedAt != nil) || ended != task.Status.Ended() {
			t.Errorf("%s is %s, and ended at %v", task.ID, log.Status, log.EndedAt)
		}
		if log.Status == LogComplete && log.Modified == 0 {
			t.Errorf("%s is complete without a changed file", task.ID)
		}
		for _, file := range log.VerifiedFiles {
			if !filepath.IsLocal(file.Path) || file.DetectedAt.IsZero() ||
				file.Method != "diff" && file.Method != "executor_claim" {
				t.Errorf("%s: %+v", task.ID, file)
			}
		}
	})
	for _, want := range []LogStatus{LogRunning, LogComplete, LogIncomplete, LogError} {
		if !statuses[want] {
			t.Errorf("no task is %s", want)
		}
	}
}

// ART-7. The report of every task has its status, the reasons, the evidence and the next action.
func TestReportOfEveryTask(t *testing.T) {
	everyTask(t, func(t *testing.T, src view.Source, task *company.Task, events []company.Event) {
		made, err := New(src, task, events)
		if err != nil {
			t.Fatal(err)
		}
		text, err := made.Encode()
		var read map[string]any
		if err != nil || json.Unmarshal(text, &read) != nil {
			t.Fatalf("%s: %v", task.ID, err)
		}
		for _, field := range []string{"kind", "run_id", "template_hash", "bindings", "inputs", "phases", "commands",
			"artifacts", "events", "unresolved", "ended_at", "status", "reasons", "evidence", "next_action", "task"} {
			if _, ok := read[field]; !ok {
				t.Errorf("%s has no %s", task.ID, field)
			}
		}
		if made.NextAction == "" || len(made.Events.Tail) == 0 || len(made.Events.Tail) > tailEvents ||
			made.Result != "COMPLETE" && len(made.Reasons) == 0 || len(made.Phases) == 0 || made.Phases[0].Name != "intake" {
			t.Errorf("%s: %+v", task.ID, made)
		}
		markdown := made.RenderMarkdown()
		if !strings.HasPrefix(markdown, "# "+string(task.ID)+": ") || !strings.Contains(markdown, made.Result) ||
			strings.ContainsAny(markdown, "\x1b\r") {
			t.Errorf("%s:\n%s", task.ID, markdown)
		}
		for _, heading := range []string{"Instruction", "Next"} {
			if !strings.Contains(markdown, "\n## "+heading+"\n") {
				t.Errorf("%s has no %s:\n%s", task.ID, heading, markdown)
			}
		}
	})
}

// T18. Text of an agent stays in its table cell, whatever it contains.
func TestCellsAreSafe(t *testing.T) {
	got := escapeCell("a|b\n<img src=x> `c`\x1b[2J")
	if strings.ContainsAny(got, "\n\x1b<`") || strings.Contains(got, " | ") ||
		strings.Count(got, `\|`) != 1 {
		t.Errorf("%q", got)
	}
}
