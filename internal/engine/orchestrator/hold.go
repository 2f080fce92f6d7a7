package orchestrator

import (
	"slices"

	"company/internal/company"
)

// heldWork holds what listeners were last told about the tasks that wait.
type heldWork struct {
	byTask map[company.TaskID][]company.Hold
	queued map[company.TaskID]bool // the tasks that wait for their turn
}

// reportHolds passes what has begun to wait to OnHold, and the tasks whose turn has come. It looks at the tasks that
// the agenda has looked at again, and at those with due effects. So it misses a task that loses its place to a more
// urgent one without a change of its own.
func (o *Orchestrator) reportHolds(look *look) {
	if o.cfg.OnHold == nil || look.state.Office.Stopped {
		return
	}
	opens := o.holds.byTask == nil
	if opens {
		o.holds = heldWork{byTask: map[company.TaskID][]company.Hold{}, queued: map[company.TaskID]bool{}}
	}
	for _, id := range o.agenda.Refreshed() {
		holds := o.agenda.ListHolds(id)
		for _, hold := range holds {
			known := slices.ContainsFunc(o.holds.byTask[id], func(h company.Hold) bool {
				return h.Subtask == hold.Subtask && h.Kind == hold.Kind && h.Attempt == hold.Attempt
			})
			if hold.IsQueued() {
				o.holds.queued[id] = true
			}
			if !known && !opens {
				o.cfg.OnHold(id, &hold)
			}
		}
		if o.holds.byTask[id] = holds; len(holds) == 0 {
			delete(o.holds.byTask, id)
		}
		if task := look.state.Tasks[id]; task == nil || task.Status.Ended() {
			delete(o.holds.queued, id)
		}
	}
	if len(o.holds.queued) == 0 {
		return
	}
	for _, effect := range look.due {
		if o.holds.queued[effect.Task] && effect.Kind != company.EffectCommand {
			delete(o.holds.queued, effect.Task)
			delete(o.holds.byTask, effect.Task)
			o.cfg.OnHold(effect.Task, nil)
		}
	}
}
