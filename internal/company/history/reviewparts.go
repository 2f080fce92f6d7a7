package history

import (
	"path"
	"slices"

	"company/internal/company"
)

// partsOf counts the parts of an instruction; a stranger's text has none.
func partsOf(d *company.TaskSubmitted) int {
	if d.Follows != "" || d.Issue != nil {
		return 0
	}
	return len(company.PartsOf(d.Instruction))
}

// isReviewedInParts: each part of the instruction is a merged and approved ticket's, all tickets have
// some, none comes after another, and none has a folder in which another one changed a file.
func (t *observedTask) isReviewedInParts(task company.TaskID) bool {
	if t.parts == 0 || len(t.waves) < 2 || len(t.merged) != len(t.waves) || slices.Max(t.waves) != slices.Min(t.waves) {
		return false
	}
	open := map[int]bool{}
	for n := range t.parts {
		open[n+1] = true
	}
	changed := map[string]company.SubtaskID{}
	for i, does := range t.does {
		sub := company.NewSubtaskID(task, i+1)
		r := t.judged[string(sub)+" "+string(t.heads[sub])]
		if len(does) == 0 || len(t.after[i]) > 0 || r == nil || r.Verdict != company.Approve {
			return false
		}
		for _, n := range does {
			delete(open, n)
		}
		for _, c := range t.changes[sub] {
			if other, is := changed[path.Dir(c.Path)]; is && other != sub {
				return false
			}
			changed[path.Dir(c.Path)] = sub
		}
	}
	return len(open) == 0
}
