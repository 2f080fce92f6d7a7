// Package commitstyle reads how a repository writes the subjects of its commits, and writes
// subjects in that style.
//
// It promises that the same subjects, title and paths give the same subject. It knows no git
// and no task: the log is brought to it.
package commitstyle

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"company/internal/lazyregexp"
)

// form is what stands before the text of a subject.
type form int

const (
	plain        form = iota
	conventional      // fix(parser): text
	byArea            // parser: text
)

// letterCase is how a subject's text begins.
type letterCase int

const (
	anyCase letterCase = iota
	lowerCase
	upperCase
)

// Bounds of a subject, in characters.
const (
	usualLength = 72
	shortLength = 50  // of logs that keep to it
	mostLength  = 100 // also where a log has longer ones
)

// enough is how many subjects show a style: fewer show a habit of one day.
const enough = 3

// Style is how the subjects of a log are written. The zero Style is that of a log that shows none.
type Style struct {
	form    form
	first   letterCase
	stop    bool // subjects end with a full stop
	length  int  // characters at most; 0: the usual
	scoped  bool // of conventional ones: most name a scope
	types   map[string]int
	areas   map[string]int // areas and scopes
	slashes bool           // most areas are paths
}

var (
	conventionalRE = lazyregexp.New(`^([A-Za-z]+)(?:\(([^()]{1,60})\))?!?: *(\S.*)$`)
	areaRE         = lazyregexp.New(`^([\w.*+@{}/-]{1,50}(?:, ?[\w.*+@{}/-]{1,50}){0,3}): +(\S.*)$`)
	// What a forge adds when it merges: the number of the pull request.
	numberRE = lazyregexp.New(`\s+\((?:#|!|gh-)[0-9]+\)$`)
	// What programs write, and what a person means to squash later.
	otherRE = lazyregexp.New(`(?i)^(?:merge (?:branch|pull request|remote|tag|commit|bugfix)|revert "|(?:fixup|squash|amend)!|(?:\w+(?:\([^)]*\))?: *)?bump \S+ from )`)
)

// conventionalTypes are the types of conventional commits, each with other spellings.
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

// subject is a subject taken apart.
type subject struct {
	kind, scope string // of a conventional one
	area        string // of one by area
	text        string
}

// joinLines is a text in one line, with single blanks.
func joinLines(text string) string { return strings.Join(strings.Fields(text), " ") }

// parseSubject takes a subject apart. A beginning that is no prefix belongs to the text.
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

// ReadStyle reads the style of subjects, the newest first.
func ReadStyle(subjects []string) Style {
	s := Style{types: map[string]int{}, areas: map[string]int{}}
	var lengths []int
	var typed, area, scoped, lower, upper, stops, paths int
	for _, line := range subjects {
		if otherRE.MatchString(line) || strings.TrimSpace(line) == "" {
			continue
		}
		p := parseSubject(line)
		lengths = append(lengths, utf8.RuneCountInString(numberRE.ReplaceAllString(strings.TrimSpace(line), "")))
		switch {
		case p.kind != "":
			typed++
			s.types[p.kind]++
			if p.scope != "" {
				scoped++
			}
		case p.area != "":
			area++
		}
		for name := range strings.SplitSeq(cmp.Or(p.scope, p.area), ",") {
			if name = strings.TrimSpace(name); name != "" {
				s.areas[name]++
				paths += strings.Count(name, "/")
			}
		}
		switch caseOf(p.text) {
		case lowerCase:
			lower++
		case upperCase:
			upper++
		}
		if strings.HasSuffix(p.text, ".") && !strings.HasSuffix(p.text, "..") {
			stops++
		}
	}
	n := len(lengths)
	if n < enough {
		return Style{}
	}
	switch {
	case 2*typed > n:
		s.form, s.scoped = conventional, 2*scoped > typed
	case 2*(area+typed) > n && area >= typed:
		s.form, s.slashes = byArea, 2*paths > area
	}
	s.stop = 2*stops > n
	switch {
	case lower > upper:
		s.first = lowerCase
	case upper > lower:
		s.first = upperCase
	}
	s.length = readLength(lengths)
	return s
}

// readLength is the bound that lengths of subjects keep to.
func readLength(lengths []int) int {
	slices.Sort(lengths)
	n := len(lengths)
	switch most := lengths[n*9/10]; {
	case lengths[n-1] <= shortLength && n >= 8:
		return shortLength
	case most > usualLength:
		return min(most, mostLength)
	}
	return usualLength
}

// caseOf is how a text begins. A name of code says nothing: it is not written for the subject.
func caseOf(text string) letterCase {
	word, _, _ := strings.Cut(text, " ")
	word = strings.TrimRight(word, ",:;.")
	first, size := utf8.DecodeRuneInString(word)
	rest := word[size:]
	switch {
	case word == "" || strings.ContainsFunc(rest, func(r rune) bool { return !unicode.IsLower(r) && r != '-' && r != '\'' }):
		return anyCase
	case unicode.IsLower(first):
		return lowerCase
	case unicode.IsUpper(first):
		return upperCase
	}
	return anyCase
}

// longest is the most characters of a subject.
func (s Style) longestSubject() int { return cmp.Or(s.length, usualLength) }
