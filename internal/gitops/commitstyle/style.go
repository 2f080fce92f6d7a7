// Package commitstyle detects the style of a repository's commit subjects and writes subjects in that style.
//
// The same subjects, title and paths always give the same subject. The package knows neither git nor tasks: the
// caller passes the log.
package commitstyle

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"company/internal/lib/lazyregexp"
)

// form is the kind of prefix before a subject's text.
type form int

const (
	plain        form = iota
	conventional      // fix(parser): text
	byArea            // parser: text
)

// letterCase is the case of a subject's first letter.
type letterCase int

const (
	anyCase letterCase = iota
	lowerCase
	upperCase
)

// Length limits of a subject, in characters.
const (
	usualLength = 72
	shortLength = 50  // of logs whose subjects are all this short
	mostLength  = 100 // limit even if a log has longer ones
)

// enough is the minimum number of subjects that show a style. Fewer may be one day's habit.
const enough = 3

// Style describes how the subjects of a log are written. The zero Style means that the log shows no style.
type Style struct {
	form    form
	first   letterCase
	stop    bool // subjects end with a full stop
	length  int  // maximum number of characters; 0 means the usual
	scoped  bool // most conventional subjects name a scope
	types   map[string]int
	areas   map[string]int // areas and scopes
	slashes bool           // most areas are paths
}

// IsKnown reports whether the log had enough subjects to show a style.
func (s Style) IsKnown() bool { return s.length > 0 }

var (
	conventionalRE = lazyregexp.New(`^([A-Za-z]+)(?:\(([^()]{1,60})\))?!?: *(\S.*)$`)
	areaRE         = lazyregexp.New(`^([\w.*+@{}/-]{1,50}(?:, ?[\w.*+@{}/-]{1,50}){0,3}): +(\S.*)$`)
	// The pull request number that a forge appends at a merge.
	numberRE = lazyregexp.New(`\s+\((?:#|!|gh-)[0-9]+\)$`)
	// Subjects that programs write, and commits that a person will squash later.
	otherRE = lazyregexp.New(
		`(?i)^(?:merge (?:branch|pull request|remote|tag|commit|bugfix)|revert "|(?:fixup|squash|amend)!|(?:\w+(?:\([^)]*\))?: *)?bump \S+ from )`)
)

// conventionalTypes maps the types of conventional commits to their other spellings.
var conventionalTypes = map[string][]string{
	"fix": {"bugfix", "hotfix"}, "feat": {"feature"}, "docs": {"doc"}, "test": {"tests"}, "refactor": {"refac"},
	"chore": {"deps", "misc"}, "perf": {"performance"}, "build": nil, "ci": nil, "style": nil, "revert": nil,
}

// isType reports whether a name is a type of conventional commits, in any spelling.
func isType(name string) bool {
	name = strings.ToLower(name)
	if _, ok := conventionalTypes[name]; ok {
		return true
	}
	for _, others := range conventionalTypes {
		if slices.Contains(others, name) {
			return true
		}
	}
	return false
}

// subject is a parsed subject.
type subject struct {
	kind, scope string // of a conventional one
	area        string // of one by area
	text        string
}

// joinLines returns a text on one line, with single blanks.
func joinLines(text string) string { return strings.Join(strings.Fields(text), " ") }

// parseSubject parses a subject. A beginning that is not a prefix belongs to the text.
func parseSubject(line string) subject {
	line = numberRE.ReplaceAllString(joinLines(line), "")
	if m := conventionalRE.FindStringSubmatch(line); m != nil && isType(m[1]) {
		return subject{kind: m[1], scope: m[2], text: m[3]}
	}
	if m := areaRE.FindStringSubmatch(line); m != nil {
		return subject{area: m[1], text: m[2]}
	}
	return subject{text: line}
}

// ReadStyle detects the style of subjects.
func ReadStyle(subjects []string) Style {
	style := Style{types: map[string]int{}, areas: map[string]int{}}
	var lengths []int
	var typed, area, scoped, lower, upper, stops, paths int
	for _, line := range subjects {
		if otherRE.MatchString(line) || strings.TrimSpace(line) == "" {
			continue
		}
		subject := parseSubject(line)
		lengths = append(lengths, utf8.RuneCountInString(numberRE.ReplaceAllString(strings.TrimSpace(line), "")))
		switch {
		case subject.kind != "":
			typed++
			style.types[subject.kind]++
			if subject.scope != "" {
				scoped++
			}
		case subject.area != "":
			area++
		}
		for name := range strings.SplitSeq(cmp.Or(subject.scope, subject.area), ",") {
			if name = strings.TrimSpace(name); name != "" {
				style.areas[name]++
				paths += strings.Count(name, "/")
			}
		}
		switch caseOf(subject.text) {
		case lowerCase:
			lower++
		case upperCase:
			upper++
		}
		if strings.HasSuffix(subject.text, ".") && !strings.HasSuffix(subject.text, "..") {
			stops++
		}
	}
	n := len(lengths)
	if n < enough {
		return Style{}
	}
	switch {
	case 2*typed > n:
		style.form, style.scoped = conventional, 2*scoped > typed
	case 2*(area+typed) > n && area >= typed:
		style.form, style.slashes = byArea, 2*paths > area
	}
	style.stop = 2*stops > n
	switch {
	case lower > upper:
		style.first = lowerCase
	case upper > lower:
		style.first = upperCase
	}
	style.length = readLength(lengths)
	return style
}

// readLength returns the length limit that a log's subjects follow.
func readLength(lengths []int) int {
	slices.Sort(lengths)
	n := len(lengths)
	switch limit := lengths[n*9/10]; {
	case lengths[n-1] <= shortLength && n >= 8:
		return shortLength
	case limit > usualLength:
		return min(limit, mostLength)
	}
	return usualLength
}

// caseOf returns the case in which a text begins. It returns anyCase for code identifiers, whose case does not depend
// on the subject.
func caseOf(text string) letterCase {
	word, _, _ := strings.Cut(text, " ")
	word = strings.TrimRight(word, ",:;.")
	first, size := utf8.DecodeRuneInString(word)
	rest := word[size:]
	switch {
	case word == "" || strings.ContainsFunc(
		rest, func(r rune) bool { return !unicode.IsLower(r) && r != '-' && r != '\'' }):
		return anyCase
	case unicode.IsLower(first):
		return lowerCase
	case unicode.IsUpper(first):
		return upperCase
	}
	return anyCase
}

// longestSubject returns the maximum length of a subject, in characters.
func (s Style) longestSubject() int { return cmp.Or(s.length, usualLength) }
