package manager

import (
	"strings"
	"testing"

	"company/internal/agent"
)

// SUB-14: a question is one or two lines, and no guess.
func TestQuestion(t *testing.T) {
	for q, wrong := range map[string]string{
		"Goodbye or farewell?":                      "",
		"Which limit: per user, or per address?\n":  "",
		"Two limits are named.\n\nWhich one holds?": "",
		"Is it probable that the limit holds?":      "",
		" \n":                                       "empty",
		"a\nb\nc?":                                  "3 lines",
		strings.Repeat("long ", 100) + "?":          "501 characters",
		"Probably per user, right?":                 `("Probably")`,
		"I assume that you mean JSON?":              `("I assume")`,
		"Shall I, maybe, use YAML?":                 `("maybe")`,
	} {
		got := checkQuestion(q)
		if (wrong == "") != (got == "") || !strings.Contains(got, wrong) {
			t.Errorf("%q: %q, want %q", q, got, wrong)
		}
	}
	tools := []agent.Tool{askPresident()}
	if res := use(t, tools, "ask_president", args{"question": "Maybe YAML?"}); !res.IsError || res.Final != nil ||
		!strings.Contains(res.Text, "guesses") {
		t.Errorf("a guess reaches the president: %+v", res)
	}
}
