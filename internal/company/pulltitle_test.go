package company_test

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	. "company/internal/company"
)

// Feature: texts, Property 1: Titles of Pull Requests
//
// A pull request is called as the manager says; where that may not stand over it, as the
// instruction, or the only ticket of a long one (FRG-1). Nothing is cut inside a word.
func TestPullTitle(t *testing.T) {
	t.Parallel()
	long := "The API has to be protected against clients that send more than they should, so add a limit"
	for _, c := range []struct{ instruction, title, only, want string }{
		{"add a limit", "", "Limit it", "add a limit"},
		{"add a limit", "Add a limit to the API", "Limit it", "Add a limit to the API"},
		{long, "", "Limit it", "Limit it"},
		{long, "", "", "The API has to be protected against clients that send more than they …"},
		{long, "", "Limit it @admin", "The API has to be protected against clients that send more than they …"},
		{"add a limit", "Fix #7", "", "add a limit"},
		{"add a limit", strings.Repeat("Add it ", 12), "", strings.TrimSpace(strings.Repeat("Add it ", 9)) + " Add …"},
		{"add a limit", "two\nlines", "", "add a limit"},
		{strings.Repeat("x", 300), "", "", strings.Repeat("x", 68) + " …"},
		{strings.Repeat("日本 ", 30), "", "", strings.TrimSpace(strings.Repeat("日本 ", 23)) + " …"},
	} {
		task := &Task{Instruction: c.instruction, Plan: Planning{Title: c.title}}
		if c.only != "" {
			task.Subtasks = []*Subtask{{Planned: PlannedSubtask{Title: c.only}}}
		}
		if got := task.PullTitle(); got != c.want {
			t.Errorf("%q, %q, %q: %q, want %q", c.instruction, c.title, c.only, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		task := &Task{Instruction: rapid.String().Draw(t, "instruction"),
			Plan: Planning{Title: rapid.String().Draw(t, "title")}}
		got := task.PullTitle()
		if utf8.RuneCountInString(got) > MaxPullTitle || !utf8.ValidString(got) ||
			strings.ContainsAny(got, "\n\r\x1b\u200b\u202e") {
			t.Fatalf("%q", got)
		}
	})
}

// Titles that a forge would act on, or that people cannot read, are faulty (T22).
func TestPullTitleFault(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"Add a limit", "Read C# and F! files", strings.Repeat("é", 70), "Send mail to a @ b",
		"Answer 429 (limit reached)"} {
		if why := PullTitleFault(good); why != "" {
			t.Errorf("%q: %s", good, why)
		}
	}
	for _, bad := range []string{
		"", " ", "Fix #7", "Fix acme/app#7", "Fixes GH-7", "Close !7", "Ask @admin", "See https://example.com", "two\nlines",
		"hid\u200bden", "# Heading", strings.Repeat("é", 71), "\xff",
	} {
		if PullTitleFault(bad) == "" {
			t.Errorf("%q may stand over a pull request", bad)
		}
	}
}

// What agents decided is with the task: of the plan that stands, of the manager's advice, of
// workers whose work was handed in; each once, in order, and bounded.
func TestDecisionsAreKept(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{})
	run := NewRunID(s.id, "", Manager, 1)
	p := waves(1)
	p.Title, p.Decisions = "Put it there", []string{"the old one stays"}
	s.end(run, EndRun{Plan: &p})
	if got := s.task().Plan; got.Title != "Put it there" || !reflect.DeepEqual(got.Decisions, p.Decisions) {
		t.Fatalf("%+v", got)
	}
	first, fence := s.offer(1)
	s.must(string(first),
		EndRun{Run: first, Fence: fence,
			Outcome: RunEnded{Status: RunError, Escalate: true, Error: "which one?", Decisions: []string{"given up"}}})
	guide := NewRunID(s.id, "", Manager, 2)
	s.end(guide,
		EndRun{Guide: &Guide{Subtask: s.subID(1), Text: "the left one",
			Decisions: []string{" the left one is meant ", "", "the old  one stays"}}})
	second, fence := s.offer(1)
	many := make([]string, 30)
	for i := range many {
		many[i] = strings.Repeat("word ", 300+i)
	}
	s.must(string(second),
		EndRun{Run: second, Fence: fence,
			Outcome: RunEnded{Status: RunSuccess, Head: s.oid(), Summary: "done", Decisions: many}})
	got := s.task().Decisions()
	if len(got) != 4 || got[0] != (Decision{By: string(run), Text: "the old one stays"}) ||
		got[1] != (Decision{By: "the manager on " + string(s.subID(1)), Text: "the left one is meant"}) {
		t.Fatalf("%+v", got)
	}
	kept := s.task().Runs[second].Decisions
	if len(kept) != 20 || kept[19] != "(11 more were given)" {
		t.Errorf("%d are kept, the last %q", len(kept), kept[len(kept)-1])
	}
	for _, d := range kept[:19] {
		if len(d) > 1000 || !strings.HasSuffix(d, "word …") {
			t.Errorf("%d bytes, ending %q", len(d), d[len(d)-20:])
		}
	}
	if sum := s.task().SummedUp(s.subID(1)); len(sum) != 1 || sum[0].ID != second {
		t.Errorf("%+v", sum)
	}
}

// A run that works on a ticket again repeats the decisions that still hold: they replace those of the runs before it,
// so that none stands twice. A run without decisions takes none away.
func TestDecisionsOfTheNewestRunCount(t *testing.T) {
	t.Parallel()
	runs := map[RunID]*Run{}
	task := &Task{ID: "t1", Runs: runs, Plan: Planning{Accepted: "t1-plan.1", Decisions: []string{"The `old` name stays."}},
		Subtasks: []*Subtask{{ID: "t1-01"}}}
	end := func(role Role, n int, decisions ...string) {
		id := NewRunID("t1", "t1-01", role, n)
		runs[id] = &Run{ID: id, Role: role, Subtask: "t1-01", Ended: true, Head: "h", Status: RunSuccess, Summary: "s",
			Decisions: decisions, EndedAt: time.Date(2026, 1, 1, 0, len(runs), 0, 0, time.UTC)}
	}
	end(Worker, 1, "a limit of 10", "names are case-sensitive")
	end(Worker, 2, "the limit is 10", "names are case-sensitive", "the old name stays")
	end(Worker, 3)
	end(Merger, 1, "both sides stay")
	var got []string
	for _, d := range task.Decisions() {
		got = append(got, d.Text)
	}
	want := []string{"The `old` name stays.", "the limit is 10", "names are case-sensitive", "both sides stay"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	if last := task.LastHandedIn("t1-01"); last == nil || last.ID != "t1-01.3" {
		t.Errorf("%+v", last)
	}
}
