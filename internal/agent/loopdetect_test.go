package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"company/internal/adapters"
)

func TestStuck(t *testing.T) {
	a, b, c := calls(`read {"path":"a"}`), calls(`read {"path":"b"}`), calls(`write {"path":"c"}`)
	spaced := calls(`read { "path" : "a" }`)
	cycle := func(n int, of ...adapters.Response) (all []adapters.Response) {
		for range n {
			all = append(all, of...)
		}
		return append(all, finish)
	}
	for name, tc := range map[string]struct {
		script []adapters.Response
		end    End
		turns  int
		nudged int // model calls that see the reminder as the newest message
	}{
		"twice is nothing":          {cycle(2, a), EndFinal, 3, 0},
		"three times is a nudge":    {cycle(3, a), EndFinal, 4, 1},
		"four times too":            {cycle(4, a), EndFinal, 5, 1},
		"five times is stuck":       {cycle(9, a), EndStuck, 5, 1},
		"other spacing is the same": {cycle(9, a, spaced), EndStuck, 5, 1},
		"a cycle of two":            {cycle(9, a, b), EndStuck, 10, 1},
		"a cycle of three":          {cycle(4, a, b, c), EndFinal, 13, 1},
		"a cycle of five":           {cycle(3, a, b, c, b, c), EndFinal, 16, 1},
		"another call between":      {append(cycle(2, a), b, a, a, finish), EndFinal, 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bn := newBench(t, replies(tc.script...))
			out := bn.mustRun(t)
			if out.End != tc.end || out.Turns != tc.turns {
				t.Errorf("end %s after %d turns", out.End, out.Turns)
			}
			nudged := 0
			for _, req := range bn.model.requests {
				if strings.Contains(newest(req), "same calls with the same results") {
					nudged++
				}
			}
			if nudged != tc.nudged {
				t.Errorf("%d reminders", nudged)
			}
		})
	}
}

// WRK-6: edit, build, edit with another error each time is progress; so is
// polling, and a result that differs only in its times is the same result.
func TestProgressIsNotStuck(t *testing.T) {
	script := replies(append(make20(calls(`read {"path":"build"}`)), finish)...)
	b := newBench(t, script)
	n := 0
	result := func(text func(n int) string) func(context.Context, json.RawMessage) (Result, error) {
		return func(context.Context, json.RawMessage) (Result, error) {
			n++
			return Result{Text: text(n), IsError: true}, nil
		}
	}
	b.cfg.Tools[0].Run = result(func(n int) string { return fmt.Sprintf("a.go:%d: undefined: x", n) })
	if out := b.mustRun(t); out.End != EndFinal {
		t.Errorf("different errors: %s", out.End)
	}
	b = newBench(t, replies(append(make20(calls(`poll {}`)), finish)...))
	if out := b.mustRun(t); out.End != EndFinal {
		t.Errorf("polling: %s", out.End)
	}
	b = newBench(t, script)
	b.cfg.Tools[0].Run = result(func(n int) string {
		return fmt.Sprintf("2030-01-02T03:04:%02dZ ok pkg %d.%03ds (took %d ms at 10:00:%02d)", n, n, n, n, n)
	})
	if out := b.mustRun(t); out.End != EndStuck || out.Turns != 5 {
		t.Errorf("only the times differ: %s after %d", out.End, out.Turns)
	}
}

func make20(r adapters.Response) (all []adapters.Response) {
	for range 20 {
		all = append(all, r)
	}
	return all
}
