package merger

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
)

const (
	enoughSubjects = 3  // that show a style; fewer may be one day's habit
	mostSubject    = 72 // bytes of a subject
)

var (
	conventionalRE = lazyregexp.New(
		`^(?i:build|chore|ci|docs|feat|fix|perf|refactor|revert|style|test)(?:\([^()]{1,60}\))?!?: +`)
	areaRE  = lazyregexp.New(`^[\w.*+@{}/-]{1,50}: +`)
	fixesRE = lazyregexp.New(`(?i)^(?:fix|repair|correct|mend|prevent|avoid|handle|stop|restore|reject|refuse)\b`)
)

// subjectStyle describes how the subjects of a log are written. The zero value means that the log shows no style.
type subjectStyle struct {
	form    string // of the prefix: "type: ", "area: ", or "" without one
	isKnown bool
	isLower bool            // most texts begin with a lower-case letter
	areas   map[string]bool // that the log names, with their colons
}

// splitSubject splits a subject into its prefix and its text. form is the form of the prefix.
func splitSubject(line string) (form, prefix, text string) {
	if prefix = conventionalRE.FindString(line); prefix != "" {
		return "type: ", prefix, line[len(prefix):]
	}
	if prefix = areaRE.FindString(line); prefix != "" {
		return "area: ", prefix, line[len(prefix):]
	}
	return "", "", line
}

// detectStyle returns the style of most of the subjects.
func detectStyle(subjects []string) subjectStyle {
	if len(subjects) < enoughSubjects {
		return subjectStyle{}
	}
	var lower int
	forms := map[string]int{}
	areas := map[string]bool{}
	for _, line := range subjects {
		form, prefix, text := splitSubject(line)
		forms[form]++
		areas[prefix] = true
		if first, _ := utf8.DecodeRuneInString(text); unicode.IsLower(first) {
			lower++
		}
	}
	style := subjectStyle{isKnown: true, isLower: 2*lower > len(subjects), areas: areas}
	for form, times := range forms {
		if 2*times > len(subjects) {
			style.form = form
		}
	}
	return style
}

// fitsStyle reports whether a worker's own subject can stand in the log.
func (s subjectStyle) fitsStyle(line string) bool {
	form, _, text := splitSubject(line)
	return form == s.form && len(line) <= mostSubject && strings.Contains(text, " ") && !strings.Contains(text, "! ")
}

// writeSubject writes the subject of a commit that changes paths, from a title in any style. Where the log shows no
// style, it begins with mark. Unless whole, the end of the title was cut.
func (s subjectStyle) writeSubject(title string, paths []string, mark string) (line string, whole bool) {
	title = strings.TrimRight(strings.Join(strings.Fields(title), " "), ". ")
	form, prefix, text := splitSubject(title)
	if form != s.form {
		prefix = ""
		if form == "area: " {
			text = title // "Note: the parser …"
		}
		switch s.form {
		case "type: ":
			prefix = guessType(text, paths)
		case "area: ":
			prefix = s.findArea(paths)
		}
	}
	if !s.isKnown {
		prefix = mark + prefix
	}
	first, size := utf8.DecodeRuneInString(text)
	if word, _, _ := strings.Cut(text[size:], " "); s.isLower && word == strings.ToLower(word) { // not HTTP, ParseKey
		text = string(unicode.ToLower(first)) + text[size:]
	}
	cut := safetext.CutBetweenWords(text, max(12, mostSubject-len(prefix)))
	return prefix + cut, cut == text
}

// guessType returns the prefix of a conventional subject, judging by the files and the first word of a title.
func guessType(title string, paths []string) string {
	all := func(is func(string) bool) bool {
		return len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool { return !is(p) })
	}
	switch {
	case all(func(p string) bool { return path.Ext(p) == ".md" || strings.HasPrefix(p, "docs/") }):
		return "docs: "
	case all(company.IsTest):
		return "test: "
	case fixesRE.MatchString(title):
		return "fix: "
	}
	return "feat: "
}

// findArea returns the longest area of the log in which at least half of the files lie, as a prefix, or "".
func (s subjectStyle) findArea(paths []string) (longest string) {
	for area := range s.areas {
		in := 0
		for _, p := range paths {
			if strings.Contains("/"+strings.TrimSuffix(p, path.Ext(p))+"/", "/"+strings.TrimRight(area, ": ")+"/") {
				in++
			}
		}
		if in > 0 && 2*in >= len(paths) && (len(area) > len(longest) || len(area) == len(longest) && area < longest) {
			longest = area
		}
	}
	return longest
}
