package company

import "company/internal/glob"

// Fit is how a planned write set meets the files that were changed.
type Fit struct {
	Planned int `json:"planned"` // globs of the write set
	Used    int `json:"used"`    // globs of them that match a changed file
	Changed int `json:"changed"` // files
	Covered int `json:"covered"` // files of them that a glob matches
}

// Precision is the share of the planned globs that match a changed file, from 0 to 1.
// ok is false where nothing was planned.
func (f Fit) Precision() (share float64, ok bool) { return shareOf(f.Used, f.Planned) }

// Recall is the share of the changed files that a planned glob matches, from 0 to 1.
// ok is false where nothing was changed.
func (f Fit) Recall() (share float64, ok bool) { return shareOf(f.Covered, f.Changed) }

func shareOf(part, whole int) (float64, bool) {
	if whole == 0 {
		return 0, false
	}
	return float64(part) / float64(whole), true
}

// Add is the fit of two write sets, each held against its own files.
func (f Fit) Add(g Fit) Fit {
	return Fit{f.Planned + g.Planned, f.Used + g.Used, f.Changed + g.Changed, f.Covered + g.Covered}
}

// WriteSetFit holds the globs of a write set against the paths of the files that were
// changed. A glob that cannot be read matches nothing, and counts as planned.
func WriteSetFit(writeSet, changed []string) Fit {
	f := Fit{Planned: len(writeSet), Changed: len(changed)}
	var globs []glob.Glob
	for _, w := range writeSet {
		if g, err := glob.Parse(w); err == nil {
			globs = append(globs, g)
		}
	}
	used := make([]bool, len(globs))
	for _, path := range changed {
		covered := false
		for i, g := range globs {
			if g.Match(path) {
				covered, used[i] = true, true
			}
		}
		if covered {
			f.Covered++
		}
	}
	for _, is := range used {
		if is {
			f.Used++
		}
	}
	return f
}
