package e2e

import (
	"strings"
	"sync"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/lib/hosttest"
)

// silentAt says nothing to some requests of a run, as a model's server does that hangs.
type silentAt struct {
	staff
	mu    sync.Mutex
	left  map[int]int // by turn of t1-01.1: how many requests are not answered
	asked map[int]int
	over  chan struct{} // closed at the end of the test
}

func (s *silentAt) Reply(x scripted.Exchange) scripted.Reply {
	if x.Header.Run == "t1-01.1" {
		s.mu.Lock()
		s.asked[x.Turn]++
		silent := s.left[x.Turn] > 0
		s.left[x.Turn]--
		s.mu.Unlock()
		if silent {
			<-s.over
		}
	}
	return s.staff.Reply(x)
}

// TestSilentModel: a model that falls silent is asked again in the same conversation. Where it stays
// silent the run ends, and the next one goes on from its uncommitted work, which the brief tells of. The
// calls without an answer are booked at what can have been charged.
func TestSilentModel(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	write := func(path, text string) scripted.Reply { return call("write_file", m{"path": path, "content": text}) }
	brain := &silentAt{
		left: map[int]int{1: 1, 3: 100}, asked: map[int]int{}, over: make(chan struct{}),
		staff: staff{
			manager: submitPlan(farewellTicket()),
			worker: replyByRun(
				replyInSteps(write("farewell.sh", "echo goodbye\n"),
					write("checks/farewell.sh", "test \"$(sh farewell.sh)\" = goodbye\n"),
					call("run_command", m{"command": "sh checks/farewell.sh"}), call("finish", m{"summary": "never heard"})),
				replyInSteps(call("finish", m{"summary": "It was all there"})),
			),
		},
	}
	h := openTinyProject(t, brain)
	defer close(brain.over)
	// A busy machine may take seconds for an answer that comes.
	h.Config(tinyGates + "limits: {model_silence: 6s, model_wait: 0s}\n")
	p := h.Start("submit", "say goodbye")
	if s := waitForSummary(t, p, 0); s.Result != "COMPLETE" {
		t.Fatalf("%+v\n%s", s, p.Tell())
	}
	brain.mu.Lock()
	if brain.asked[1] != 2 || brain.asked[3] != 2 {
		t.Errorf("requests by turn: %v, want 2 of turn 1 and 2 of turn 3", brain.asked)
	}
	brain.mu.Unlock()
	if text := p.Tell(); !strings.Contains(text, "the model is asked again: ") ||
		!strings.Contains(text, "nothing came within 6s") {
		t.Errorf("the feed does not tell that the model is silent:\n%s", text)
	}
	first := requestText(t, h, "t1-01.2", 1)
	for _, want := range []string{"+echo goodbye", "checks/farewell.sh", "What it had changed is on its branch"} {
		if !strings.Contains(first, want) {
			t.Errorf("the next run is not told %q:\n%s", want, first)
		}
	}
	var run struct {
		Run struct {
			Head   string
			Tokens int64
		}
	}
	h.JSON(&run, "show", "t1-01.1")
	// Each call may have 8,192 tokens of output: one worst case is more than all six requests.
	if run.Run.Head == "" || run.Run.Tokens == 0 || run.Run.Tokens > 8192*4 {
		t.Errorf("the run that broke off: %+v", run.Run)
	}
	t.Logf("%d tokens are booked for %s", run.Run.Tokens, "t1-01.1")
	checkDelivered(t, h, 1, 1, 1)
}
