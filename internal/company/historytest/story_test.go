package historytest_test

import (
	"crypto/sha1" // git names commits by it
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	. "company/internal/company"
	"company/internal/company/historytest"
)

// story is a short history: what happens, in order. A test tells a right one,
// and then the same one with one thing broken.
type story struct{ lines []line }

// line is one event before it has its place.
type line struct {
	task TaskID
	sub  SubtaskID
	run  RunID
	what Data
}

var began = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// oid is the git object of this name.
func oid(name string) OID {
	return OID(fmt.Sprintf("%x", sha1.Sum([]byte(name))))
}

func (s *story) add(task TaskID, sub SubtaskID, run RunID, what Data) *story {
	s.lines = append(s.lines, line{task, sub, run, what})
	return s
}

// office, task, ticket and runOf add an event about one of them.
func (s *story) office(what Data) *story { return s.add("", "", "", what) }
func (s *story) task(what Data) *story   { return s.add("t1", "", "", what) }
func (s *story) ticket(n int, what Data) *story {
	return s.add("t1", NewSubtaskID("t1", n), "", what)
}

func (s *story) runOf(id RunID, what Data) *story {
	task, sub, _, _, err := id.Split()
	if err != nil {
		panic(err)
	}
	return s.add(task, sub, id, what)
}

// find is the place of the n-th event of a kind, from 0.
func find[T any](s *story, n int) int {
	for i, l := range s.lines {
		if _, ok := any(l.what).(*T); ok {
			if n == 0 {
				return i
			}
			n--
		}
	}
	panic(fmt.Sprintf("the story has too few of %T", *new(T)))
}

// the is what the n-th event of a kind says.
func the[T any](s *story, n int) *T {
	d, _ := any(s.lines[find[T](s, n)].what).(*T)
	return d
}

// lineOf is the n-th event of a kind.
func lineOf[T any](s *story, n int) *line { return &s.lines[find[T](s, n)] }

// drop takes the n-th event of a kind out.
func drop[T any](s *story, n int) {
	i := find[T](s, n)
	s.lines = append(s.lines[:i:i], s.lines[i+1:]...)
}

// until ends a story before the n-th event of a kind.
func until[T any](s *story, n int) *story {
	s.lines = s.lines[:find[T](s, n)]
	return s
}

// insert puts events before the n-th event of a kind.
func insert[T any](s *story, n int, more *story) {
	i := find[T](s, n)
	rest := s.lines[i:]
	s.lines = append(append(s.lines[:i:i], more.lines...), rest...)
}

// events are the ledger of a story.
func (s *story) events() []Event {
	out := make([]Event, len(s.lines))
	for i, l := range s.lines {
		raw, err := json.Marshal(l.what)
		if err != nil {
			panic(err)
		}
		out[i] = Event{Seq: uint64(i + 1), Time: began.Add(time.Duration(i) * time.Second), Task: l.task, Subtask: l.sub,
			Run: l.run, Kind: l.what.Kind(), Data: raw, Cause: fmt.Sprint(i)}
	}
	return out
}

// applySafely folds an event that may be impossible: the state then stays as it
// was, or half changed, and only the checker looks at it.
func applySafely(s *State, e Event) {
	defer func() { _ = recover() }()
	_ = Apply(s, e)
}

// watch tells a story to a checker.
func (s *story) watch() (*historytest.Checker, *State, error) {
	c, st := &historytest.Checker{}, NewState()
	for _, e := range s.events() {
		before := st.View()
		applySafely(st, e)
		if err := c.Observe(before, e, st); err != nil {
			return c, st, err
		}
		if err := historytest.CheckInvariants(st); err != nil {
			return c, st, fmt.Errorf("invariants after event %d (%s): %w", e.Seq, e.Kind, err)
		}
	}
	return c, st, nil
}

// state is what a right story leaves.
func (s *story) state(t *testing.T) *State {
	t.Helper()
	st, err := historytest.Replay(s.events())
	if err != nil {
		t.Fatalf("the right history is refused: %v", err)
	}
	return st
}

// broken is a rule, a history that keeps it, and what breaks it.
type broken struct {
	rule  string
	right func() *story // nil: delivered
	spoil func(s *story)
	want  string // in the error
}

func checkBroken(t *testing.T, cases []broken) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			right := c.right
			if right == nil {
				right = delivered
			}
			right().state(t)
			s := right()
			c.spoil(s)
			_, _, err := s.watch()
			requireBroken(t, err, c.want)
		})
	}
}

func requireBroken(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || CodeOf(err) != ELedger {
		t.Errorf("%v\nwant a broken ledger: %s", err, want)
	}
}

