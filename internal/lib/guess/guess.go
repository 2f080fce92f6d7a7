// Package guess finds phrases of an agent's text that state what nobody checked.
package guess

import "company/internal/lib/lazyregexp"

// claimGuesses matches phrases of a claim of finished work that nobody checked.
var claimGuesses = lazyregexp.New(`(?i)\b(probably|presumably|hopefully|supposedly` +
	`|i (guess|assume|suppose|think|believe)` +
	`|(it|this|all|everything|tests|build|change|fix|code) should (now )?` + claimedState +
	`|(seems?|appears?) to (now )?` + claimedState + `)\b`)

const claimedState = `(work|pass|compile|be (fixed|fine|ok|okay|resolved))`

// quoted matches code and quotations, in which any word may stand.
var quoted = lazyregexp.New("(?s)```.*?```" + "|`[^`\n]*`" + `|"[^"\n]*"|\B'[^'\n]*'\B`)

// FindPhrase returns a phrase of a claim that guesses, or "" (WRK-13). Code and quotations do not count.
func FindPhrase(claim string) string {
	return claimGuesses.FindString(quoted.ReplaceAllString(claim, " "))
}
