package glob

import (
	"fmt"
	"slices"
)

// maxPositions limits the automaton of one glob, and therefore the cost of a match: a path's length times
// maxPositions/64 operations.
const maxPositions = 1024

const maxWords = maxPositions / 64

// position is a state of the automaton: a place in one of the glob's patterns.
type position struct {
	kind    positionKind
	set     runeSet // characters that it reads
	accepts bool    // a path may end here
}

type positionKind uint8

const (
	readsOne        positionKind = iota // one character, then the next position
	readsMany                           // any number of characters
	readsComponents                     // any number of whole components
	readsNothing                        // the end of a pattern
)

// maySkip reports whether the next position is reached without reading a character. v is the state of the path so far:
// ** may be skipped only at a component's start.
func (p position) maySkip(v pathState) bool {
	return p.kind == readsMany || p.kind == readsComponents && v == pathStart
}

// automaton accepts all paths that a pattern of a glob matches. The positions of a pattern are consecutive, so that a
// match moves 64 positions at once.
type automaton struct {
	positions []position
	starts    []int32 // the first position of each pattern
	bits      bitmaps
}

// bitmaps holds sets of positions for match. All have the same length.
type bitmaps struct {
	start, accept []uint64   // start: including positions that are reached from there without reading
	many          []uint64   // positions that read any number of characters and may be skipped
	loops         []uint64   // many, and ** before a component, which may be skipped at a component's start
	loopsAtSlash  []uint64   // loops that also read a separator
	reads         []uint64   // one set for each ASCII character: the positions that read it and advance
	wide          []position // positions that read one character, possibly beyond ASCII
	wideAt        []int32    // their indexes
}

// add makes the automaton accept another pattern.
func (n *automaton) add(parts []globPart, syntax Syntax) error {
	n.starts = append(n.starts, int32(len(n.positions)))
	size := 1 // allocate once: each start of the program parses a hundred globs
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
		for _, globToken := range p.tokens {
			if globToken.star {
				put(position{kind: readsMany, set: nameSet})
			} else {
				put(position{kind: readsOne, set: globToken.set})
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
	bitmaps := &n.bits
	all := make([]uint64, (5+128)*words)
	take := func() []uint64 {
		set := all[:words:words]
		all = all[words:]
		return set
	}
	bitmaps.start = take()
	bitmaps.accept = take()
	bitmaps.many = take()
	bitmaps.loops = take()
	bitmaps.loopsAtSlash = take()
	bitmaps.reads = all
	for _, i := range n.starts {
		for bitmaps.start[i/64] |= 1 << (i % 64); n.positions[i].maySkip(pathStart); {
			i++
			bitmaps.start[i/64] |= 1 << (i % 64)
		}
	}
	for i, position := range n.positions {
		word, bit := i/64, uint64(1)<<(i%64)
		if position.accepts {
			bitmaps.accept[word] |= bit
		}
		switch position.kind {
		case readsOne:
			for _, r := range position.set {
				for c := r[0]; c <= min(r[1], 127); c++ {
					bitmaps.reads[int(c)*words+word] |= bit
				}
			}
			if n := len(position.set); n > 0 && position.set[n-1][1] > 127 {
				bitmaps.wide, bitmaps.wideAt = append(bitmaps.wide, position), append(bitmaps.wideAt, int32(i))
			}
		case readsMany, readsComponents:
			if position.kind == readsMany {
				bitmaps.many[word] |= bit
			}
			bitmaps.loops[word] |= bit
			if position.set.contains('/') {
				bitmaps.loopsAtSlash[word] |= bit
			}
		}
	}
}

// match reports whether the automaton accepts a path. It subtracts its cost from the budget.
func (n *automaton) match(path string, budget *int) bool {
	bitmaps := &n.bits
	words := len(bitmaps.start)
	var sets, beyond [maxWords]uint64
	set := sets[:words]
	copy(set, bitmaps.start)
	pathState := pathStart
	for _, r := range path {
		*budget -= words
		if pathState = pathState.next(runeKindOf(r)); pathState == pathDead || r == 0 {
			return false
		}
		reads := beyond[:words]
		stays := bitmaps.loops
		skips := bitmaps.many
		if r < 128 {
			reads = bitmaps.reads[int(r)*words:]
		} else {
			*budget -= len(bitmaps.wide)
			bitmaps.readBeyondASCII(r, reads)
		}
		if r == '/' {
			stays, skips = bitmaps.loopsAtSlash, bitmaps.loops
		}
		if !move(set, reads, stays, skips) {
			return false
		}
	}
	for w := range set {
		if set[w]&bitmaps.accept[w] != 0 {
			return pathState.isAccepting()
		}
	}
	return false
}

// move replaces a set of positions with the ones after one more character: the positions behind those that read it, the
// ones that stay, and the ones reached from them without reading. At most two skippable positions follow each other, as
// in **/*. It reports whether the new set is not empty.
func move(set, reads, stays, skips []uint64) bool {
	reads = reads[:len(set)]
	stays = stays[:len(set)]
	skips = skips[:len(set)]
	var wentOver, skippedOver, againOver, any uint64 // bits that carry into the next 64
	for w, s := range set {
		went := s & reads[w]
		s = s&stays[w] | went<<1 | wentOver
		skipped := s & skips[w]
		s |= skipped<<1 | skippedOver
		again := s & skips[w]
		s |= again<<1 | againOver
		wentOver = went >> 63
		skippedOver = skipped >> 63
		againOver = again >> 63
		set[w] = s
		any |= s
	}
	return any != 0
}

// readBeyondASCII sets the positions that read a character beyond ASCII and advance.
func (b *bitmaps) readBeyondASCII(r rune, set []uint64) {
	clear(set)
	for i, p := range b.wide {
		if p.set.contains(r) {
			set[b.wideAt[i]/64] |= 1 << (b.wideAt[i] % 64)
		}
	}
}
