package secretscan

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// How many bytes around a keyword a rule examines if its expression matches texts of any length. The longest secrets
// are private keys.
const (
	beforeMark = 256
	withMark   = 16 << 10
)

// How many bytes a rule examines before and after the name of an assignment, and the cost per byte.
const (
	beforeName     = 104
	behindName     = 256
	assignedWeight = 40
)

// assigned is the start of expressions for a name that a value is assigned to. unnamed is their part between the name
// and the assignment sign.
const (
	assigned = `[\w.-]{0,50}?`
	unnamed  = `[\s'"]{0,3}`
)

// closeBy lists rules that match texts of any length although all relevant text is close to their keyword.
var closeBy = map[string]reach{"kubernetes-secret-yaml": {before: 1 << 10, behind: 4 << 10},
	"ANTHROPIC_KEY": nearKeyword, "OPENAI_KEY": nearKeyword, "JWT": nearKeyword, "AUTH_HEADER": nearKeyword,
	"COOKIE": nearKeyword, "SET_COOKIE": nearKeyword, "JSON_CREDENTIAL": nearKeyword, "ENV_CREDENTIAL": nearKeyword,
	"BEARER_TOKEN": nearKeyword, "GENERIC_SECRET": nearKeyword}

var nearKeyword = reach{before: 128, behind: 1 << 10}

// leastRuns lists how many letters and digits must follow short keywords, which are frequent in code: s.name, keys.
var leastRuns = map[string]map[string]int{"vault-service-token": {"s.": 24}, "jwt": {"ey": 17}}

// contextual lists rules with keywords that are not part of their matches. A file with the keyword is scanned as a
// whole.
var contextual = map[string]string{
	"facebook-access-token":           "facebook",
	"airtable-personnal-access-token": "airtable",
	"sourcegraph-access-token":        "sourcegraph",
}

// reach is how many bytes around a keyword a rule examines, and the cost per byte.
type reach struct {
	before, behind int
	weight         int
}

func (r *rule) readReach() reach {
	parsed, err := syntax.Parse(r.Regex, syntax.Perl)
	if err != nil {
		panic("secretscan: the embedded rules: " + err.Error())
	}
	longest, bounded := longestMatch(parsed)
	if strings.Contains(r.Regex, assigned) {
		if !bounded {
			longest = 0
		}
		return reach{max(beforeName, longest), max(behindName, longest), assignedWeight}
	}
	weight := 1
	if p, err := syntax.Compile(parsed.Simplify()); err == nil {
		weight += len(p.Inst) / 64
	}
	if near, ok := closeBy[r.ID]; ok {
		return reach{near.before, near.behind, weight}
	}
	if !bounded {
		return reach{beforeMark, withMark, weight}
	}
	return reach{longest, longest, weight}
}

// longestMatch returns the maximum number of characters that an expression matches. bounded is false if there is no
// maximum.
func longestMatch(re *syntax.Regexp) (n int, bounded bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(string(re.Rune)), true
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1, true
	case syntax.OpStar, syntax.OpPlus:
		return 0, false
	case syntax.OpRepeat:
		n, bounded = longestMatch(re.Sub[0])
		return n * re.Max, bounded && re.Max >= 0
	case syntax.OpAlternate:
		for _, s := range re.Sub {
			m, ok := longestMatch(s)
			if !ok {
				return 0, false
			}
			n = max(n, m)
		}
		return n, true
	}
	for _, s := range re.Sub { // a sequence or a group; a boundary has no parts
		m, ok := longestMatch(s)
		if !ok {
			return 0, false
		}
		n += m
	}
	return n, true
}

// mark links a keyword to its rule.
type mark struct {
	rule *rule
	// whole means that the keyword is not part of the rule's match.
	whole bool
	// mayMatch is a cheap check whether the rule could match at a keyword in a text. Nil means that it could match
	// anywhere.
	mayMatch func(text string, from, to int) bool
}

func newMark(r *rule, keyword string) mark {
	m := mark{rule: r, whole: contextual[r.ID] == keyword}
	lower := strings.ToLower(r.Regex)
	if index := strings.Index(lower, keyword); index >= 0 && strings.Contains(r.Regex, assigned) &&
		index < strings.Index(r.Regex, unnamed) {
		isValue := anyValue
		if r.ID == general {
			isValue = hasMoreThanWords
		}
		m.mayMatch = func(text string, _, to int) bool { return isAssigned(text, to, isValue) }
	}
	if n := leastRuns[r.ID][keyword]; n > 0 {
		m.mayMatch = func(text string, _, to int) bool { return hasRun(text[to:], n) }
		return m
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(lower, "(?i)"), `\b`)
	if len(rest) < len(lower) && strings.Contains(lower[:len(lower)-len(rest)], `\b`) &&
		strings.HasPrefix(strings.TrimLeft(rest, "("), regexp.QuoteMeta(keyword)) {
		m.mayMatch = func(text string, from, _ int) bool { return from == 0 || !isWordByte(text[from-1]) }
	}
	return m
}

// isAssigned reports whether a name that ends in a keyword could have a value assigned: an assignment sign must
// follow soon, and a value soon after it.
func isAssigned(text string, to int, isValue func(string) bool) bool {
	for index := to; index < len(text) && index-to <= maxName; index++ {
		if strings.IndexByte(`=>:|?,`, text[index]) >= 0 {
			return hasValue(text[index+1:], isValue)
		}
		if !isWordByte(text[index]) && strings.IndexByte(" \t\r\n\f.-'\"", text[index]) < 0 {
			return false
		}
	}
	return false
}

// hasValue reports whether a value begins within ten bytes: enough characters without a gap.
func hasValue(text string, isValue func(string) bool) bool {
	for from := 0; from <= 10 && from < len(text); {
		to := from
		for to < len(text) && to-from < maxValue && (isWordByte(text[to]) || strings.IndexByte(".=-+/:", text[to]) >= 0) {
			to++
		}
		if to-from == maxValue || to-from >= leastValue && isValue(text[from:to]) {
			return true
		}
		from = to + 1
	}
	return false
}

// maxName limits the distance between a keyword and the assignment sign: the rest of the name and the characters
// after it.
const maxName = 48

// Values that rules search for have at least leastValue characters. Values of maxValue characters or more are left to
// the rule itself.
const (
	leastValue = 8
	maxValue   = 200
)

func anyValue(string) bool { return true }

// hasMoreThanWords reports whether a value contains more than letters, underscores, dots and dashes. The general rule
// allows other values.
func hasMoreThanWords(value string) bool {
	for i := range len(value) {
		if b := value[i]; !isWordByte(b) && b != '.' && b != '-' || '0' <= b && b <= '9' || b >= 0x80 {
			return true
		}
	}
	return false
}

// hasRun reports whether a text begins with at least that many letters and digits.
func hasRun(text string, least int) bool {
	if len(text) < least {
		return false
	}
	for i := range least {
		if !isWordByte(text[i]) || text[i] == '_' {
			return false
		}
	}
	return true
}

func isWordByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_' || b >= 0x80
}
