package glob

import (
	"fmt"
	"slices"
)

// maxPositions limits the automaton of one glob, and so what a match costs:
// a path's length times maxPositions/64 operations.
const maxPositions = 1024

const maxWords = maxPositions / 64

// position is a state of the automaton: a place in one of the glob's patterns.
type position struct {
	kind    positionKind
	set     runeSet // characters that are read here
	accepts bool    // a path may end here
}

type positionKind uint8

const (
	readsOne        positionKind = iota // one character, then the next position
	readsMany                           // any number of characters
	readsComponents                     // any number of whole components
	readsNothing                        // the end of a pattern
)

// maySkip reports whether the next position is reached without reading. v is the
// path up to here: ** gives way to the next component at a component's start only.
func (p position) maySkip(v pathState) bool {
	return p.kind == readsMany || p.kind == readsComponents && v == pathStart
}

// automaton accepts what any of the patterns of a glob matches. The positions
// of a pattern follow each other, so that a match moves 64 positions at once.
type automaton struct {
	positions []position
	starts    []int32 // the first position of each pattern
	bits      bitmaps
}

// bitmaps are sets of positions, for match. All have the same length.
type bitmaps struct {
	start, accept []uint64   // start: with positions that are reached from there without reading
	many          []uint64   // read any number of characters, and may be skipped
	loops         []uint64   // these, and ** before a component, which may be skipped at a component's start
	loopsAtSlash  []uint64   // loops that read a separator, too
	reads         []uint64   // by character of ASCII, one set behind the other: the positions that read it and go on
	wide          []position // that read one character, which may be beyond ASCII
	wideAt        []int32    // their numbers
}

// add makes the automaton accept a pattern as well.
func (n *automaton) add(parts []globPart, syntax Syntax) error {
	n.starts = append(n.starts, int32(len(n.positions)))
	size := 1 // room for all at once: each start of the program reads a hundred globs
	for _, p := range parts {
		size += len(p.tokens) + 2
	}
	n.positions = slices.Grow(n.positions, size)
	put := func(p position) { n.positions = append(n.positions, p) }
	slash := false // a separator is due before the next component
	for i, p := range parts {
		last := i == len(parts)-1
		if slash {
			put(position{kind: readsOne, set: slashSet, accepts: p.globstar && last && syntax == Full})
		}
		if p.globstar {
			kind := readsComponents
			if last {
				kind = readsMany
			}
			put(position{kind: kind, set: anySet})
			slash = false
			continue
		}
		for _, t := range p.tokens {
			if t.star {
				put(position{kind: readsMany, set: nameSet})
			} else {
				put(position{kind: readsOne, set: t.set})
			}
		}
		slash = true
	}
	put(position{kind: readsNothing, accepts: true})
	if len(n.positions) > maxPositions {
		return fmt.Errorf("its patterns have more than %d characters and wildcards together", maxPositions)
	}
	return nil
}

// index prepares the automaton for match.
func (n *automaton) index() {
	words := (len(n.positions) + 63) / 64
	b := &n.bits
	all := make([]uint64, (5+128)*words)
	take := func() []uint64 {
		set := all[:words:words]
		all = all[words:]
		return set
	}
	b.start, b.accept, b.many, b.loops, b.loopsAtSlash = take(), take(), take(), take(), take()
	b.reads = all
	for _, i := range n.starts {
		for b.start[i/64] |= 1 << (i % 64); n.positions[i].maySkip(pathStart); {
			i++
			b.start[i/64] |= 1 << (i % 64)
		}
	}
	for i, p := range n.positions {
		word, bit := i/64, uint64(1)<<(i%64)
		if p.accepts {
			b.accept[word] |= bit
		}
		switch p.kind {
		case readsOne:
			for _, r := range p.set {
				for c := r[0]; c <= min(r[1], 127); c++ {
					b.reads[int(c)*words+word] |= bit
				}
			}
			if n := len(p.set); n > 0 && p.set[n-1][1] > 127 {
				b.wide, b.wideAt = append(b.wide, p), append(b.wideAt, int32(i))
			}
		case readsMany, readsComponents:
			if p.kind == readsMany {
				b.many[word] |= bit
			}
			b.loops[word] |= bit
			if p.set.contains('/') {
				b.loopsAtSlash[word] |= bit
			}
		}
	}
}

// match reports whether the automaton accepts a path, and takes what that cost
// from the budget.
func (n *automaton) match(path string, budget *int) bool {
	b := &n.bits
	words := len(b.start)
	var sets, beyond [maxWords]uint64
	set := sets[:words]
	copy(set, b.start)
	v := pathStart
	for _, r := range path {
		*budget -= words
		if v = v.next(runeKindOf(r)); v == pathDead || r == 0 {
			return false
		}
		reads, stays, skips := beyond[:words], b.loops, b.many
		if r < 128 {
			reads = b.reads[int(r)*words:]
		} else {
			*budget -= len(b.wide)
			b.readBeyondASCII(r, reads)
		}
		if r == '/' {
			stays, skips = b.loopsAtSlash, b.loops
		}
		if !move(set, reads, stays, skips) {
			return false
		}
	}
	for w := range set {
		if set[w]&b.accept[w] != 0 {
			return v.isAccepting()
		}
	}
	return false
}

// move replaces a set of positions by those after one more character: the
// positions behind those that read it, those that stay, and those that are
// reached from them without reading. No more than two positions that may be
// skipped follow each other, as in **/*. It reports whether there is any.
func move(set, reads, stays, skips []uint64) bool {
	reads, stays, skips = reads[:len(set)], stays[:len(set)], skips[:len(set)]
	var wentOver, skippedOver, againOver, any uint64 // bits that move into the next 64
	for w, s := range set {
		went := s & reads[w]
		s = s&stays[w] | went<<1 | wentOver
		skipped := s & skips[w]
		s |= skipped<<1 | skippedOver
		again := s & skips[w]
		s |= again<<1 | againOver
		wentOver, skippedOver, againOver = went>>63, skipped>>63, again>>63
		set[w] = s
		any |= s
	}
	return any != 0
}

// readBeyondASCII sets the positions that read a character beyond ASCII and go on.
func (b *bitmaps) readBeyondASCII(r rune, set []uint64) {
	clear(set)
	for i, p := range b.wide {
		if p.set.contains(r) {
			set[b.wideAt[i]/64] |= 1 << (b.wideAt[i] % 64)
		}
	}
}
