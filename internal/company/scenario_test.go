package company_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	. "company/internal/company"
)

// story is one task told step by step, for tests of a single rule.
type story struct {
	*bench
	id   TaskID
	oids int
}

// newStory submits a task and prepares it, with the gates lint and test.
func newStory(t *testing.T, set Settings) *story {
	t.Helper()
	s := &story{bench: newBench(t)}
	if set.Cap == (Amount{}) {
		set.Cap = Amount{MicroUSD: 1000, Tokens: NoCap}
	}
	s.submit(set)
	s.must(Company, s.preparation())
	s.must(Company, RecordBaseline{Task: s.id, Result: s.verdict(s.oid(), true)})
	return s
}

func (s *story) submit(set Settings) {
	s.t.Helper()
	s.must(President, Submit{Instruction: "add a limit", Project: Project{ID: "p", Path: "/p"}, Settings: set})
	s.id = NewTaskID(s.s.LastTask)
}

func (s *story) preparation() RecordPreparation {
	return RecordPreparation{Task: s.id, TaskPrepared: TaskPrepared{
		Base: Base{Branch: "main", OID: s.oid(), PRBranch: "main"}, GateHash: "g", Image: "img",
		Integration: "develop-" + string(s.id) + "-k3fq",
		Gates:       []GateCommand{{Name: "lint", Command: "go vet ./..."}, {Name: "test", Command: "go test ./..."}},
	}}
}

func (s *story) oid() OID {
	s.oids++
	return OID(fmt.Sprintf("%040x", s.oids))
}

func (s *story) task() *Task              { return s.s.Tasks[s.id] }
func (s *story) sub(n int) *Subtask       { return s.task().Subtask(s.subID(n)) }
func (s *story) subID(n int) SubtaskID    { return NewSubtaskID(s.id, n) }
func (s *story) workRun(sub, n int) RunID { return NewRunID(s.id, s.subID(sub), Worker, n) }

// claim takes a run for its owner, and some money for it.
func (s *story) claim(run RunID) uint64 {
	s.t.Helper()
	return ClaimedFence(s.must("w1", s.claimOf(run, "w1")))
}

// end claims one of the company's own runs and ends it well, with what it says.
func (s *story) end(run RunID, e EndRun) []Event {
	s.t.Helper()
	e.Run, e.Fence = run, s.claim(run)
	e.Outcome.Status = RunSuccess
	return s.must(string(run), e)
}

// waves is a plan with so many subtasks in each wave.
func waves(sizes ...int) Plan {
	p := Plan{Why: "they do not know each other"}
	for i, n := range sizes {
		var w Wave
		for j := range n {
			w.Subtasks = append(w.Subtasks, okSubtask(fmt.Sprintf("part %d %d", i, j), fmt.Sprintf("w%d/p%d/**", i, j)))
		}
		p.Waves = append(p.Waves, w)
	}
	return p
}

// plan has the manager's next run submit a plan.
func (s *story) plan(sizes ...int) *story {
	s.t.Helper()
	p := waves(sizes...)
	s.end(NewRunID(s.id, "", Manager, s.task().Plan.Started+1), EndRun{Plan: &p})
	return s
}

// offer offers the next run of a subtask and claims it.
func (s *story) offer(n int) (RunID, uint64) {
	s.t.Helper()
	run := s.workRun(n, s.sub(n).Started+1)
	s.must(Company, Offer{Run: run})
	return run, s.claim(run)
}

// work does the next run of a subtask, to the end.
func (s *story) work(n int, paths ...string) OID {
	s.t.Helper()
	var changes []Change
	for _, p := range paths {
		changes = append(changes, Change{Path: p, Action: "modified"})
	}
	return s.ends(n, changes)
}

func (s *story) ends(n int, changes []Change) OID {
	s.t.Helper()
	run, fence := s.offer(n)
	head := s.oid()
	s.must(string(run),
		EndRun{Run: run, Fence: fence,
			Outcome: RunEnded{Status: RunSuccess, Head: head, Branch: "agent/x", Changes: changes}})
	return head
}

func (s *story) verdict(tree OID, green bool) GateResult {
	r := GateResult{Tree: tree, GateHash: "g", Image: "img", Passed: green}
	for _, g := range s.task().Prepared.Gates {
		r.Checks = append(r.Checks, GateCheck{Name: g.Name, Command: g.Command, Passed: true})
	}
	if !green {
		last := &r.Checks[len(r.Checks)-1]
		last.Passed, last.ExitCode, last.Output = false, 1, "--- FAIL: TestLimit"
	}
	return r
}

func (s *story) gated(n int, green bool) RecordGateResult {
	return RecordGateResult{Task: s.id, Subtask: s.subID(n),
		GateFinished: GateFinished{Head: s.sub(n).Head, Onto: s.task().Head, Result: s.verdict(s.oid(), green)}}
}

