package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/test/heldoffice"
)

// Each line of company.log has a time, a level, a message and a module; those of events
// have their number and what they are about; no secret of the office is in it (LOG-1).
func TestCompanyLog(t *testing.T) {
	const token = "the-office-s-own-token-0123456789"
	o := heldoffice.Open(t)
	o.Close()
	o.Setenv("GITHUB_TOKEN", token)
	o.Reopen()
	task := o.Executing("say "+token, 1)
	run := offerRun(o, task, 1)
	fence := o.Claim(run, "")
	o.Must(company.EndRun{Run: run, Fence: fence,
		Outcome: company.RunEnded{Status: company.RunError, Error: "the server said " + token}})
	text, err := os.ReadFile(filepath.Join(o.Paths.Logs, "company.log"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), token) {
		t.Errorf("a secret is in the log:\n%s", text)
	}
	about := map[string]bool{}
	seq := 0.0
	for line := range bytes.Lines(text) {
		var v struct {
			Time   time.Time       `json:"time"`
			Level  string          `json:"level"`
			Msg    string          `json:"msg"`
			Module string          `json:"module"`
			Seq    *float64        `json:"seq"`
			Kind   string          `json:"kind"`
			Task   *company.TaskID `json:"task_id"`
			Run    *company.RunID  `json:"run_id"`
			Phase  string          `json:"phase"`
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if v.Time.IsZero() || !slices.Contains([]string{"error", "warn", "info", "debug"}, v.Level) || v.Msg == "" ||
			v.Module == "" {
			t.Errorf("a field is missing: %s", line)
		}
		if v.Task != nil && !v.Task.Valid() || v.Run != nil && (!v.Run.Valid() || v.Task == nil) {
			t.Errorf("an id is none: %s", line)
		}
		if v.Msg == "event" {
			if (v.Task != nil) != slices.Contains(company.Phases, v.Phase) {
				t.Errorf("an event of a task has its phase, and no other: %s", line)
			}
			if v.Seq == nil || *v.Seq <= seq || v.Kind == "" || v.Module != "engine/orchestrator" {
				t.Errorf("an event without its number: %s", line)
			} else {
				seq = *v.Seq
			}
			about["a task"] = about["a task"] || v.Task != nil && *v.Task == task
			about["a run"] = about["a run"] || v.Run != nil && *v.Run == run
			about["the office"] = about["the office"] || v.Task == nil
		}
	}
	if len(about) != 3 || !about["a task"] || !about["a run"] || !about["the office"] {
		t.Errorf("events are about %v\n%s", about, text)
	}
}

// log.level bounds what is written, and a repository does not say it.
func TestCompanyLogLevel(t *testing.T) {
	o := heldoffice.Open(t)
	o.Close()
	file := filepath.Join(o.Paths.Logs, "company.log")
	before, err := os.ReadFile(file)
	if err != nil || len(before) == 0 {
		t.Fatalf("%s, %v", before, err)
	}
	o.Setenv("COMPANY_LOG_LEVEL", "error")
	o.Reopen()
	o.Executing("work", 1)
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(after, before) {
		t.Errorf("%s, %v", after[len(before):], err)
	}
	if got := renderJSON(t, o.Run(t.Context(), execute, "config", "show", "-o", "json"),
		`{{range .values}}{{if eq .key "log.level"}}{{.value}} {{.origin}}{{end}}{{end}}`); got != `"error" COMPANY_LOG_LEVEL` {
		t.Error(got)
	}
}
