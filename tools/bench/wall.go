package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"company/internal/company"
)

// wallSizes are how many subtasks the bench wall has done, and in how many tasks.
var wallSizes = []struct{ subtasks, tasks int }{{2, 2}, {4, 2}, {8, 2}, {16, 2}, {32, 4}}

// benchWall measures how long independent subtasks take together, where work takes no
// time and each run of the gates a second, beside the critical path: the time of a
// company that loses none between two steps.
func benchWall(ctx context.Context, w *benchEnv) (lines []Line, err error) {
	size := ScaleSize{Workers: w.Scale.Workers, Driver: w.Scale.Driver} // the rest is of scale alone
	if _, err := size.withDefaults(w); err != nil {
		return nil, err
	}
	o := nullOptions{driver: cmp.Or(w.Scale.Driver, "nats"), workers: cmp.Or(w.Scale.Workers, 8), gate: time.Second}
	if w.Quick {
		o.gate = 50 * time.Millisecond
	}
	for _, s := range wallSizes {
		o.name, o.subtasks, o.active = fmt.Sprint("wall-", s.subtasks), s.subtasks/s.tasks, s.tasks
		took, err := w.measureWall(ctx, o, s.tasks)
		if err != nil {
			return nil, err
		}
		path := criticalPath{tasks: make([]pathTask, s.tasks), slots: o.workers,
			stack: company.Settings{}.WithDefaults().MergeStack}.countSteps(o.subtasks)
		least := time.Duration(path) * o.gate
		l := compareLine(fmt.Sprintf("%d subtasks in %d tasks on %d workers", s.subtasks, s.tasks, o.workers),
			"critical path", []time.Duration{took}, []time.Duration{least})
		lines = append(lines, l.withTarget("≤ 1.1 × and 0.5 s", took <= least*11/10+time.Second/2))
	}
	return lines, nil
}

// measureWall is the time from the submission of tasks to the last pull request.
func (w *benchEnv) measureWall(ctx context.Context, o nullOptions, tasks int) (took time.Duration, err error) {
	n, err := w.openNullOffice(ctx, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, n.close()) }()
	var presidents sync.WaitGroup
	errs := make([]error, tasks)
	began := time.Now()
	for i := range errs {
		presidents.Go(func() { _, errs[i] = n.liveTask() })
	}
	presidents.Wait()
	return time.Since(began), errors.Join(errs...)
}

// criticalPath is the work of a company that takes no time for anything but the runs of
// its gates, each of which is one step. It starts what the company starts: in the order
// of the tasks, tests of merges before gates, no more at once than there are slots, and
// one merge of a task at a time, of as many subtasks as a stack may have.
type criticalPath struct {
	tasks []pathTask
	slots int
	stack int
}

// pathTask is a task on its way.
type pathTask struct {
	ungated int   // subtasks whose gates have not begun
	gated   []int // at which number of merges each subtask was judged that waits to be merged
	merges  int   // done so far: what the next subtask is merged onto
	gating  []int // the same of subtasks whose gates run
	merging int   // subtasks of the stack whose gates run
	left    int   // that are not merged
}

// countSteps is how many runs of the gates lie one behind the other until so many subtasks of
// each task are merged.
func (p criticalPath) countSteps(perTask int) (n int) {
	for i := range p.tasks {
		p.tasks[i] = pathTask{ungated: perTask, left: perTask}
	}
	for slices.ContainsFunc(p.tasks, func(t pathTask) bool { return t.left > 0 }) {
		free := p.slots
		for i := range p.tasks {
			free -= p.tasks[i].startMerge(free, p.stack)
		}
		for i := range p.tasks {
			free -= p.tasks[i].startGates(free)
		}
		n++
		for i := range p.tasks {
			p.tasks[i].finishStep()
		}
	}
	return n
}

// startMerge starts the test of what waits to be merged, and returns how many slots it
// takes.
func (t *pathTask) startMerge(free, stack int) (slots int) {
	if free == 0 || len(t.gated) == 0 {
		return 0
	}
	t.merging = min(stack, len(t.gated))
	t.gated = t.gated[t.merging:]
	return 1
}

// startGates starts the gates of as many subtasks as there are slots.
func (t *pathTask) startGates(free int) (slots int) {
	slots = min(free, t.ungated)
	t.ungated -= slots
	t.gating = slices.Repeat([]int{t.merges}, slots)
	return slots
}

// finishStep ends the gates that run. One subtask alone that was judged on the commit
// that it is merged onto is merged at once: the verdict on that tree is known.
func (t *pathTask) finishStep() {
	if t.merging > 0 {
		t.left, t.merging, t.merges = t.left-t.merging, 0, t.merges+1
	}
	t.gated, t.gating = append(t.gated, t.gating...), nil
	if len(t.gated) == 1 && t.gated[0] == t.merges {
		t.gated, t.left, t.merges = nil, t.left-1, t.merges+1
	}
}
