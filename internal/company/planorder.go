package company

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// planOrder is the order of a plan's subtasks. A subtask comes after the subtasks that it names in after, and after all
// earlier waves. Subtasks are numbered by place, from 0.
type planOrder struct {
	waves []int   // by place: the number of the wave
	after [][]int // by place: the places named in after, sorted and without repeats
}

// planOrderOf reads the order of a plan. It reports and skips each name that is unknown, the subtask's own, or in a
// later wave.
func planOrderOf(plan Plan, report func(place int, what, fix string)) planOrder {
	o := planOrder{}
	var subs []PlannedSubtask
	for w, wave := range plan.Waves {
		for _, s := range wave.Subtasks {
			subs = append(subs, s)
			o.waves = append(o.waves, w+1)
		}
	}
	o.after = make([][]int, len(subs))
	if !slices.ContainsFunc(subs, func(s PlannedSubtask) bool { return len(s.After) > 0 }) {
		return o
	}
	places := placesByName(subs)
	for i, s := range subs {
		for _, name := range s.After {
			j, known := places[titleKey(name)]
			if n := placeNumber(name); !known && n >= 1 && n <= len(subs) {
				j, known = n-1, true
			}
			switch {
			case !known:
				report(i, fmt.Sprintf("comes after %s, which is not a subtask of this plan", quoteShort(name)),
					"name a subtask by its name or its title: "+listNames(subs, i))
			case j == i:
				report(i, "comes after itself", "take it out of its own after")
			case o.waves[j] > o.waves[i]:
				report(i, fmt.Sprintf("comes after %s, which is in a later wave", quoteShort(name)),
					"leave the waves out: list all in subtasks, and say in after what each needs")
			default:
				o.after[i] = append(o.after[i], j)
			}
		}
		slices.Sort(o.after[i])
		o.after[i] = slices.Compact(o.after[i])
	}
	return o
}

// placesByName maps names to places. A title counts too if no subtask has that name.
func placesByName(subs []PlannedSubtask) map[string]int {
	places := map[string]int{}
	for _, text := range []func(PlannedSubtask) string{
		func(s PlannedSubtask) string { return s.Name },
		func(s PlannedSubtask) string { return s.Title },
	} {
		for i, s := range subs {
			key := titleKey(text(s))
			if _, taken := places[key]; key != "" && !taken {
				places[key] = i
			}
		}
	}
	return places
}

