package secretscan

import (
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"company/internal/lib/boundedparse/toml"
)

//go:embed gitleaks.toml
var rulesText string

// rule is one of gitleaks' rules, with the same meaning. Features of the gitleaks program, such as required rules and
// comments that disable a line, are not used in these rules or not wanted.
type rule struct {
	ID          string
	Description string
	Regex       string
	Path        string
	SecretGroup int
	Entropy     float64
	Keywords    []string
	Allowlists  []allow
	Shown       bool // only for text that people are shown; only in rules for masks

	number   int // index among the rules
	once     sync.Once
	re       *regexp.Regexp
	reach    reach
	pathOnce sync.Once
	path     *regexp.Regexp
}

// allow lists matches that are not secrets.
type allow struct {
	Condition   string // AND: all given kinds must match; otherwise one is enough
	RegexTarget string // secret (empty), match, line
	Paths       []string
	Regexes     []string
	StopWords   []string

	once         sync.Once
	paths, texts []*regexp.Regexp
	stops        *keywords
}

type ruleSet struct {
	Rules     []*rule
	Allowlist allow

	words   *keywords
	lengths []int    // by keyword number
	marks   [][]mark // by keyword number
}

// shapes parses the rules at their first use. Each expression is compiled at its own first use, because most are
// never used.
var shapes = sync.OnceValue(func() *ruleSet { return readRules(rulesText) })

func readRules(text string) *ruleSet {
	var s ruleSet
	if err := toml.Decode([]byte(text), &s); err != nil {
		panic("secretscan: the embedded rules: " + err.Error())
	}
	var words []string
	numbers := map[string]int{}
	for i, r := range s.Rules {
		r.number = i
		if r.Regex == "" {
			continue
		}
		for _, k := range r.Keywords {
			n, ok := numbers[k]
			if !ok {
				n = len(words)
				numbers[k] = n
				words = append(words, k)
				s.marks = append(s.marks, nil)
			}
			s.marks[n] = append(s.marks[n], newMark(r, k))
		}
	}
	s.words = newKeywords(words)
	s.lengths = make([]int, len(words))
	for i, w := range words {
		s.lengths[i] = len(w)
	}
	return &s
}

// compile compiles a rule once, at its first use.
func (r *rule) compile() {
	r.once.Do(func() { r.re, r.reach = regexp.MustCompile(r.Regex), r.readReach() })
}

// appliesTo reports whether a rule applies to files with this path.
func (r *rule) appliesTo(path string) bool {
	if r.Path == "" {
		return true
	}
	r.pathOnce.Do(func() { r.path = regexp.MustCompile(r.Path) })
	return r.path.MatchString(path)
}

func (r *rule) describe() string {
	what, _, _ := strings.Cut(r.Description, ",")
	what = strings.TrimPrefix(strings.TrimPrefix(what, "Detected "), "Found ")
	what = strings.TrimPrefix(strings.TrimPrefix(what, "Identified "), "Uncovered ")
	return "what looks like a secret (" + r.ID + ": " + strings.TrimSpace(what) + ")"
}

type match struct {
	rule   *rule
	at     int
	secret string
}

// Way returns how the rules read a file with this path. A text has the same findings under all paths with the same
// way.
func Way(path string) string {
	ruleSet := shapes()
	way := strconv.FormatBool(ruleSet.Allowlist.ofPath(path))
	for i, rule := range ruleSet.Rules {
		if rule.Path != "" && rule.appliesTo(path) {
			way += fmt.Sprintf(" rule %d", i)
		}
		for n := range rule.Allowlists {
			if len(rule.Allowlists[n].Paths) > 0 && rule.Allowlists[n].ofPath(path) {
				way += fmt.Sprintf(" not %d.%d", i, n)
			}
		}
	}
	return way
}

// leastMark is the minimum length of a keyword that identifies a secret's kind.
const leastMark = 4

// hasKeyword reports whether a secret itself contains a keyword of its rule. "ghp_…" is unambiguous, but forty hex
// digits after "datadog" may be a hash.
func (r *rule) hasKeyword(secret string) bool {
	secret = strings.ToLower(secret)
	return slices.ContainsFunc(r.Keywords,
		func(k string) bool { return len(k) >= leastMark && strings.Contains(secret, k) })
}

// extractSecret extracts the secret from a match: the group that the rule names, or else the first non-empty group.
func (r *rule) extractSecret(text string, at []int) (match, bool) {
	m := match{rule: r, at: at[0], secret: strings.Trim(text[at[0]:at[1]], "\n")}
	group := func(n int) string {
		if 2*n+1 >= len(at) || at[2*n] < 0 {
			return ""
		}
		m.at = at[2*n]
		return text[at[2*n]:at[2*n+1]]
	}
	if r.SecretGroup > 0 {
		m.secret = group(r.SecretGroup)
	} else {
		for n := 1; 2*n+1 < len(at); n++ {
			if g := group(n); g != "" {
				m.secret = g
				break
			}
		}
	}
	return m, m.secret != "" && (r.Entropy == 0 || shannonEntropy(m.secret) > r.Entropy)
}

func (r *rule) isAllowed(path string, m match, text string, at []int) bool {
	for i := range r.Allowlists {
		if r.Allowlists[i].matches(path, m, text, at) {
			return true
		}
	}
	return false
}

func (a *allow) compilePatterns() {
	a.once.Do(func() {
		for _, p := range a.Paths {
			a.paths = append(a.paths, regexp.MustCompile(p))
		}
		for _, p := range a.Regexes {
			a.texts = append(a.texts, regexp.MustCompile(p))
		}
		var words []string
		for _, w := range a.StopWords {
			words = append(words, strings.ToLower(w))
		}
		a.stops = newKeywords(words)
	})
}

func (a *allow) ofPath(path string) bool {
	a.compilePatterns()
	return anyMatches(a.paths, path)
}

func (a *allow) matches(path string, m match, text string, at []int) bool {
	a.compilePatterns()
	target := m.secret
	switch a.RegexTarget {
	case "match":
		target = text[at[0]:at[1]]
	case "line":
		target = lineAround(text, at[0], at[1])
	}
	var kinds []bool
	if len(a.paths) > 0 {
		kinds = append(kinds, path != "" && anyMatches(a.paths, path))
	}
	if len(a.texts) > 0 {
		kinds = append(kinds, anyMatches(a.texts, target))
	}
	if len(a.StopWords) > 0 {
		kinds = append(kinds, a.stops.isAnyIn(m.secret))
	}
	all := strings.EqualFold(a.Condition, "AND")
	for _, k := range kinds {
		if k != all {
			return k
		}
	}
	return all && len(kinds) > 0
}

// maxLine limits how much of a line counts on each side of a match, in bytes.
const maxLine = 2 << 10

// lineAround extends a piece of a text to its whole lines.
func lineAround(text string, from, to int) string {
	before, behind := text[max(0, from-maxLine):from], text[to:min(len(text), to+maxLine)]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	if i := strings.IndexByte(behind, '\n'); i >= 0 {
		behind = behind[:i]
	}
	return text[from-len(before) : to+len(behind)]
}

func anyMatches(all []*regexp.Regexp, s string) bool {
	for _, re := range all {
		if re.MatchString(s) {
			return true
		}
	}
	return false
}

// shannonEntropy returns the Shannon entropy in bits per character.
func shannonEntropy(s string) float64 {
	count := map[rune]int{}
	n := 0
	for _, r := range s {
		count[r]++
		n++
	}
	e := 0.0
	for _, c := range count {
		p := float64(c) / float64(n)
		e -= p * math.Log2(p)
	}
	return e
}
