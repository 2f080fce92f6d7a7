package leak

import (
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
)

//go:embed gitleaks.toml
var rulesText string

// rule is one of gitleaks' rules. What it means is theirs; what only their
// program does (required rules, their comments that switch a line off) is not
// in these rules, or not wanted.
type rule struct {
	ID          string
	Description string
	Regex       string
	Path        string
	SecretGroup int
	Entropy     float64
	Keywords    []string
	Allowlists  []allow

	once     sync.Once
	re       *regexp.Regexp
	pathOnce sync.Once
	path     *regexp.Regexp
}

// allow lists matches that are no secrets.
type allow struct {
	Condition   string // AND: all kinds that it names must hold; else one
	RegexTarget string // secret (empty), match, line
	Paths       []string
	Regexes     []string
	StopWords   []string

	once         sync.Once
	paths, texts []*regexp.Regexp
}

type ruleSet struct {
	Rules     []*rule
	Allowlist allow
}

// shapes parses the rules at their first use, and each expression at its own:
// most never are.
var shapes = sync.OnceValue(func() *ruleSet {
	var s ruleSet
	if _, err := toml.Decode(rulesText, &s); err != nil {
		panic("leak: the embedded rules: " + err.Error())
	}
	return &s
})

// appliesTo says whether a rule is about files of this path.
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

// findSecrets gives the secrets of a text, of which path is the file's. sure:
// only those that carry the mark of their kind; so it is in files that gitleaks
// leaves out by their name, too, since their author chooses the name.
func (s *ruleSet) findSecrets(path, text string, sure bool) []match {
	named := path
	if path != "" && s.Allowlist.ofPath(path) {
		named, sure = "", true
	}
	var out []match
	lower := lowered(text)
	for _, r := range s.Rules {
		if r.Regex == "" || sure && r.ID == general || !r.appliesTo(path) {
			continue
		}
		for _, part := range r.parts(lower, sure) {
			r.once.Do(func() { r.re = regexp.MustCompile(r.Regex) })
			for _, at := range r.re.FindAllStringSubmatchIndex(text[part.from:part.to], -1) {
				for i := range at {
					if at[i] >= 0 {
						at[i] += part.from
					}
				}
				m, ok := r.extractSecret(text, at)
				if !ok || sure && !r.hasKeyword(m.secret) || s.Allowlist.matches(named, m, text, at) || r.isAllowed(path, m, text, at) {
					continue
				}
				out = append(out, m)
			}
		}
	}
	return out
}

// lowered is a text with its letters of ASCII small, each in its place: the
// keywords have no others, and a text may be no UTF-8.
func lowered(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

type part struct{ from, to int }

// What a secret may hold before its mark, and in all, in bytes: the longest are
// private keys.
const (
	beforeMark = 256
	withMark   = 16 << 10
)

// parts are where in a text a rule is to look: nowhere without one of its
// keywords; else everywhere, or, where the secret must hold the keyword, around
// that. Programs and pictures are large, and keywords in them are rare.
func (r *rule) parts(lower string, sure bool) []part {
	if !sure {
		if len(r.Keywords) > 0 && !slices.ContainsFunc(r.Keywords, func(k string) bool { return strings.Contains(lower, k) }) {
			return nil
		}
		return []part{{0, len(lower)}}
	}
	var out []part
	for _, k := range r.Keywords {
		if len(k) < leastMark {
			continue
		}
		for at := strings.Index(lower, k); at >= 0; {
			out = append(out, part{max(0, at-beforeMark), min(len(lower), at+withMark)})
			next := strings.Index(lower[at+len(k):], k)
			if next < 0 {
				break
			}
			at += len(k) + next
		}
	}
	slices.SortFunc(out, func(a, b part) int { return a.from - b.from })
	var joined []part
	for _, p := range out {
		if n := len(joined); n > 0 && p.from <= joined[n-1].to {
			joined[n-1].to = max(joined[n-1].to, p.to)
			continue
		}
		joined = append(joined, p)
	}
	return joined
}

// Way says how the rules read a file of this path: under two paths of the same
// way a text has the same findings.
func Way(path string) string {
	s := shapes()
	way := strconv.FormatBool(s.Allowlist.ofPath(path))
	for i, r := range s.Rules {
		if r.Path != "" && r.appliesTo(path) {
			way += fmt.Sprintf(" rule %d", i)
		}
		for n := range r.Allowlists {
			if len(r.Allowlists[n].Paths) > 0 && r.Allowlists[n].ofPath(path) {
				way += fmt.Sprintf(" not %d.%d", i, n)
			}
		}
	}
	return way
}

// leastMark is the fewest letters by which a secret says of what kind it is.
const leastMark = 4

// hasKeyword says whether a secret has a keyword of its rule in itself: "ghp_…"
// is nothing else, and forty hex digits behind "datadog" may be a hash.
func (r *rule) hasKeyword(secret string) bool {
	secret = strings.ToLower(secret)
	return slices.ContainsFunc(r.Keywords, func(k string) bool { return len(k) >= leastMark && strings.Contains(secret, k) })
}

// extractSecret takes the secret out of a match: the group that the rule names, or the
// first that is there.
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
		start := strings.LastIndexByte(text[:at[0]], '\n') + 1
		end := len(text)
		if i := strings.IndexByte(text[at[1]:], '\n'); i >= 0 {
			end = at[1] + i
		}
		target = text[start:end]
	}
	var kinds []bool
	if len(a.paths) > 0 {
		kinds = append(kinds, path != "" && anyMatches(a.paths, path))
	}
	if len(a.texts) > 0 {
		kinds = append(kinds, anyMatches(a.texts, target))
	}
	if len(a.StopWords) > 0 {
		kinds = append(kinds, containsStopWord(a.StopWords, m.secret))
	}
	all := strings.EqualFold(a.Condition, "AND")
	for _, k := range kinds {
		if k != all {
			return k
		}
	}
	return all && len(kinds) > 0
}

func containsStopWord(words []string, secret string) bool {
	secret = strings.ToLower(secret)
	for _, w := range words {
		if strings.Contains(secret, strings.ToLower(w)) {
			return true
		}
	}
	return false
}

func anyMatches(all []*regexp.Regexp, s string) bool {
	for _, re := range all {
		if re.MatchString(s) {
			return true
		}
	}
	return false
}

// shannonEntropy is Shannon's, in bits for each character.
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
