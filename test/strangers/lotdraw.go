package strangers

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// mix is what a whole draw holds: 8 of Node and TypeScript, 5 of Go, 4 of Python, 2 of
// C or C++, and one of Rust or PHP.
var mix = []struct {
	from  []Stratum // one of them is drawn for each case
	count int
}{
	{[]Stratum{DebianNode}, 3},
	{[]Stratum{Npm}, 2},
	{[]Stratum{Generator}, 3},
	{[]Stratum{GoProxy}, 4},
	{[]Stratum{DebianGo}, 1},
	{[]Stratum{Python}, 4},
	{[]Stratum{Native}, 2},
	{[]Stratum{Rust, PHP}, 1},
}

// wholeDraw is the number of cases of a whole draw.
const wholeDraw = 20

// drawnPlace is one case of a draw: its stratum, and the repositories of it in the order in
// which they are tried until one can be measured.
type drawnPlace struct {
	Number     int // from 1
	Stratum    Stratum
	Candidates []Listed
	seed       string // of the draw
}

// seedText names a draw: the commit that is measured, and which of its draws.
func seedText(commit string, draw int) string { return fmt.Sprintf("%s/%d", commit, draw) }

// newRandom returns the generator of a seed and of a purpose within it. Equal words make
// equal numbers.
func newRandom(seed, purpose string) *rand.Rand {
	sum := sha256.Sum256([]byte(seed + "\n" + purpose))
	return rand.New(
		rand.NewPCG(binary.BigEndian.Uint64(sum[:8]),
			binary.BigEndian.Uint64(sum[8:16]))) // it has to be repeatable
}

// drawPlaces returns the first n cases of the draw with a seed. The whole draw holds the
// mix, and no repository is a candidate of two cases.
func drawPlaces(seed string, n int, read func(Stratum) ([]Listed, error)) ([]drawnPlace, error) {
	random := newRandom(seed, "draw")
	var places []drawnPlace
	for _, part := range mix {
		for range part.count {
			places = append(places, drawnPlace{Stratum: part.from[random.IntN(len(part.from))]})
		}
	}
	random.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	pools := map[Stratum][]Listed{}
	sharers := map[Stratum]int{}
	for _, p := range places {
		sharers[p.Stratum]++
	}
	taken := map[Stratum]int{}
	for i := range places {
		p := &places[i]
		if pools[p.Stratum] == nil {
			list, err := read(p.Stratum)
			if err != nil {
				return nil, err
			}
			if len(list) < sharers[p.Stratum] {
				return nil, fmt.Errorf("the list %s has %d repositories, the draw needs %d", p.Stratum, len(list),
					sharers[p.Stratum])
			}
			pool := append([]Listed(nil), list...)
			newRandom(seed, string(p.Stratum)).Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
			pools[p.Stratum] = pool
		}
		// The pool is dealt out like cards: a later case does not wait for what earlier ones pass over.
		for at := taken[p.Stratum]; at < len(pools[p.Stratum]); at += sharers[p.Stratum] {
			p.Candidates = append(p.Candidates, pools[p.Stratum][at])
		}
		taken[p.Stratum]++
		p.Number = i + 1
		p.seed = seed
	}
	return places[:min(max(n, 0), len(places))], nil
}
