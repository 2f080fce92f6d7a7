package main

import (
	"testing"
	"time"

	"company/internal/present/view"
)

// The chain of requests is as long as what had to wait for each other: those at the same time
// are one link.
func TestChainOfRequests(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 1, 1, 0, 0, s, 0, time.UTC) }
	turn := func(asked, answered int) view.Request {
		end := at(answered)
		return view.Request{Asked: at(asked), Answered: &end}
	}
	for name, c := range map[string]struct {
		turns []view.Request
		want  int
	}{
		"none":              {nil, 0},
		"one behind other":  {[]view.Request{turn(1, 2), turn(2, 3), turn(5, 9)}, 3},
		"all at once":       {[]view.Request{turn(1, 4), turn(2, 5), turn(3, 6)}, 1},
		"two beside a long": {[]view.Request{turn(1, 9), turn(1, 3), turn(4, 6)}, 2},
		"no reply":          {[]view.Request{turn(1, 2), {Asked: at(3)}}, 1},
	} {
		if got := countChain(c.turns); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
