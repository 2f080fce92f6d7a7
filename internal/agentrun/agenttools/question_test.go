package agenttools

import (
	"slices"
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
	tools := []agent.Tool{AskPresident()}
	if res := call(t, tools, AskPresidentName, `{"question":"Maybe YAML?"}`); !res.IsError || res.Final != nil ||
		!strings.Contains(res.Text, "guesses") {
		t.Errorf("a guess reaches the president: %+v", res)
	}
	if res := call(t, tools, AskPresidentName, `{"question":"which one?"}`); res.Final != (Question{"which one?"}) {
		t.Errorf("%+v", res)
	}
}

// A worker that may ask the president asks before its first change: not with a changed file, nor after a commit
// (SUB-14). If there is a new file, which a test run may have left, it is told to remove that first.
func TestWorkerAsksBeforeAChange(t *testing.T) {
	const question = `{"question":"Per user or per address?"}`
	b := newBench(t)
	isQuestion := func(tool agent.Tool) bool { return tool.Spec.Name == AskPresidentName }
	if slices.ContainsFunc(WorkerTools(b.config), isQuestion) {
		t.Error("every worker may ask the president")
	}
	b.config.MayAsk = true
	w := WorkerTools(b.config)
	requireText(t, call(t, w, "list_files", `{}`), false)
	requireText(t, call(t, w, "run_command", `{"command":"ls"}`), false)
	requireText(t, call(t, w, AskPresidentName, `{"question":"Per user, I guess?"}`), true, "guesses")
	res := call(t, w, AskPresidentName, question)
	if res.Final != (Question{"Per user or per address?"}) || res.IsError {
		t.Errorf("%+v", res)
	}
	requireText(t, call(t, w, "write_file", `{"path":"sum.go","content":"package sum\n"}`), false)
	requireText(t, call(t, w, AskPresidentName, question), true, "new files", "sum.go", "ask again")
	requireText(t, call(t, w, "run_command", `{"command":"mv -f sum.go a.txt"}`), false)
	requireText(t, call(t, w, AskPresidentName, question), true, "too late to ask")
	requireText(t, call(t, w, "git_commit", `{"message":"add a sum"}`), false)
	if res := call(t, w, AskPresidentName, question); res.Final != nil || !res.IsError {
		t.Errorf("asked after a commit: %+v", res)
	}
}
