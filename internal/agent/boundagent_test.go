package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"company/internal/company"
)

// A conversation goes on with the driver and the model that its journal names, and with no other.
func TestJournalNamesItsAgent(t *testing.T) {
	first := company.BriefModel{Profile: "strong", Adapter: "openai", Model: "one"}
	for name, c := range map[string]struct {
		driver  string
		profile company.BriefModel
		refused bool
	}{
		"the same":          {loopDriver, first, false},
		"another model":     {loopDriver, company.BriefModel{Profile: "strong", Adapter: "openai", Model: "two"}, true},
		"another profile":   {loopDriver, company.BriefModel{Profile: "weak", Adapter: "openai", Model: "one"}, true},
		"another driver":    {"program", first, true},
		"a driver not said": {"", company.BriefModel{}, false},
	} {
		b := newBench(t, replies(calls(`read {"path":"a"}`), finish))
		b.journal.crashAt = 3
		b.cfg.Loop.Model = first
		if _, err := b.run(t); err == nil {
			t.Fatal("the process did not die")
		}
		b.journal.crashAt = 0
		var prompt promptRecord
		if err := json.Unmarshal(b.journal.records[0], &prompt); err != nil || prompt.Driver != loopDriver ||
			prompt.Profile != first {
			t.Fatalf("%+v, %v", prompt, err)
		}
		prompt.Driver, prompt.Profile = c.driver, c.profile
		b.journal.records[0], _ = json.Marshal(prompt)
		asked := len(b.model.requests)
		_, err := b.run(t)
		if c.refused != (company.CodeOf(err) == company.EConflict) || !c.refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.refused && (len(b.model.requests) != asked || !strings.Contains(err.Error(), "strong (openai one)")) {
			t.Errorf("%s: %d requests more, %v", name, len(b.model.requests)-asked, err)
		}
	}
}
