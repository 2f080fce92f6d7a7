package glob

import "unicode"

// An automaton of valid repository paths, over kinds of characters.
type (
	pathState uint8
	runeKind  uint8
)

const (
	pathDead   pathState = iota
	pathStart            // at the start of a component
	pathDot              // after "."
	pathDotDot           // after ".."
	pathName             // inside a name
)

const (
	kindOther runeKind = iota
	kindDot
	kindSlash
)

func runeKindOf(r rune) runeKind {
	switch r {
	case '.':
		return kindDot
	case '/':
		return kindSlash
	}
	return kindOther
}

func (v pathState) next(k runeKind) pathState {
	switch {
	case v == pathDead || k == kindSlash && v != pathName:
		return pathDead
	case k == kindSlash:
		return pathStart
	case k == kindDot && v == pathStart:
		return pathDot
	case k == kindDot && v == pathDot:
		return pathDotDot
	}
	return pathName
}

func (v pathState) isAccepting() bool { return v == pathName }

// runeSet is a set of characters as sorted, disjoint, inclusive ranges.
type runeSet [][2]rune

// Only slashSet and anySet contain the separator. No set contains NUL or a surrogate, which a path cannot contain.
var (
	slashSet = runeSet{{'/', '/'}}
	nameSet  = runeSet{{1, '/' - 1}, {'/' + 1, 0xD7FF}, {0xE000, unicode.MaxRune}}
	anySet   = runeSet{{1, 0xD7FF}, {0xE000, unicode.MaxRune}}
)

func (s runeSet) contains(r rune) bool {
	for _, p := range s {
		if p[0] <= r && r <= p[1] {
			return true
		}
	}
	return false
}

func (s runeSet) intersectWith(t runeSet) runeSet {
	out := runeSet{}
	for i, j := 0, 0; i < len(s) && j < len(t); {
		if lo, hi := max(s[i][0], t[j][0]), min(s[i][1], t[j][1]); lo <= hi {
			out = append(out, [2]rune{lo, hi})
		}
		if s[i][1] < t[j][1] {
			i++
		} else {
			j++
		}
	}
	return out
}

// subtract returns the set without the ranges of an unsorted list.
func (s runeSet) subtract(list runeSet) runeSet {
	out := s
	for _, p := range list {
		rest := runeSet{}
		for _, q := range out {
			if q[0] < p[0] {
				rest = append(rest, [2]rune{q[0], min(q[1], p[0]-1)})
			}
			if q[1] > p[1] {
				rest = append(rest, [2]rune{max(q[0], p[1]+1), q[1]})
			}
		}
		out = rest
	}
	return out
}

// pickRune returns a character of the kind from the set, preferably a readable one. It reports whether there is one.
func (s runeSet) pickRune(k runeKind) (rune, bool) {
	switch k {
	case kindDot:
		return '.', s.contains('.')
	case kindSlash:
		return '/', s.contains('/')
	}
	for _, r := range "xa0_" {
		if s.contains(r) {
			return r, true
		}
	}
	for _, p := range s {
		for r := p[0]; r <= p[1]; r++ {
			if runeKindOf(r) == kindOther {
				return r, true
			}
		}
	}
	return 0, false
}
