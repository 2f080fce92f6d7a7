package company_test

import (
	"strings"
	"testing"

	. "company/internal/company"
)

// beginsAlone has what is due at the beginning done, and reports whether a worker has the instruction.
func (s *story) beginsAlone() bool {
	s.t.Helper()
	for _, e := range s.due(9) {
		if c, is := e.Command.(BeginAlone); is {
			s.must(Company, c)
			return true
		}
	}
	return false
}

// An instruction of few pieces is one worker's, without a manager, however long it is; one of many pieces, a plan that is
// to be read, and a follow-up are planned.
func TestTaskBeginsAlone(t *testing.T) {
	t.Parallel()
	efforts := func(way, most string) Settings { return Settings{Way: way, Granularity: Granularity{MaxEffort: most}} }
	for name, c := range map[string]struct {
		text  string
		set   Settings
		dry   bool
		alone bool
	}{
		"short": {"add a limit", Settings{Way: WayAuto}, false, true},
		"long":  {strings.Repeat("add a limit ", 450), Settings{Way: WayAuto}, false, true},
		"many items": {"do:\n" + strings.Repeat("- a\n", 12) + strings.Repeat("1. b\n", 13), Settings{Way: WayAuto},
			false, false},
		"many sections":       {strings.Repeat("## A\nDo it.\n", 25), Settings{Way: WayAuto}, false, false},
		"code, not items":     {"like\n```\n" + strings.Repeat("- a\n", 30) + "```\n", Settings{Way: WayAuto}, false, true},
		"items of items":      {"- all\n" + strings.Repeat("  - a\n", 30), Settings{Way: WayAuto}, false, true},
		"some items":          {"do:\n" + strings.Repeat("* a\n", 24), Settings{Way: WayAuto}, false, true},
		"a plan to be read":   {"add a limit", Settings{Way: WayAuto, Plan: Ask}, false, false},
		"a dry run":           {"add a limit", Settings{Way: WayAuto}, true, false},
		"one":                 {strings.Repeat("- a\n", 30), Settings{Way: WayOne}, false, true},
		"one, with a reader":  {"add a limit", Settings{Way: WayOne, Plan: Ask}, false, true},
		"split":               {"add a limit", Settings{Way: WaySplit}, false, false},
		"no way, as ever":     {"add a limit", Settings{}, false, false},
		"no larger effort":    {"add a limit", efforts(WayAuto, EffortMedium), false, true},
		"small parts":         {"add a limit", efforts(WayAuto, EffortSmall), false, false},
		"no item, a fraction": {"limit it to:\n1.5 a second\n-x", Settings{Way: WayAuto}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &story{bench: newBench(t)}
			c.set.Cap = Amount{MicroUSD: 1000, Tokens: NoCap}
			s.must(President, Submit{Instruction: c.text, Project: Project{ID: "p", Path: "/p"}, Settings: c.set, DryRun: c.dry})
			s.id = NewTaskID(s.s.LastTask)
			s.must(Company, s.preparation())
			s.must(Company, RecordBaseline{Task: s.id, Result: s.verdict(s.oid(), true)})
			if got := s.beginsAlone(); got != c.alone || s.isDue(EffectManage) == c.alone {
				t.Fatalf("alone: %v, a manager is due: %v", got, s.isDue(EffectManage))
			}
			if c.alone && (!s.isOfferDue() || !s.sub(1).Planned.IsInstruction()) {
				t.Errorf("no worker is due: %+v", s.sub(1))
			}
		})
	}
}

// One worker for a whole instruction, which counts as medium, is refused where subtasks have to be small.
func TestOneWorkerKeepsToMaxEffort(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.do(President, Submit{Instruction: "add a limit", Project: Project{ID: "p", Path: "/p"},
		Settings: Settings{Way: WayOne, Granularity: Granularity{MaxEffort: EffortSmall}}})
	if CodeOf(err) != EInvalid || !strings.Contains(err.Error(), "plan.max_effort is small") {
		t.Errorf("%v", err)
	}
}

