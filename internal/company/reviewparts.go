package company

import (
	"fmt"
	"path"
	"slices"
)

// doesPart reports whether a ticket carries out a part of the instruction, by its number from 1.
func (s PlannedSubtask) doesPart(number int) bool { return slices.Contains(s.Does, number) }

// checkParts looks for numbers that no part of the instruction has.
func (c *planCheck) checkParts(at string, s PlannedSubtask) {
	for _, n := range s.Does {
		if c.rules.Parts > 0 && (n < 1 || n > c.rules.Parts) {
			c.add(at, fmt.Sprintf("does part %d, and the instruction has parts 1 to %d", n, c.rules.Parts), "name in does the numbers that stand in the instruction")
			return
		}
	}
}

// warnOfParts names the parts of the instruction that no subtask of several does, where the plan
// says what they do.
func (p Plan) warnOfParts(parts []InstructionPart) (problems []PlanProblem) {
	does := map[int]bool{}
	for _, w := range p.Waves {
		for _, s := range w.Subtasks {
			for _, n := range s.Does {
				does[n] = true
			}
		}
	}
	if p.Subtasks() < 2 || len(does) == 0 {
		return nil
	}
	for i, part := range parts {
		if !does[i+1] {
			problems = append(problems, PlanProblem{"plan", fmt.Sprintf("leaves part %d of the instruction to no subtask: %s", i+1, quoteShort(part.Text)), "name it in does of each subtask that it is about"})
		}
	}
	return problems
}

// IsReviewedInParts reports whether the reviews of a task's tickets are the review of the whole. They
// are where each part of the instruction is a ticket's, was among what its reviewer judged and approved, and no
// ticket touches another: none needs another's result, and no folder has changes of two that can
// meet. The gates run on the whole in any case.
func (t *Task) IsReviewedInParts() bool {
	if len(t.Subtasks) < 2 {
		return false
	}
	files, folders := map[string]SubtaskID{}, map[string]folderChanges{}
	done := map[int]bool{}
	for _, sub := range t.Subtasks {
		if sub.Merged == "" || sub.Wave != t.Subtasks[0].Wave {
			return false
		}
		last := sub.Review.Last
		// A part that was planned anew may have come after one that is merged, which its after no longer names.
		if (sub.Replanned != "" || sub.SplitFrom != "") && t.Plan.Accepted != "" {
			return false
		}
		if len(sub.Planned.Does) == 0 || len(sub.Planned.After) > 0 || last == nil || last.Head != sub.Head || last.Verdict != Approve {
			return false
		}
		for _, c := range sub.Changes {
			in, before := folders[path.Dir(c.Path)], files[c.Path]
			in.meet = in.meet || c.canMeet() || before != "" && before != sub.ID
			in.ofSeveral = in.ofSeveral || in.of != "" && in.of != sub.ID
			if in.ofSeveral && in.meet {
				return false
			}
			in.of, files[c.Path] = sub.ID, sub.ID
			folders[path.Dir(c.Path)] = in
		}
		for _, n := range sub.Planned.Does {
			done[n] = true
		}
	}
	parts := len(t.Parts())
	for n := range parts {
		if !done[n+1] {
			return false
		}
	}
	return parts > 0
}

// folderChanges are the changes of one folder.
type folderChanges struct {
	of        SubtaskID // of the last one
	ofSeveral bool
	meet      bool // one of them can meet another
}

// canMeet reports whether a change is seen by other files of its folder that do not name it: files
// of some languages share their names with the whole folder, and an old file may be named anywhere.
func (c Change) canMeet() bool {
	switch path.Ext(c.Path) {
	case ".go", ".java", ".kt", ".scala", ".groovy", ".cs", ".swift":
		return true
	}
	return c.Action != "created"
}
