package e2e

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestPromptIsWhatIsSent: company prompt prints what the model's server is sent, while a company is at work and when it
// is stopped. It explains why a role has no prompt.
func TestPromptIsWhatIsSent(t *testing.T) {
	t.Parallel()
	runs := []struct {
		role, id string
		held     *stop
	}{
		{"manager", "t1", stopAt("t1-plan.1", 0)}, {"worker", "t1-01", stopAt("t1-01.1", 0)},
		{"reviewer", "t1-01", stopAt("t1-01-review.1", 0)},
	}
	s := &staff{manager: submitPlan(farewellTicket()), worker: saysGoodbye()}
	for _, run := range runs {
		s.stops = append(s.stops, run.held)
		t.Cleanup(run.held.release)
	}
	h := openTinyProject(t, s)
	h.LetManagerPlan()
	check := func(role, id, run string) {
		t.Helper()
		var shown struct {
			Run    string
			System string `json:"system_prompt"`
			First  string `json:"first_message"`
		}
		h.JSON(&shown, "prompt", role, id)
		var sent struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.Unmarshal([]byte(requestText(t, h, run, 1)), &sent); err != nil {
			t.Fatal(err)
		}
		if shown.Run != run || shown.System != sent.Messages[0].Content || shown.First != sent.Messages[1].Content {
			t.Errorf("%s is shown\n%s\n%s\nand was sent\n%+v", shown.Run, shown.System, shown.First, sent)
		}
	}
	p := h.Start("submit", "say goodbye")
	for _, run := range runs {
		run.held.wait(t, p)
		check(run.role, run.id, string(run.held.run))
		if run.role == "reviewer" {
			p.Kill()
			check(run.role, run.id, string(run.held.run))
		}
		run.held.release()
	}
	waitForSummary(t, h.Start("resume"), 0)
	for _, c := range [][3]string{
		{"reviewer", "t1-01", "why:  t1-01 is completed"},
		{"boss", "t1-01", `unknown role "boss"`}, {"manager", "t9", "there is no task t9"},
	} {
		if r := h.Run(patience, "prompt", c[0], c[1]); r.Code == 0 || !strings.Contains(r.Stderr, c[2]) {
			t.Errorf("%q: %+v", c, r)
		}
	}
}
