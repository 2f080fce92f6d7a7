package agenttools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/lib/lazyregexp"
	"company/internal/toolbox/toolproto"
)

// AskPresidentName is the name of the tool that asks the president.
const AskPresidentName = "ask_president"

// Question is the Final of the tool ask_president.
type Question struct {
	Question string `json:"question"`
}

// AskPresident returns a manager's tool that asks the president. A manager changes nothing, so it may ask at any time.
func AskPresident() agent.Tool { return (&toolFactory{}).askPresident() }

// askPresident returns the tool that asks the president. Where there is a workspace, it refuses once that has changed.
func (f *toolFactory) askPresident() agent.Tool {
	return newTool(f, AskPresidentName, "Ask one short question, without guesses. The task waits for the answer.",
		`{"type":"object","additionalProperties":false,"required":["question"],"properties":{
"question":{"type":"string","minLength":1,"maxLength":2000}}}`,
		false, func(ctx context.Context, a Question) (agent.Result, error) {
			if wrong := checkQuestion(a.Question); wrong != "" {
				return agent.Result{Text: wrong, IsError: true}, nil
			}
			if f.Toolbox != nil {
				statusResult, err := f.Toolbox.GitStatus(ctx)
				if err != nil {
					return agent.Result{}, err
				}
				if wrong := f.checkUnchanged(statusResult); wrong != "" {
					return agent.Result{Text: wrong, IsError: true}, nil
				}
			}
			return agent.Result{Text: "asked", Final: a}, nil
		})
}

// checkUnchanged returns why a worker may not ask now, or "". A test run may leave new files: the worker may ask once
// they are removed.
func (f *toolFactory) checkUnchanged(status toolproto.GitStatusResult) string {
	isTracked := func(file toolproto.FileState) bool { return file.Status != "??" }
	switch {
	case company.OID(status.Head) != f.Start || status.Truncated || slices.ContainsFunc(status.Files, isTracked):
		return "It is too late to ask: you have changed something. Decide it yourself, and say in decisions of " +
			"finish what you decided."
	case !status.Clean:
		return "There are new files, and a question comes before the first change. Remove them and ask again, or " +
			"decide it yourself:\n" + formatFileStates(status.Files)
	}
	return ""
}

// Limits of a question to the president (SUB-14). A question is short enough to be read at a glance, and is not a guess
// that asks for confirmation.
const (
	maxQuestionLines = 2
	maxQuestion      = 400 // characters
)

// guesses matches phrases of a guess.
var guesses = lazyregexp.New(
	`(?i)\b(probably|presumably|maybe|perhaps|possibly|supposedly|i (guess|assume|suppose|think|believe))\b`)

// checkQuestion returns the fault of an invalid question, or "".
func checkQuestion(q string) string {
	q = strings.TrimSpace(q)
	lines := 0
	for line := range strings.Lines(q) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	switch word := guesses.FindString(q); {
	case q == "":
		return "the question is empty"
	case lines > maxQuestionLines:
		return fmt.Sprintf("the question has %d lines: ask in one or two", lines)
	case utf8.RuneCountInString(q) > maxQuestion:
		return fmt.Sprintf("the question has %d characters: ask in at most %d", utf8.RuneCountInString(q), maxQuestion)
	case word != "":
		return fmt.Sprintf("the question guesses (%q): ask for what you need to know, and name the choices", word)
	}
	return ""
}
