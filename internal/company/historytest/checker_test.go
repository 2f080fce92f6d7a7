package historytest_test

import (
	"fmt"
	"testing"

	. "company/internal/company"
	"company/internal/company/historytest"
)

// Replay asks the fold, the checker and the invariants, and takes a right ledger.
func TestReplay(t *testing.T) {
	t.Parallel()
	right := delivered().events()
	s, err := historytest.Replay(right)
	if err != nil || s.Seq != uint64(len(right)) {
		t.Fatalf("%v at %d", err, s.Seq)
	}
	gap := delivered().events()
	gap[3].Seq++
	_, err = historytest.Replay(gap)
	requireBroken(t, err, "event 5 follows event 3")
	unheld := intended()
	drop[GateFinished](unheld, 0)
	_, err = historytest.Replay(unheld.events())
	requireBroken(t, err, "moves from quality_check to merging")
	noKey := prepared().task(ask("a", AskNoGates))
	noKey.task(&ApprovalOpened{ID: "a2", Key: "a", AskKind: AskNoGates})
	_, err = historytest.Replay(noKey.events())
	requireBroken(t, err, "an invariant is broken: ")
	if _, _, err := (&story{}).office(&OfficeStarted{Office: "abcd", Epoch: 1}).watch(); err != nil {
		t.Error(err)
	}
	if err := (&historytest.Checker{}).Observe(NewState(), Event{Seq: 1, Kind: "office.burnt"}, NewState()); CodeOf(
		err) != ELedger {
		t.Errorf("an unknown kind: %v", err)
	}
}

// An event is about a task that was submitted, and about a ticket of it.
func TestNothingIsAnOrphan(t *testing.T) {
	t.Parallel()
	foreign := func(t *Task) { t.Subtasks = append(t.Subtasks, &Subtask{ID: "t2-01", Status: SubtaskPending}) }
	s := prepared()
	s.lines = append(s.lines, line{"t1", "t2-01", "", &EffectFailed{}})
	c, st, err := prepared().watch()
	if err != nil {
		t.Fatal(err)
	}
	before := st.View()
	foreign(st.Tasks["t1"])
	requireBroken(t, c.Observe(before, s.events()[len(s.lines)-1], st), "t2-01 is an orphan")
	other := func(s *story) {
		s.add("t2", "", "", &TaskSubmitted{Instruction: "More.", Settings: Settings{Plan: Auto}, Priority: "low"})
	}
	later := func(s *story) {
		s.add("t4", "", "",
			&TaskSubmitted{Instruction: "More.", Settings: Settings{Plan: Auto}, Priority: "low", SkippedFrom: 2})
	}
	checkBroken(t, []broken{
		{"a task is submitted", nil, func(s *story) { lineOf[TaskPrepared](s, 0).task = "t7" },
			"t7, which was never submitted"},
		{"a task is submitted once", nil, func(s *story) { s.task(&TaskSubmitted{}) }, "t1 was submitted already"},
		{"numbers grow by one", with(reviewed, other), func(s *story) { lineOf[TaskSubmitted](s, 1).task = "t3" },
			"t3 follows t1, and numbers are skipped from 0 on"},
		{"a gap begins behind the task before", with(reviewed, later),
			func(s *story) { the[TaskSubmitted](s, 1).SkippedFrom = 3 }, "t4 follows t1, and numbers are skipped from 3 on"},
		{"a gap is one of numbers", with(reviewed, later), func(s *story) { lineOf[TaskSubmitted](s, 1).task = "t1x" },
			"t1x follows t1, and numbers are skipped from 2 on"},
		{"a ticket is of the plan", nil, func(s *story) { lineOf[GateFinished](s, 0).sub = "t1-02" }, "t1-02 is an orphan"},
		{"a ticket is of its task", with(reviewed, other), func(s *story) { s.add("t2", "t1-01", "", &ReviewVoided{}) },
			"t1-01 is an orphan"},
	})
}

// Every start has the next epoch.
func TestEpochs(t *testing.T) {
	t.Parallel()
	again := func(epoch uint64) func() *story {
		return func() *story { return submitted().office(&OfficeStarted{Office: "abcd", Epoch: epoch}) }
	}
	checkBroken(t, []broken{
		{"the first is 1", again(2), func(s *story) { the[OfficeStarted](s, 0).Epoch = 2 }, "epoch 2 follows epoch 0"},
		{"none is left out", again(2), func(s *story) { the[OfficeStarted](s, 1).Epoch = 3 }, "epoch 3 follows epoch 1"},
		{"none comes twice", again(2), func(s *story) { the[OfficeStarted](s, 1).Epoch = 1 }, "epoch 1 follows epoch 1"},
		{"one of a resumption counts", func() *story {
			return submitted().office(&OfficeStopped{}).office(&OfficeResumed{Epoch: 2}).office(
				&OfficeStarted{Office: "abcd", Epoch: 3})
		}, func(s *story) { the[OfficeStarted](s, 1).Epoch = 2 }, "epoch 2 follows epoch 2"},
	})
}

