package attack

import (
	"encoding/json"
	"strings"
	"testing"

	"company/internal/company"
	"company/test/testenv"
)

// judgeRemembered asks a company of its own, after the one that was attacked has
// gone, what was tried: the ledger tells of it, with the count, and a flood
// does not fill it.
func judgeRemembered(t *testing.T, h *testenv.House, live string) {
	type item struct {
		Run        company.RunID
		Kind, Text string
	}
	var told []item
	for line := range strings.Lines(h.MustRun(patience, "feed", "-o", "json").Stdout) {
		var it item
		if err := json.Unmarshal([]byte(line), &it); err != nil {
			t.Fatal(err)
		}
		if it.Kind == "access.refused" {
			told = append(told, it)
		}
	}
	events, floods := map[company.RunID]int{}, 0
	for _, it := range told {
		// The live feed must not repeat the line of an event.
		n := 0
		for _, other := range told {
			if strings.Contains(other.Text, it.Text) {
				n++
			}
		}
		if live := feedLines(live, it.Text); live > n {
			t.Errorf("%d events were told %d times while they happened: %s", n, live, it.Text)
		}
		events[it.Run]++
		if strings.Contains(it.Text, "/flood/") {
			floods++
		}
		if len(it.Text) > 400 || steering.MatchString(it.Text) {
			t.Errorf("a line of %d bytes: %q", len(it.Text), it.Text)
		}
	}
	if floods == 0 || floods > 6 {
		t.Errorf("600 requests for one thing are %d events", floods)
	}
	if events[lookRun] > 60 || events[cheatRun] == 0 {
		t.Errorf("events of refused accesses: %v", events)
	}

	var run struct {
		Run struct {
			Refused []struct {
				Kind, What string
				Times      int
			}
		}
	}
	h.JSON(&run, "show", string(lookRun))
	times := map[string]int{}
	for _, r := range run.Run.Refused {
		times[r.Kind] = r.Times
	}
	for kind, least := range map[string]int{"path": 600, "header": 3, "push": 20, "outside": 1} {
		if times[kind] < least {
			t.Errorf("%s was refused %d times, at least %d were tried", kind, times[kind], least)
		}
	}
	task := h.MustRun(patience, "show", "t1").Stdout
	for _, want := range []string{"\nREFUSED  ", "\n  " + string(lookRun) + "          path, ",
		"\n  " + string(cheatRun) + "          push, "} {
		if !strings.Contains(task, want) {
			t.Errorf("company show t1 has no %q:\n%s", want, task)
		}
	}
	if pr := h.MustRun(patience, "pr", "show", "1").Stdout; !strings.Contains(pr, "## Refused accesses") ||
		!strings.Contains(pr, "- "+string(cheatRun)+": push ") {
		t.Errorf("the pull request does not tell of it:\n%s", pr)
	}
}

// feedLines counts the lines of a feed that tell a text; those of the log, which
// has everything, are not among them.
func feedLines(out, text string) int {
	n := 0
	for line := range strings.Lines(out) {
		if strings.Contains(line, text) && !strings.Contains(line, "msg=") {
			n++
		}
	}
	return n
}
