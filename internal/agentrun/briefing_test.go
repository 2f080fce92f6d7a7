package agentrun_test

import (
	"encoding/json"
	"errors"
	"testing"

	"company/internal/agent"
	"company/internal/agentrun/runfiles"
	"company/internal/company"
	"company/internal/company/decidertest"
)

// A run is briefed with its first grant: the ledger has the hashes of its prompt and its
// persona, and its model. The next holder goes on with the same prompt; result.json has what the
// ledger has.
func TestRunsAreBriefed(t *testing.T) {
	b := setup(t, company.Settings{Agents: bindings("Be terse.")})
	died := errors.New("killed here")
	b.refuse = func(c company.Command) error {
		switch c.(type) {
		case company.EndRun, company.Release:
			return died
		}
		return nil
	}
	if err := b.carry(t.Context(), t, nil); !errors.Is(err, died) {
		t.Fatal(err)
	}
	first := b.Task(b.task).Runs[b.run].Briefing
	if first == nil || len(first.Prompt) != 64 || first.Rules != agent.TextHash("you plan") ||
		first.Persona != agent.TextHash("Be terse.") ||
		first.Model != (company.BriefModel{Profile: "p", Adapter: "scripted", Model: "m"}) {
		t.Fatalf("%+v", first)
	}
	b.refuse = nil
	b.Must(company.StartOffice{Office: decidertest.Office}) // the next process
	if err := b.carry(t.Context(), t, nil); err != nil {
		t.Fatal(err)
	}
	r := b.end(t)
	if r.Briefing.Prompt != first.Prompt || r.Briefing.Rules != first.Rules {
		t.Errorf("%+v, then %+v", first, r.Briefing)
	}
	text, err := b.ledger.GetBlob(t.Context(), r.Result, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var res runfiles.ExecutionResult
	if err := json.Unmarshal(text, &res); err != nil || res.Briefing == nil || res.Briefing.Prompt != first.Prompt {
		t.Errorf("%s, %v", text, err)
	}
}
