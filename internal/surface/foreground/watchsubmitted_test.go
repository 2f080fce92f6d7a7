package foreground

import (
	"testing"

	"company/internal/company"
	"company/internal/present/view/viewtest"
)

// REC-3: with recovery: ask a company that was killed is not started again by the screens that
// watch its task: the task waits for company resume. An answer or a resume, given while none
// was at work, is the leave. Without that key it goes on at once; of one state once.
func TestKeeperAsks(t *testing.T) {
	for _, asks := range []bool{false, true} {
		state, task := viewtest.TaskOf(nil)
		task.Status = company.StatusExecuting
		state.Seq = 10
		o := &fakeOffice{state: state}
		k := &keeper{}
		k.addTask(task.ID, asks)
		conn := o.client()
		starts := func(name string, want bool) {
			t.Helper()
			got, err := k.findStopped(t.Context(), conn)
			if err != nil || (got == task.ID) != want {
				t.Errorf("asks %v, %s: starts %q, %v", asks, name, got, err)
			}
		}
		set := func(paused bool) {
			o.mu.Lock()
			defer o.mu.Unlock()
			next := *o.state.Tasks[task.ID]
			next.Paused = paused
			o.state.Tasks[task.ID] = &next
			o.state.Seq++
		}
		starts("killed", !asks)
		starts("the same state", false)
		set(true)
		starts("paused", false)
		set(false)
		starts("resumed", true)
		starts("once", false)
		set(false)
		starts("killed again", !asks)
	}
}
