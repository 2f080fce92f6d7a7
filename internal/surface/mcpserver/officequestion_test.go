package mcpserver

import (
	"strings"
	"testing"

	"company/internal/company"
)

// A question of the office, which is about no task, is listed, shown and answered.
func TestOfficeQuestion(t *testing.T) {
	h := newHost(t, "make the door open")
	h.office.AskOffice("a7", company.AskDayBudget, "Raise the cap of today?")
	s := connect(t, h, Grants{Write: true, Approve: true})
	for _, c := range []struct {
		tool string
		args m
		want string
	}{
		{"status", m{}, "Raise the cap of today?"}, {"show", m{"id": "a7"}, "day_budget of the office"},
		{"reject", m{"question": "a7"}, "a7 is answered: reject"}, {"show", m{"id": "a7"}, "answered "},
	} {
		if text, code := call(t, s, c.tool, c.args); code != "" || !strings.Contains(text, c.want) {
			t.Errorf("%s: %s\n%s", c.tool, code, text)
		}
	}
	if len(h.onward) > 0 {
		t.Errorf("a company was started for %v", h.onward)
	}
}
