package company

import (
	"slices"
	"strings"

	"company/internal/company/glob"
)

// OutsideFile is a changed file of a subtask that its write set does not cover.
type OutsideFile struct {
	Path string `json:"path"`
	// Meets lists the other subtasks that may write the file by their write set, or have changed it. For an open subtask,
	// these are other open subtasks, which may conflict over the file.
	Meets []SubtaskID `json:"meets"`
}

// OutsideWriteSet returns the files of a subtask's head that its write set does not cover, in the order of its changes
// (SUB-18). A write set of **, such as that of a repair, covers all files. As another subtask's write set, ** plans no
// particular file, so it meets none. If the budget of NewMatchBudget is used up for a file, the file is listed and
// meets none.
func (t *Task) OutsideWriteSet(sub *Subtask, budget *int) []OutsideFile {
	return t.findOutside(sub, budget, func(other *Subtask) bool { return !other.Status.Ended() })
}

// OutsideOfMerged is like OutsideWriteSet for a merged subtask, with the merged subtasks that its files meet.
func (t *Task) OutsideOfMerged(sub *Subtask, budget *int) []OutsideFile {
	return t.findOutside(sub, budget, func(other *Subtask) bool { return other.Status == SubtaskCompleted })
}

// findOutside returns the files of a subtask outside of its write set, with the other subtasks that write them. It
// considers only subtasks for which counts is true.
func (t *Task) findOutside(sub *Subtask, budget *int, counts func(other *Subtask) bool) []OutsideFile {
	own := newCoverage(sub.Planned.WriteSet, budget)
	var out []OutsideFile
	for _, change := range sub.Changes {
		if !own.coversPath(change.Path) {
			out = append(out, OutsideFile{Path: change.Path, Meets: []SubtaskID{}})
		}
	}
	if len(out) == 0 {
		return nil
	}
	for _, other := range t.Subtasks {
		if other == sub || !counts(other) {
			continue
		}
		claims := other.claimPaths(budget)
		for i := range out {
			if claims(out[i].Path) {
				out[i].Meets = append(out[i].Meets, other.ID)
			}
		}
	}
	return out
}

// Describe formats the file for a list, with the subtasks that it meets.
func (f OutsideFile) Describe() string {
	switch len(f.Meets) {
	case 0:
		return f.Path
	case 1:
		return f.Path + " (" + string(f.Meets[0]) + " writes it, too)"
	}
	return f.Path + " (" + JoinIDs(f.Meets) + " write it, too)"
}

// claimPaths returns a function that reports whether the subtask planned to write a path, or changed it.
func (sub *Subtask) claimPaths(budget *int) func(path string) bool {
	changed := make(map[string]bool, len(sub.Changes))
	for _, c := range sub.Changes {
		changed[c.Path] = true
	}
	var planned coverage
	if !slices.Contains(sub.Planned.WriteSet, "**") {
		planned = newCoverage(sub.Planned.WriteSet, budget)
	}
	return func(path string) bool { return changed[path] || planned.coversPath(path) }
}

// matchSteps limits the steps of NewMatchBudget.
const matchSteps = 1 << 26

// NewMatchBudget returns the number of steps for comparing write sets with files for one page or prompt. It suffices
// for the largest plans that people write. Globs that were made to be slow use it up in less than a second.
func NewMatchBudget() *int {
	steps := matchSteps
	return &steps
}

// coverage is a write set for comparison with many paths. A glob is parsed once, and only if its beginning fits a path,
// because a task may have thousands of subtasks, each with thousands of changes.
type coverage struct {
	globs  []plannedGlob
	budget *int
}

type plannedGlob struct {
	text, begin string
	read        bool
	glob        glob.Glob
}

func newCoverage(writeSet []string, budget *int) coverage {
	out := coverage{make([]plannedGlob, 0, len(writeSet)), budget}
	for _, w := range writeSet {
		begin := w
		if i := strings.IndexAny(w, `*?[{\`); i >= 0 {
			begin = strings.TrimSuffix(w[:i], "/") // a/** matches a
		}
		out.globs = append(out.globs, plannedGlob{text: w, begin: begin})
	}
	return out
}

// coversPath reports whether a glob of the write set matches a path.
func (c coverage) coversPath(path string) bool {
	for i := range c.globs {
		if c.matches(i, path) {
			return true
		}
	}
	return false
}

// readSteps is the budget for parsing one glob: its maximum cost.
const readSteps = 1 << 14

// matches reports whether one glob of the write set matches a path. An invalid glob matches no path. If the budget is
// used up, no glob matches.
func (c coverage) matches(i int, path string) bool {
	plannedGlob := &c.globs[i]
	if *c.budget--; *c.budget < 0 || !strings.HasPrefix(path, plannedGlob.begin) {
		return false
	}
	if !plannedGlob.read {
		*c.budget -= readSteps
		plannedGlob.read = true
		plannedGlob.glob, _ = glob.Parse(plannedGlob.text)
	}
	return plannedGlob.glob.MatchWithin(path, c.budget)
}
