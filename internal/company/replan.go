package company

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/company/glob"
)

// SubtaskReplanned records the manager's decision to replan a stuck subtask. The subtask becomes the first part. The
// other parts are new subtasks after all existing ones.
type SubtaskReplanned struct {
	Text string `json:"text"` // the manager's reason
	// Parts use ids of subtasks in After.
	Parts []PlannedSubtask `json:"parts"`
	// Added lists the ids of all parts except the first.
	Added     []SubtaskID `json:"added,omitempty"`
	Decisions []string    `json:"decisions,omitempty"`
}

var _ = registerKind[SubtaskReplanned]()

func (*SubtaskReplanned) Kind() string { return "subtask.replanned" }
func (d *SubtaskReplanned) apply(s *State, event Event) {
	task := s.editTask(event.Task)
	sub := task.editSubtask(event.Subtask)
	task.noteDecision(event.Run, sub, ManagerDecision{Text: d.Text, Parts: len(d.Parts), Added: d.Added})
	for _, key := range []string{"run ", "gate ", "review ", "resolve "} {
		delete(task.Failures, key+string(sub.ID))
	}
	guided := sub.Guided + 1
	sub.reopenWork(true)
	sub.Planned = d.Parts[0]
	sub.Guided = guided
	sub.Unshown = 0
	sub.Decisions = append(slices.Clone(sub.Decisions), d.Decisions...)
	sub.Replanned = d.Text
	sub.Input = "Your manager planned this ticket anew: " + d.Text
	for _, other := range task.Subtasks {
		if other.ID != sub.ID && slices.Contains(other.Planned.After, string(sub.ID)) {
			other = task.editSubtask(other.ID)
			for _, part := range d.Added {
				other.Planned.After = append(slices.Clone(other.Planned.After), string(part))
			}
		}
	}
	for i, id := range d.Added {
		task.Subtasks = append(task.Subtasks,
			&Subtask{ID: id, Wave: sub.Wave, Planned: d.Parts[i+1], Status: SubtaskPending, Guided: guided, SplitFrom: sub.ID})
	}
}

// Replan checks the parts that are to replace an unmerged subtask, by the rules of a plan. It checks the parts against
// each other, and against all unmerged subtasks. Without problems it returns the parts with ids of subtasks in After.
func (t *Task) Replan(id SubtaskID, parts []PlannedSubtask, reason string) ([]PlannedSubtask, []PlanProblem) {
	rules := t.planRules().WithDefaults()
	sub := t.Subtask(id)
	c := planCheck{rules: rules, budget: planOverlapBudget, steps: planMatchBudget}
	switch {
	case sub == nil || sub.Status == SubtaskCompleted:
		c.add("plan", "replaces a subtask that does not exist or is merged", "name a stuck one")
	case sub.TakenIn != nil:
		c.add("plan", "replaces a ticket that takes in other people's commits, which stay unchanged",
			"send the ticket back with guide_worker, or give it up")
	case len(parts) == 0:
		c.add("plan", "has no subtasks", "plan at least one, or give the ticket up")
	default:
		n := len(t.Subtasks) + len(parts) - 1
		c.checkCount(n, fmt.Sprintf("makes %d subtasks of this task", n), "fuse parts")
	}
	if len(c.problems) > 0 {
		return nil, c.problemList()
	}
	parts = t.nameParts(sub, parts, &c)
	if len(parts) == 1 && parts[0].isSameWork(sub.Planned) {
		c.add("plan", "is the ticket as it stands", "say what is different, or send the ticket back with guide_worker")
	}
	t.keepToLeave(sub, parts, &c)
	c.checkSplit(Plan{Why: reason, Waves: []Wave{{parts}}})
	if len(c.problems) > 0 {
		return nil, c.problemList()
	}
	rules.Granularity.AllowTiny = true // the parts were checked already; the other tickets may be tiny
	if problems := t.planWith(sub, parts, reason).Check(rules); len(problems) > 0 {
		return nil, problems
	}
	return parts, nil
}

// isSameWork reports whether two subtasks ask for the same work.
func (s PlannedSubtask) isSameWork(other PlannedSubtask) bool {
	return s.Title == other.Title && s.Description == other.Description &&
		slices.Equal(s.AcceptanceCriteria, other.AcceptanceCriteria) &&
		slices.Equal(s.WriteSet, other.WriteSet) && slices.Equal(s.After, other.After)
}

