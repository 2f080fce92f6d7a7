package marks

import (
	"cmp"
	"maps"
	"slices"
)

// tally counts deaths. Places without one are not in it.
type tally map[Place]Death

// die counts a death of the process at each of the places.
func (t tally) die(places []Place) {
	for _, p := range places {
		d := t[p]
		d.Place = p
		d.Count++
		t[p] = d
	}
}

// pass forgets the deaths at a place, and reports whether there were any.
func (t tally) pass(p Place) bool {
	_, died := t[p]
	delete(t, p)
	return died
}

// show notes that the president has seen a place.
func (t tally) show(p Place) {
	if d, ok := t[p]; ok {
		d.Shown = true
		t[p] = d
	}
}

// retry has the places of an owner that the president has seen tried once more: one more death sets such a place
// aside again. It reports whether there were any.
func (t tally) retry(owner string) bool {
	any := false
	for p, d := range t {
		if p.Owner == owner && d.Shown {
			t[p] = Death{Place: p, Count: Limit - 1}
			any = true
		}
	}
	return any
}

// hasDeaths reports whether there are deaths at the effect with this key.
func (t tally) hasDeaths(key string) bool {
	for p := range t {
		if p.Doing == Effect && p.Owner == key {
			return true
		}
	}
	return false
}

// setAside lists the places with Limit deaths, of one owner or of all.
func (t tally) setAside(owner string) []Death {
	var out []Death
	for _, d := range t.sorted() {
		if d.Count >= Limit && (owner == "" || d.Owner == owner) {
			out = append(out, d)
		}
	}
	return out
}

func (t tally) sorted() []Death {
	return slices.SortedFunc(maps.Values(t), func(a, b Death) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Doing, b.Doing), cmp.Compare(a.N, b.N), cmp.Compare(a.Part, b.Part))
	})
}
