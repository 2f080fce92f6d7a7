package feed

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"company/internal/company"
)

// showAll is what a display prints of items, without the time of day.
func showAll(s Style, items ...Item) string {
	var out bytes.Buffer
	d := &Display{Out: &out, Style: func() Style { return s }}
	for _, it := range items {
		it.Time = time.Now()
		if _, err := d.Show(it); err != nil {
			panic(err)
		}
	}
	var b strings.Builder
	for line := range strings.Lines(out.String()) {
		if len(line) > 9 && line[2] == ':' {
			line = line[9:]
		}
		b.WriteString(line)
	}
	return b.String()
}

// A subtask that goes well is one line; one in which something failed is open from
// then on until its merge. Tools are shown with -v.
func TestSubtaskThatGoesWellIsOneLine(t *testing.T) {
	item := func(sub company.SubtaskID, kind string, mark Mark, text string) Item {
		return Item{Seq: 1, Task: "t1", Subtask: sub, Kind: kind, Mark: mark, Text: text}
	}
	items := []Item{
		{Seq: 1, Task: "t1", Kind: "plan.accepted", Mark: Done, Text: "plan: 2 subtasks", Lines: []string{"A", "B"}},
		item("t1-01", "run.claimed", Started, "working on A"),
		item("t1-02", "run.claimed", Started, "working on B"),
		{Task: "t1", Subtask: "t1-01", Run: "t1-01.1", Kind: "tool_done", Mark: Failed,
			Text: "run_command false: exit code 1"},
		item("t1-01", "run.ended", Done, "done at 1"),
		item("t1-02", "run.ended", Done, "done at 2"),
		item("t1-01", "gate.finished", Done, "gates passed"),
		item("t1-02", "gate.finished", Failed, "gate test failed, exit 1"),
		item("t1-02", "run.claimed", Started, "working on B again"),
		item("t1-01", "review.finished", Done, "review: approve"),
		item("t1-01", "merge.done", Done, "A: merged as 3"),
		item("t1-02", "gate.finished", Done, "gates passed"),
		item("t1-02", "merge.done", Done, "B: merged as 4"),
	}
	want := `t1      + plan: 2 subtasks
                   A
                   B
t1-02   x gate test failed, exit 1
t1-02   > working on B again
t1-01   + A: merged as 3
t1-02   + gates passed
t1-02   + B: merged as 4
`
	if got := showAll(Style{}, items...); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := showAll(Style{Verbose: true}, items...); strings.Count(got, "\n") != len(items)+2 ||
		!strings.Contains(got, "t1-01.1         -        tool      x run_command false: exit code 1\n") {
		t.Errorf("with -v:\n%s", got)
	}
}

