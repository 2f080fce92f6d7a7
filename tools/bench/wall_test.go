package main

import (
	"os"
	"testing"
)

// The bench of many subtasks at once needs no Docker.
func TestQuickWall(t *testing.T) {
	dir := t.TempDir()
	r, err := Run(t.Context(), []string{"wall"}, Options{Dir: dir, Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.RenderText())
	if seen := countLines(t, r); seen["wall"] != len(wallSizes) {
		t.Errorf("%+v", r.Lines)
	}
	for _, l := range r.Lines {
		// No office is quicker than one that takes no time, but for tests ahead that begin
		// between two steps of the path.
		if l.Ours < 0.8*l.Bare {
			t.Errorf("%+v", l)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// What the critical path is counted by hand.
func TestCriticalPath(t *testing.T) {
	for _, c := range []struct {
		tasks, perTask, slots, stack int
		want                         int
	}{
		{1, 1, 1, 4, 1}, // its gates; the tree that they judged is merged
		{2, 1, 2, 4, 1}, // the same, twice
		{2, 1, 1, 4, 2}, // one after the other
		{1, 2, 8, 4, 2}, // both at once, and a stack of them
		{1, 8, 8, 4, 3}, // all at once, and two stacks
		{1, 5, 8, 4, 3}, // a stack of four, and the one that is left, on what that made
		{1, 3, 1, 4, 3}, // each is merged while nothing else waits
		{2, 8, 8, 4, 4}, // eight gates, seven beside a stack, one beside two, and the last stack
	} {
		p := criticalPath{tasks: make([]pathTask, c.tasks), slots: c.slots, stack: c.stack}
		if got := p.countSteps(c.perTask); got != c.want {
			t.Errorf("%d tasks of %d on %d, stacks of %d: %d steps, want %d", c.tasks, c.perTask, c.slots, c.stack, got, c.want)
		}
	}
}
