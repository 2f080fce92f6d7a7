package company

import (
	"slices"
	"strings"

	"company/internal/glob"
)

// OutsideFile is a file that a subtask changed and that its write set does not cover.
type OutsideFile struct {
	Path string `json:"path"`
	// Meets names the other subtasks that may write the file by their write set, or have changed
	// it: of an open subtask those that are open, too, and may end in a conflict over it.
	Meets []SubtaskID `json:"meets"`
}

// OutsideWriteSet lists the files of a subtask's head that its write set does not cover, in
// the order of its changes (SUB-18). A write set of ** covers all, as that of a repair does;
// that of another subtask is no plan for any file, so that it meets none. A file that the
// budget of NewMatchBudget does not suffice for is listed, and meets none.
func (t *Task) OutsideWriteSet(sub *Subtask, budget *int) []OutsideFile {
	return t.findOutside(sub, budget, func(other *Subtask) bool { return !other.Status.Ended() })
}

// OutsideOfMerged is OutsideWriteSet of a subtask that is merged, with the merged ones that it meets.
func (t *Task) OutsideOfMerged(sub *Subtask, budget *int) []OutsideFile {
	return t.findOutside(sub, budget, func(other *Subtask) bool { return other.Status == SubtaskCompleted })
}

// findOutside lists the files of a subtask beyond its write set, and those of the others that count and
// write them, too.
func (t *Task) findOutside(sub *Subtask, budget *int, counts func(other *Subtask) bool) []OutsideFile {
	own := newCoverage(sub.Planned.WriteSet, budget)
	var out []OutsideFile
	for _, c := range sub.Changes {
		if !own.coversPath(c.Path) {
			out = append(out, OutsideFile{Path: c.Path, Meets: []SubtaskID{}})
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

// Describe is the file for a list, with the open subtasks that it meets.
func (f OutsideFile) Describe() string {
	switch len(f.Meets) {
	case 0:
		return f.Path
	case 1:
		return f.Path + " (" + string(f.Meets[0]) + " writes it, too)"
	}
	return f.Path + " (" + JoinIDs(f.Meets) + " write it, too)"
}

// claimPaths tells of paths whether the subtask was planned to write the file, or changed it.
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

// matchSteps limits the comparison of write sets with files that is made for one reader.
const matchSteps = 1 << 26

// NewMatchBudget returns the steps that the comparison of write sets with files may take
// for one reader: a page, a prompt. It suffices for the largest plans that people write,
// and is used up in less than a second by globs that were made to be slow.
func NewMatchBudget() *int {
	steps := matchSteps
	return &steps
}

// coverage is a write set that many paths are compared with. A glob is read once, and only where
// its beginning fits a path: a task has thousands of subtasks, and a subtask thousands of changes.
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

// readSteps is what reading a glob takes from the budget: the most that it can cost.
const readSteps = 1 << 14

// matches reports whether one glob of the write set matches a path. A glob that cannot be
// read matches none, and so does each glob when the budget is used up.
func (c coverage) matches(i int, path string) bool {
	g := &c.globs[i]
	if *c.budget--; *c.budget < 0 || !strings.HasPrefix(path, g.begin) {
		return false
	}
	if !g.read {
		*c.budget -= readSteps
		g.read = true
		g.glob, _ = glob.Parse(g.text)
	}
	return g.glob.MatchWithin(path, c.budget)
}
