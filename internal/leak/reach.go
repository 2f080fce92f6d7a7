package leak

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// Where a rule looks around a keyword, in bytes, for expressions that match texts
// of any length. The longest secrets are private keys.
const (
	beforeMark = 256
	withMark   = 16 << 10
)

// What a rule looks at before and behind the name of an assignment, in bytes, and
// what a byte of that costs.
const (
	beforeName     = 104
	behindName     = 256
	assignedWeight = 40
)

// assigned is how the expressions begin that look for a name to which a value is
// assigned, and what they have between the name and the sign of the assignment.
const (
	assigned = `[\w.-]{0,50}?`
	unnamed  = `[\s'"]{0,3}`
)

// closeBy are rules that match texts of any length, and yet have all that matters
// close to their keyword.
var closeBy = map[string]reach{"kubernetes-secret-yaml": {before: 1 << 10, behind: 4 << 10}}

// leastRuns are letters and digits that must follow short keywords, which are
// frequent in code: s.name, keys.
var leastRuns = map[string]map[string]int{"vault-service-token": {"s.": 24}, "jwt": {"ey": 17}}

// contextual are rules with keywords that their matches do not hold: a file with
// the keyword is looked through as a whole.
var contextual = map[string]string{
	"facebook-access-token":           "facebook",
	"airtable-personnal-access-token": "airtable",
	"sourcegraph-access-token":        "sourcegraph",
}

// reach is how far around a keyword a rule looks, and what a byte of that costs.
type reach struct {
	before, behind int
	weight         int
}

func (r *rule) readReach() reach {
	parsed, err := syntax.Parse(r.Regex, syntax.Perl)
	if err != nil {
		panic("leak: the embedded rules: " + err.Error())
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

// longestMatch is the most characters that an expression matches.
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
	for _, s := range re.Sub { // a sequence, a group; none: a boundary
		m, ok := longestMatch(s)
		if !ok {
			return 0, false
		}
		n += m
	}
	return n, true
}

// A mark is a keyword of a rule.
type mark struct {
	rule *rule
	// whole: the keyword is no part of what the rule matches.
	whole bool
	// mayMatch reports, at little cost, whether the rule could match where the
	// keyword stands in a text. Nil: it could anywhere.
	mayMatch func(text string, from, to int) bool
}

func newMark(r *rule, keyword string) mark {
	m := mark{rule: r, whole: contextual[r.ID] == keyword}
	lower := strings.ToLower(r.Regex)
	if at := strings.Index(lower, keyword); at >= 0 && strings.Contains(r.Regex, assigned) && at < strings.Index(r.Regex, unnamed) {
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
	if len(rest) < len(lower) && strings.Contains(lower[:len(lower)-len(rest)], `\b`) && strings.HasPrefix(strings.TrimLeft(rest, "("), regexp.QuoteMeta(keyword)) {
		m.mayMatch = func(text string, from, _ int) bool { return from == 0 || !isWordByte(text[from-1]) }
	}
	return m
}

// isAssigned reports whether a name that ends in a keyword could have a value
// assigned, as the rules have it: a sign of assignment follows soon, and a value soon
// behind that.
func isAssigned(text string, to int, isValue func(string) bool) bool {
	for at := to; at < len(text) && at-to <= maxName; at++ {
		if strings.IndexByte(`=>:|?,`, text[at]) >= 0 {
			return hasValue(text[at+1:], isValue)
		}
		if !isWordByte(text[at]) && strings.IndexByte(" \t\r\n\f.-'\"", text[at]) < 0 {
			return false
		}
	}
	return false
}

// hasValue reports whether a value begins within ten bytes: letters without a gap.
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

// maxName is how far behind a keyword the sign of an assignment may stand: the rest of
// the name and what follows it.
const maxName = 48

// Values that rules look for have at least so many letters, and those that have more
// than most are looked at by the rule itself.
const (
	leastValue = 8
	maxValue   = 200
)

func anyValue(string) bool { return true }

// hasMoreThanWords reports whether a value has more than letters, dots and dashes. The
// general rule allows others.
func hasMoreThanWords(value string) bool {
	for i := range len(value) {
		if b := value[i]; !isWordByte(b) && b != '.' && b != '-' || '0' <= b && b <= '9' || b >= 0x80 {
			return true
		}
	}
	return false
}

// hasRun reports whether a text begins with so many letters and digits.
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
