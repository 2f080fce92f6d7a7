package view

import (
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/present/feed"
	"company/internal/present/view/viewtest"
)

// A question of the office is shown wherever questions are, beside those of tasks.
func TestOfficeQuestionIsShown(t *testing.T) {
	s, task := viewtest.TaskOf(viewtest.WithQuestion(company.AskPlan, "Work on it?"))
	s.Seq = 0
	e := decidertest.OfficeQuestion(t, "a4", company.AskDayBudget, "Raise the cap of today?")
	e.Seq, e.Time = 1, viewtest.Time
	if err := company.Apply(s, e); err != nil {
		t.Fatal(err)
	}
	for _, src := range []Source{{State: s}, {State: s, AtWork: true}} {
		o, err := src.Overview(true)
		if err != nil || len(o.NeedsYou) != 2 || o.NeedsYou[1].ID != "a4" || o.NeedsYou[1].Task != "" {
			t.Fatalf("%+v, %v", o.NeedsYou, err)
		}
		text := o.Render(Style{Width: 100})
		if !strings.Contains(text, "a4") || !strings.Contains(text, "Raise the cap of today?") {
			t.Errorf("status:\n%s", text)
		}
		shown, err := src.Show("a4")
		if text := shown.Render(Style{Width: 100}); err != nil ||
			!strings.HasPrefix(text, "a4  day_budget of the office\n") || !strings.Contains(text, "company approve a4") {
			t.Errorf("show: %v\n%s", err, text)
		}
		q, err := src.Question("a4")
		if text := q.RenderPrompt(Style{Width: 100}); err != nil || q.Next == "" ||
			!strings.Contains(text, "the office: Raise the cap of today?") {
			t.Errorf("question: %v\n%s", err, text)
		}
		if q, err := src.Question(string(task.ID)); err != nil || q.ID != "a3" {
			t.Errorf("the question of the task is %s, %v", q.ID, err)
		}
		if ids := src.IDs(); !slices.Equal(ids.Questions, []string{"a3", "a4"}) {
			t.Errorf("ids: %v", ids.Questions)
		}
		work, err := src.Work()
		if err != nil || len(work.Tasks) != 1 || len(work.Tasks[0].Questions) != 1 {
			t.Errorf("work: %+v, %v", work, err)
		}
		if detail := src.TaskDetail(task); len(detail.NeedsYou) != 1 {
			t.Errorf("the task: %+v", detail.NeedsYou)
		}
		if _, err := src.Range("a4"); company.CodeOf(err) != company.EUsage {
			t.Errorf("range: %v", err)
		}
		if src.Summary(task).Next == "" {
			t.Error("the task has no next step")
		}
	}
	if it := feed.Describe(e, nil); it.Task != "" || it.Mark != feed.Needs || it.Text != "a4: Raise the cap of today?" {
		t.Errorf("feed: %+v", it)
	}
	if text := AnsweredText(Approval{ID: "a4", Kind: company.AskDayBudget, Option: company.OptApprove},
		Progress{}); text != "a4: yes." {
		t.Errorf("answered: %s", text)
	}
}