// The worker's work goes the way of every ticket, and its review holds for the whole. What it
// finds large goes to the manager, to be split.
func TestWorkerAlone(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{Way: WayAuto})
	if !s.beginsAlone() {
		t.Fatal("nobody begins")
	}
	s.mustIgnore(BeginAlone{s.id})
	if !s.task().AwaitsSplit(s.sub(1)) {
		t.Error("what is large could not be split")
	}
	run, fence := s.offer(1)
	s.must(string(run),
		EndRun{Run: run, Fence: fence,
			Outcome: RunEnded{Status: RunError, Escalate: true, Error: "two large parts: a.go, b.go"}})
	if s.task().Stuck() != s.sub(1) || !s.isDue(EffectManage) {
		t.Fatal("the manager is not asked")
	}
	s.end(NewRunID(s.id, "", Manager, 1),
		EndRun{Guide: &Guide{Subtask: s.subID(1), Text: "two large parts",
			Parts: []PlannedSubtask{okSubtask("a", "a/**"), okSubtask("b", "b/**")}}})
	if len(s.task().Subtasks) != 2 || s.sub(1).Planned.IsInstruction() || s.task().AwaitsSplit(s.sub(1)) {
		t.Errorf("the parts are %+v", s.task().Subtasks)
	}
}

// The pull request has the title of the worker's first commit, if a forge may be given it. A long title is cut. The
// commit may be of a run that did not finish.
func TestTitleOfWorkAlone(t *testing.T) {
	t.Parallel()
	for subject, want := range map[string]string{
		"Limit the API to ten requests a second": "Limit the API to ten requests a second",
		"partial: Limit the API":                 "partial: Limit the API",
		strings.Repeat("Limit it ", 9):           strings.Repeat("Limit it ", 7) + "Limit …",
		"Fix #7 for @admin":                      "add a limit", "": "add a limit",
	} {
		s := newStory(t, Settings{Way: WayAuto})
		s.beginsAlone()
		for _, more := range []string{subject, "Mend the tests"} {
			run, fence := s.offer(1)
			out := RunEnded{Status: RunSuccess, Head: s.oid(), Branch: "agent/x", Subject: more}
			if strings.HasPrefix(more, "partial") {
				out.Status, out.Progress = RunPartial, true
			}
			s.must(string(run), EndRun{Run: run, Fence: fence, Outcome: out})
			if more == subject && out.Status == RunSuccess {
				s.must(Company, s.gated(1, false))
			}
			if subject == "" || strings.Contains(subject, "@") {
				break
			}
		}
		if got := s.task().PullTitle(); got != want {
			t.Errorf("%q: %q", subject, got)
		}
	}
}

// A worker with the whole instruction asks the president before its first change, as a manager would have (SUB-14). The
// task waits for the answer, which the next run reads; nothing counts as handed in.
func TestWorkerAloneAsks(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{Way: WayAuto})
	s.beginsAlone()
	run, fence := s.offer(1)
	asks := EndRun{Run: run, Fence: fence, Question: "per user or per address?", Outcome: RunEnded{Status: RunSuccess}}
	empty := asks
	empty.Question = " "
	s.mustRefuse(EInvalid, empty)
	changed := asks
	changed.Outcome.Head = s.oid()
	s.mustRefuse(EConflict, changed)
	s.must(string(run), asks)
	open := s.s.OpenApprovals(s.id)
	if len(open) != 1 || open[0].Kind != AskClarification || open[0].Question != "per user or per address?" {
		t.Fatalf("asked: %+v", open)
	}
	if due := s.due(9); len(due) > 0 || s.sub(1).Status != SubtaskPending || len(s.task().SummedUp(s.subID(1))) > 0 {
		t.Fatalf("the task does not wait: %+v, %+v", due, s.sub(1))
	}
	s.mustRefuse(EConflict, Offer{NewRunID(s.id, s.subID(1), Worker, 2)})
	s.must(President, Answer{Approval: open[0].ID, Option: OptAnswer, Text: "per user"})
	run, fence = s.offer(1)
	if said := s.s.Clarifications(s.id); len(said) != 1 || said[0].Text != "per user" {
		t.Errorf("the next run reads %+v", said)
	}
	s.must(string(run),
		EndRun{Run: run, Fence: fence, Outcome: RunEnded{Status: RunSuccess, Head: s.oid(), Branch: "agent/x"}})
	s.must(Company, s.gated(1, false))
	run, fence = s.offer(1)
	asks.Run, asks.Fence = run, fence
	s.mustRefuse(EConflict, asks) // the branch has changes
}

// The worker of a manager's ticket asks its manager.
func TestWorkerOfATicketAsksNoPresident(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{}).plan(1)
	run, fence := s.offer(1)
	s.mustRefuse(EConflict,
		EndRun{Run: run, Fence: fence, Question: "which one?", Outcome: RunEnded{Status: RunSuccess}})
}
