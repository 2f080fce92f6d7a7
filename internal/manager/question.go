package manager

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"company/internal/lib/lazyregexp"
)

// Limits of a question to the president (SUB-14). It must be short enough to be read at a glance, and must not
// be a guess that asks for confirmation.
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