// The only subtask of a task has its verdicts, and no line about how its review counts.
func TestOnlySubtaskShowsItsVerdicts(t *testing.T) {
	item := func(sub company.SubtaskID, kind, text string) Item {
		return Item{Seq: 1, Task: "t1", Subtask: sub, Kind: kind, Mark: Done, Text: text}
	}
	carried := describeRecorded(t, &company.ReviewCarried{}, nil)
	got := showAll(Style{}, item("", "plan.accepted", "one worker does it: the instruction is short"),
		item("t1-01", "run.ended", "done at 1"), item("t1-01", "gate.finished", "gates passed"),
		item("t1-01", "review.finished", "review: approve"), item("t1-01", "merge.done", "A: merged as 3"), carried)
	want := `t1      + one worker does it: the instruction is short
t1-01   + gates passed
t1-01   + review: approve
t1-01   + A: merged as 3
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A line is cut to the terminal, with its time kept; details stand below the text.
func TestLineFits(t *testing.T) {
	it := Item{Task: "t1", Subtask: "t1-01", Kind: "gate.finished", Mark: Stalled, Text: strings.Repeat("long ", 20),
		Lines: []string{"FAIL: src/d.txt is empty"}, DurationMS: 61_000}
	want := "t1-01   ~ long long long lon…  1m01s\n          FAIL: src/d.txt is empty\n"
	if got := strings.Replace(showAll(Style{Width: 45}, it), "         FAIL", "FAIL", 1); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Of a merge that does not fit the title is cut, and not what became of it.
func TestMergeThatDoesNotFit(t *testing.T) {
	it := Item{Task: "t1", Subtask: "t1-01", Kind: "merge.done", Mark: Done,
		Text: "Subtraction of numbers: with a long title: merged as 1a2b3c4d, 2 files", DurationMS: 27_300}
	for width, want := range map[int]string{
		80: "t1-01   + Subtraction of numbers:…: merged as 1a2b3c4d, 2 files  27.3s\n",
		40: "t1-01   + Subtraction o…  27.3s\n", // too narrow for both
		0:  "t1-01   + " + it.Text + "  27.3s\n",
	} {
		if got := showAll(Style{Width: width}, it); got != want {
			t.Errorf("width %d: got\n%swant\n%s", width, got, want)
		}
	}
}

// A failure that does not fit has a second line.
func TestFailureHasASecondLine(t *testing.T) {
	it := Item{Task: "t1", Subtask: "t1-01", Kind: "gate.finished", Mark: Failed,
		Text: "gate test failed, exit 1: example.com/depot/internal/pricing TestVolumePercent", DurationMS: 61_000}
	want := "t1-01   x gate test failed, exit 1:  1m01s\n                   example.com/depot/internal/prici…\n"
	if got := showAll(Style{Width: 52}, it); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// What is under way is what has begun and not ended, with how long it goes on.
func TestUnderway(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var u underway
	for _, x := range []struct {
		it   Item
		want string // two minutes after the beginning
	}{
		{Item{Kind: "task.submitted", Task: "t1", Time: at}, ""}, // it may wait for its turn
		{Item{Kind: "task.based", Task: "t1", Time: at}, ""},
		{Item{Kind: "image", Mark: Info, Text: "installing g++", Time: at.Add(time.Minute)}, "image: installing g++ (1m00s)"},
		{Item{Kind: "heartbeat", Task: "t1", Time: at.Add(time.Minute)}, "image: installing g++ (1m00s)"},
		{Item{Kind: "run.claimed", Task: "t1", Run: "t1-plan.1", Worker: "manager", Text: "planning",
			Time: at.Add(time.Minute)}, "image: installing g++ (1m00s); t1 planning (1m00s)"},
		{Item{Kind: "run.ended", Task: "t1", Run: "t1-plan.1", Time: at.Add(time.Minute)}, "image: installing g++ (1m00s)"},
		{Item{Kind: "task.prepared", Task: "t1", Time: at}, ""},
		{Item{Kind: "gate", Task: "t1", Text: "gate test on the base", Time: at}, "t1 gate test on the base (2m00s)"},
		{Item{Kind: "run.claimed", Task: "t1", Subtask: "t1-01", Run: "t1-01.1", Worker: "w2", Text: "working on A",
			Time: at.Add(time.Minute)}, "t1 gate test on the base (2m00s); t1-01 working on A (1m00s)"},
		{Item{Kind: "task.baseline", Task: "t1", Time: at}, "t1-01 working on A (1m00s)"},
		{Item{Kind: "tool_started", Task: "t1", Subtask: "t1-01", Run: "t1-01.1", Text: "run_command make test",
			Time: at.Add(90 * time.Second)}, "t1-01 runs make test (30s)"},
		{Item{Kind: "waiting", Task: "t1", Subtask: "t1-01", Run: "t1-01.1", Time: at.Add(100 * time.Second)},
			"t1-01 waits for the model's server (20s)"},
		{Item{Kind: "waiting", Task: "t1", Subtask: "t1-01", Run: "t1-01.1", Time: at.Add(110 * time.Second)},
			"t1-01 waits for the model's server (20s)"},
		{Item{Kind: "run.ended", Task: "t1", Subtask: "t1-01", Run: "t1-01.1", Time: at}, ""},
		{Item{Kind: "gate", Task: "t1", Subtask: "t1-01", Text: "gate lint", Time: at}, "t1-01 gate lint (2m00s)"},
		{Item{Kind: "task.cancelled", Task: "t1", Time: at}, ""},
	} {
		u.observe(x.it)
		if got := u.renderText(at.Add(2 * time.Minute)); got != x.want {
			t.Errorf("after %s: %q, want %q", x.it.Kind, got, x.want)
		}
	}
}

// The first line that tells of a failure stands for a check that names no test.
func TestFirstFailure(t *testing.T) {
	for output, want := range map[string]string{
		"": "",
		"checking\nFAIL: src/d.txt is empty\nmake: *** [Makefile:3: test] Error 1\n": "FAIL: src/d.txt is empty",
		"all is well\nbye\n":                   "bye",
		"\x1b[31merror\x1b[0m: no such file\n": `\x1b[31merror\x1b[0m: no such file`,
		"make: *** [test] Error 2\n":           "",
		"a.c:3: undefined reference to `f'\n":  "a.c:3: undefined reference to `f'",
	} {
		if got := FirstFailure(output); got != want {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}

// What is drawn at the foot of a terminal makes room for an item.
func TestDrawnLinesMakeRoom(t *testing.T) {
	var out bytes.Buffer
	d := &Display{Out: &out, Style: func() Style { return Style{Width: 60} }, Redraws: true}
	now := time.Now()
	d.Note(Item{Kind: "run.claimed", Task: "t1", Subtask: "t1-01", Run: "t1-01.1", Worker: "w1", Text: "working on A",
		Time: now.Add(-5 * time.Second)})
	d.Draw(now, []string{"t1  working"})
	if got, want := out.String(), "t1  working\n  t1-01   w1       5s     working on A\n"; got != want {
		t.Errorf("drawn: %q, want %q", got, want)
	}
	out.Reset()
	if _, err := d.Show(Item{Time: now, Task: "t1", Kind: "plan.accepted", Mark: Done, Text: "plan"}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasPrefix(got, "\r\x1b[2A\x1b[J") || strings.Count(got, "\n") != 1 {
		t.Errorf("shown: %q", got)
	}
	out.Reset()
	d.Redraws = false
	d.Draw(now, []string{"t1  working"})
	if out.Len() > 0 {
		t.Errorf("a pipe gets %q", out.String())
	}
}
