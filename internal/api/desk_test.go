package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/lib/healthcheck"
	"company/internal/office/config"
	"company/internal/present/view"
)

// fakeDesk answers for an office of tests. A submission whose base is "missing" has no branch.
type fakeDesk struct{}

func (fakeDesk) PrepareSubmission(_ context.Context, s view.Submission) (company.Submit, error) {
	if s.Base == "missing" {
		return company.Submit{}, company.E(company.ENotFound, "there is no branch missing").Fix("name another")
	}
	return company.Submit{Instruction: s.Instruction, Project: company.Project{ID: "p", Path: "/p"}, DryRun: s.DryRun}, nil
}

func (fakeDesk) Patch(_ context.Context, r view.Range) (view.Patch, error) {
	return view.Patch{Range: r, Stat: "1 file", Files: []company.Change{{Path: "a/a.go", Action: "created"}},
		Text: "diff --git a/a b/a\n", Notes: []string{}}, nil
}

func (fakeDesk) PullPage(context.Context, view.PullRecord) (view.PullText, error) {
	return view.PullText{Text: "#1"}, nil
}

// SyncPulls hears that each pull request was merged.
func (fakeDesk) SyncPulls(
	_ context.Context, pulls []view.PullRecord, do func(company.RecordPRFeedback) (company.TaskID, error),
) ([]view.PullSync, error) {
	var out []view.PullSync
	for _, p := range pulls {
		one := view.PullSync{Number: p.Pull.Number, Task: p.Pull.Lead.ID, State: company.PRMerged}
		if one.FollowUp, one.Err = do(
			company.RecordPRFeedback{Task: p.Pull.Lead.ID, State: company.PRMerged}); one.Err != nil {
			one.Error = one.Err.Error()
		}
		out = append(out, one)
	}
	return out, nil
}

// ClosePull is refused by the forge where why says so.
func (fakeDesk) ClosePull(_ context.Context, _ view.PullRecord, why string) error {
	if why == "refuse" {
		return company.E(company.EForge, "the forge refuses").Fix("close it there")
	}
	return nil
}

func (fakeDesk) Diagnose(_ context.Context, online bool) (view.Diagnosis, error) {
	all := []healthcheck.Finding{{Name: "git", Status: "pass", Result: healthcheck.Result{OK: true, Found: "2.39"}}}
	if online {
		all = append(
			all, healthcheck.Finding{Name: "models", Status: "fail",
				Result: healthcheck.Result{Found: "no answer", Needed: "a server", Fix: "start it"}})
	}
	return view.Diagnose(all), nil
}

func (fakeDesk) Config(_ context.Context, project string) (view.ConfigList, error) {
	return view.ConfigList{Office: "/o", Hash: "h",
		Values: []view.ConfigValue{{Key: "workers.max", Value: "3", Origin: "default" + project}}}, nil
}

// ChangeConfig refuses what a token may not change as the real one does.
func (fakeDesk) ChangeConfig(_ context.Context, c config.Change) (config.ChangeReport, error) {
	if c.Remote && c.Key != "workers.max" {
		return config.ChangeReport{}, company.E(company.EAccess, "a token cannot change "+c.Key).Fix("on the machine")
	}
	if *c.Digest != "d" {
		return config.ChangeReport{}, company.E(company.EConflict, "the file was changed since it was read").
			Fix("read it again")
	}
	return config.ChangeReport{SchemaVersion: 1, File: "/o/company.yaml", Key: c.Key, Was: "3", Now: c.Value,
		Values: []config.ValueChange{{Key: c.Key, Before: "3", After: c.Value}}, Counts: config.CountsFromNextStart,
		Holder: 7, NeedsTrust: []string{}}, nil
}

