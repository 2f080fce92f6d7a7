package company

import (
	"fmt"
	"testing"
	"time"
)

// largeTask is a state with one task that is executed, of so many subtasks with a run each.
func largeTask(subtasks int) *State {
	s := NewState()
	t := &Task{ID: "t1", Status: StatusExecuting, Runs: map[RunID]*Run{}, Failures: map[string]Failure{}}
	for n := range subtasks {
		id := NewSubtaskID(t.ID, n+1)
		run := NewRunID(t.ID, id, Worker, 1)
		t.Subtasks = append(t.Subtasks, &Subtask{ID: id, Wave: 1, Status: SubtaskRunning, Started: 1, Current: run})
		t.Runs[run] = &Run{ID: run, Role: Worker, Subtask: id, Held: true, Fence: 1}
	}
	s.setTask(t)
	s.Open = []TaskID{t.ID}
	return s
}

// BenchmarkApply applies events of a task with many subtasks: one that changes a subtask and its run,
// one that changes a run, and one that changes neither.
func BenchmarkApply(b *testing.B) {
	for _, subtasks := range []int{64, 1000, 2000} {
		for name, d := range map[string]Data{"run.released": &RunReleased{}, "run.told": &RunTold{Text: "x"},
			"budget.raised": &BudgetRaised{}} {
			b.Run(fmt.Sprintf("%s/%d", name, subtasks), func(b *testing.B) {
				s := largeTask(subtasks)
				m := Meta{Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
				e := m.newEvent("t1", "t1-02", "t1-02.1", d)
				b.ReportAllocs()
				for range b.N {
					e.Seq = s.Seq + 1
					s.View() // readers share the state
					if err := Apply(s, e); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