func (s *story) wholeGated(green bool) RecordGateResult {
	return RecordGateResult{Task: s.id,
		GateFinished: GateFinished{Head: s.task().Head, Onto: s.task().Head, Result: s.verdict(s.task().Tree, green)}}
}

var blocking = []Finding{{Severity: Blocking, File: "a.go", Line: 3, What: "off by one"}}

// reviewed has the next reviewer of a subtask (0: of the whole) say a verdict.
func (s *story) reviewed(n int, verdict string) []Event {
	s.t.Helper()
	r := &ReviewRecorded{Head: s.task().Head, Onto: s.task().Head, PatchID: "p", Verdict: verdict}
	run := NewRunID(s.id, "", Reviewer, s.task().Review.Started+1)
	if n > 0 {
		r.Head, run = s.sub(n).Head, NewRunID(s.id, s.subID(n), Reviewer, s.sub(n).Review.Started+1)
	}
	if verdict == RequestChanges {
		r.Findings = blocking
	}
	return s.end(run, EndRun{Review: r})
}

// queued brings a subtask into the merge queue.
func (s *story) queued(n int, paths ...string) *story {
	s.t.Helper()
	s.work(n, paths...)
	s.must(Company, s.gated(n, true))
	s.reviewed(n, Approve)
	return s
}

// changes brings a subtask with just these changes into the merge queue.
func (s *story) changes(n int, changes ...Change) {
	s.t.Helper()
	s.ends(n, changes)
	s.must(Company, s.gated(n, true))
	s.reviewed(n, Approve)
}

func (s *story) tested(n int) RecordMergeGate {
	tree := s.oid()
	return RecordMergeGate{Task: s.id, Subtask: s.subID(n), Head: s.sub(n).Head, Onto: s.task().Head, Tree: tree,
		Result: s.verdict(tree, true), Message: "merge"}
}

// merged merges what is first in the queue.
func (s *story) merged(n int) OID {
	s.t.Helper()
	s.must(Company, s.tested(n))
	commit := s.oid()
	s.must(Company, RecordMerge{Task: s.id, Commit: commit})
	return commit
}

// checked brings a task whose subtasks are merged before its pull request.
func (s *story) checked() *story {
	s.t.Helper()
	s.must(Company, s.wholeGated(true))
	s.reviewed(0, Approve)
	return s
}

func (s *story) delivered() RecordDelivery {
	return RecordDelivery{Task: s.id, Head: s.task().Head, Number: s.task().Delivery.Number, URL: "local:1",
		Evidence: shownBy(s.task())}
}

// shownBy is the evidence of a task that changed one file.
func shownBy(task *Task) *Evidence {
	return &Evidence{At: task.Updated, Head: task.Head, Tree: task.Tree,
		Files: []VerifiedFile{{Path: "a.go", Action: "modified", Exists: true}}}
}

// ask opens the questions that are due and returns those of the kind.
func (s *story) ask(k ApprovalKind) *Approval {
	s.t.Helper()
	for _, e := range s.due(9) {
		if _, q := e.Command.(OpenApproval); q {
			s.must(Company, e.Command)
		}
	}
	for _, a := range s.s.OpenApprovals(s.id) {
		if a.Kind == k {
			return a
		}
	}
	s.t.Fatalf("the president is not asked about %s\n%s", k, s.tail())
	return nil
}

// isDue says whether an effect of the kind is due.
func (s *story) isDue(k EffectKind) bool {
	s.t.Helper()
	for _, e := range s.due(9) {
		if e.Kind == k {
			return true
		}
	}
	return false
}

// isOfferDue says whether a run is to be offered.
func (s *story) isOfferDue() bool {
	s.t.Helper()
	return slices.ContainsFunc(s.due(9), func(e Effect) bool { _, ok := e.Command.(Offer); return ok })
}

// mustRefuse asserts that a command is refused with this code.
func (s *story) mustRefuse(code Code, c Command) {
	s.t.Helper()
	if evs, err := s.do("x", c); CodeOf(err) != code {
		s.t.Fatalf("%T: %v and %d events, want %s", c, err, len(evs), code)
	}
}

// mustIgnore asserts that a command is not an error and changes nothing.
func (s *story) mustIgnore(c Command) {
	s.t.Helper()
	if evs, err := s.do("x", c); err != nil || len(evs) > 0 {
		s.t.Fatalf("%T: %v and %d events, want nothing", c, err, len(evs))
	}
}

func (s *story) checkStatus(want TaskStatus) {
	s.t.Helper()
	if got := s.task().Status; got != want {
		s.t.Fatalf("%s is %s (%s), want %s\n%s", s.id, got, s.task().Reason, want, s.tail())
	}
}

func (s *story) checkSubStatus(n int, want SubtaskStatus) {
	s.t.Helper()
	if got := s.sub(n).Status; got != want {
		s.t.Fatalf("%s is %s, want %s\n%s", s.subID(n), got, want, s.tail())
	}
}

func (s *story) later(d time.Duration) { s.now = s.now.Add(d) }
