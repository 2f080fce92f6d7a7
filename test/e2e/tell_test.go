package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"company/internal/adapters/scripted"
)

// toldStaff is a staff that notes of each request of t1-01.1 its turn, and how often a
// word of the president stands in it. A request for which there is a stop waits there.
type toldStaff struct {
	*staff
	word  string
	stops map[int]*stop // by the request's number

	mu       sync.Mutex
	requests []string
}

func (s *toldStaff) Reply(x scripted.Exchange) scripted.Reply {
	if x.Header.Run == "t1-01.1" {
		times := 0
		for _, m := range x.Messages {
			times += strings.Count(m.Content, s.word)
		}
		s.mu.Lock()
		n := len(s.requests)
		s.requests = append(s.requests, fmt.Sprintf("turn %d: %d", x.Turn, times))
		s.mu.Unlock()
		if st := s.stops[n]; st != nil {
			close(st.reached)
			<-st.on
		}
	}
	return s.staff.Reply(x)
}

// TestToldWordSurvivesKill kills the company after the president's message to a worker,
// after the worker has read it, and once more a turn later: each time the
// company that goes on has the word in the worker's conversation once.
func TestToldWordSurvivesKill(t *testing.T) {
	t.Parallel()
	const word = "say it in lower case, please"
	staff := &toldStaff{staff: farewells(), word: word,
		stops: map[int]*stop{1: stopAt("t1-01.1", 1), 2: stopAt("t1-01.1", 1), 4: stopAt("t1-01.1", 2)}}
	h := openTinyProject(t, staff)
	p := h.Start("submit", "say goodbye")
	for _, n := range []int{1, 2, 4} {
		t.Cleanup(staff.stops[n].release)
		staff.stops[n].wait(t, p)
		if n == 1 { // the request before it is under way, and lacks it
			var told struct {
				Run    string
				AtWork bool `json:"at_work"`
			}
			h.JSON(&told, "tell", "t1-01", word)
			if told.Run != "t1-01.1" || !told.AtWork {
				t.Errorf("told %+v", told)
			}
		}
		p.Kill()
		staff.stops[n].release()
		p = h.Start("resume")
	}
	waitForSummary(t, p, 0)
	checkDelivered(t, h, 1, 1, 1)
	staff.mu.Lock()
	defer staff.mu.Unlock()
	want := []string{"turn 0: 0", "turn 1: 0", "turn 1: 1", "turn 1: 1", "turn 2: 1", "turn 2: 1", "turn 3: 1"}
	if !slices.Equal(staff.requests, want) {
		t.Errorf("the word in the requests: %q, want %q", staff.requests, want)
	}
	if r := h.MustRun(patience, "logs", "t1-01.1", "-o", "json"); strings.Count(r.Stdout, word) != 1 {
		t.Errorf("the transcript has it %d times:\n%s", strings.Count(r.Stdout, word), r.Stdout)
	}
}