// requireKept tells stories that break no rule.
func requireKept(t *testing.T, cases map[string]func() *story) {
	t.Helper()
	for name, right := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			right().state(t)
		})
	}
}

// with is a story with a change.
func with(right func() *story, change ...func(s *story)) func() *story {
	return func() *story {
		s := right()
		for _, do := range change {
			do(s)
		}
		return s
	}
}

// settings changes what the task was submitted with.
func settings(change func(*Settings)) func(s *story) {
	return func(s *story) { change(&the[TaskSubmitted](s, 0).Settings) }
}

func green(name string) GateCheck {
	return GateCheck{Name: name, Command: "run " + name, Passed: true}
}

// red is a check in which these tests fail.
func red(name string, failing ...string) GateCheck {
	c := GateCheck{Name: name, Command: "run " + name, ExitCode: 1, Counts: &TestCounts{Failed: len(failing)},
		Excused: ComparedKnown}
	for _, test := range failing {
		c.Tests = append(c.Tests, TestResult{Name: test, Status: "failed"})
	}
	return c
}

func absentLint() GateCheck {
	return GateCheck{Name: "lint", Command: "run lint", Absent: true, Excused: ComparedAbsent}
}

// verdict is a green one on a tree.
func verdict(tree string, checks ...GateCheck) GateResult {
	if checks == nil {
		checks = []GateCheck{green("lint"), green("test")}
	}
	return GateResult{Tree: oid(tree), GateHash: "gates", Image: "image", Checks: checks, Passed: true}
}

// submitted is an office with one task.
func submitted() *story {
	s := &story{}
	s.office(&OfficeStarted{Office: "abcd", Epoch: 1})
	return s.task(&TaskSubmitted{Instruction: "Do it.", Project: Project{ID: "p", Path: "/p"}, Priority: "medium",
		Settings: Settings{Cap: Amount{MicroUSD: 1000, Tokens: 1000}, Plan: Auto, Merge: Auto, PR: Auto, NoGates: "ask",
			ReviewRounds: 2}})
}

// prepared has a base, and says what the gates say of it.
func prepared() *story {
	s := submitted()
	s.task(&TaskPrepared{Base: Base{Branch: "main", OID: oid("base"), PRBranch: "main"}, GateHash: "gates", Image: "image",
		Integration: "develop/t1",
		Gates:       []GateCommand{{Name: "lint", Command: "run lint"}, {Name: "test", Command: "run test"}}})
	return s.task(&BaselineRecorded{Result: verdict("base tree")})
}

// claim, end and offer are what befalls a run.
func (s *story) claim(id RunID) *story {
	_, _, role, _, _ := id.Split()
	return s.runOf(
		id, &RunClaimed{Role: role, Fence: uint64(len(s.lines) + 1), Worker: "worker", Deadline: began.Add(time.Hour)})
}

func (s *story) end(id RunID) *story { return s.runOf(id, &RunEnded{Status: RunSuccess}) }

func (s *story) offer(id RunID) *story {
	return s.runOf(id, &RunOffered{From: oid("base"), Epoch: 1})
}

func ask(key string, kind ApprovalKind) *ApprovalOpened {
	return &ApprovalOpened{ID: "a1", Key: key, AskKind: kind, Question: "May it?"}
}

func yes() *ApprovalAnswered { return &ApprovalAnswered{ID: "a1", Option: OptApprove} }

func oneWave(writes ...string) Wave {
	w := Wave{}
	for _, set := range writes {
		w.Subtasks = append(w.Subtasks,
			PlannedSubtask{Title: "Do " + set, WriteSet: strings.Fields(set), Effort: EffortSmall})
	}
	return w
}

// plan plans waves of tickets.
func (s *story) plan(waves ...Wave) *story {
	s.claim("t1-plan.1").runOf("t1-plan.1", &BudgetReserved{Amount: Amount{MicroUSD: 10, Tokens: 10}})
	s.runOf("t1-plan.1", &RunEnded{Status: RunSuccess, Spent: Amount{MicroUSD: 7, Tokens: 8}})
	return s.runOf("t1-plan.1", &PlanAccepted{Plan: Plan{Waves: waves}})
}

// planned has one ticket; pair has two in a wave, and waves has one in each of two.
func planned() *story { return prepared().plan(oneWave("a/**")) }
func pair() *story    { return prepared().plan(oneWave("a/**", "b/**")) }
func waves() *story   { return prepared().plan(oneWave("a/**"), oneWave("a/**")) }

