package historytest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"
	"time"

	. "company/internal/company"
)

// archive lets a task that is over leave the state, as the core decides it.
func (s *story) archive(lead TaskID) *story {
	_, st, err := s.watch()
	if err != nil {
		panic(err)
	}
	text, err := st.EncodeArchive(lead)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(text)
	evs, err := Decide(st, Meta{ID: "archive", Now: began.Add(1000 * time.Hour), Zone: time.UTC},
		ArchiveTask{Task: lead, Blob: Hash(hex.EncodeToString(sum[:]))})
	if err != nil {
		panic(err)
	}
	for _, e := range evs {
		d, err := Decode(e)
		if err != nil {
			panic(err)
		}
		s.add(e.Task, e.Subtask, e.Run, d)
	}
	return s
}

// restore brings the tasks back that the archive of the story so far holds.
func (s *story) restore(lead TaskID, before *story) *story {
	_, st, err := before.watch()
	if err != nil {
		panic(err)
	}
	text, err := st.EncodeArchive(lead)
	if err != nil {
		panic(err)
	}
	a, err := DecodeArchive(text)
	if err != nil {
		panic(err)
	}
	return s.add(lead, "", "", &TaskRestored{Archive: *a})
}

// asking is a cancelled task that was asked two questions, the later one with the longer id.
func asking() *story {
	s := prepared()
	for _, id := range []ApprovalID{"a9", "a12"} {
		q := ask("about "+string(id), AskTrouble)
		q.ID = id
		s.task(q).task(&ApprovalAnswered{ID: id, Option: OptApprove})
	}
	return s.task(&TaskCancelled{Reason: "no"})
}

// cancelledStory is a task that was cancelled while a worker had a run, which ended later.
func cancelledStory() *story {
	return planned().offer(worker(1)).claim(worker(1)).task(&TaskCancelled{Reason: "no"}).runOf(
		worker(1), &RunEnded{Status: RunError})
}

// twoTasks has two tasks, each with a pull request of its own.
func twoTasks() *story {
	s := followed()
	the[TaskSubmitted](s, 1).Follows = ""
	the[DeliveryIntended](s, 1).Number = 2
	the[PROpened](s, 1).Number = 2
	return s
}

// What leaves the state is over, with its books closed, as a whole and as it was.
func TestArchived(t *testing.T) {
	t.Parallel()
	archived := func(of func() *story) func() *story { return func() *story { return of().archive("t1") } }
	d := func(s *story) *TaskArchived { return the[TaskArchived](s, 0) }
	offered := func() *story { return planned().offer(worker(1)).task(&TaskCancelled{Reason: "no"}) }
	requireKept(t, map[string]func() *story{
		"delivered": archived(delivered), "with what follows it": archived(followed), "with its questions": archived(asking),
		"a run that nobody claimed": archived(offered), "a run that ended late": archived(cancelledStory),
		"one of two": archived(twoTasks),
		"with a request that is merged": archived(with(delivered, func(s *story) {
			the[PROpened](s, 0).URL = "https://forge.example/1"
			s.task(&PRSettled{State: PRMerged})
		})),
	})
	checkBroken(t, []broken{
		{"it was there", archived(delivered), func(s *story) { d(s).Tasks[0].ID = "t9" }, "t9 is archived and was not there"},
		{"it leaves once", archived(delivered), func(s *story) { s.task(d(s)) }, "t1 is archived and was not there"},
		{"it is over", archived(delivered), func(s *story) { drop[TaskCompleted](s, 0) }, "t1 is archived and has not ended"},
		{"it leads", archived(followed), func(s *story) { d(s).Tasks[0], d(s).Tasks[1] = d(s).Tasks[1], d(s).Tasks[0] },
			"t2 is archived with t1"},
		{"others are of it", archived(twoTasks), func(s *story) {
			other := *d(s).Tasks[0]
			other.ID = "t2"
			d(s).Tasks = append(d(s).Tasks, &other)
		}, "t2 is archived with t1"},
		{"all of it leaves", archived(followed), func(s *story) { d(s).Tasks = d(s).Tasks[:1] },
			"t1 is archived without t2, which follows it"},
		{"its cost", archived(delivered), func(s *story) { d(s).Tasks[0].Spent.Tokens++ }, "its archive says"},
		{"its status", archived(delivered), func(s *story) { d(s).Tasks[0].Status = StatusFailed }, "its archive says"},
		{"no run is held", archived(cancelledStory), func(s *story) { drop[RunEnded](s, 1) },
			"t1 is archived while the books of t1-01.1 are open"},
		{"no run is open", archived(cancelledStory), func(s *story) {
			drop[RunEnded](s, 1)
			insert[TaskArchived](s, 0, (&story{}).office(&OfficeStarted{Office: "abcd", Epoch: 2}))
		}, "t1 is archived while the books of t1-01.1 are open"},
		{"no pull request is open", archived(delivered),
			func(s *story) { the[PROpened](s, 0).URL = "https://forge.example/1" }, "t1 is archived with an open pull request"},
		{"nothing is heard of it", archived(delivered), func(s *story) { s.task(&TaskPaused{}) }, "of t1, which is archived"},
	})
}

