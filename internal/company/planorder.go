package company

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// planOrder tells what comes before each subtask of a plan: the subtasks that it names in
// after, and all of the earlier waves. A subtask has the number of its place, from 0.
type planOrder struct {
	waves []int   // by place: the wave
	after [][]int // by place: the places that it names, in order, each once
}

// planOrderOf reads the order of a plan. It reports each name that it cannot follow, and
// leaves it out.
func planOrderOf(p Plan, report func(place int, what, fix string)) planOrder {
	o := planOrder{}
	var subs []PlannedSubtask
	for w, wave := range p.Waves {
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
				report(i, fmt.Sprintf("comes after %s, which is no subtask of this plan", quoteShort(name)), "name a subtask by its name or its title: "+listNames(subs, i))
			case j == i:
				report(i, "comes after itself", "take it out of its own after")
			case o.waves[j] > o.waves[i]:
				report(i, fmt.Sprintf("comes after %s, which is in a later wave", quoteShort(name)), "leave the waves out: list all in subtasks, and say in after what each needs")
			default:
				o.after[i] = append(o.after[i], j)
			}
		}
		slices.Sort(o.after[i])
		o.after[i] = slices.Compact(o.after[i])
	}
	return o
}

// placesByName finds a subtask by its name, or by its title where no other has that name.
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

// placeNumber reads the number of a subtask, from 1, by itself or as the end of its id; 0
// where the text is neither.
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

// listNames lists by which names the others of a plan go.
func listNames(subs []PlannedSubtask, but int) string {
	const most = 8
	var names []string
	for i, s := range subs {
		switch {
		case i == but:
		case len(names) == most:
			return strings.Join(names, ", ") + " and others"
		case strings.TrimSpace(s.Name) != "":
			names = append(names, quoteShort(s.Name))
		default:
			names = append(names, quoteShort(s.Title))
		}
	}
	return strings.Join(names, ", ")
}

// findCycle returns places of which each comes after the next one, and the last after the
// first; nothing where there are none.
func (o planOrder) findCycle() []int {
	const unseen, open, done = 0, 1, 2
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

// listEarlier marks, by place, what must be merged before the subtask at the place begins,
// by way of others too. The order has no cycle.
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

// stepOfEach tells, by place, in which step a subtask can begin, from 1: one behind the last of
// what comes before it. Where nothing is named in after, a step is a wave. The order has no
// cycle.
func (o planOrder) stepOfEach() []int {
	steps := make([]int, len(o.waves))
	last, within, wave := 0, 0, 0 // the last step of the waves before, and of those up to here
	var visit func(i int) int
	visit = func(i int) int {
		if steps[i] == 0 {
			steps[i] = -1 // so that a cycle would end here
			step := last + 1
			for _, j := range o.after[i] {
				step = max(step, visit(j)+1)
			}
			steps[i] = step
		}
		return steps[i]
	}
	places := make([]int, len(o.waves)) // by wave: the parts of a subtask that was split are the last ones
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

// withIDs is the plan as it is recorded: each subtask has in after the ids of what it needs
// as subtasks of the task, whatever way the manager named them.
func (p Plan) withIDs(t TaskID) Plan {
	o := planOrderOf(p, func(int, string, string) {})
	if !o.namesAny() {
		return p
	}
	out, place := p, 0
	out.Waves = nil
	for _, wave := range p.Waves {
		subs := slices.Clone(wave.Subtasks)
		for i := range subs {
			subs[i].After = nil
			for _, j := range o.after[place] {
				subs[i].After = append(subs[i].After, string(NewSubtaskID(t, j+1)))
			}
			place++
		}
		out.Waves = append(out.Waves, Wave{subs})
	}
	return out
}

// Steps tells, by subtask, in which step of the plan it can begin, from 1. Where no subtask
// names another in after, a step is a wave.
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

// StepOf is the step of the plan in which a subtask can begin, from 1.
func (t *Task) StepOf(sub *Subtask) int {
	if i := slices.Index(t.Subtasks, sub); i >= 0 && t.IsOrdered() {
		return t.Steps()[i]
	}
	return sub.Wave
}

// CountSteps is how many steps the plan has: what it takes one after the other when there
// are enough workers.
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

// NameSteps counts the steps of the plan for people. They are waves where no subtask names
// another in after.
func (t *Task) NameSteps() string { return countSteps(t.CountSteps(), t.IsOrdered()) }

// NameSteps counts the steps of a recorded plan for people.
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

// After are the subtasks that must be merged before a worker begins this one, as it names
// them. Those of earlier waves are not among them.
func (sub *Subtask) After() []SubtaskID {
	out := make([]SubtaskID, 0, len(sub.Planned.After))
	for _, id := range sub.Planned.After {
		out = append(out, SubtaskID(id))
	}
	return out
}

// IsReady reports whether all is merged that a subtask needs: the earlier waves, and what
// it names in after.
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

// JoinIDs lists subtasks for people: t1-01, t1-02.
func JoinIDs(ids []SubtaskID) string {
	texts := make([]string, 0, len(ids))
	for _, id := range ids {
		texts = append(texts, string(id))
	}
	return strings.Join(texts, ", ")
}
