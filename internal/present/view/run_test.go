package view

import (
	"strings"
	"testing"

	"company/internal/company"
)

// A run shows what it was begun with, where that is known.
func TestRunShowsItsBriefing(t *testing.T) {
	r := &company.Run{ID: "t1-01.1", Role: company.Worker, Briefing: &company.Briefing{
		Prompt: company.Hash(strings.Repeat("ab", 32)), Persona: company.Hash(strings.Repeat("cd", 32)),
		Model: company.BriefModel{Profile: "strong", Adapter: "openai", Model: "m-1"},
	}}
	src := Source{State: company.NewState()}
	text := src.Run(&company.Task{ID: "t1"}, r).Render(Style{})
	for _, want := range []string{"  model:  m-1 (openai, profile strong)\n",
		"  prompt: abababababab, persona cdcdcdcdcdcd\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	r.Briefing = nil
	if text := src.Run(&company.Task{ID: "t1"}, r).Render(Style{}); strings.Contains(text, "prompt:") {
		t.Errorf("a run of an older version:\n%s", text)
	}
}