// What comes back is what left.
func TestRestored(t *testing.T) {
	t.Parallel()
	restored := func(of func() *story) func() *story {
		return func() *story { return of().archive("t1").restore("t1", of()) }
	}
	d := func(s *story) *TaskRestored { return the[TaskRestored](s, 0) }
	requireKept(t, map[string]func() *story{
		"delivered": restored(delivered), "with what follows it": restored(followed), "with its questions": restored(asking),
		"with its questions in another order": with(restored(asking), func(s *story) {
			slices.Reverse(the[TaskArchived](s, 0).Tasks[0].Questions)
		}),
		"it goes on": func() *story { return restored(delivered)().task(&PRSettled{State: PRMerged}) },
	})
	checkBroken(t, []broken{
		{"it had left", restored(delivered), func(s *story) { drop[TaskArchived](s, 0) },
			"t1 is restored and was not archived"},
		{"it comes back once", restored(delivered), func(s *story) { s.task(d(s)) }, "t1 is restored and was not archived"},
		{"as it was", restored(delivered), func(s *story) { d(s).Archive.Tasks[0].Instruction = "another" },
			"t1 is restored as it never was"},
		{"by its own event", restored(followed), func(s *story) { lineOf[TaskRestored](s, 0).task = "t2" },
			"t2 is restored with others"},
		{"something", restored(delivered), func(s *story) { d(s).Archive.Tasks = nil }, "t1 is restored with others"},
	})
}

// The state is without what has left, and has what is back.
func TestArchiveIsInTheState(t *testing.T) {
	t.Parallel()
	gone := delivered().archive("t1")
	back := delivered().archive("t1").restore("t1", delivered())
	for name, c := range map[string]struct {
		story *story
		spoil func(*State)
		want  string
	}{
		"still there": {gone, func(s *State) { s.Tasks["t1"] = delivered().state(t).Tasks["t1"] },
			"t1 is archived and still there"},
		"not remembered":  {gone, func(s *State) { delete(s.Past, "t1") }, "t1 is archived and still there"},
		"not back":        {back, func(s *State) { delete(s.Tasks, "t1") }, "t1 is restored and not there"},
		"back and behind": {back, func(s *State) { s.Past["t1"] = gone.state(t).Past["t1"] }, "t1 is restored and not there"},
	} {
		t.Run(name, func(t *testing.T) {
			last := len(c.story.lines) - 1
			early := &story{lines: c.story.lines[:last]}
			checker, st, err := early.watch()
			if err != nil {
				t.Fatal(err)
			}
			before, e := st.View(), c.story.events()[last]
			if err := Apply(st, e); err != nil {
				t.Fatal(err)
			}
			c.spoil(st)
			requireBroken(t, checker.Observe(before, e, st), c.want)
		})
	}
}
