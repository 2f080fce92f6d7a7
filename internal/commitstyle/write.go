package commitstyle

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"company/internal/lazyregexp"
)

// FitsStyle reports whether a subject may stand in the log as it is but for its first letter
// and its end: it has the log's form, its length, and has at least two fields.
func (s Style) FitsStyle(line string) bool {
	p := parseSubject(line)
	words := strings.Fields(p.text)
	switch {
	case otherRE.MatchString(line) || len(words) < 2 || slices.Contains([]string{"wip", "tmp"}, strings.ToLower(strings.Trim(words[0], ":."))):
		return false
	case utf8.RuneCountInString(strings.TrimSpace(line)) > s.longestSubject():
		return false
	case s.form == conventional:
		return p.kind != ""
	case s.form == byArea:
		return p.area != ""
	}
	return p.kind == ""
}

// WriteSubject writes the subject of a commit that changes paths, of a title or of a subject
// in any style. Its end is cut at a blank where it is too long; whole says that nothing is cut.
func (s Style) WriteSubject(title string, paths []string) (line string, whole bool) {
	p := parseSubject(title)
	if p.area != "" && (s.form == plain || s.areas[p.area] == 0 && !isPlaceOf(p.area, paths)) {
		p = subject{text: joinLines(title)} // no area: "Note: the parser …"
	}
	text := p.text
	prefix := ""
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
	text = cmp.Or(strings.TrimRight(text, ". "), "work") // as gitops.CommitMessage has it
	text = s.beginText(text)
	most := s.longestSubject() - utf8.RuneCountInString(prefix)
	if s.stop {
		most--
	}
	text, whole = cutAtBlank(text, most)
	if s.stop && whole && !strings.HasSuffix(text, "!") && !strings.HasSuffix(text, "?") {
		text += "."
	}
	return prefix + text, whole
}

// beginText begins a text as the log does, where it does not begin with a name.
func (s Style) beginText(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	switch c := caseOf(text); {
	case s.first == lowerCase && c == upperCase && size < len(text) && text[size] != ' ':
		return string(unicode.ToLower(first)) + text[size:]
	case s.first == upperCase && c == lowerCase:
		return string(unicode.ToUpper(first)) + text[size:]
	}
	return text
}

// cutAtBlank cuts a text at a blank to a number of characters, its mark among them.
func cutAtBlank(text string, most int) (cut string, whole bool) {
	runes := []rune(text)
	if len(runes) <= most {
		return text, true
	}
	most = max(most, 12) // beside a prefix that is as long as a subject
	if len(runes) <= most {
		return text, true
	}
	head := string(runes[:most-1])
	if at := strings.LastIndexByte(head, ' '); at > 0 {
		head = head[:at]
	}
	return strings.TrimRight(head, " ,;:.-") + "…", false
}

// verbs begin titles, by the type of conventional commits that they speak of.
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

// guessType is the type of a change by its files and by the verb of its title, and the title
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
		if slices.Contains(strings.Fields(verbs[kind]), strings.TrimSuffix(verb, "s")) || slices.Contains(strings.Fields(verbs[kind]), verb) {
			return kind, title
		}
	}
	if bugRE.MatchString(title) {
		return "fix", title
	}
	return "feat", title
}

// spellType is a type as the log spells it.
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
	return strings.HasPrefix(p, ".github/") || strings.HasPrefix(p, ".gitlab-ci") || strings.HasPrefix(p, ".circleci/") || p == "Jenkinsfile"
}

var testRE = lazyregexp.New(`(?:^|/)(?:tests?|spec|__tests__|testdata)/|_test\.\w+$|(?:^|/)test_[^/]*$|\.(?:test|spec)\.\w+$|Tests?\.\w+$`)

func isTest(p string) bool { return testRE.MatchString(p) }
