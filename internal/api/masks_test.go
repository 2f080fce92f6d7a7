package api

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/lib/secretscan"
	"company/internal/present/feed"
)

// LOG-5, LOG-6: a password in an instruction is masked in resources and in the feed.
func TestAnswersAreMasked(t *testing.T) {
	d, c, request := serveFakeOffice(t)
	const password = "hunter2"
	submit := company.Submit{Instruction: "set DB_PASSWORD=" + password, Project: company.Project{ID: "p", Path: "/p"}}
	if _, err := d.DoID(t.Context(), "c1", company.President, submit); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"tasks/t1", "tasks", "overview"} {
		status, body := request("GET", "/api/v1/"+path, "")
		if status != 200 || strings.Contains(body, password) || !strings.Contains(body, "DB_PASSWORD=[MASKED:ENV_CREDENTIAL]") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	enough := errors.New("enough")
	err := c.Follow(t.Context(), feed.Range{From: 1}, func(item feed.Item) error {
		text, err := item.JSON()
		if err != nil || bytes.Contains(text, []byte(password)) {
			t.Errorf("%s, %v", text, err)
		}
		if bytes.Contains(text, []byte("DB_PASSWORD=[MASKED:ENV_CREDENTIAL]")) {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Error(err)
	}
}

// LOG-5: a transcript has calls of tools only where full is asked for.
func TestTranscriptIsASummary(t *testing.T) {
	_, _, request := serveFakeOffice(t)
	for query, full := range map[string]bool{"": false, "?visibility=summary": false, "?visibility=loud": false,
		"?visibility=full": true} {
		status, body := request("GET", "/api/v1/runs/t1-plan.1/transcript"+query, "")
		if status != 200 || strings.Contains(body, "content of a file") != full || !strings.Contains(body, `"message"`) {
			t.Errorf("%s: %d, %d bytes", query, status, len(body))
		}
	}
}

// A plan that was edited as it was shown gets back the values that were masked, and a mask that the president left in a
// changed text is not saved.
func TestEditedPlanKeepsItsValues(t *testing.T) {
	const shown = "set DB_PASSWORD=[MASKED:ENV_CREDENTIAL]"
	s := New(newFakeOffice(t), ServerInfo{}, slog.New(slog.DiscardHandler), nil)
	task := &company.Task{Subtasks: []*company.Subtask{{Planned: company.PlannedSubtask{
		Title: "A", Description: "set DB_PASSWORD=hunter2"}}}}
	plan := func(title, description string) company.Plan {
		return company.Plan{Waves: []company.Wave{{Subtasks: []company.PlannedSubtask{{Title: title, Description: description}}}}}
	}
	got, err := s.restorePlan(plan("B", shown), task)
	if err != nil || got.Waves[0].Subtasks[0].Description != "set DB_PASSWORD=hunter2" || got.Waves[0].Subtasks[0].Title != "B" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := s.restorePlan(plan("A", shown+" twice"), task); company.CodeOf(err) != company.EInvalid {
		t.Error(err)
	}
	task.Subtasks = append(task.Subtasks, &company.Subtask{Planned: company.PlannedSubtask{
		Title: "B", Description: "set DB_PASSWORD=hunter3"}})
	if got, err := s.restorePlan(plan("A", shown), task); company.CodeOf(err) != company.EInvalid {
		t.Errorf("a mask of two values is taken for one: %+v, %v", got, err)
	}
}

// The office's own secrets are masked in each answer, errors and results of commands included.
func TestOwnSecretsAreMasked(t *testing.T) {
	const own = "correct-horse-7"
	s := New(newFakeOffice(t), ServerInfo{}, slog.New(slog.DiscardHandler),
		secretscan.New([]secretscan.Own{{Name: "THE_KEY", Value: own}}, ""))
	for _, path := range []string{"tasks/" + own, "prs/" + own} {
		answer := httptest.NewRecorder()
		s.newHandler(nil).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/api/v1/"+path, nil))
		if body := answer.Body.String(); strings.Contains(body, own) || !strings.Contains(body, "[MASKED:GENERIC_SECRET]") {
			t.Errorf("%s: %s", path, body)
		}
	}
}
