package historytest

import (
	"path"
	"slices"

	"company/internal/company"
)

// partsOf returns the number of parts of an instruction. It is 0 for a follow-up or an issue, which quote strangers.
func partsOf(submitted *company.TaskSubmitted) int {
	if submitted.Follows != "" || submitted.Issue != nil {
		return 0
	}
	return len(company.PartsOf(submitted.Instruction))
}

// isReviewedInParts reports whether each part of the instruction belongs to a merged ticket. observeMerge has checked
// that such a ticket was approved. Each ticket must do a part, none may come after another, and no two may have changes
// that can affect each other.
func (t *observedTask) isReviewedInParts(task company.TaskID) bool {
	if t.parts == 0 || len(t.waves) < 2 || len(t.merged) != len(t.waves) || slices.Max(t.waves) != slices.Min(t.waves) {
		return false
	}
	var done []int
	type change struct {
		company.Change
		by company.SubtaskID
	}
	folders := map[string][]change{}
	for i, does := range t.does {
		sub := company.NewSubtaskID(task, i+1)
		if len(does) == 0 || len(t.after[i]) > 0 {
			return false
		}
		done = append(done, does...)
		for _, c := range t.changes[sub] {
			folder := path.Dir(c.Path)
			if slices.ContainsFunc(folders[folder], func(o change) bool { return o.by != sub && changesMeet(o.Change, c) }) {
				return false
			}
			folders[folder] = append(folders[folder], change{c, sub})
		}
	}
	for n := range t.parts {
		if !slices.Contains(done, n+1) {
			return false
		}
	}
	return true
}

// changesMeet reports whether two changes in a folder can affect each other. They can if they are of the same file, or
// if one of them is of an existing file. In some languages a file uses the names of its folder, so all changes can.
func changesMeet(change, b company.Change) bool {
	isApart := func(c company.Change) bool {
		return c.Action == "created" &&
			!slices.Contains([]string{".go", ".java", ".kt", ".scala", ".groovy", ".cs", ".swift"}, path.Ext(c.Path))
	}
	return change.Path == b.Path || !isApart(change) || !isApart(b)
}
