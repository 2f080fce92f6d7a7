package view

import (
	"encoding/json"
	"strings"
	"testing"

	"company/internal/present/view/viewtest"
)

// A question with four options has each in its order: in JSON, as a text, at a terminal.
func TestFourOptions(t *testing.T) {
	s, _ := viewtest.TaskOf(viewtest.WithFourOptions())
	q, err := Source{State: s}.Question("t12")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(q.Options)
	if err != nil {
		t.Fatal(err)
	}
	if want := `[{"name":"approve","means":"go on"},{"name":"reject","means":"fail the run"},` +
		`{"name":"request_changes","means":"again with your words","input":"needs_words"},{"name":"abort","means":"end the run","confirm":true}]`; string(text) != want {
		t.Errorf("JSON: %s", text)
	}
	for what, c := range map[string]struct {
		text  string
		lines []string
	}{
		"show": {q.Render(Style{}), []string{
			"yes                go on                   company approve a3",
			"no                 fail the run            company reject a3",
			`3 request changes  again with your words   company answer a3 --option request_changes "…"`,
			"4 abort            end the run             company answer a3 --option abort",
		}},
		"prompt": {q.RenderPrompt(Style{}), []string{
			"  y           go on", "  n           fail the run",
			"  3 words     request changes: again with your words", "  4           abort: end the run",
		}},
	} {
		at := 0
		for _, line := range c.lines {
			i := strings.Index(c.text[at:], line)
			if i < 0 {
				t.Fatalf("%s: %q is missing, or not in its place:\n%s", what, line, c.text)
			}
			at += i
		}
	}
	for typed, want := range map[string]string{"y": "approve", "yes": "approve", "n": "reject", "3": "request_changes",
		"request_changes": "request_changes", "abort": "abort", "5": ""} {
		if o, ok := q.TypedOption(typed); o.Name != want || ok != (want != "") {
			t.Errorf("%s: %+v", typed, o)
		}
	}
	q.Option = "abort"
	if got := AnsweredText(q, Progress{}); got != "a3: abort: end the run." {
		t.Error(got)
	}
}
