package historytest_test

import (
	"fmt"
	"strings"
	"testing"

	. "company/internal/company"
)

// A pull request is of the one head on which everything was checked.
func TestPullRequests(t *testing.T) {
	t.Parallel()
	opened := func() *story { return until[TaskCompleted](delivered(), 0) }
	wholeGate := func(change func(*GateFinished)) func(s *story) {
		return func(s *story) { change(the[GateFinished](s, 1)) }
	}
	pr := func(change func(*PROpened)) func(s *story) {
		return func(s *story) { change(the[PROpened](s, 0)) }
	}
	asked := func(kind ApprovalKind) func() *story {
		return func() *story {
			s := opened()
			insert[DeliveryIntended](s, 0, (&story{}).task(ask(string(kind)+" t1 "+string(mergeOf(1)), kind)).task(yes()))
			return s
		}
	}
	askPR := with(asked(AskPR), settings(func(s *Settings) { s.PR = Ask }))
	waived := with(asked(AskReview), func(s *story) {
		drop[ReviewRecorded](s, 1)
	})
	ungated, no := "a pull request of a tree on which no gates passed", func(s *story) {
		the[ApprovalAnswered](s, 0).Option = OptReject
	}
	checkBroken(t, []broken{
		{"one", opened, func(s *story) { s.task(the[PROpened](s, 0)) }, "a second pull request of t1"},
		{"of the head", opened, pr(func(d *PROpened) { d.Head = headOf(1) }), "a pull request of another head"},
		{"judged", opened, func(s *story) { drop[GateFinished](s, 1) }, ungated},
		{"judged green", opened, wholeGate(func(d *GateFinished) { d.Result.Passed = false }), ungated},
		{"judged at this head", opened, wholeGate(func(d *GateFinished) { d.Head = headOf(1) }), ungated},
		{"judged as a whole", opened, func(s *story) { lineOf[GateFinished](s, 1).sub = "t1-01" }, "moves from completed"},
		{"judged with all tickets", func() *story {
			return pair().work(1).gate(1, base).review(1, base).merge(1, base).work(2)
		}, func(s *story) {
			the[RunEnded](s, 3).Head = mergeOf(1)
			s.ticket(2, &GateFinished{Head: mergeOf(1), Result: verdict(treeOf(1))}).task(
				&PROpened{PullRequest: PullRequest{Head: mergeOf(1)}})
		}, ungated},
		{"of work", prepared, func(s *story) { s.task(&PROpened{PullRequest: PullRequest{Head: base}}) }, ungated},
		{"judged as it is", opened, wholeGate(func(d *GateFinished) { d.Result.Tree = oid("other") }), ungated},
		{"reviewed", opened, func(s *story) { drop[ReviewRecorded](s, 1) }, "a pull request that nobody reviewed"},
		{"reviewed as a whole", opened, func(s *story) { the[ReviewRecorded](s, 1).Head = headOf(1) },
			"a pull request that nobody reviewed"},
		{"reviewed, or waived", waived, no, "a pull request that nobody reviewed"},
		{"waived at this head", waived, func(s *story) { the[ApprovalOpened](s, 0).Key += "0" },
			"a pull request that nobody reviewed"},
		{"with leave", askPR, no, "a pull request without the president's approval"},
		{"with leave for this head", askPR, func(s *story) { the[ApprovalOpened](s, 0).Key += "0" },
			"a pull request without the president's approval"},
		{"not from main", opened, pr(func(d *PROpened) { d.Branch = "main" }), "a pull request from main"},
	})
	// Of two verdicts on a red whole none is green.
	red := with(opened, settings(func(s *Settings) { s.ReviewRounds = -1 }), func(s *story) {
		g := *the[GateFinished](s, 1)
		insert[GateFinished](s, 1, (&story{}).task(&g))
		the[GateFinished](s, 1).Result.Passed = false
	})
	checkBroken(t, []broken{{"judged green in the end", red, func(s *story) { drop[GateFinished](s, 2) }, ungated}})
}

// unchanged is a task whose worker found nothing to change.
func unchanged() *story {
	s := reviewed().merge(1, base).judge(1).task(&TaskCompleted{Unchanged: true})
	the[RunEnded](s, 1).Unchanged = true
	return s
}

