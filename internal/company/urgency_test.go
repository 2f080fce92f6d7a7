package company_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	. "company/internal/company"
)

// What is not a priority, tag or deadline is refused, and nothing is stored of it.
func TestSubmitRefusesBadUrgency(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct {
		submit Submit
		want   string
	}{
		{Submit{Priority: "urgent"}, `unknown priority "urgent"`},
		{Submit{Tags: []string{"api", ""}}, "a tag is empty"},
		{Submit{Tags: []string{"two words"}}, `invalid tag "two words"`},
		{Submit{Tags: []string{"-x"}}, `invalid tag "-x"`},
		{Submit{Tags: []string{"a,b"}}, `invalid tag "a,b"`},
		{Submit{Tags: []string{"a\xff"}}, "invalid tag"},
		{Submit{Tags: []string{strings.Repeat("x", MaxTag+1)}}, "is longer than 64 bytes"},
		{Submit{Tags: make([]string, MaxTags+1)}, "too many tags: 21"},
		{Submit{Deadline: b.now}, "the deadline has passed"},
		{Submit{Deadline: b.now.Add(MaxDeadline + time.Hour)}, "more than ten years ahead"},
	} {
		c.submit.Instruction, c.submit.Project = "do it", Project{ID: "p", Path: "/p"}
		evs, err := b.do(President, c.submit)
		if CodeOf(err) != EUsage || !strings.Contains(fmt.Sprint(err), c.want) || len(evs) > 0 {
			t.Errorf("%+v: %v, want %q", c.submit, err, c.want)
		}
	}
	at := b.now.Add(36*time.Hour + 5*time.Millisecond)
	b.must(President,
		Submit{Instruction: "do it", Project: Project{ID: "p", Path: "/p"}, Tags: []string{"api", "ops/größe", "api"},
			Deadline: at})
	task := b.s.Tasks["t1"]
	if task.Priority != PriorityMedium || !slices.Equal(task.Tags, []string{"api", "ops/größe"}) ||
		!task.Deadline.Equal(at.Truncate(time.Second)) {
		t.Errorf("%+v", task)
	}
	if left, has := task.UntilDeadline(at.Add(time.Hour)); !has || left.Round(time.Second) != -time.Hour {
		t.Errorf("an hour later %s are left", left)
	}
	b.must(President, Cancel{Task: "t1"})
	if left, has := b.s.Tasks["t1"].UntilDeadline(at.Add(time.Hour)); !has || left <= 0 {
		t.Errorf("it ended in time, and %s were left", left)
	}
}

// A deadline that passes ends nothing.
func TestDeadlineEndsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(President, Submit{Instruction: "do it", Project: Project{ID: "p", Path: "/p"}, Deadline: b.now.Add(time.Hour)})
	before := b.due(1)
	b.now = b.now.Add(48 * time.Hour)
	if after := b.due(1); len(after) != 1 || after[0].Key != before[0].Key {
		t.Errorf("due is %v, was %v", after, before)
	}
}

// Free workers take the subtasks of the most urgent task first; another project's
// share stays.
func TestUrgentTasksAreOfferedFirst(t *testing.T) {
	t.Parallel()
	f := &fleet{bench: newBench(t)}
	f.must(President, ScaleWorkers{By: -1})
	f.submit("a", 2)
	f.submitAs(Submit{Project: Project{ID: "a", Path: "/a"}, Priority: PriorityHigh}, 2)
	f.submitAs(Submit{Project: Project{ID: "a", Path: "/a"}, Priority: PriorityHigh, Deadline: f.now.Add(time.Hour)}, 1)
	f.submitAs(Submit{Project: Project{ID: "b", Path: "/b"}, Priority: PriorityLow}, 2)
	for _, want := range []string{"t3-01.1 t4-01.1", "t4-02.1 t2-01.1", "t2-02.1 t1-01.1", "t1-02.1"} {
		f.is(f.offer(), want)
		for _, run := range strings.Fields(want) {
			f.claim(RunID(run), "w-"+run)
			f.must("w-"+run,
				EndRun{Run: RunID(run), Fence: f.fence, Outcome: RunEnded{Status: RunSuccess, Head: OID(strings.Repeat("2", 40))}})
		}
	}
}

// A follow-up has what the task has that it follows, where it does not say otherwise.
func TestFollowUpsInheritUrgency(t *testing.T) {
	t.Parallel()
	s := &story{bench: newBench(t), id: "t1"}
	deadline := s.now.Add(time.Minute).Truncate(time.Second)
	project := Project{ID: "p", Path: "/p"}
	s.must(President,
		Submit{Instruction: "add a limit", Project: project, Settings: Settings{Cap: Amount{MicroUSD: 1000, Tokens: NoCap}},
			Priority: PriorityHigh, Tags: []string{"api"}, Deadline: deadline})
	s.must(Company, s.preparation())
	s.must(Company, RecordBaseline{Task: s.id, Result: s.verdict(s.oid(), true)})
	s.plan(1).queued(1)
	s.merged(1)
	s.checked()
	s.must(Company, IntendDelivery{s.id})
	s.must(Company, s.delivered())
	s.now = s.now.Add(time.Hour) // past the deadline, which is inherited all the same
	has := func(id TaskID, want Priority, tags string) {
		t.Helper()
		if got := s.s.Tasks[id]; got.Priority != want || strings.Join(got.Tags, " ") != tags ||
			!got.Deadline.Equal(deadline) {
			t.Errorf("%s: %s %v %s", id, got.Priority, got.Tags, got.Deadline)
		}
	}
	s.must(Company,
		RecordPRFeedback{Task: s.id, Items: []FeedbackItem{{ID: "r1", Kind: FeedbackComment, Text: "rename it"}}})
	has("t2", PriorityHigh, "api")
	s.must(President, Submit{Instruction: "more", Project: project, Follows: s.id, Priority: PriorityLow})
	has("t3", PriorityLow, "api")
	s.must(President, Submit{Instruction: "more", Project: project, Follows: "t3", Tags: []string{"ui"}})
	has("t4", PriorityLow, "ui")
}

