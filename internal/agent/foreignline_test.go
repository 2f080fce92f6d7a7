package agent

import "testing"

// T22: text outside of quotations stays in its line, or begins no part of a prompt; what is
// ordinary stays as it is.
func TestForeignLines(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		" two  blanks\tand a tab ": " two  blanks\tand a tab ",
		"Größe ❤\ufe0f #1 `x`":     "Größe ❤\ufe0f #1 `x`",
		"a\n\n## B\n":              "a ## B",
		"a\r\nb\rc\u0085d\ve\ff":   "a b c d e f",
		"a\u2028b\u2029":           `a\u2028b\u2029`,
		"\x1b[0m\U000e0041\xff":    `\x1b[0m\U000e0041\xff`,
	} {
		if got := JoinLines(in); got != want {
			t.Errorf("JoinLines(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"": "",
		"one\n\n- two  \n# a comment\n#!/bin/sh\n": "one\n\n- two  \n# a comment\n#!/bin/sh\n",
		"a\n## B\n\t### c\n##no":                   "a\n\\## B\n\t\\### c\n##no",
		"# Ticket t1: x\n# THE whole of":           "\\# Ticket t1: x\n\\# THE whole of",
		"a\r\n## B":                                "a\r\n\\## B",
		"a\r## B\u2028## C":                        `a\x0d## B\u2028## C`,
	} {
		if got := EscapeHeadings(in); got != want {
			t.Errorf("EscapeHeadings(%q) = %q, want %q", in, got, want)
		}
	}
}
