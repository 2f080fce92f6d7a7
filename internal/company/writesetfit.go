package company

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
// changed. A glob that cannot be read matches nothing, and counts as planned. ok is false
// where the budget of NewMatchBudget did not suffice.
func WriteSetFit(writeSet, changed []string, budget *int) (f Fit, ok bool) {
	f = Fit{Planned: len(writeSet), Changed: len(changed)}
	globs := newCoverage(writeSet, budget)
	used := make([]bool, len(writeSet))
	for _, path := range changed {
		covered := false
		for i := range globs.globs {
			// A glob that is in use already says nothing new about a covered file.
			if (!covered || !used[i]) && globs.matches(i, path) {
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
	return f, *budget >= 0
}
