package e2e

import (
	"strings"
	"testing"

	"company/internal/present/feed"
)

// TestQueuedTask: a task that waits for one of the places of limits.concurrent_tasks says so wherever it is looked at,
// and when its turn has come. It is not said to be at work before that.
func TestQueuedTask(t *testing.T) {
	t.Parallel()
	first, second := stopAt("t1-01.1", 1), stopAt("t2-01.1", 1)
	h := openFarewells(t, first, second)
	p := h.Start("serve", "--set", "limits.concurrent_tasks=1")
	p.Until(patience, "its office", func(it feed.Item) bool {
		return it.Kind == "note" && strings.Contains(it.Text, "serves the office")
	})
	runAndExpect(t, h, []string{"t1 is submitted"}, "submit", "--detach", "say goodbye")
	first.wait(t, p)
	runAndExpect(t, h, []string{"t2 is submitted"}, "submit", "--detach", "say goodbye again")
	const why = "waits for a slot: 1 task is under way (t1); limits.concurrent_tasks is 1"
	p.Until(patience, "the line that it waits", func(it feed.Item) bool {
		return it.Task == "t2" && it.Mark == feed.Stalled && it.Text == why
	})
	runAndExpect(t, h, []string{"t2    queued ", why}, "status")
	runAndExpect(t, h, []string{"t2  queued", "next:   " + why}, "show", "t2")
	runAndExpect(t, h, []string{"t2    queued"}, "list", "--state", "queued")
	runAndExpect(t, h, []string{"1 task queued"}, "agents")
	if text := h.MustRun(patience, "status").Stdout; strings.Contains(text, "detects its base") {
		t.Errorf("a task that waits is at work:\n%s", text)
	}
	h.MustRun(patience, "cancel", "t1")
	p.Until(patience, "its turn", func(it feed.Item) bool {
		return it.Task == "t2" && it.Mark == feed.Started && it.Text == "its turn has come"
	})
	second.wait(t, p)
	if text := h.MustRun(patience, "status").Stdout; strings.Contains(text, "queued") {
		t.Errorf("it has begun:\n%s", text)
	}
	h.MustRun(patience, "cancel", "t2")
	endServing(t, p)
}
