package sandbox

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"company/internal/company"
)

// However many attempts there are, few are booked, and together they count all
// of them; what is told to people is bounded too.
func TestRefusalsAreBoundedAndCounted(t *testing.T) {
	var mu sync.Mutex
	var booked []Refusal
	told, ids := 0, map[string]bool{}
	s := &Factory{Config: Config{Security: func(r Refusal) {
		mu.Lock()
		defer mu.Unlock()
		if r.Book && ids[r.ID] {
			t.Errorf("two reports are called %q", r.ID)
		}
		ids[r.ID] = true
		if r.Tell {
			told++
		}
		if r.Book {
			booked = append(booked, r)
		}
		if strings.ContainsAny(r.What, "\x1b\n") || len(r.What) > company.MaxRefusedText {
			t.Errorf("the text is not plain: %q", r.What)
		}
	}}}
	const flood = 12_345
	for range 2 { // a second sandbox of the same holder counts for itself
		r := s.newRefusalLog(Spec{Run: "t1-01.1", Fence: 9})
		var wg sync.WaitGroup
		for i := range 5 {
			wg.Go(func() {
				for n := range flood / 5 {
					r.add("path", fmt.Sprintf("%d \x1b[2J\n%d %s", i, n, strings.Repeat("x", 400)))
				}
			})
		}
		wg.Wait()
		for _, what := range []string{"a big file", "a submodule"} {
			r.add("push", what)
		}
		r.close()
		r.close()
	}
	times := map[string]int{}
	for _, r := range booked {
		if r.Run != "t1-01.1" || r.Times < 1 {
			t.Errorf("%+v", r)
		}
		times[r.Kind] += r.Times
	}
	if times["path"] != 2*flood || times["push"] != 4 {
		t.Errorf("booked: %v", times)
	}
	if each := len(booked) / 2; each != bookedEach+4+1+2 || each > company.MaxRefusedEvents {
		t.Errorf("%d are booked of each bench", each)
	}
	if told > 2*(toldEach+4) {
		t.Errorf("%d are told", told)
	}
}
