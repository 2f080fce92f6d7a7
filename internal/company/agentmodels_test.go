package company_test

import (
	"reflect"
	"strings"
	"testing"

	. "company/internal/company"
)

// ADP-6: the first start tells the models of the config; from then on a start or a note records
// what differs and nothing else, with what was before.
func TestChangesOfModelsAreRecorded(t *testing.T) {
	t.Parallel()
	use := func(adapter, model, host string) []ModelUse {
		return []ModelUse{{Adapter: adapter, Model: model, Host: host}}
	}
	local, strong := use("ollama", "llama3", "127.0.0.1:11434"), use("openai", "gpt-5", "api.openai.com")
	first := []AgentModels{{"manager", local}, {"worker", local}}
	second := []AgentModels{{"manager", strong}, {"worker", local}, {"second_reviewer", local}}
	third := []AgentModels{{"manager", strong}, {"worker", use("ollama", "llama3", "10.0.0.7:11434")}}

	s := newStory(t, Settings{})
	start := func(agents []AgentModels) []Event {
		return s.must(Company, StartOffice{Office: s.s.Office.ID, Version: "test", Agents: agents})
	}
	kinds := func(evs []Event) string {
		var out []string
		for _, e := range evs {
			out = append(out, e.Kind)
		}
		return strings.Join(out, " ")
	}
	if evs := start(first); kinds(evs) != "office.started" || !reflect.DeepEqual(s.s.Office.Agents, first) {
		t.Errorf("the first start: %s, %+v", kinds(evs), s.s.Office.Agents)
	}
	for _, agents := range [][]AgentModels{first, nil} { // the same, and an older version that names none
		if evs := start(agents); kinds(evs) != "office.started" || strings.Contains(string(evs[0].Data), "ollama") ||
			!reflect.DeepEqual(s.s.Office.Agents, first) {
			t.Errorf("nothing differs: %+v", evs)
		}
	}
	evs := start(second)
	if kinds(evs) != "office.started office.agents_changed" || !reflect.DeepEqual(s.s.Office.Agents, second) {
		t.Fatalf("another config at a start: %s, %+v", kinds(evs), s.s.Office.Agents)
	}
	want := []AgentChange{{Agent: "manager", Was: local, Now: strong}, {Agent: "second_reviewer", Now: local}}
	if got := EventsOf[AgentsChanged](evs); len(got) != 1 || !reflect.DeepEqual(got[0].Changes, want) {
		t.Errorf("recorded: %+v", got)
	}
	evs = s.must(Company, NoteAgents{Agents: third})
	if got := EventsOf[AgentsChanged](evs); len(got) != 1 || len(got[0].Changes) != 2 || got[0].Changes[1].Now != nil ||
		!reflect.DeepEqual(s.s.Office.Agents, third) {
		t.Errorf("another address, and an agent less: %+v, %+v", got, s.s.Office.Agents)
	}
	if evs := s.must(Company, NoteAgents{Agents: third}); len(evs) != 0 {
		t.Errorf("said twice: %+v", evs)
	}
	s.mustRefuse(EInvalid, NoteAgents{Agents: []AgentModels{{"", local}}})
}