// placeNumber parses the number of a subtask, from 1, alone or as the end of its id. It returns 0 if the text is
// neither.
func placeNumber(text string) int {
	text = strings.TrimSpace(text)
	if task, number, isID := strings.Cut(text, "-"); isID && strings.HasPrefix(task, "t") {
		text = number
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// listNames lists the names of the plan's other subtasks.
func listNames(subs []PlannedSubtask, but int) string {
	const most = 8
	var names []string
	for i, subtask := range subs {
		switch {
		case i == but:
		case len(names) == most:
			return strings.Join(names, ", ") + " and others"
		case strings.TrimSpace(subtask.Name) != "":
			names = append(names, quoteShort(subtask.Name))
		default:
			names = append(names, quoteShort(subtask.Title))
		}
	}
	return strings.Join(names, ", ")
}

// findCycle returns the places of a cycle, in which each comes after the next one and the last after the first. It
// returns nil if there is no cycle.
func (o planOrder) findCycle() []int {
	const (
		unseen = iota
		open
		done
	)
	state := make([]int, len(o.after))
	var path []int
	var visit func(i int) []int
	visit = func(i int) []int {
		state[i], path = open, append(path, i)
		for _, j := range o.after[i] {
			if state[j] == open {
				return slices.Clone(path[slices.Index(path, j):])
			}
			if state[j] == unseen {
				if found := visit(j); found != nil {
					return found
				}
			}
		}
		state[i], path = done, path[:len(path)-1]
		return nil
	}
	for i := range o.after {
		if state[i] == unseen {
			if found := visit(i); found != nil {
				return found
			}
		}
	}
	return nil
}

// listEarlier marks, by place, the subtasks that must be merged before the given one begins, directly or indirectly.
// The order must have no cycle.
func (o planOrder) listEarlier(place int) []bool {
	earlier := make([]bool, len(o.waves))
	var visit func(i int)
	visit = func(i int) {
		for _, j := range o.after[i] {
			if !earlier[j] {
				earlier[j] = true
				visit(j)
			}
		}
	}
	visit(place)
	for i, wave := range o.waves {
		earlier[i] = earlier[i] || wave < o.waves[place]
	}
	return earlier
}

// stepOfEach returns, by place, the step (from 1) in which a subtask can begin. It is one more than the highest step of
// the subtasks that come before it. If no subtask uses after, a step is a wave. The order must have no cycle.
func (o planOrder) stepOfEach() []int {
	steps := make([]int, len(o.waves))
	var last, within, wave int // the last step of the earlier waves, and of all waves up to this one
	var visit func(i int) int
	visit = func(i int) int {
		if steps[i] == 0 {
			steps[i] = -1 // stops the recursion at a cycle
			step := last + 1
			for _, j := range o.after[i] {
				step = max(step, visit(j)+1)
			}
			steps[i] = step
		}
		return steps[i]
	}
	places := make([]int, len(o.waves)) // sorted by wave: the parts of a split subtask are at the end of the list
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(i, j int) int { return o.waves[i] - o.waves[j] })
	for _, i := range places {
		if o.waves[i] != wave {
			last, wave = within, o.waves[i]
		}
		within = max(within, visit(i))
	}
	return steps
}

// namesAny reports whether any subtask names another in after.
func (o planOrder) namesAny() bool {
	return slices.ContainsFunc(o.after, func(names []int) bool { return len(names) > 0 })
}

// withIDs returns the plan as it is recorded. Each after entry becomes the id of the needed subtask, whichever way the
// manager named it.
func (p Plan) withIDs(taskID TaskID) Plan {
	planOrder := planOrderOf(p, func(int, string, string) {})
	if !planOrder.namesAny() {
		return p
	}
	out, place := p, 0
	out.Waves = nil
	for _, wave := range p.Waves {
		subs := slices.Clone(wave.Subtasks)
		for i := range subs {
			subs[i].After = nil
			for _, j := range planOrder.after[place] {
				subs[i].After = append(subs[i].After, string(NewSubtaskID(taskID, j+1)))
			}
			place++
		}
		out.Waves = append(out.Waves, Wave{subs})
	}
	return out
}

// Steps returns, by subtask, the step of the plan in which it can begin, from 1. If no subtask names another in after,
// a step is a wave.
func (t *Task) Steps() []int {
	o := planOrder{after: make([][]int, len(t.Subtasks))}
	for i, sub := range t.Subtasks {
		o.waves = append(o.waves, sub.Wave)
		for _, id := range sub.Planned.After {
			if n := placeNumber(id); n >= 1 && n <= len(t.Subtasks) {
				o.after[i] = append(o.after[i], n-1)
			}
		}
	}
	return o.stepOfEach()
}

// StepOf returns the step of the plan in which a subtask can begin, from 1.
func (t *Task) StepOf(sub *Subtask) int {
	if i := slices.Index(t.Subtasks, sub); i >= 0 && t.IsOrdered() {
		return t.Steps()[i]
	}
	return sub.Wave
}

// CountSteps returns the number of steps of the plan: the steps that run one after the other with enough workers.
func (t *Task) CountSteps() int {
	if !t.IsOrdered() {
		return t.Plan.Waves
	}
	return slices.Max(append(t.Steps(), 0))
}

// IsOrdered reports whether a subtask of the plan names another in after.
func (t *Task) IsOrdered() bool {
	return slices.ContainsFunc(t.Subtasks, func(sub *Subtask) bool { return len(sub.Planned.After) > 0 })
}

// NameSteps returns the number of steps of the plan as text. They are called waves if no subtask names another in
// after.
func (t *Task) NameSteps() string { return countSteps(t.CountSteps(), t.IsOrdered()) }

// NameSteps returns the number of steps of a recorded plan as text.
func (p Plan) NameSteps() string {
	o := planOrderOf(p, func(int, string, string) {})
	return countSteps(slices.Max(append(o.stepOfEach(), 0)), o.namesAny())
}

func countSteps(n int, ordered bool) string {
	if ordered {
		return Count(n, "step")
	}
	return Count(n, "wave")
}

// After returns the subtasks that must be merged before a worker begins this one, as named in the plan. It omits the
// subtasks of earlier waves.
func (sub *Subtask) After() []SubtaskID {
	out := make([]SubtaskID, 0, len(sub.Planned.After))
	for _, id := range sub.Planned.After {
		out = append(out, SubtaskID(id))
	}
	return out
}

// IsReady reports whether everything that a subtask needs is merged: the earlier waves, and the subtasks that it names
// in after.
func (t *Task) IsReady(sub *Subtask) bool {
	if sub.Wave != t.Wave() {
		return false
	}
	for _, id := range sub.Planned.After {
		if needed := t.Subtask(SubtaskID(id)); needed == nil || needed.Status != SubtaskCompleted {
			return false
		}
	}
	return true
}

// JoinIDs joins subtask ids for people: t1-01, t1-02.
func JoinIDs(ids []SubtaskID) string {
	texts := make([]string, 0, len(ids))
	for _, id := range ids {
		texts = append(texts, string(id))
	}
	return strings.Join(texts, ", ")
}
