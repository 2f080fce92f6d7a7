package node

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"company/internal/lib/lazyregexp"
)

// span is the range of versions from one version up to, but not including, another.
type span struct{ from, below [3]int }

// versionRange is a list of spans. A version is in the range if any span contains it.
type versionRange []span

// containsVersion reports whether a version is in the range.
func (r versionRange) containsVersion(v [3]int) bool {
	return slices.ContainsFunc(r, func(s span) bool {
		return compareParts(v, s.from) >= 0 && compareParts(v, s.below) < 0
	})
}

var endless = [3]int{math.MaxInt32, 0, 0}

const partialVersion = `v?(?:[0-9]{1,9}|[xX*])(?:\.(?:[0-9]{1,9}|[xX*])){0,2}`

var (
	hyphenRE     = lazyregexp.New(`^(` + partialVersion + `)\s+-\s+(` + partialVersion + `)$`)
	comparatorRE = lazyregexp.New(`^(>=|<=|>|<|=|\^|~>?)?\s*(` + partialVersion + `)(?:\s+|$)`)
)

// parseRange parses a version range in npm's syntax, without prereleases.
func parseRange(text string) (out versionRange, ok bool) {
	if len(text) > 200 || strings.TrimSpace(text) == "" {
		return nil, false
	}
	for one := range strings.SplitSeq(text, "||") {
		span, ok := parseSpan(strings.TrimSpace(one))
		if !ok {
			return nil, false
		}
		out = append(out, span)
	}
	return out, true
}

// parseSpan parses comparators that must all hold, or a span with a hyphen.
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

// comparatorSpan returns the span of one comparator. A missing part of the version matches all numbers.
func comparatorSpan(op, version string) span {
	v, given := parseParts(version), countParts(version)
	next := func(part int) [3]int { // the first version in which a part is higher
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
	all := next(given - 1) // the end of the versions that version itself matches
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

// countParts returns how many leading parts of a version are numbers.
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

// parseParts returns the numbers of a version. Missing ones are 0.
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
