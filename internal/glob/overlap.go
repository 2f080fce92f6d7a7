package glob

import "slices"

// CommonPath is a shortest path that both globs match, if there is one, whatever
// files exist. It spends the budget, of pairs of positions that it looks at; a
// question that is too large to decide counts as an overlap without a path.
//
// It walks the product of both automata and of the one that accepts the
// paths a repository can have, breadth first.
func CommonPath(a, b Glob, budget *int) (string, bool) {
	if a.nfa == nil || b.nfa == nil {
		return "", false
	}
	if p := commonPrefix(a.prefix, b.prefix); p != a.prefix && p != b.prefix {
		return "", false
	}
	w := walk{a: a.nfa.positions, b: b.nfa.positions, seen: map[pair]arrival{}}
	for _, i := range a.nfa.starts {
		for _, j := range b.nfa.starts {
			w.visit(pair{i, j, pathStart}, arrival{first: true})
		}
	}
	for n := 0; n < len(w.queue); n++ {
		if *budget--; *budget < 0 {
			return "", true
		}
		at := w.queue[n]
		if w.a[at.a].accepts && w.b[at.b].accepts && at.v.isAccepting() {
			return w.pathTo(at), true
		}
		w.step(at)
	}
	return "", false
}

// walk is a search through the pairs of positions of two automata.
type walk struct {
	a, b  []position
	seen  map[pair]arrival
	queue []pair
}

// pair is a position in each automaton, and the state of the path read so far.
type pair struct {
	a, b int32
	v    pathState
}

// arrival is how a pair was reached.
type arrival struct {
	from  pair
	read  rune // 0: nothing was read
	first bool // the walk began here
}

func (w *walk) visit(p pair, by arrival) {
	if _, ok := w.seen[p]; !ok {
		w.seen[p] = by
		w.queue = append(w.queue, p)
	}
}

// step visits all pairs that follow one.
func (w *walk) step(at pair) {
	pa, pb := w.a[at.a], w.b[at.b]
	if pa.maySkip(at.v) {
		w.visit(pair{at.a + 1, at.b, at.v}, arrival{from: at})
	}
	if pb.maySkip(at.v) {
		w.visit(pair{at.a, at.b + 1, at.v}, arrival{from: at})
	}
	both := pa.set.intersectWith(pb.set)
	// One character of each kind stands for all of its kind: no position
	// tells two of them apart once both sets hold them.
	for _, k := range [...]runeKind{kindOther, kindDot, kindSlash} {
		if v := at.v.next(k); v != pathDead {
			if r, ok := both.pickRune(k); ok {
				w.visit(pair{pa.next(at.a), pb.next(at.b), v}, arrival{from: at, read: r})
			}
		}
	}
}

// next is the position after this one, at i, has read a character.
func (p position) next(i int32) int32 {
	if p.kind == readsOne {
		return i + 1
	}
	return i
}

// pathTo is the path that was read on the way to a pair.
func (w *walk) pathTo(at pair) string {
	var path []rune
	for by := w.seen[at]; !by.first; by = w.seen[at] {
		if by.read != 0 {
			path = append(path, by.read)
		}
		at = by.from
	}
	slices.Reverse(path)
	return string(path)
}

// Mentions reports whether one glob speaks of what the other means: a path that
// one spells out, its wildcards filled with a neutral name, is matched by the
// other. It is the weaker sister of CommonPath for classes of paths that may lie
// anywhere: docs/** could hold docs/migrations/, and **/*.go could hold
// .github/x.go, but neither is what its author speaks of, and to refuse them
// would leave no plan. It spends the budget; a question that is too large to
// decide counts as a mention.
func (g Glob) Mentions(class Glob, budget *int) bool {
	return g.spellsOut(class, budget) || class.spellsOut(g, budget) || *budget < 0
}

// spellsOut reports whether the other glob matches an example of this one.
func (g Glob) spellsOut(other Glob, budget *int) bool {
	return slices.ContainsFunc(g.examples, func(e string) bool { return other.MatchWithin(e, budget) })
}

// IsWithin reports whether all that the glob spells out lies in one of the
// classes. It spends the budget; a question that is too large to decide is
// answered by no.
func (g Glob) IsWithin(classes []Glob, budget *int) bool {
	for _, e := range g.examples {
		if !slices.ContainsFunc(classes, func(c Glob) bool { return c.MatchWithin(e, budget) }) {
			return false
		}
	}
	return len(g.examples) > 0
}