// A start and a resumption void the claims of before, of every task.
func TestClaimsAreVoided(t *testing.T) {
	t.Parallel()
	for name, void := range map[string]func(s *story) *story{
		"start":      func(s *story) *story { return s.office(&OfficeStarted{Office: "abcd", Epoch: 2}) },
		"resumption": func(s *story) *story { return s.office(&OfficeStopped{}).office(&OfficeResumed{Epoch: 2}) },
	} {
		held := func() *story { return planned().offer(worker(1)).claim(worker(1)) }
		planning := void(prepared().claim("t1-plan.1")).end("t1-plan.1")
		c, _, err := held().watch()
		fence := uint64(len(held().lines))
		if err != nil || !c.Held(worker(1), fence) || c.Held(worker(1), fence+1) || c.Held(worker(2), fence) ||
			c.Held("t2-01.1", fence) {
			t.Errorf("%v, or the claim is not held under its fence alone", err)
		}
		c, _, err = void(held()).watch()
		if err != nil || c.Held(worker(1), fence) {
			t.Errorf("after a %s the claim of before is held: %v", name, err)
		}
		_, _, err = planning.watch()
		requireBroken(t, err, "ends but is not held")
	}
}

// Nothing begins while the office is stopped.
func TestStop(t *testing.T) {
	t.Parallel()
	for _, what := range []Data{
		&RunOffered{}, &RunClaimed{}, &BudgetReserved{}, &BudgetWaiting{}, &BudgetExhausted{}, &MergeIntentRecorded{},
		&MergeGated{}, &StackIntended{}, &StackRed{}, &ConflictReported{}, &PushTakenIn{}, &NeedsAdded{},
		&GateFinished{}, &DependencyAdded{}, &DependencyLookedUp{}, &DeliveryIntended{}, &DeliveryHeld{}, &PROpened{},
		&TaskBased{}, &TaskPrepared{}, &BaselineRecorded{},
		&TaskSubmitted{}, &EffectFailed{}, &ReviewVoided{},
	} {
		_, _, err := reviewed().office(&OfficeStopped{}).ticket(1, what).watch()
		requireBroken(t, err, what.Kind()+" after the stop")
	}
	working := func() *story { return planned().offer(worker(1)).claim(worker(1)).office(&OfficeStopped{}) }
	requireKept(t, map[string]func() *story{
		"a holder ends":    with(working, func(s *story) { s.runOf(worker(1), &RunEnded{Status: RunError}) }),
		"a holder lets go": with(working, func(s *story) { s.runOf(worker(1), &RunReleased{}) }),
		"a person cancels": with(working, func(s *story) { s.task(&TaskCancelled{}) }),
		"work after the stop": with(working,
			func(s *story) { s.office(&OfficeResumed{Epoch: 2}).runOf(worker(1), &RunOffered{Epoch: 2}) }),
		"a claim after a stop": with(planned, func(s *story) {
			s.office(&OfficeStopped{}).office(&OfficeResumed{Epoch: 2}).runOf(worker(1), &RunOffered{Epoch: 2}).claim(worker(1))
		}),
	})
}

// A missing file is recorded once, with its reason, and not without end.
func TestUnwrittenFiles(t *testing.T) {
	t.Parallel()
	failed := func(file string) *FileWriteFailed {
		return &FileWriteFailed{UnwrittenFile: UnwrittenFile{File: file, Why: "full"}}
	}
	several := func() *story {
		s := submitted().office(failed("log")).task(failed("log"))
		return s.office(&FileWriteRecovered{File: "log"}).office(failed("log")).task(failed("state"))
	}
	most := func() *story {
		s := submitted()
		for i := range MaxUnwritten {
			s.task(failed(fmt.Sprint("f", i)))
		}
		return s
	}
	checkBroken(t, []broken{
		{"once", several, func(s *story) { s.office(failed("log")) }, "log is told to be unwritten twice"},
		{"once of a task", several, func(s *story) { s.task(failed("state")) }, "state is told to be unwritten twice"},
		{"with a reason", several, func(s *story) { the[FileWriteFailed](s, 0).Why = "" }, "for no reason"},
		{"so many", most, func(s *story) { s.task(failed("more")) }, "after too many others"},
		{"what was missed is there again", several, func(s *story) { s.task(&FileWriteRecovered{File: "other"}) },
			"other was never missed"},
		{"it is there again once", several,
			func(s *story) {
				insert[FileWriteRecovered](s, 0, (&story{}).office(&FileWriteRecovered{File: "log"}))
			}, "log was never missed"},
	})
}

// A question is asked before it is answered, and answered once.
func TestAnswers(t *testing.T) {
	t.Parallel()
	answered := func() *story { return prepared().task(ask("no_gates t1", AskNoGates)).task(yes()) }
	checkBroken(t, []broken{
		{"it was asked", answered, func(s *story) { drop[ApprovalOpened](s, 0) }, "a1 was never asked or is answered twice"},
		{"it is answered once", answered, func(s *story) { s.task(yes()) }, "a1 was never asked or is answered twice"},
	})
}
