package glob

import (
	"unicode"
)

// The paths a repository can have, as an automaton over kinds of characters.
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

// runeSet is a set of characters as sorted, disjoint, inclusive ranges. As an
// edge's label, nil means that nothing is read.
type runeSet [][2]rune

// No set but slashSet holds the separator; none holds NUL or a surrogate,
// which no path can hold.
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

// subtract is the set without the ranges of an unsorted list.
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

// pickRune is a character of the kind in the set, a readable one where there is.
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

// automaton is a nondeterministic finite automaton with one start and one
// final state.
type automaton struct {
	start, final int32
	edges        [][]edge
}

type edge struct {
	set runeSet // nil: nothing is read
	to  int32
}

func newAutomaton() *automaton { return &automaton{start: 0, final: 1, edges: make([][]edge, 2)} }

func (n *automaton) addState() int32 {
	n.edges = append(n.edges, nil)
	return int32(len(n.edges) - 1)
}

func (n *automaton) addEdge(from int32, set runeSet, to int32) {
	n.edges[from] = append(n.edges[from], edge{set, to})
}

// add makes the automaton accept the pattern as well.
func (n *automaton) add(parts []globPart) {
	cur := n.addState()
	n.addEdge(n.start, nil, cur)
	slash := false // a separator is due before the next component
	for i, p := range parts {
		last := i == len(parts)-1
		if p.globstar && last && slash {
			n.addEdge(cur, nil, n.final) // a/** matches a too, as in doublestar
		}
		if slash {
			next := n.addState()
			n.addEdge(cur, slashSet, next)
			cur = next
		}
		if p.globstar {
			loop := n.addState()
			n.addEdge(cur, nil, loop)
			if last {
				n.addEdge(loop, anySet, loop)
			} else {
				name := n.addState()
				n.addEdge(loop, nameSet, name)
				n.addEdge(name, nameSet, name)
				n.addEdge(name, slashSet, loop)
			}
			cur, slash = loop, false
			continue
		}
		for _, t := range p.tokens {
			next := n.addState()
			if t.star {
				n.addEdge(cur, nil, next)
				n.addEdge(next, nameSet, next)
			} else {
				n.addEdge(cur, t.set, next)
			}
			cur = next
		}
		slash = true
	}
	n.addEdge(cur, nil, n.final)
}

// epsilonClosure is the set of states reached from these without reading.
func (n *automaton) epsilonClosure(states ...int32) []int32 {
	seen := make([]bool, len(n.edges))
	out := states[:0:0]
	for len(states) > 0 {
		s := states[len(states)-1]
		states = states[:len(states)-1]
		if seen[s] {
			continue
		}
		seen[s] = true
		out = append(out, s)
		for _, e := range n.edges[s] {
			if e.set == nil {
				states = append(states, e.to)
			}
		}
	}
	return out
}

func (n *automaton) stepStates(cur []int32, r rune) []int32 {
	var next []int32
	for _, s := range cur {
		for _, e := range n.edges[s] {
			if e.set != nil && e.set.contains(r) {
				next = append(next, e.to)
			}
		}
	}
	if next == nil {
		return nil
	}
	return n.epsilonClosure(next...)
}
