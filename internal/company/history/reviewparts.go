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
// some, none comes after another, and no two have changes that meet.
func (t *observedTask) isReviewedInParts(task company.TaskID) bool {
	if t.parts == 0 || len(t.waves) < 2 || len(t.merged) != len(t.waves) || slices.Max(t.waves) != slices.Min(t.waves) {
		return false
	}
	open := map[int]bool{}
	for n := range t.parts {
		open[n+1] = true
	}
	type change struct {
		company.Change
		by company.SubtaskID
	}
	folders := map[string][]change{}
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
			folder := path.Dir(c.Path)
			if slices.ContainsFunc(folders[folder], func(o change) bool { return o.by != sub && changesMeet(o.Change, c) }) {
				return false
			}
			folders[folder] = append(folders[folder], change{c, sub})
		}
	}
	return len(open) == 0
}

// changesMeet: two changes of a folder are of one file, or one of them is no new file, or of a language in
// which a file uses the names of its folder.
func changesMeet(a, b company.Change) bool {
	isApart := func(c company.Change) bool {
		return c.Action == "created" && !slices.Contains([]string{".go", ".java", ".kt", ".scala", ".groovy", ".cs", ".swift"}, path.Ext(c.Path))
	}
	return a.Path == b.Path || !isApart(a) || !isApart(b)
}
