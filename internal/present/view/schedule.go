package view

import (
	"cmp"
	"fmt"
	"math"

	"company/internal/company"
)

// schedule is what is due, and what does not begin yet, at the time of a Source.
type schedule struct {
	due   map[company.TaskID][]company.Effect
	holds map[company.TaskID][]company.Hold
}

// WithSchedule returns the source with its schedule, which takes a look at all open tasks. So a view of several tasks
// calls it once.
func (src Source) WithSchedule() Source {
	if src.schedule != nil {
		return src
	}
	src.schedule = &schedule{due: map[company.TaskID][]company.Effect{}, holds: map[company.TaskID][]company.Hold{}}
	if !src.AtWork {
		return src // nothing begins, and the state of the office says so
	}
	due, holds := company.FindDue(src.State, src.Now, cmp.Or(src.Active, math.MaxInt))
	for _, effect := range due {
		src.schedule.due[effect.Task] = append(src.schedule.due[effect.Task], effect)
	}
	for _, hold := range holds {
		src.schedule.holds[hold.Task] = append(src.schedule.holds[hold.Task], hold)
	}
	return src
}

// listHolds returns what of a task does not begin now.
func (src Source) listHolds(task *company.Task) []Hold {
	var out []Hold
	for _, hold := range src.WithSchedule().schedule.holds[task.ID] {
		out = append(out, NewHold(hold, src.State, src.Active, src.Now))
	}
	return out
}

// ShownStatus returns the status of a task that people see.
func (src Source) ShownStatus(task *company.Task) company.TaskStatus {
	shown := src.State.Shown(task)
	if shown != task.Status || task.Status.Ended() {
		return shown
	}
	for _, hold := range src.WithSchedule().schedule.holds[task.ID] {
		if hold.IsQueued() {
			return company.StatusQueued
		}
	}
	return shown
}

// WorkText counts the tasks that are at work, and those that wait without being at work.
func (v Overview) WorkText() string {
	working := map[company.TaskID]bool{}
	for _, run := range v.Running {
		working[run.Task] = true
	}
	for _, step := range v.Steps {
		working[step.Task] = true
	}
	waiting := 0
	for _, task := range v.Tasks {
		if len(task.HoldTexts()) > 0 && !working[task.ID] {
			waiting++
		}
	}
	wait := company.Count(waiting, "task") + " waiting"
	switch {
	case waiting == 0 && len(working) == 0:
		return "idle"
	case len(working) == 0:
		return wait
	case waiting == 0:
		return company.Count(len(working), "task") + " at work"
	}
	return fmt.Sprintf("%s at work, %d waiting", company.Count(len(working), "task"), waiting)
}
