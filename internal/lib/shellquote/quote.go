// Package shellquote quotes arguments for shell commands that are shown to people, and for the commands of gates. It
// starts no shell.
package shellquote

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Quote quotes a path for a shell.
func Quote(path string) string {
	q, err := syntax.Quote(path, syntax.LangPOSIX)
	if err != nil { // it has a character that is not printable
		return QuoteArgument(path)
	}
	return q
}

// QuoteArgument quotes an argument of any bytes for a container's shell. Gates are pinned with it, so its output must
// not change.
func QuoteArgument(a string) string {
	if a != "" && strings.Trim(a, safeChars) == "" {
		return a
	}
	return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
}

// safeChars are the characters without a special meaning in any shell.
const safeChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./,:@%+-"
