package company

import (
	"fmt"
	"slices"
	"strings"

	"company/internal/glob"
)

// SubtaskReplanned is the manager's decision to plan a stuck subtask anew. The subtask becomes
// the first of the parts; the others are subtasks of their own behind all that there are.
type SubtaskReplanned struct {
	Text string `json:"text"` // the manager's reason
	// Parts name in After the ids of subtasks.
	Parts []PlannedSubtask `json:"parts"`
	// Added are the ids of all parts but the first.
	Added     []SubtaskID `json:"added,omitempty"`
	Decisions []string    `json:"decisions,omitempty"`
}

var _ = registerKind[SubtaskReplanned]()

func (*SubtaskReplanned) Kind() string { return "subtask.replanned" }
func (d *SubtaskReplanned) apply(s *State, e Event) {
	t := s.editTask(e.Task)
	sub := t.editSubtask(e.Subtask)
	t.noteDecision(e.Run, sub, ManagerDecision{Text: d.Text, Parts: len(d.Parts), Added: d.Added})
	for _, key := range []string{"run ", "gate ", "review ", "resolve "} {
		delete(t.Failures, key+string(sub.ID))
	}
	guided := sub.Guided + 1
	sub.reopenWork(true, t.Settings)
	sub.Planned, sub.Guided, sub.Unshown = d.Parts[0], guided, 0
	sub.Decisions = append(slices.Clone(sub.Decisions), d.Decisions...)
	sub.Replanned = d.Text
	sub.Input = "Your manager planned this ticket anew: " + d.Text
	for _, other := range t.Subtasks {
		if other.ID != sub.ID && slices.Contains(other.Planned.After, string(sub.ID)) {
			other = t.editSubtask(other.ID)
			for _, part := range d.Added {
				other.Planned.After = append(slices.Clone(other.Planned.After), string(part))
			}
		}
	}
	for i, id := range d.Added {
		t.Subtasks = append(t.Subtasks, &Subtask{ID: id, Wave: sub.Wave, Planned: d.Parts[i+1], Status: SubtaskPending, Guided: guided, SplitFrom: sub.ID})
	}
}

// Replan lists the faults of parts that are to take the place of a subtask that is not
// merged, by the rules of a plan: of the parts among each other, and of the parts with all that
// is still to be merged. Without problems it returns the parts with the ids of subtasks in After.
func (t *Task) Replan(id SubtaskID, parts []PlannedSubtask, why string) ([]PlannedSubtask, []PlanProblem) {
	rules := t.planRules().WithDefaults()
	sub := t.Subtask(id)
	c := planCheck{rules: rules, budget: planOverlapBudget, steps: planMatchBudget}
	switch {
	case sub == nil || sub.Status == SubtaskCompleted:
		c.add("plan", "is of a subtask that is not there, or is merged", "name one that is stuck")
	case sub.TakenIn != nil:
		c.add("plan", "is of a ticket that takes in commits of others, which stay as they are", "send the ticket back with guide_worker, or give it up")
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
	c.checkSplit(Plan{Why: why, Waves: []Wave{{parts}}})
	if len(c.problems) > 0 {
		return nil, c.problemList()
	}
	rules.Granularity.AllowTiny = true // the parts were looked at; the other tickets may be tiny
	if problems := t.planWith(sub, parts, why).Check(rules); len(problems) > 0 {
		return nil, problems
	}
	return parts, nil
}

// isSameWork says whether two subtasks ask for the same.
func (s PlannedSubtask) isSameWork(other PlannedSubtask) bool {
	return s.Title == other.Title && s.Description == other.Description && slices.Equal(s.AcceptanceCriteria, other.AcceptanceCriteria) &&
		slices.Equal(s.WriteSet, other.WriteSet) && slices.Equal(s.After, other.After) && slices.Equal(s.Does, other.Does)
}

// keepToLeave keeps parts to what the subtask may write where the president has read the plan:
// their leave is for its write sets.
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
	for i, p := range parts {
		for _, w := range p.WriteSet {
			if g, err := parseGlob(w); err == nil && !g.IsWithin(leave, &c.steps) {
				c.add(subtaskLabel(i, p), "would write "+quoteShort(w)+", which the plan that the president agreed to does not let this ticket write",
					"keep to "+cutText(strings.Join(sub.Planned.WriteSet, ", "), 300)+", or give the ticket up: the president decides")
			}
		}
	}
}

// nameParts puts the ids of subtasks into the After of parts. Merged ones are left out, and a
// name that nothing has is a problem.
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
				c.add(subtaskLabel(i, out[i]), "comes after "+quoteShort(text)+", which is no subtask of this task", "name a part by its name or its title, and another subtask by its id")
			case other != nil && other.Status == SubtaskCompleted || slices.Contains(out[i].After, string(id)):
			default:
				out[i].After = append(out[i].After, string(id))
			}
		}
	}
	return out
}

// nextIDs are the ids of the next n subtasks.
func (t *Task) nextIDs(n int) []SubtaskID {
	var ids []SubtaskID
	for i := range n {
		ids = append(ids, NewSubtaskID(t.ID, len(t.Subtasks)+1+i))
	}
	return ids
}

// planWith makes a plan of the tickets still to be merged, with parts in the place of a subtask. Each
// of its subtasks has its id for a name.
func (t *Task) planWith(sub *Subtask, parts []PlannedSubtask, why string) Plan {
	var added []string
	for _, id := range t.nextIDs(len(parts) - 1) {
		added = append(added, string(id))
	}
	p := Plan{Why: why}
	for wave := 1; wave <= t.Plan.Waves; wave++ {
		var w Wave
		for _, other := range t.Subtasks {
			if other.Wave != wave || other.Status == SubtaskCompleted {
				continue
			}
			s := other.Planned
			if other.ID == sub.ID {
				s = parts[0]
			}
			s.Name, s.After = string(other.ID), t.unmergedAfter(s.After)
			if other.ID != sub.ID && slices.Contains(s.After, string(sub.ID)) {
				s.After = append(s.After, added...)
			}
			w.Subtasks = append(w.Subtasks, s)
		}
		if wave == sub.Wave {
			for i, s := range parts[1:] {
				s.Name = added[i]
				w.Subtasks = append(w.Subtasks, s)
			}
		}
		if len(w.Subtasks) > 0 {
			p.Waves = append(p.Waves, w)
		}
	}
	return p
}

// unmergedAfter are those ids of subtasks that are not merged.
func (t *Task) unmergedAfter(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		other := t.Subtask(SubtaskID(id))
		return other != nil && other.Status == SubtaskCompleted
	})
}

// replan is the event of a decision that plans a subtask anew.
func (g *Guide) replan(m Meta, t *Task, run RunID) (Event, error) {
	parts, problems := t.Replan(g.Subtask, g.Parts, g.Text)
	if len(problems) > 0 {
		return Event{}, E(EPlan, "the plan is refused: "+problems[0].String())
	}
	return m.newEvent(t.ID, g.Subtask, run, &SubtaskReplanned{Text: strings.TrimSpace(g.Text), Parts: parts, Added: t.nextIDs(len(parts) - 1), Decisions: boundDecisions(g.Decisions)}), nil
}