func worker(n int) RunID { return NewRunID("t1", NewSubtaskID("t1", n), Worker, 1) }
func headOf(n int) OID   { return oid(fmt.Sprint("head of ", n)) }
func treeOf(n int) string {
	return fmt.Sprint("tree with ", n)
}
func mergeOf(n int) OID { return oid(fmt.Sprint("merge of ", n)) }

// work has a worker do a ticket on the integration head onto.
func (s *story) work(n int, changes ...Change) *story {
	id := worker(n)
	s.offer(id).claim(id).runOf(id, &BudgetReserved{Amount: Amount{MicroUSD: 20, Tokens: 20}})
	return s.runOf(
		id, &RunEnded{Status: RunSuccess, Head: headOf(n), Changes: changes, Spent: Amount{MicroUSD: 15, Tokens: 20}})
}

func (s *story) gate(n int, onto OID) *story {
	return s.ticket(n, &GateFinished{Head: headOf(n), Onto: onto, Result: verdict(treeOf(n))})
}

// review has a reviewer approve a ticket.
func (s *story) review(n int, onto OID) *story {
	id := NewRunID("t1", NewSubtaskID("t1", n), Reviewer, 1)
	return s.claim(id).end(id).runOf(
		id, &ReviewRecorded{Head: headOf(n), Onto: onto, Verdict: Approve,
			Findings: []Finding{{Severity: Minor, What: "A word."}}})
}

func (s *story) intend(n int, onto OID) *story {
	s.ticket(n, &MergeGated{GateFinished: GateFinished{Head: headOf(n), Onto: onto, Result: verdict(treeOf(n))}})
	return s.ticket(
		n, &MergeIntentRecorded{Subtask: NewSubtaskID("t1", n), Head: headOf(n), Onto: onto, Tree: oid(treeOf(n)),
			HeadTree: oid("tree of the head")})
}

func (s *story) merge(n int, onto OID) *story {
	return s.intend(n, onto).ticket(n, &MergeRecorded{Commit: mergeOf(n)})
}

// whole judges and delivers the merged task.
func (s *story) whole(n int) *story { return s.judge(n).deliver(n) }

func (s *story) judge(n int) *story {
	s.task(&GateFinished{Head: mergeOf(n), Result: verdict(treeOf(n))})
	return s.claim("t1-review.1").end("t1-review.1").runOf(
		"t1-review.1", &ReviewRecorded{Head: mergeOf(n), Verdict: Approve})
}

func (s *story) deliver(n int) *story {
	s.task(&DeliveryIntended{Number: 1, Title: "Do it.", Branch: "develop/t1", Base: "main", Head: mergeOf(n)})
	s.task(&PROpened{PullRequest: PullRequest{Number: 1, Title: "Do it.", Branch: "develop/t1", Base: "main",
		Head: mergeOf(n), State: PROpen}})
	return s.task(&TaskCompleted{})
}

var base = oid("base")

// reviewed has one approved ticket; intended is about to merge it.
func reviewed() *story { return planned().work(1).gate(1, base).review(1, base) }
func intended() *story { return reviewed().intend(1, base) }

// delivered is a task from its submission to its pull request.
func delivered() *story { return reviewed().merge(1, base).whole(1) }

// approvedPair has two approved tickets of one wave.
func approvedPair() *story {
	return pair().work(1).work(2).gate(1, base).gate(2, base).review(1, base).review(2, base)
}

func deliveredPair() *story {
	return approvedPair().merge(1, base).merge(2, mergeOf(1)).whole(2)
}

func deliveredWaves() *story {
	s := waves().work(1).gate(1, base).review(1, base).merge(1, base)
	return s.work(2).gate(2, mergeOf(1)).review(2, mergeOf(1)).merge(2, mergeOf(1)).whole(2)
}

// carried is a task whose only ticket was judged as the whole.
func carried() *story {
	s := reviewed().merge(1, base)
	r := the[ReviewRecorded](s, 0)
	r.Whole = true
	in := the[MergeIntentRecorded](s, 0)
	in.HeadTree = in.Tree
	s.ticket(1, &ReviewCarried{From: headOf(1), Head: mergeOf(1)})
	return s.task(&GateFinished{Head: mergeOf(1), Result: verdict(treeOf(1))}).deliver(1)
}

// dryRun ends with its plan.
func dryRun() *story {
	s := planned()
	the[TaskSubmitted](s, 0).DryRun = true
	return s.task(&TaskCompleted{DryRun: true})
}

// The histories that the tests begin with break no rule.
func TestRightHistories(t *testing.T) {
	t.Parallel()
	requireKept(t, map[string]func() *story{
		"delivered": delivered, "two tickets": deliveredPair, "two waves": deliveredWaves, "carried": carried,
		"dry run": dryRun,
	})
}
