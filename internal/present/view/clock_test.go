package view

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/present/feed"
	"company/internal/present/view/viewtest"
)

// Ages are never negative, whatever the clock did: not in the views of a moment
// that lies before the events, and not for a run that by its ledger ended before
// it began.
func TestNoAgeIsNegative(t *testing.T) {
	s, task := viewtest.TaskOf(viewtest.WithQuestion(company.AskMerge, "?"))
	s.Office = company.Office{ID: "k3fq", Epoch: 1, Workers: 2}
	s.Open = []company.TaskID{task.ID}
	task.Runs = map[company.RunID]*company.Run{
		"t12-01.1": {ID: "t12-01.1", Role: company.Worker, Subtask: "t12-01", Ended: true, Status: company.RunSuccess,
			Claimed: viewtest.Time, EndedAt: viewtest.Time.Add(-86375 * time.Second)},
		"t12-02.1": {ID: "t12-02.1", Role: company.Worker, Subtask: "t12-02", Held: true, Worker: "w1",
			Claimed: viewtest.Time},
		"t12-02.2": {ID: "t12-02.2", Role: company.Worker, Subtask: "t12-02", Ended: true, Status: company.RunError,
			EndedAt: viewtest.Time},
	}
	before := viewtest.Time.Add(-24 * time.Hour)
	whole := Source{State: s, Now: before}.TaskDetail(task)
	run := Source{State: s, Now: before}.Run(task, task.Runs["t12-01.1"])
	end := feed.Describe(
		company.Event{Seq: 9, Time: before, Kind: "run.ended", Task: task.ID, Run: "t12-01.1",
			Data: json.RawMessage(`{"status":"success"}`)}, task)
	team := Source{State: s, Now: before, AtWork: true}.Agents()
	negative := regexp.MustCompile(`:-\d+`)
	for name, v := range map[string]any{
		"status": overviewOf(Source{State: s, Now: before, AtWork: true}, true), "show": whole, "show of a run": run,
		"agents": team, "feed": end, "summary": Source{State: s}.Summary(task),
	} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if bad := negative.FindString(string(text)); bad != "" {
			t.Errorf("%s has %q: %s", name, bad, text)
		}
		if strings.Contains(string(text), `"duration_ms":9223372036854`) {
			t.Errorf("%s has a run that nobody claimed and that lasted for ever: %s", name, text)
		}
	}
	for name, text := range map[string]string{
		"status": overviewOf(Source{State: s, Now: before, AtWork: true}, true).RenderText(), "show": whole.Render(Style{}),
		"show of a run": run.Render(Style{}), "agents": team.Render(Style{}), "feed": end.Render(Style{}),
		"an age": FormatAge(-86375 * time.Second),
	} {
		if bad := regexp.MustCompile(`\s-\d\S*|^-`).FindString(text); bad != "" {
			t.Errorf("%s shows %q:\n%s", name, bad, text)
		}
	}
}