// A task is completed with its pull request and all its tickets; a dry run with
// its plan.
func TestCompletion(t *testing.T) {
	t.Parallel()
	completed := func(change func(*TaskCompleted)) func(s *story) {
		return func(s *story) { change(the[TaskCompleted](s, 0)) }
	}
	without := "t1 is completed without its pull request"
	requireKept(t, map[string]func() *story{"nothing was changed": unchanged})
	checkBroken(t, []broken{
		{"with its pull request", delivered, func(s *story) { drop[PROpened](s, 0) }, without},
		{"without one where nothing was changed", delivered, completed(func(d *TaskCompleted) { d.Unchanged = true }),
			without},
		{"with one where something was changed", unchanged, func(s *story) { the[RunEnded](s, 1).Unchanged = false },
			"t1 is completed without a pull request of its head"},
		{"with one, or nothing was changed", unchanged, completed(func(d *TaskCompleted) { d.Unchanged = false }), without},
		{"by work", delivered, completed(func(d *TaskCompleted) { d.DryRun = true }), without},
		{"a dry run as one", dryRun, completed(func(d *TaskCompleted) { d.DryRun = false }), without},
		{"a dry run that was one", dryRun, func(s *story) { the[TaskSubmitted](s, 0).DryRun = false }, without},
		{"a dry run with a plan", dryRun, func(s *story) { lineOf[PlanAccepted](s, 0).run = "" },
			"a plan that no manager made"},
		{"with each ticket", deliveredPair, func(s *story) { *s = *approvedPair().merge(1, base).whole(1) },
			"t1 is completed without all of its subtasks"},
		{"with the first ticket", deliveredPair, func(s *story) { *s = *approvedPair().merge(2, base).whole(2) },
			"t1 is completed without all of its subtasks"},
	})
}

// After the end of a task only what is left behind is settled.
func TestNothingAfterTheEnd(t *testing.T) {
	t.Parallel()
	ends := map[string]func() *story{
		"completed": delivered,
		"cancelled": func() *story { return intended().task(&TaskCancelled{}) },
		"failed":    func() *story { return intended().task(&TaskFailed{}) },
	}
	for name, end := range ends {
		for _, what := range []Data{&EffectFailed{}, &DeliveryHeld{}, &PlanRefused{}, &SubtaskGuided{}, &ConflictReported{},
			&TaskCompleted{}} {
			s := end()
			if what.Kind() == "task.completed" {
				continue
			}
			_, _, err := s.ticket(1, what).watch()
			if err == nil || !strings.Contains(err.Error(), " after the end of t1") &&
				!strings.Contains(err.Error(), " moves from ") {
				t.Errorf("%s, then %s: %v", name, what.Kind(), err)
			}
		}
		requireKept(t, map[string]func() *story{
			name + ", cap raised": with(end, func(s *story) { s.task(&BudgetRaised{By: Amount{Tokens: 1}}) }),
			name + ", paused":     with(end, func(s *story) { s.task(&TaskPaused{}) }),
			name + ", heard":      with(end, func(s *story) { s.task(&PRFeedbackReceived{}) }),
			name + ", asked":      with(end, func(s *story) { s.task(ask("x", AskTrouble)).task(yes()) }),
			name + ", access refused": with(
				end, func(s *story) { s.runOf(worker(1), &AccessRefused{AccessKind: "path", Times: 1}) }),
			name + ", file missing": with(end, func(s *story) {
				s.task(&FileWriteFailed{UnwrittenFile: UnwrittenFile{File: "f", Why: "full"}}).task(&FileWriteRecovered{File: "f"})
			}),
		})
	}
	held := func() *story { return prepared().claim("t1-plan.1").task(&TaskCancelled{}) }
	requireKept(t, map[string]func() *story{
		"a run ends":         with(held, func(s *story) { s.end("t1-plan.1") }),
		"a run is let go":    with(held, func(s *story) { s.runOf("t1-plan.1", &RunReleased{}) }),
		"a request is ended": with(delivered, func(s *story) { s.task(&PRSettled{State: PRMerged}) }),
	})
	// An end takes the merge that was about to be done with it.
	_, _, err := intended().task(&TaskCancelled{}).ticket(1, &MergeRecorded{Commit: mergeOf(1)}).watch()
	requireBroken(t, err, "")
}

// followed is a second task that works on the pull request of the first.
func followed() *story { return followBy(delivered()) }

