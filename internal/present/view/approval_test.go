package view

import (
	"errors"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/present/view/viewtest"
)

// One question of a task is answered by the task's id; of several one must be
// named, and the list says which there are.
func TestFindQuestion(t *testing.T) {
	s, _ := viewtest.TaskOf(viewtest.WithQuestion(company.AskPlan, "first"))
	src := Source{State: s}
	if q, err := src.Question("t12"); err != nil || q.ID != "a3" {
		t.Errorf("%v, %v", q, err)
	}
	s.Approvals["a4"] = &company.Approval{ID: "a4", Kind: company.AskBudget, Task: "t12", Question: "second",
		Asked: viewtest.Time}
	_, err := src.Question("t12")
	var e *company.Error
	if !errors.As(err, &e) || e.Code != company.EConflict || !strings.Contains(e.Why, "a3: first") ||
		!strings.Contains(e.Why, "a4: second") || e.Hint != "name one: company approve a3" {
		t.Errorf("%v", err)
	}
	if q, err := src.Question("a4"); err != nil || q.ID != "a4" {
		t.Errorf("%v, %v", q, err)
	}
}
