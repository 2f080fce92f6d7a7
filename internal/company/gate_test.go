package company

import "testing"

// Work that was not finished stays unfinished when its gates are red: only a
// success becomes a failure of quality.
func TestOnlySuccessBecomesAFailureOfQuality(t *testing.T) {
	t.Parallel()
	for status, want := range map[RunStatus]RunStatus{RunSuccess: RunQualityFailed, RunPartial: RunPartial,
		RunError: RunError} {
		id := NewSubtaskID("t1", 1)
		run := NewRunID("t1", id, Worker, 1)
		sub := &Subtask{ID: id, Started: 1, Status: SubtaskInGate}
		task := &Task{ID: "t1", Subtasks: []*Subtask{sub}, Settings: Settings{GateRetries: 3},
			Runs: map[RunID]*Run{run: {ID: run, Ended: true, Status: status}}}
		sub.applyGateResult(task, &GateFinished{})
		if got := task.Runs[run].Status; got != want {
			t.Errorf("%s becomes %s, want %s", status, got, want)
		}
	}
}