// goesBefore is the rule in words: one of two tasks of a project that are open.
func goesBefore(s *State, a, b *Task) bool {
	older := a.Submitted.Before(b.Submitted)
	waitedA, waitedB := s.Time.Sub(a.Submitted) >= MaxPassedOver, s.Time.Sub(b.Submitted) >= MaxPassedOver
	if waitedA || waitedB {
		return waitedA && (!waitedB || older)
	}
	worth := map[Priority]int{PriorityLow: 1, PriorityMedium: 2, PriorityHigh: 3}
	if worth[a.Priority] != worth[b.Priority] {
		return worth[a.Priority] > worth[b.Priority]
	}
	if !a.Deadline.Equal(b.Deadline) {
		return b.Deadline.IsZero() || !a.Deadline.IsZero() && a.Deadline.Before(b.Deadline)
	}
	return older
}

// Feature: core, Property 8: Urgency Orders Tasks
//
// Whatever priorities, deadlines and ages tasks have, each
// project has the places that the ages of its tasks give it, and fills them with its
// most urgent tasks. (SUB-3)
func TestUrgencyOrdersTasksOfAProject(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := newBench(t)
		plain := newBench(t)
		for range rapid.IntRange(1, 9).Draw(t, "tasks") {
			skip := time.Duration(rapid.IntRange(0, 40).Draw(t, "hours")) * time.Hour
			b.now, plain.now = b.now.Add(skip), plain.now.Add(skip)
			c := Submit{Instruction: "do it",
				Project: Project{ID: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "project"), Path: "/x"}}
			plain.must(President, c)
			c.Priority = rapid.SampledFrom(append([]Priority{""}, Priorities...)).Draw(t, "priority")
			if n := rapid.IntRange(0, 5).Draw(t, "deadline"); n > 0 {
				c.Deadline = b.now.Truncate(time.Hour).Add(time.Duration(n) * time.Hour)
			}
			b.must(President, c)
			if rapid.IntRange(0, 4).Draw(t, "paused") == 0 {
				b.must(President, Pause{Task: NewTaskID(b.s.LastTask)})
				plain.must(President, Pause{Task: NewTaskID(b.s.LastTask)})
			}
		}
		active := rapid.IntRange(1, 9).Draw(t, "active")
		got, places := b.due(active), plain.due(active)
		if len(got) != len(places) {
			t.Fatalf("%d tasks begin, without priorities %d", len(got), len(places))
		}
		begun := map[TaskID]bool{}
		for i, e := range got {
			task := b.s.Tasks[e.Task]
			if project := plain.s.Tasks[places[i].Task].Project.ID; task.Project.ID != project {
				t.Fatalf("place %d is of project %s, without priorities of %s", i, task.Project.ID, project)
			}
			begun[e.Task] = true
			for _, id := range b.s.Open {
				if o := b.s.Tasks[id]; !begun[id] && !o.Paused && o.Project.ID == task.Project.ID && goesBefore(b.s, o, task) {
					t.Fatalf("%s (%s, until %s) begins before %s (%s, until %s)", e.Task, task.Priority, task.Deadline, id, o.Priority,
						o.Deadline)
				}
			}
		}
	})
}

// However many urgent tasks come, one at a time, a low one has its turn when it was
// passed over for three days, and not before.
func TestUrgentTasksDoNotStarveOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	submit := func(p Priority) {
		b.must(President,
			Submit{Instruction: "do it", Project: Project{ID: "a", Path: "/a"}, Priority: p, Deadline: b.now.Add(2 * time.Hour)})
	}
	submit(PriorityLow)
	since := b.s.Tasks["t1"].Submitted
	for range 100 {
		submit(PriorityHigh)
		submit(PriorityHigh)
		first := b.due(1)[0].Task
		if waited := b.s.Time.Sub(since); (first == "t1") != (waited >= MaxPassedOver) {
			t.Fatalf("%s begins when t1 has waited for %s", first, waited)
		}
		if first == "t1" {
			return
		}
		b.must(President, Cancel{Task: first})
		b.now = b.now.Add(time.Hour)
	}
	t.Fatal("t1 never begins")
}

// TestValidateSubmission: what no office would take is refused before there is one, and
// what is followed is left to the office that knows it.
func TestValidateSubmission(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	sound := Submit{Instruction: "do it", Project: Project{ID: "p", Path: "/p"}, Follows: "t7",
		Deadline: now.Add(time.Hour)}
	if err := sound.Validate(now); err != nil {
		t.Error(err)
	}
	late, empty := sound, sound
	late.Deadline, empty.Instruction = now, ""
	if err := late.Validate(now); CodeOf(err) != EUsage {
		t.Errorf("%+v: %v", late, err)
	}
	if err := empty.Validate(now); CodeOf(err) != EInvalid {
		t.Errorf("%+v: %v", empty, err)
	}
}
