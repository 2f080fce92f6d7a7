package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"company/internal/adapters"
)

// numberLines are so many lines, of which some have another text.
func numberLines(n int, other map[int]string) string {
	var b strings.Builder
	for i := range n {
		text := fmt.Sprintf("the line with the number %d", i+1)
		if t, is := other[i+1]; is {
			text = t
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

// Of a file that the model has before it in an older form it is shown what changed; the
// transcript, and a run that is resumed at any record, have all of it (WRK-12).
func TestAFileThatChangedIsShownByItsChanges(t *testing.T) {
	old := numberLines(100, nil)
	now := numberLines(100, map[int]string{40: "another line", 42: "one\nmore", 90: "the last change"})
	script := func() *scripted {
		return replies(calls(`read {"path":"a"}`), calls(`read {"path":"b"}`), calls(`read {"path":"a"}`),
			calls(`read {"path":"a"}`), finish)
	}
	files := func() func(context.Context, json.RawMessage) (Result, error) {
		n := 0
		return func(_ context.Context, args json.RawMessage) (Result, error) {
			if strings.Contains(string(args), "b") {
				n = 1
				return Result{Text: "changed", FirstLine: 1}, nil
			}
			return Result{Text: []string{old, now}[n], FirstLine: 11}, nil
		}
	}
	whole := newBench(t, script())
	whole.cfg.Tools[0].Run = files()
	out := whole.mustRun(t)
	got := answers(out.Messages)
	const want = onlyChanges + "lines 48-55 are now:\n" +
		"the line with the number 38\nthe line with the number 39\nanother line\nthe line with the number " +
		"41\none\nmore\nthe line with the number 43\nthe line with the number 44\n" +
		"lines 99-103 are now:\n" +
		"the line with the number 88\nthe line with the number 89\nthe last change\nthe line with the number 91\nthe line " +
		"with the number 92\n"
	if got[0] != old || got[2] != want || got[3] != want {
		t.Errorf("shown:\n%s\nand\n%s", got[2], got[3])
	}
	if log := out.Transcript.ToolCalls; log[2].Result != now || log[3].Result != now {
		t.Errorf("the transcript has %q", log[2].Result)
	}
	for crash := 1; crash < len(whole.journal.records); crash++ {
		b := newBench(t, script())
		b.cfg.Tools[0].Run = files()
		b.journal.crashAt = crash
		if _, err := b.run(t); err == nil {
			t.Fatalf("no crash at %d", crash)
		}
		b.journal.crashAt = 0
		out := b.mustRun(t)
		if got := answers(out.Messages); out.End != EndFinal || got[2] != want || out.Transcript.ToolCalls[2].Result != now {
			t.Errorf("after a crash at %d it is shown %q", crash, got[2])
		}
	}
}

// Of a text that is cut to fit, which lines stand where is not known, so no change of it is
// shown by its lines.
func TestACutTextIsShownAsItIs(t *testing.T) {
	long := numberLines(4000, nil)
	for name, now := range map[string]string{"both are cut": numberLines(4000, map[int]string{3990: "another line"}),
		"the older one is cut": numberLines(2000, nil)} {
		testCutText(t, name, long, now)
	}
}

func testCutText(t *testing.T, name, old, now string) {
	t.Helper()
	n := 0
	b := newBench(t, replies(calls(`read {"path":"a"}`), calls(`read {"path":"b"}`), calls(`read {"path":"a"}`), finish))
	b.cfg.Tools[0].Run = func(_ context.Context, args json.RawMessage) (Result, error) {
		if strings.Contains(string(args), "b") {
			n = 1
			return Result{Text: "changed"}, nil
		}
		return Result{Text: []string{old, now}[n], FirstLine: 1}, nil
	}
	if got := answers(b.mustRun(t).Messages); len(got[2]) < MaxResult/2 || strings.HasPrefix(got[2], onlyChanges) {
		t.Errorf("%s; shown:\n%.200s", name, got[2])
	}
}

// What a change cannot tell in fewer words is shown whole, and so is an older state that
// comes back, and a file whose first reading has left the context.
func TestWhatIsShownWhole(t *testing.T) {
	b := newBench(t, replies(finish))
	old := numberLines(40, nil)
	c := newConversation(b.cfg)
	c.log.ToolCalls = []TranscriptCall{{ID: "x", Name: "read", Arguments: `{"path":"a"}`, Result: old}}
	c.results = []result{{msg: 3, argsHash: hashArguments(`{"path":"a"}`)}}
	other := map[int]string{}
	for i := range 20 {
		other[2*i] = "x"
	}
	changed := numberLines(40, map[int]string{3: "x"})
	show := func(text string) string { return c.showChanges("read", hashArguments(`{ "path": "a" }`), text, 1) }
	if show(changed) == "" || show(old) != "" || show(numberLines(40, other)) != "" || show("one line\n") != "" {
		t.Error("a change is not shown, or more than a change")
	}
	if c.showChanges("read", hashArguments(`{"path":"b"}`), changed, 1) != "" ||
		c.showChanges("look", hashArguments(`{"path":"a"}`), changed, 1) != "" {
		t.Error("another call stands for this one")
	}
	if got := show(
		strings.Replace(old, "the line with the number 7\nthe line with the number 8\n", "", 1)); !strings.HasSuffix(
		got, "lines 5-8 are now (2 fewer than above):\nthe line with the number 5\nthe line with the number 6\nthe line "+
			"with the number 9\nthe line with the number 10\n") {
		t.Errorf("lines that are gone: %s", got)
	}
	c.results[0].pointer = true
	if show(changed) != "" {
		t.Error("a difference stands for a whole answer")
	}
	c.results[0].pointer, c.maskTo = false, 1
	if show(changed) != "" {
		t.Error("a result that is cleared stands for another one")
	}
}

// The regions make the new text of the old one, also where too many lines differ to be compared.
func TestChangedRegionsLeadToTheNewText(t *testing.T) {
	long := splitLines(numberLines(1200, nil))
	turned := make([]string, len(long))
	for i, line := range long {
		turned[len(long)-1-i] = line
	}
	abc := func(s string) []string { return strings.Split(s, "") }
	for _, pair := range [][2][]string{{abc("abcdef"), abc("abXdeYf")}, {abc("abcdef"), abc("f")},
		{abc("x"), abc("axbxc")}, {abc("abab"), abc("baba")}, {abc("same"), abc("same")}, {long, turned}} {
		old, now := pair[0], pair[1]
		var built []string
		at := 0
		for _, r := range joinRegions(changedRegions(old, now)) {
			built = append(append(built, old[at:r.oldFrom]...), now[r.newFrom:r.newTo]...)
			at = r.oldTo
		}
		if built = append(built, old[at:]...); strings.Join(built, "\n") != strings.Join(now, "\n") {
			t.Errorf("%.40q becomes %.40q", now, built)
		}
	}
}

// What the first message shows is not shown again: a call with that answer is told so, one
// with another answer what changed, after a crash too; the transcript has it whole.
func TestWhatTheFirstMessageShowsIsNotShownAgain(t *testing.T) {
	old := numberLines(60, nil)
	now := numberLines(60, map[int]string{30: "another line"})
	script := []adapters.Response{calls(`read {"path":"a"}`), calls(`read {"path":"b"}`), calls(`write {"path":"a"}`),
		calls(`read {"path":"a"}`), finish}
	fixture := func() *bench {
		b := newBench(t, replies(script...))
		b.cfg.First = "the ticket\n" + old
		b.cfg.Shown = []Shown{{Tool: "read", Arguments: `{ "path": "a" }`, Text: old},
			{Tool: "read", Arguments: `{"path":"c"}`, Text: "\x1b"}}
		b.cfg.Tools[0].Run = func(context.Context, json.RawMessage) (Result, error) {
			if b.journal.count(kindTool) > 2 {
				return Result{Text: now, FirstLine: 1}, nil
			}
			return Result{Text: old, FirstLine: 1}, nil
		}
		return b
	}
	check := func(name string, out Outcome) {
		t.Helper()
		got := answers(out.Messages)
		if out.End != EndFinal || got[0] != unchangedSinceFirst || got[1] != old ||
			!strings.HasPrefix(got[3], onlyChangesSinceFirst+"lines 28-32 are now:\n") ||
			!strings.Contains(got[3], "another line") || strings.Contains(got[3], "number 7\n") {
			t.Errorf("%s: shown\n%q\n%.80q\n%q", name, got[0], got[1], got[3])
		}
		if log := out.Transcript.ToolCalls; log[0].Result != old || log[3].Result != now {
			t.Errorf("%s: the transcript has %.60q and %.60q", name, log[0].Result, log[3].Result)
		}
	}
	whole := fixture()
	check("undisturbed", whole.mustRun(t))
	for crash := 2; crash < len(whole.journal.records); crash++ {
		b := fixture()
		b.journal.crashAt = crash
		if _, err := b.run(t); err == nil {
			t.Fatalf("no crash at %d", crash)
		}
		b.journal.crashAt = 0
		b.cfg.Shown = nil // the journal has it
		check(fmt.Sprintf("after a crash at %d", crash), b.mustRun(t))
	}
}
