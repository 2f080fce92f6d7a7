package commitstyle

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"company/internal/lib/lazyregexp"
)

// FitsStyle reports whether a subject fits the log except for its first letter and its end: it has the log's form, is
// not too long, and has at least two words.
func (s Style) FitsStyle(line string) bool {
	subject := parseSubject(line)
	words := strings.Fields(subject.text)
	switch {
	case otherRE.MatchString(line) || len(words) < 2 ||
		slices.Contains([]string{"wip", "tmp"}, strings.ToLower(strings.Trim(words[0], ":."))):
		return false
	case utf8.RuneCountInString(strings.TrimSpace(line)) > s.longestSubject():
		return false
	case s.form == conventional:
		return subject.kind != ""
	case s.form == byArea:
		return subject.area != ""
	}
	return subject.kind == ""
}

// WriteSubject writes the subject of a commit that changes paths, from a title or a subject in any style. If it is
// too long, its end is cut at a blank. whole is true if nothing was cut. Where the log shows no style that this would
// break, the subject begins with mark.
func (s Style) WriteSubject(title string, paths []string, mark string) (line string, whole bool) {
	p := parseSubject(title)
	if p.area != "" && (s.form == plain || s.areas[p.area] == 0 && !isPlaceOf(p.area, paths)) {
		p = subject{text: joinLines(title)} // not an area: "Note: the parser …"
	}
	text := p.text
	prefix := ""
	if !s.IsKnown() {
		prefix = mark
	}
	switch s.form {
	case conventional:
		kind := p.kind
		if kind == "" {
			kind, text = s.guessType(text, paths)
		}
		prefix = s.spellType(kind)
		scope := cmp.Or(p.scope, p.area)
		if scope == "" && s.scoped {
			scope = s.findArea(paths)
		}
		if scope != "" && utf8.RuneCountInString(prefix+"("+scope+"): "+text) <= s.longestSubject() {
			prefix += "(" + scope + ")"
		}
		prefix += ": "
	case byArea:
		area := p.area
		if area == "" {
			area = s.nameArea(paths)
		}
		if area != "" {
			prefix = area + ": "
		}
	}
	text = cmp.Or(strings.TrimRight(text, ". "), "work") // the same default as in gitops.CommitMessage
	text = s.beginText(text)
	limit := s.longestSubject() - utf8.RuneCountInString(prefix)
	if s.stop {
		limit--
	}
	text, whole = cutAtBlank(text, limit)
	if s.stop && whole && !strings.HasSuffix(text, "!") && !strings.HasSuffix(text, "?") {
		text += "."
	}
	return prefix + text, whole
}

// beginText changes the case of a text's first letter to the log's, unless the text begins with a name.
func (s Style) beginText(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	switch letterCase := caseOf(text); {
	case s.first == lowerCase && letterCase == upperCase && size < len(text) && text[size] != ' ':
		return string(unicode.ToLower(first)) + text[size:]
	case s.first == upperCase && letterCase == lowerCase:
		return string(unicode.ToUpper(first)) + text[size:]
	}
	return text
}

// cutAtBlank cuts a text at a blank to at most limit characters, including the ellipsis.
func cutAtBlank(text string, limit int) (cut string, whole bool) {
	runes := []rune(text)
	if len(runes) <= limit {
		return text, true
	}
	limit = max(limit, 12) // if the prefix is as long as a subject
	if len(runes) <= limit {
		return text, true
	}
	head := string(runes[:limit-1])
	if index := strings.LastIndexByte(head, ' '); index > 0 {
		head = head[:index]
	}
	return strings.TrimRight(head, " ,;:.-") + "…", false
}

// verbs lists the verbs that begin titles, by their type of conventional commit.
var verbs = map[string]string{
	"fix":      "fix repair correct mend prevent avoid handle stop keep restore resolve respect reject refuse close",
	"feat":     "add implement support introduce allow let give create provide enable show offer accept print report",
	"refactor": "refactor rename move extract split simplify clean rewrite reorganise reorganize inline merge deduplicate",
	"perf":     "speed optimise optimize cache",
	"chore":    "bump update upgrade pin remove drop delete",
	"docs":     "document describe explain",
	"test":     "test cover",
	"revert":   "revert",
}

var bugRE = lazyregexp.New(`(?i)\b(?:no longer|panics?|crash(?:es)?|bugs?|wrong|leaks?|deadlocks?|races?|regression)\b`)

// guessType returns the type of a change, judging by its files and its title's verb. It also returns the title,
// without a verb that only repeats the type.
func (s Style) guessType(title string, paths []string) (kind, rest string) {
	all := func(is func(string) bool) bool {
		return len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool { return !is(p) })
	}
	switch {
	case all(isDocs):
		return "docs", title
	case all(isTest):
		return "test", title
	case all(isPipeline):
		return "ci", title
	}
	verb, rest, _ := strings.Cut(title, " ")
	verb = strings.ToLower(verb)
	if verb == "fix" && len(strings.Fields(rest)) > 1 {
		return "fix", strings.TrimPrefix(rest, "the ")
	}
	for _, kind := range []string{"fix", "feat", "refactor", "perf", "chore", "docs", "test", "revert"} {
		if slices.Contains(strings.Fields(verbs[kind]), strings.TrimSuffix(verb, "s")) ||
			slices.Contains(strings.Fields(verbs[kind]), verb) {
			return kind, title
		}
	}
	if bugRE.MatchString(title) {
		return "fix", title
	}
	return "feat", title
}

// spellType returns a type in the log's spelling.
func (s Style) spellType(kind string) string {
	if s.types[kind] > 0 {
		return kind
	}
	for _, other := range conventionalTypes[kind] {
		if s.types[other] > 0 {
			return other
		}
	}
	return kind
}

func isDocs(p string) bool {
	ext := strings.ToLower(path.Ext(p))
	return strings.HasPrefix(p, "docs/") || strings.HasPrefix(p, "doc/") || ext == ".md" || ext == ".rst" || ext == ".adoc"
}

func isPipeline(p string) bool {
	return strings.HasPrefix(p, ".github/") || strings.HasPrefix(p, ".gitlab-ci") || strings.HasPrefix(p, ".circleci/") ||
		p == "Jenkinsfile"
}

var testRE = lazyregexp.New(
	`(?:^|/)(?:tests?|spec|__tests__|testdata)/|_test\.\w+$|(?:^|/)test_[^/]*$|\.(?:test|spec)\.\w+$|Tests?\.\w+$`)

func isTest(p string) bool { return testRE.MatchString(p) }
