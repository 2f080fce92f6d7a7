package glob

import "slices"

// CommonPath returns a shortest path that both globs match, and whether there is one. It does not look at files. It
// subtracts each pair of positions that it visits from the budget. If the budget is used up, it reports an overlap
// without a path.
//
// It searches the product of both automata and of the automaton of valid repository paths, breadth first.
func CommonPath(glob, b Glob, budget *int) (string, bool) {
	if glob.nfa == nil || b.nfa == nil {
		return "", false
	}
	if p := commonPrefix(glob.prefix, b.prefix); p != glob.prefix && p != b.prefix {
		return "", false
	}
	w := walk{a: glob.nfa.positions, b: b.nfa.positions, seen: map[pair]arrival{}}
	for _, i := range glob.nfa.starts {
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

// arrival tells how a pair was reached.
type arrival struct {
	from  pair
	read  rune // 0 means that no character was read
	first bool // the walk began here
}

func (w *walk) visit(p pair, by arrival) {
	if _, ok := w.seen[p]; !ok {
		w.seen[p] = by
		w.queue = append(w.queue, p)
	}
}

// step visits all pairs that follow a pair.
func (w *walk) step(at pair) {
	pa, pb := w.a[at.a], w.b[at.b]
	if pa.maySkip(at.v) {
		w.visit(pair{at.a + 1, at.b, at.v}, arrival{from: at})
	}
	if pb.maySkip(at.v) {
		w.visit(pair{at.a, at.b + 1, at.v}, arrival{from: at})
	}
	both := pa.set.intersectWith(pb.set)
	// One character of each kind represents all of its kind: positions do not distinguish them if both sets contain them.
	for _, k := range [...]runeKind{kindOther, kindDot, kindSlash} {
		if pathState := at.v.next(k); pathState != pathDead {
			if r, ok := both.pickRune(k); ok {
				w.visit(pair{pa.next(at.a), pb.next(at.b), pathState}, arrival{from: at, read: r})
			}
		}
	}
}

// next returns the position after this one, at index i, has read a character.
func (p position) next(i int32) int32 {
	if p.kind == readsOne {
		return i + 1
	}
	return i
}

// pathTo returns the path that leads to a pair.
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

// Mentions reports whether one glob matches a sample path of the other, in which each wildcard is a neutral name. It is
// a weaker check than CommonPath, for classes of paths in any folder. docs/** could contain docs/migrations/, and
// **/*.go could contain .github/x.go, but their author means neither. Refusing them would make plans impossible. It
// uses the budget. If the budget is used up, it reports true.
func (g Glob) Mentions(class Glob, budget *int) bool {
	return g.spellsOut(class, budget) || class.spellsOut(g, budget) || *budget < 0
}

// spellsOut reports whether the other glob matches a sample path of this one.
func (g Glob) spellsOut(other Glob, budget *int) bool {
	return slices.ContainsFunc(g.examples, func(e string) bool { return other.MatchWithin(e, budget) })
}

// IsWithin reports whether each sample path of the glob matches one of the classes. It uses the budget. If the budget
// is used up, it reports false.
func (g Glob) IsWithin(classes []Glob, budget *int) bool {
	for _, e := range g.examples {
		if !slices.ContainsFunc(classes, func(c Glob) bool { return c.MatchWithin(e, budget) }) {
			return false
		}
	}
	return len(g.examples) > 0
}
