package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"company/internal/adapters/scripted"
	"company/internal/lib/hosttest"
	"company/internal/present/feed"
)

// modelStaff notes the model and the persona of each request of a run.
type modelStaff struct {
	*staff
	stop *stop // at the second request of t1-01.1

	mu    sync.Mutex
	asked map[string][]string
}

func (s *modelStaff) Reply(x scripted.Exchange) scripted.Reply {
	run := string(x.Header.Run)
	s.mu.Lock()
	s.asked[run] = append(s.asked[run],
		fmt.Sprintf("%s terse=%v", x.Model, strings.Contains(x.Messages[0].Content, "Be terse.")))
	wait := run == "t1-01.1" && len(s.asked[run]) == 2
	s.mu.Unlock()
	if wait {
		close(s.stop.reached)
		<-s.stop.on
	}
	return s.staff.Reply(x)
}

// TestRunKeepsItsModel: the company is killed in mid-run and goes on with a config of another model
// and another persona. The run, and the next ones of the task, keep theirs, and the feed says so; the
// next task has the new ones.
func TestRunKeepsItsModel(t *testing.T) {
	hosttest.Long(t, "one of many walks; make test has one of each kind")
	t.Parallel()
	staff := &modelStaff{staff: farewells(), stop: stopAt("t1-01.1", 1), asked: map[string][]string{}}
	h := openTinyProject(t, staff)
	t.Cleanup(staff.stop.release)
	profile := func(model, persona string) string {
		return fmt.Sprintf("  hired: {adapter: openai, model: %s, base_url: %q, api_key_env: TEST_MODEL_KEY}\n", model,
			h.Model.URL()) +
			fmt.Sprintf("agents: {manager: {model: hired}, worker: {model: hired, persona: %s}, reviewer: {model: hired}, "+
				"merger: {model: hired}}\n", persona) + tinyGates
	}
	h.Config(profile("first", "Be terse."))
	p := h.Start("submit", "say goodbye")
	staff.stop.wait(t, p)
	p.Kill()
	staff.stop.release()
	h.Config(profile("second", "Be long."))
	p = h.Start("resume")
	p.Until(patience, "the note about the model", func(it feed.Item) bool {
		return strings.Contains(it.Text, "the task keeps first for the profile hired")
	})
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	staff.mu.Lock()
	defer staff.mu.Unlock()
	for run, asked := range staff.asked {
		for n, got := range asked {
			if want := fmt.Sprintf("first terse=%v", run == "t1-01.1"); got != want {
				t.Errorf("request %d of %s: %s, want %s", n+1, run, got, want)
			}
		}
	}
	runAndExpect(t, h, []string{"first"}, "show", "t1-01.1")
	if r := h.MustRun(patience, "show", "t1-01.1"); strings.Contains(r.Stdout, "second") {
		t.Errorf("the record of the run names another model:\n%s", r.Stdout)
	}
}
