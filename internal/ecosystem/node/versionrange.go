package node

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"company/internal/lazyregexp"
)

// span are the versions from one on and below another.
type span struct{ from, below [3]int }

// versionRange are spans, of which one has to contain a version.
type versionRange []span

// containsVersion says whether a version is in the range.
func (r versionRange) containsVersion(v [3]int) bool {
	return slices.ContainsFunc(r, func(s span) bool { return compareParts(v, s.from) >= 0 && compareParts(v, s.below) < 0 })
}

var endless = [3]int{math.MaxInt32, 0, 0}

const partialVersion = `v?(?:[0-9]{1,9}|[xX*])(?:\.(?:[0-9]{1,9}|[xX*])){0,2}`

var (
	hyphenRE     = lazyregexp.New(`^(` + partialVersion + `)\s+-\s+(` + partialVersion + `)$`)
	comparatorRE = lazyregexp.New(`^(>=|<=|>|<|=|\^|~>?)?\s*(` + partialVersion + `)(?:\s+|$)`)
)

// parseRange reads a range as npm has it, without versions before a release.
func parseRange(text string) (out versionRange, ok bool) {
	if len(text) > 200 || strings.TrimSpace(text) == "" {
		return nil, false
	}
	for one := range strings.SplitSeq(text, "||") {
		s, ok := parseSpan(strings.TrimSpace(one))
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// parseSpan reads comparators that hold together, or a span with a hyphen.
func parseSpan(text string) (out span, ok bool) {
	out.below = endless
	if m := hyphenRE.FindStringSubmatch(text); m != nil {
		return span{from: comparatorSpan(">=", m[1]).from, below: comparatorSpan("<=", m[2]).below}, true
	}
	for text != "" {
		m := comparatorRE.FindStringSubmatch(text)
		if m == nil {
			return out, false
		}
		s := comparatorSpan(m[1], m[2])
		if compareParts(s.from, out.from) > 0 {
			out.from = s.from
		}
		if compareParts(s.below, out.below) < 0 {
			out.below = s.below
		}
		text = text[len(m[0]):]
	}
	return out, true
}

// comparatorSpan is what one comparator means. A part that is missing stands for all.
func comparatorSpan(op, version string) span {
	v, given := parseParts(version), countParts(version)
	next := func(part int) [3]int { // the first version in which a part is another one
		if part < 0 || given == 0 {
			return endless
		}
		n := v
		n[part]++
		for i := part + 1; i < len(n); i++ {
			n[i] = 0
		}
		return n
	}
	all := next(given - 1) // that the version as it is written means
	switch op {
	case ">=":
		return span{v, endless}
	case ">":
		return span{all, endless}
	case "<":
		return span{[3]int{}, v}
	case "<=":
		return span{[3]int{}, all}
	case "^":
		first := slices.IndexFunc(v[:], func(n int) bool { return n > 0 })
		if first < 0 || first >= given {
			first = given - 1
		}
		return span{v, next(first)}
	case "~", "~>":
		return span{v, next(min(given-1, 1))}
	}
	return span{v, all}
}

// countParts is how many parts of a version are numbers.
func countParts(version string) int {
	n := 0
	for p := range strings.SplitSeq(strings.TrimPrefix(version, "v"), ".") {
		if strings.ContainsAny(p, "xX*") || p == "" {
			break
		}
		n++
	}
	return n
}

// parseParts are the numbers of a version; 0 where one is missing.
func parseParts(version string) (out [3]int) {
	for i, p := range strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3) {
		n, err := strconv.Atoi(p)
		if err != nil {
			break
		}
		out[i] = n
	}
	return out
}

func compareParts(a, b [3]int) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]), cmp.Compare(a[2], b[2]))
}
