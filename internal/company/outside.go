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
// that of another subtask is no plan for any file, so that it meets none.
func (t *Task) OutsideWriteSet(sub *Subtask) []OutsideFile {
	return t.findOutside(sub, func(other *Subtask) bool { return !other.Status.Ended() })
}

// OutsideOfMerged is OutsideWriteSet of a subtask that is merged, with the merged ones that it meets.
func (t *Task) OutsideOfMerged(sub *Subtask) []OutsideFile {
	return t.findOutside(sub, func(other *Subtask) bool { return other.Status == SubtaskCompleted })
}

// findOutside lists the files of a subtask beyond its write set, and those of the others that count and
// write them, too.
func (t *Task) findOutside(sub *Subtask, counts func(other *Subtask) bool) []OutsideFile {
	own := newCoverage(sub.Planned.WriteSet)
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
		claims := other.claimPaths()
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
func (sub *Subtask) claimPaths() func(path string) bool {
	changed := make(map[string]bool, len(sub.Changes))
	for _, c := range sub.Changes {
		changed[c.Path] = true
	}
	var planned coverage
	if !slices.Contains(sub.Planned.WriteSet, "**") {
		planned = newCoverage(sub.Planned.WriteSet)
	}
	return func(path string) bool { return changed[path] || planned.coversPath(path) }
}

// coverage is a write set that many paths are compared with. A glob is read once, and only where
// its beginning fits a path: a task has thousands of subtasks, and a subtask thousands of changes.
type coverage []plannedGlob

type plannedGlob struct {
	text, begin string
	read        bool
	glob        glob.Glob
}

func newCoverage(writeSet []string) coverage {
	out := make(coverage, 0, len(writeSet))
	for _, w := range writeSet {
		begin := w
		if i := strings.IndexAny(w, `*?[{\`); i >= 0 {
			begin = strings.TrimSuffix(w[:i], "/") // a/** matches a
		}
		out = append(out, plannedGlob{text: w, begin: begin})
	}
	return out
}

// coversPath reports whether a glob of the write set matches a path.
func (c coverage) coversPath(path string) bool {
	for i := range c {
		g := &c[i]
		if !strings.HasPrefix(path, g.begin) {
			continue
		}
		if !g.read {
			g.read = true
			g.glob, _ = glob.Parse(g.text) // one that cannot be read matches nothing
		}
		if g.glob.Match(path) {
			return true
		}
	}
	return false
}
