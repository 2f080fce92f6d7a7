package merger

import (
	"testing"

	"company/internal/company"
)

// noView is a decider that breaks.
type noView struct{ company.Decider }

func (noView) View() *company.State { panic("no state") }

// A test of a merge that waits for a verdict found ahead goes on when the test ahead breaks.
func TestVisionThatBreaks(t *testing.T) {
	t.Parallel()
	g := &Merger{Config: Config{Decider: noView{}}}
	v := &vision{ready: make(chan struct{}), done: make(chan struct{})}
	if err := company.Guard("looking ahead", func() error { return g.judgeAhead(t.Context(), v) }); err == nil {
		t.Error("it did not break")
	}
	for name, closed := range map[string]chan struct{}{"ready": v.ready, "done": v.done} {
		select {
		case <-closed:
		default:
			t.Errorf("%s stays open", name)
		}
	}
}
