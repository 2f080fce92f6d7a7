package app

import (
	"context"
	"errors"
	"maps"
	"syscall"
	"testing"
	"time"

	"company/internal/bus"
	"company/internal/company"
)

// TestPlanWarm: each image of the tasks at work has its rack; one that no run will ask for
// has none.
func TestPlanWarm(t *testing.T) {
	task := func(image string, subtasks ...company.SubtaskStatus) *company.Task {
		out := &company.Task{Status: company.StatusExecuting, Prepared: &company.TaskPrepared{Image: image}}
		for _, status := range subtasks {
			out.Subtasks = append(out.Subtasks, &company.Subtask{Status: status})
		}
		return out
	}
	const pending, running, merged, blocked = company.SubtaskPending, company.SubtaskRunning, company.SubtaskCompleted,
		company.SubtaskBlocked
	paused := task("a", pending)
	paused.Paused = true
	for name, c := range map[string]struct {
		tasks []*company.Task
		each  int
		room  int
		want  map[string]int
	}{
		"being planned": {[]*company.Task{task("a")}, 2, 9,
			map[string]int{"a": 1}},
		"two images": {[]*company.Task{task("a", pending, running), task("b", pending)}, 2, 9,
			map[string]int{"a": 2, "b": 1}},
		"two tasks of one image": {[]*company.Task{task("a", pending), task("a", pending, pending)}, 2, 9,
			map[string]int{"a": 2}},
		"as many as workers": {[]*company.Task{task("a", pending, pending), task("b", pending, pending)}, 2, 9,
			map[string]int{"b": 2, "a": 1}},
		"being reviewed": {[]*company.Task{task("a", company.SubtaskReviewing)}, 1, 9,
			map[string]int{"a": 1}},
		"nothing to come": {[]*company.Task{task("a", merged, blocked)}, 2, 9, map[string]int{}},
		"paused":          {[]*company.Task{paused}, 2, 9, map[string]int{}},
		"none are wanted": {[]*company.Task{task("a", pending)}, 0, 9, map[string]int{}},
		"memory for one more": {[]*company.Task{task("a", pending, pending), task("b", pending, pending)}, 2, 1,
			map[string]int{"b": 1}},
		"memory for two more": {[]*company.Task{task("a", pending), task("b", pending)}, 1, 2,
			map[string]int{"a": 1, "b": 1}},
		"no memory left": {[]*company.Task{task("a", pending)}, 1, 0, map[string]int{}},
		"no image yet":   {[]*company.Task{{Status: company.StatusDecomposing}}, 1, 9, map[string]int{}},
	} {
		s := company.NewState()
		s.Office.Workers = 3
		for i, one := range c.tasks {
			id := company.NewTaskID(i + 1)
			s.Tasks[id], s.Open = one, append(s.Open, id)
		}
		if got := planWarm(s, c.each, c.room); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		s.Office.Stopped = true
		if got := planWarm(s, c.each, c.room); len(got) > 0 {
			t.Errorf("%s, stopped: %v", name, got)
		}
	}
}

type brokenBus struct {
	bus.Bus
	broken context.Context
}

func (b brokenBus) Broken() context.Context { return b.broken }

// An office whose bus stores nothing more ends, also where nothing is to be decided.
func TestBrokenBusEndsTheOffice(t *testing.T) {
	a, _ := newQuietApp(t)
	broken, fail := context.WithCancelCause(t.Context())
	a.bus = brokenBus{broken: broken}
	ended := make(chan error, 1)
	go func() { ended <- a.runOrchestrator(t.Context()) }()
	fail(company.E(company.EBus, "nothing is stored any more").Wrap(syscall.ENOSPC))
	select {
	case err := <-ended:
		if company.CodeOf(err) != company.EBus || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
	if _, err := a.orch.Do(t.Context(), company.President, company.ScaleWorkers{By: 1}); company.CodeOf(
		err) != company.EBus {
		t.Errorf("a command afterwards: %v", err)
	}
}
