package toolserver

import (
	"strings"

	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
)

// definition matches a line that begins a function, a method or a type with a name; assigned, one that gives a function
// a name by an equals sign. A method without a keyword of its own has parentheses and an open brace, and no statement's
// keyword. It is not a call with a function as its argument (callback), unless the call has a text for a name (titled).
var (
	definition = lazyregexp.New(
		`^\s*(?:[a-z]+(?:\([^)]*\))? )*(?:impl\b|(?:func(?: \([^)]*\))?|function\*?|def|fn|class|` +
			`struct|enum|trait|interface|module|type) +[\w$&~])`)
	assigned = lazyregexp.New(
		`^\s*[\w$. ]+(?::[^=]*)?= *(?:async +)?(?:func(?:tion)?\b|(?:async)?(?:\(.*|[\w$]+ *)=>)`)
	callback  = lazyregexp.New(`\bfunc\(|\bfunction\b|[-=]>\s*\{?\s*$`)
	titled    = lazyregexp.New("^\\s*[\\w$.]+\\(\\s*[\"'`]")
	method    = lazyregexp.New(`^[^=;]*\w\s*\([^;]*\)[^;]*\{?\s*$`)
	statement = lazyregexp.New(`^\s*\}?\s*(?:if|else|elif|for|foreach|while|switch|select|case|match|catch|try|with|do|return)\b`)
)

// nameEnclosing returns the line that begins the innermost function or type around a line of a file, which is counted
// from 1. It goes by indentation. It returns "" if there is none, or if the line begins one itself.
func nameEnclosing(lines []string, number int) string {
	isBegin := func(line string) bool {
		return definition.MatchString(line) || assigned.MatchString(line) || method.MatchString(line) &&
			!statement.MatchString(line) && (!callback.MatchString(line) || titled.MatchString(line))
	}
	indentOf := func(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
	own := strings.TrimRight(lines[number-1], " \t\r\n")
	if isBegin(own) && (strings.HasSuffix(own, "{") || definition.MatchString(own)) { // and no call of one
		return ""
	}
	indent := indentOf(own)
	for i := number - 2; i >= 0 && indent > 0; i-- {
		line := strings.TrimRight(lines[i], "\r\n")
		bare := strings.TrimSpace(line)
		if bare == "" || indentOf(line) >= indent {
			continue
		}
		if indent = indentOf(line); bare == "{" {
			indent++ // its head is above it, at the same indentation
		} else if isBegin(line) {
			return safetext.EscapeLine(strings.TrimSuffix(strings.TrimRight(bare, " {"), " =>"), 120)
		}
	}
	return ""
}

// describePlace returns a note with the function that an edit met, if the same line also stands elsewhere in the file,
// so that the agent notices an edit of the wrong place.
func describePlace(content string, number int) string {
	lines := strings.SplitAfter(content, "\n")
	met := collapseSpace(lines[number-1])
	if len(met) < 4 { // a brace
		return ""
	}
	like := 0
	for _, line := range lines {
		if collapseSpace(line) == met {
			like++
		}
	}
	name := nameEnclosing(lines, number)
	if like < 2 || name == "" {
		return ""
	}
	return "other lines of the file are like it; this one is in " + name
}