// submitOver posts a submission under a key, and holds it to the description.
func submitOver(t *testing.T, c contract, client *Client, key string, s any, wrong bool) (int, CommandResult, Problem) {
	t.Helper()
	text := must(json.Marshal(s))
	r, err := http.NewRequestWithContext(
		t.Context(), http.MethodPost, "http://office/api/v1/submissions", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	resp, answer := c.check(t, client.way.http, r, wrong)
	var done CommandResult
	var p Problem
	if err := json.Unmarshal(answer, &p); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(answer, &done); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, done, p
}

// TestSubmissionOverTheAPI: an instruction becomes one task, however often it is sent under
// its key; what speaks against it is a problem document, and no task (SUB-1, UI-4).
func TestSubmissionOverTheAPI(t *testing.T) {
	o, client := serveBusyOffice(t)
	c := readContract(t)
	tasks := len(o.View().Tasks)
	status, first, _ := submitOver(t, c, client, "k-1", view.Submission{Instruction: "add it", Tags: []string{"a"}}, false)
	if status != http.StatusOK || first.Task == "" || o.View().Tasks[first.Task].Instruction != "add it" {
		t.Fatalf("%d %+v", status, first)
	}
	if status, again, _ := submitOver(
		t, c, client, "k-1", view.Submission{Instruction: "add it"}, false); status != http.StatusOK ||
		again.Task != first.Task || len(again.Events) != 0 {
		t.Errorf("repeated: %d %+v", status, again)
	}
	if status, _, p := submitOver(
		t, c, client, "k-1", view.Submission{Instruction: "add another"}, false); status != http.StatusConflict ||
		p.Code != company.EConflict {
		t.Errorf("another under its key: %d %+v", status, p)
	}
	if status, other, _ := submitOver(
		t, c, client, "", view.Submission{Instruction: "add it", DryRun: true}, false); status != http.StatusOK ||
		other.Task == first.Task || other.Task == "" {
		t.Errorf("without a key: %d %+v", status, other)
	}
	seq := o.View().Seq
	if status, _, p := submitOver(
		t, c, client, "k-2", view.Submission{Instruction: "add it", Base: "missing"}, false); status != http.StatusNotFound ||
		p.Hint == "" {
		t.Errorf("an unknown base: %d %+v", status, p)
	}
	if status, _, p := submitOver(
		t, c, client, "k-3", map[string]any{"instruction": "add it", "colour": "red"},
		true); status != http.StatusBadRequest || !strings.Contains(p.Detail, "colour") {
		t.Errorf("an unknown field: %d %+v", status, p)
	}
	if status, _, p := submitOver(
		t, c, client, "k-4", view.Submission{Instruction: strings.Repeat("a", maxBody)},
		true); status != http.StatusBadRequest || p.Code != company.EInvalid {
		t.Errorf("too large: %d %+v", status, p)
	}
	if got := len(o.View().Tasks); got != tasks+2 || o.View().Seq != seq {
		t.Errorf("%d tasks of %d, seq %d of %d", got, tasks+2, o.View().Seq, seq)
	}
}

func TestContextOfADiff(t *testing.T) {
	for text, want := range map[string]int{"": 0, "1": 1, "20": 20, "100000": 100_000} {
		if got, err := parseContext(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "-1", "100001", "x", "1e3", "99999999999999999999"} {
		if _, err := parseContext(text); company.CodeOf(err) != company.EInvalid {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestServerWithoutADesk: what lies beside the state is E_CONFLICT with what to do.
func TestServerWithoutADesk(t *testing.T) {
	o, _ := serveBusyOffice(t)
	client := dialOffice(t, o, nil)
	for _, path := range []string{"diffs/t1", "prs/t1/page", "doctor", "config"} {
		if _, err := Get[map[string]any](t.Context(), client, path); company.CodeOf(err) != company.EConflict {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{"prs/sync", "prs/1/close"} {
		if status, p := postOver(t, readContract(t), client, path, "", PullClosing{}, nil,
			false); status != http.StatusConflict || p.Code != company.EConflict {
			t.Errorf("%s: %d %+v", path, status, p)
		}
	}
}