// followBy has a second task do what the first does in a story, on the pull request of the first.
func followBy(second *story) *story {
	s := delivered()
	for _, l := range second.lines[1:] {
		l.task = "t2"
		l.sub = SubtaskID(strings.Replace(string(l.sub), "t1", "t2", 1))
		l.run = RunID(strings.Replace(string(l.run), "t1", "t2", 1))
		switch d := l.what.(type) {
		case *TaskSubmitted:
			d.Follows = "t1"
		case *MergeIntentRecorded:
			d.Subtask = l.sub
		case *PushTakenIn:
			d.Subtask = "t2" + d.Subtask[2:]
		case *ApprovalOpened:
			d.Key = strings.Replace(d.Key, "t1", "t2", 1)
		}
		s.lines = append(s.lines, l)
	}
	return s
}

// What became of a branch is told of an open pull request, beside the last
// delivery, once, and in few plain names.
func TestBranches(t *testing.T) {
	t.Parallel()
	ahead := func(commits, people int, by ...string) *BranchChangeSeen {
		return &BranchChangeSeen{BranchChange: BranchChange{Kind: BranchAhead, Delivered: mergeOf(1), Now: oid("pushed"),
			Commits: commits, People: people, By: by}}
	}
	seen := func() *story {
		return delivered().task(ahead(MaxBranchCommits, MaxBranchCommits, "a", "b", "c", "d", "e"))
	}
	few := func() *story { return delivered().task(ahead(1, 1, strings.Repeat("a", MaxBranchName))) }
	branch := func(change func(*BranchChange)) func(s *story) {
		return func(s *story) { change(&the[BranchChangeSeen](s, 0).BranchChange) }
	}
	own := "a branch of t1, which has no open pull request of its own"
	holds := "the branch of t1 holds "
	checkBroken(t, []broken{
		{"after the pull request", seen, moveBefore[BranchChangeSeen, PROpened], own},
		{"before its end", with(seen, func(s *story) { s.task(&PRSettled{State: PRClosed}) }),
			func(s *story) { s.task(ahead(1, 1)) }, own},
		{"of the first task", followed, func(s *story) { s.add("t2", "", "", ahead(1, 1)) },
			"a branch of t2, which has no open pull request of its own"},
		{"possible", seen, branch(func(b *BranchChange) { b.Commits = 0 }), "the branch of t1 cannot stand so"},
		{"beside the delivery", seen, branch(func(b *BranchChange) { b.Delivered = oid("other") }),
			"the branch of t1 was delivered at "},
		{"once", seen, func(s *story) { s.task(the[BranchChangeSeen](s, 0)) }, "the branch of t1 is told twice"},
		{"not as it was", delivered, func(s *story) {
			s.task(&BranchChangeSeen{BranchChange: BranchChange{Kind: BranchAsDelivered, Delivered: mergeOf(1),
				Now: mergeOf(1)}})
		}, "the branch of t1 is told twice"},
		{"so many commits", seen, branch(func(b *BranchChange) { b.Commits++ }), holds + "101 commits"},
		{"so many people", seen, branch(func(b *BranchChange) { b.People++ }), holds + "100 commits by 101 people"},
		{"so many names", seen, branch(func(b *BranchChange) { b.By = append(b.By, "f") }),
			holds + "100 commits by 100 people, 6 of them named"},
		{"people with names", few, branch(func(b *BranchChange) { b.By = append(b.By, "b") }),
			holds + "1 commits by 1 people, 2 of them named"},
		{"short names", few, branch(func(b *BranchChange) { b.By[0] += "a" }), "is not a plain name"},
		{"plain names", few, branch(func(b *BranchChange) { b.By[0] = "a\x07" }), "is not a plain name"},
	})
	requireKept(t, map[string]func() *story{
		"back as it was": with(seen, func(s *story) {
			s.task(&BranchChangeSeen{BranchChange: BranchChange{Kind: BranchAsDelivered, Delivered: mergeOf(1),
				Now: mergeOf(1)}})
		}),
		"followed":          followed,
		"seen and followed": with(followed, func(s *story) { s.task(ahead(1, 1)) }),
	})
	// The next delivery is what the branch is then compared with.
	again := with(followed, func(s *story) {
		for _, d := range []*OID{&the[MergeRecorded](s, 1).Commit, &the[GateFinished](s, 3).Head,
			&the[ReviewRecorded](s, 3).Head, &the[DeliveryIntended](s, 1).Head, &the[PROpened](s, 1).Head} {
			*d = oid("second")
		}
		seen := ahead(1, 1)
		seen.Delivered = oid("second")
		s.task(seen)
	})
	checkBroken(
		t, []broken{{"beside the last delivery", again, branch(func(b *BranchChange) { b.Delivered = mergeOf(1) }),
			fmt.Sprintf("was delivered at %s, and is compared with %s", oid("second").Short(), mergeOf(1).Short())}})
}
