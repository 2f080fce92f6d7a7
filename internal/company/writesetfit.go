package company

// Fit compares a planned write set with the files that were changed.
type Fit struct {
	Planned int `json:"planned"` // globs of the write set
	Used    int `json:"used"`    // globs that match a changed file
	Changed int `json:"changed"` // files
	Covered int `json:"covered"` // changed files that a glob matches
}

// Precision returns the share of the planned globs that match a changed file, from 0 to 1. ok is false if no glob was
// planned.
func (f Fit) Precision() (share float64, ok bool) { return shareOf(f.Used, f.Planned) }

// Recall returns the share of the changed files that a planned glob matches, from 0 to 1. ok is false if no file was
// changed.
func (f Fit) Recall() (share float64, ok bool) { return shareOf(f.Covered, f.Changed) }

func shareOf(part, whole int) (float64, bool) {
	if whole == 0 {
		return 0, false
	}
	return float64(part) / float64(whole), true
}

// Add returns the sum of two fits, each of a write set with its own files.
func (f Fit) Add(g Fit) Fit {
	return Fit{f.Planned + g.Planned, f.Used + g.Used, f.Changed + g.Changed, f.Covered + g.Covered}
}

// WriteSetFit compares the globs of a write set with the paths of the changed files. An invalid glob matches no path
// but counts as planned. ok is false if the budget of NewMatchBudget was used up.
func WriteSetFit(writeSet, changed []string, budget *int) (fit Fit, ok bool) {
	fit = Fit{Planned: len(writeSet), Changed: len(changed)}
	globs := newCoverage(writeSet, budget)
	used := make([]bool, len(writeSet))
	for _, path := range changed {
		covered := false
		for i := range globs.globs {
			// A used glob adds no information about a covered file.
			if (!covered || !used[i]) && globs.matches(i, path) {
				covered, used[i] = true, true
			}
		}
		if covered {
			fit.Covered++
		}
	}
	for _, is := range used {
		if is {
			fit.Used++
		}
	}
	return fit, *budget >= 0
}