// keepToLeave reports parts that would write more than the subtask may, if the president has read the plan: that
// approval only covers its write sets.
func (t *Task) keepToLeave(sub *Subtask, parts []PlannedSubtask, c *planCheck) {
	if t.Settings.Plan != Ask && t.Plan.Chosen == "" {
		return
	}
	var leave []glob.Glob
	for _, w := range sub.Planned.WriteSet {
		if g, err := parseGlob(w); err == nil {
			leave = append(leave, g)
		}
	}
	for i, subtask := range parts {
		for _, w := range subtask.WriteSet {
			if g, err := parseGlob(w); err == nil && !g.IsWithin(leave, &c.steps) {
				c.add(subtaskLabel(i, subtask), "would write "+quoteShort(w)+
					", which the plan that the president agreed to does not let this ticket write",
					"keep to "+cutText(strings.Join(sub.Planned.WriteSet, ", "), 300)+", or give the ticket up: the president decides")
			}
		}
	}
}

// nameParts replaces the names in the After of parts with ids of subtasks. It drops merged subtasks, and reports
// unknown names.
func (t *Task) nameParts(sub *Subtask, parts []PlannedSubtask, c *planCheck) []PlannedSubtask {
	ids := map[string]SubtaskID{}
	name := func(text string, id SubtaskID) {
		if key := titleKey(text); key != "" && ids[key] == "" {
			ids[key] = id
		}
	}
	own := append([]SubtaskID{sub.ID}, t.nextIDs(len(parts)-1)...)
	for i, p := range parts {
		name(p.Name, own[i])
	}
	for i, p := range parts {
		name(p.Title, own[i])
		name(fmt.Sprint(i+1), own[i])
	}
	for _, other := range t.Subtasks {
		name(string(other.ID), other.ID)
		name(other.Planned.Title, other.ID)
	}
	out := slices.Clone(parts)
	for i := range out {
		out[i].After = nil
		for _, text := range parts[i].After {
			id := ids[titleKey(text)]
			other := t.Subtask(id)
			switch {
			case id == "":
				c.add(subtaskLabel(i, out[i]), "comes after "+quoteShort(text)+", which is not a subtask of this task",
					"name a part by its name or its title, and another subtask by its id")
			case other != nil && other.Status == SubtaskCompleted || slices.Contains(out[i].After, string(id)):
			default:
				out[i].After = append(out[i].After, string(id))
			}
		}
	}
	return out
}

// nextIDs returns the ids of the next n subtasks.
func (t *Task) nextIDs(n int) []SubtaskID {
	var ids []SubtaskID
	for i := range n {
		ids = append(ids, NewSubtaskID(t.ID, len(t.Subtasks)+1+i))
	}
	return ids
}

// planWith returns a plan of the unmerged tickets, with parts in place of the subtask. Each subtask's name is its id.
func (t *Task) planWith(sub *Subtask, parts []PlannedSubtask, reason string) Plan {
	var added []string
	for _, id := range t.nextIDs(len(parts) - 1) {
		added = append(added, string(id))
	}
	plan := Plan{Why: reason}
	for wave := 1; wave <= t.Plan.Waves; wave++ {
		var w Wave
		for _, other := range t.Subtasks {
			if other.Wave != wave || other.Status == SubtaskCompleted {
				continue
			}
			subtask := other.Planned
			if other.ID == sub.ID {
				subtask = parts[0]
			}
			subtask.Name, subtask.After = string(other.ID), t.unmergedAfter(subtask.After)
			if other.ID != sub.ID && slices.Contains(subtask.After, string(sub.ID)) {
				subtask.After = append(subtask.After, added...)
			}
			w.Subtasks = append(w.Subtasks, subtask)
		}
		if wave == sub.Wave {
			for i, subtask := range parts[1:] {
				subtask.Name = added[i]
				w.Subtasks = append(w.Subtasks, subtask)
			}
		}
		if len(w.Subtasks) > 0 {
			plan.Waves = append(plan.Waves, w)
		}
	}
	return plan
}

// unmergedAfter returns the ids of the subtasks that are not merged.
func (t *Task) unmergedAfter(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		other := t.Subtask(SubtaskID(id))
		return other != nil && other.Status == SubtaskCompleted
	})
}

// replan returns the event of a decision that replans a subtask.
func (g *Guide) replan(meta Meta, task *Task, run RunID) (Event, error) {
	parts, problems := task.Replan(g.Subtask, g.Parts, g.Text)
	if len(problems) > 0 {
		return Event{}, E(EPlan, "the plan is refused: "+problems[0].String())
	}
	return meta.newEvent(task.ID, g.Subtask, run,
		&SubtaskReplanned{Text: strings.TrimSpace(g.Text), Parts: parts, Added: task.nextIDs(len(parts) - 1),
			Decisions: boundDecisions(g.Decisions)}), nil
}
