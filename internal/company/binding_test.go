package company_test

import (
	"math"
	"strings"
	"testing"

	. "company/internal/company"
)

func bindingsOf(model string) Bindings {
	a := AgentBinding{Profile: "p"}
	return Bindings{Manager: a, Worker: a, Reviewer: a, Merger: a,
		Models: map[string]ModelBinding{"p": {Adapter: "openai", Model: model, Fallback: []string{"q"}},
			"q": {Adapter: "ollama", Model: "small", Fallback: []string{"p"}}}}
}

// A retry gives a task the agents that it brings. What is bound already leaves no trace.
func TestRetryRebinds(t *testing.T) {
	s := newStory(t, Settings{Agents: bindingsOf("one"), EscalateTo: []string{"q"}}).plan(1)
	for _, c := range []struct {
		rebind *Rebinding
		model  string
	}{
		{nil, "one"}, {&Rebinding{}, "one"},
		{&Rebinding{Agents: bindingsOf("one"), EscalateTo: []string{"q"}}, "one"},
		{&Rebinding{Agents: bindingsOf("two"), EscalateTo: []string{"p"}}, "two"},
	} {
		s.must(President, Cancel{Task: s.id})
		evs := s.must(President, Retry{Task: s.id, Rebind: c.rebind})
		changed := strings.Contains(string(evs[len(evs)-1].Data), `"rebind"`)
		if got := s.task().Settings.Agents.Models["p"].Model; got != c.model || changed != (c.model == "two") {
			t.Errorf("%+v gave %q, recorded: %v", c.rebind, got, changed)
		}
	}
	if got := s.task().Settings.EscalateTo; len(got) != 1 || got[0] != "p" {
		t.Errorf("%v", got)
	}
}

// Bindings that the ledger cannot hold are refused.
func TestBindingsAreBounded(t *testing.T) {
	s := newStory(t, Settings{})
	long, odd := bindingsOf("one"), bindingsOf("one")
	long.Worker.Persona = strings.Repeat("x", 300<<10)
	none := math.NaN()
	odd.Models["p"] = ModelBinding{Temperature: &none}
	for _, b := range []Bindings{long, odd} {
		s.mustRefuse(EInvalid, Submit{Instruction: "x", Project: Project{ID: "p", Path: "/p"}, Settings: Settings{Agents: b}})
	}
	s.must(President, Cancel{Task: s.id})
	for _, b := range []Bindings{long, odd} {
		s.mustRefuse(EInvalid, Retry{Task: s.id, Rebind: &Rebinding{Agents: b}})
	}
}

// Fallbacks that lead back end.
func TestChainOfProfiles(t *testing.T) {
	if got := strings.Join(bindingsOf("one").Chain("p"), " "); got != "p q" {
		t.Error(got)
	}
	if got := bindingsOf("one").NameModels(); !strings.HasPrefix(got, "manager p (openai one), worker p (openai one)") {
		t.Error(got)
	}
}
