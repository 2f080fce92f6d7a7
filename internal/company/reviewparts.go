package company

import (
	"fmt"
	"path"
)

// checkParts reports numbers that no part of the instruction has.
func (c *planCheck) checkParts(at string, s PlannedSubtask) {
	for _, n := range s.Does {
		if c.rules.Parts > 0 && (n < 1 || n > c.rules.Parts) {
			c.add(at, fmt.Sprintf("does part %d, and the instruction has parts 1 to %d", n, c.rules.Parts),
				"name in does the numbers that stand in the instruction")
			return
		}
	}
}

// warnOfParts returns a warning for each part of the instruction that no subtask does. It returns nil if the plan has
// one subtask or does not tell which parts they do.
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
			problems = append(problems, PlanProblem{"plan", fmt.Sprintf("leaves part %d of the instruction to no subtask: "+
				"%s", i+1, quoteShort(part.Text)), "name it in does of each subtask that it is about"})
		}
	}
	return problems
}

// IsReviewedInParts reports whether the reviews of a task's tickets replace the review of the whole. That requires that
// each part of the instruction belongs to an approved and merged ticket. No ticket may depend on another, and no folder
// may have changes of two tickets that can affect each other. The gates run on the whole in any case.
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
		// A replanned part may depend on a merged subtask, which its after no longer names.
		if (sub.Replanned != "" || sub.SplitFrom != "") && t.Plan.Accepted != "" {
			return false
		}
		if len(sub.Planned.Does) == 0 || len(sub.Planned.After) > 0 || last == nil || last.Head != sub.Head ||
			last.Verdict != Approve {
			return false
		}
		for _, change := range sub.Changes {
			changes, before := folders[path.Dir(change.Path)], files[change.Path]
			changes.meet = changes.meet || change.canMeet() || before != "" && before != sub.ID
			changes.ofSeveral = changes.ofSeveral || changes.of != "" && changes.of != sub.ID
			if changes.ofSeveral && changes.meet {
				return false
			}
			changes.of, files[change.Path] = sub.ID, sub.ID
			folders[path.Dir(change.Path)] = changes
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

// folderChanges summarises the changes of one folder.
type folderChanges struct {
	of        SubtaskID // subtask of the last change
	ofSeveral bool
	meet      bool // one of them can affect another
}

// canMeet reports whether other files may depend on a change without naming its file. In some languages, all files of a
// folder share their names, and any file may refer to an existing file.
func (c Change) canMeet() bool {
	switch path.Ext(c.Path) {
	case ".go", ".java", ".kt", ".scala", ".groovy", ".cs", ".swift":
		return true
	}
	return c.Action != "created"
}
