package marks

import (
	"cmp"
	"maps"
	"slices"
)

// tally counts deaths by place. Places without deaths are not in it.
type tally map[Place]Death

// die counts a death of the process at each of the places.
func (t tally) die(places []Place) {
	for _, place := range places {
		death := t[place]
		death.Place = place
		death.Count++
		t[place] = death
	}
}

// pass removes the deaths at a place and reports whether there were any.
func (t tally) pass(place Place) bool {
	_, died := t[place]
	delete(t, place)
	return died
}

// show records that the president has seen a place.
func (t tally) show(place Place) {
	if death, ok := t[place]; ok {
		death.Shown = true
		t[place] = death
	}
}

// retry allows one more attempt at the places of an owner that the president has seen: one more death
// sets such a place aside again. It reports whether there were any.
func (t tally) retry(owner string) bool {
	any := false
	for place, d := range t {
		if place.Owner == owner && d.Shown {
			t[place] = Death{Place: place, Count: Limit - 1}
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

// setAside lists the places with at least Limit deaths. An empty owner means all owners.
func (t tally) setAside(owner string) []Death {
	var out []Death
	for _, death := range t.sorted() {
		if death.Count >= Limit && (owner == "" || death.Owner == owner) {
			out = append(out, death)
		}
	}
	return out
}

func (t tally) sorted() []Death {
	return slices.SortedFunc(maps.Values(t), func(death, b Death) int {
		return cmp.Or(cmp.Compare(death.Owner, b.Owner), cmp.Compare(death.Doing, b.Doing), cmp.Compare(death.N, b.N),
			cmp.Compare(death.Part, b.Part))
	})
}
