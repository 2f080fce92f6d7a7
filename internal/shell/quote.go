// Package shell quotes arguments: for the shell commands that people get as advice,
// and for those of gates. It starts no shell.
package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Quote is a path as a shell reads it.
func Quote(path string) string {
	q, err := syntax.Quote(path, syntax.LangPOSIX)
	if err != nil { // it has a character that does not print
		return QuoteArgument(path)
	}
	return q
}

// QuoteArgument is an argument of any bytes as a shell of a container reads it. Gates
// are pinned with it: its form does not change.
func QuoteArgument(a string) string {
	if a != "" && strings.Trim(a, safeChars) == "" {
		return a
	}
	return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
}

// safeChars are the characters that no shell gives a meaning in an argument.
const safeChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./,:@%+-"
