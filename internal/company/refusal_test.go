package company_test

import (
	"slices"
	"strings"
	"testing"

	. "company/internal/company"
)

// TestRefusals goes through what each command refuses, with the code that
// people and programs see. A refusal changes nothing (the fixture asserts it).
func TestRefusals(t *testing.T) {
	t.Parallel()
	fresh := func(t *testing.T) *story { s := &story{bench: newBench(t)}; s.submit(Settings{}); return s }
	prepared := func(t *testing.T) *story { return newStory(t, Settings{}) }
	planned := func(t *testing.T) *story { return newStory(t, Settings{}).plan(1) }
	merging := func(t *testing.T) *story { return newStory(t, Settings{}).plan(1).queued(1) }
	reviewing := func(t *testing.T) *story { s := merging(t); s.merged(1); return s }
	cancelled := func(t *testing.T) *story { s := planned(t); s.must(President, Cancel{Task: s.id}); return s }
	stopped := func(t *testing.T) *story { s := merging(t); s.must(President, Stop{}); return s }
	submit := func(change func(*Submit)) func(*story) Command {
		return func(*story) Command {
			c := Submit{Instruction: "add a limit", Project: Project{ID: "p", Path: "/p"}}
			change(&c)
			return c
		}
	}
	is := func(c Command) func(*story) Command { return func(*story) Command { return c } }
	manager := func(change func(*EndRun)) func(*story) Command {
		return func(s *story) Command {
			run := NewRunID(s.id, "", Manager, s.task().Plan.Started+1)
			c := EndRun{Run: run, Fence: s.claim(run), Outcome: RunEnded{Status: RunSuccess}}
			change(&c)
			return c
		}
	}
	worker := func(out RunEnded) func(*story) Command {
		return func(s *story) Command {
			run, fence := s.offer(1)
			return EndRun{Run: run, Fence: fence, Outcome: out}
		}
	}
	reviewer := func(r *ReviewRecorded) func(*story) Command {
		return func(s *story) Command {
			s.must(Company, s.wholeGated(true))
			run := NewRunID(s.id, "", Reviewer, 1)
			return EndRun{Run: run, Fence: s.claim(run), Outcome: RunEnded{Status: RunSuccess}, Review: r}
		}
	}
	tests := map[string]struct {
		at   func(*testing.T) *story
		c    func(*story) Command
		code Code
	}{
		"submit nothing": {fresh, submit(func(c *Submit) { c.Instruction = " \n" }), EInvalid},
		"submit too much": {fresh,
			submit(func(c *Submit) { c.Instruction = strings.Repeat("x", MaxInstruction+1) }), EInvalid},
		"submit no UTF-8":          {fresh, submit(func(c *Submit) { c.Instruction = "a\xff" }), EInvalid},
		"submit a NUL":             {fresh, submit(func(c *Submit) { c.Instruction = "a\x00" }), EInvalid},
		"submit without a project": {fresh, submit(func(c *Submit) { c.Project = Project{} }), EInvalid},
		"submit a bare issue":      {fresh, submit(func(c *Submit) { c.Issue = &IssueRef{Number: 1} }), EInvalid},
		"submit an issue without a number": {fresh,
			submit(func(c *Submit) { c.Issue = &IssueRef{Repository: "a/b", URL: "https://x/a/b/issues/0"} }), EInvalid},
		"submit a login in an issue": {fresh, submit(func(c *Submit) {
			c.Issue = &IssueRef{Number: 1, Repository: "a/b", URL: "https://ann:pw@x/a/b/issues/1"}
		}), EInvalid},
		"submit a steering issue": {fresh,
			submit(func(c *Submit) { c.Issue = &IssueRef{Number: 1, Repository: "a/b", URL: "https://x/a/b\x1b[2J"} }),
			EInvalid},
		"submit an issue of two lines": {fresh,
			submit(func(c *Submit) { c.Issue = &IssueRef{Number: 1, Repository: "a/b\nc", URL: "https://x/a/b/issues/1"} }),
			EInvalid},
		"submit a local issue": {fresh,
			submit(func(c *Submit) { c.Issue = &IssueRef{Number: 1, Repository: "a/b", URL: "file:///a/b/issues/1"} }),
			EInvalid},
		"follow nothing":      {fresh, submit(func(c *Submit) { c.Follows = "t9" }), ENotFound},
		"submit when stopped": {stopped, submit(func(*Submit) {}), EStopped},
		"submit onto master":  {fresh, submit(func(c *Submit) { c.Settings.IntegrationPrefix = "master" }), EProtected},
		"another office":      {fresh, is(StartOffice{Office: "zzzz"}), ELedger},

		"prepare an unknown task": {fresh, is(RecordPreparation{Task: "t9"}), ENotFound},
		"prepare without a base": {fresh,
			is(RecordPreparation{Task: "t1", TaskPrepared: TaskPrepared{Image: "i", Integration: "develop-t1"}}), EInternal},
		"prepare without an image": {fresh, func(s *story) Command { p := s.preparation(); p.Image = ""; return p },
			EInternal},
		"prepare for main": {fresh, func(s *story) Command { p := s.preparation(); p.Integration = "main"; return p },
			EProtected},
		"prepare after the end": {cancelled, is(RecordPreparation{Task: "t1"}), EConflict},

		"plan by nobody":           {prepared, is(ProposePlan{Run: "t1-plan.1", Fence: 1}), ENotFound},
		"plan of an unknown run":   {prepared, is(ProposePlan{Run: "nonsense", Fence: 1}), ENotFound},
		"manager says nothing":     {prepared, manager(func(*EndRun) {}), EInvalid},
		"manager's plan is bad":    {prepared, manager(func(c *EndRun) { c.Plan = &Plan{} }), EPlan},
		"manager's empty question": {prepared, manager(func(c *EndRun) { c.Question = " " }), EInvalid},
		"manager's endless question": {prepared,
			manager(func(c *EndRun) { c.Question = strings.Repeat("x", 9<<10) }), EInvalid},
		"manager guides nobody": {prepared, manager(func(c *EndRun) { c.Guide = &Guide{Subtask: "t1-01", Text: "x"} }),
			EConflict},

		"offer nonsense":             {planned, is(Offer{Run: "t1"}), EInvalid},
		"offer no subtask":           {planned, is(Offer{Run: "t1-07.1"}), ENotFound},
		"offer a reviewer":           {planned, is(Offer{Run: "t1-01-review.1"}), ENotFound},
		"offer a later run":          {planned, is(Offer{Run: "t1-01.2"}), EConflict},
		"offer after the end":        {cancelled, is(Offer{Run: "t1-01.1"}), EConflict},
		"claim what was not offered": {planned, is(Claim{Run: "t1-01.1", Epoch: 1, Worker: "w"}), EStale},
		"claim without a worker": {planned, func(s *story) Command {
			s.must(Company, Offer{Run: "t1-01.1"})
			return Claim{Run: "t1-01.1", Epoch: 1, Offer: 1}
		}, EInvalid},
		"claim a future epoch": {planned, func(s *story) Command {
			s.must(Company, Offer{Run: "t1-01.1"})
			return Claim{Run: "t1-01.1", Epoch: 2, Offer: 1, Worker: "w"}
		}, EStale},
		"claim the manager's late": {planned, is(Claim{Run: "t1-plan.2", Epoch: 1, Worker: "w"}), EStale},
		"claim the wrong reviewer": {planned, is(Claim{Run: "t1-01-review.1", Epoch: 1, Worker: "w"}), EStale},
		"claim a merger":           {merging, is(Claim{Run: "t1-01-merge.1", Epoch: 1, Worker: "w"}), EStale},
		"claim when stopped":       {stopped, is(Claim{Run: "t1-01.1", Epoch: 1, Worker: "w"}), EStopped},

		"success without a commit":     {planned, worker(RunEnded{Status: RunSuccess}), EInvalid},
		"success with a name":          {planned, worker(RunEnded{Status: RunSuccess, Head: "HEAD"}), EInvalid},
		"partial with a name":          {planned, worker(RunEnded{Status: RunPartial, Head: "HEAD"}), EInvalid},
		"an unknown end":               {planned, worker(RunEnded{Status: "done"}), EInvalid},
		"a quality verdict of its own": {planned, worker(RunEnded{Status: RunQualityFailed}), EInvalid},
		"release by nobody":            {planned, is(Release{Run: "t1-plan.1", Fence: 3}), EStale},
		"reserve by nobody":            {planned, is(Reserve{Run: "t1-plan.1", Fence: 3, One: Amount{Tokens: 1}}), EStale},
		"reserve nothing": {planned,
			func(s *story) Command { run, f := s.offer(1); return Reserve{Run: run, Fence: f} }, EInvalid},
		"reserve less than nothing": {planned, func(s *story) Command {
			run, f := s.offer(1)
			return Reserve{Run: run, Fence: f, One: Amount{MicroUSD: -1}}
		}, EInvalid},

		"gate of no subtask": {planned, func(s *story) Command {
			g := s.wholeGated(true)
			g.Subtask = "t1-07"
			g.Result.Tree = s.oid()
			return g
		}, ENotFound},
		"no review":                   {reviewing, reviewer(nil), EInvalid},
		"review with neither verdict": {reviewing, reviewer(&ReviewRecorded{Verdict: "fine"}), EInvalid},
		"approve with a blocking finding": {reviewing,
			reviewer(&ReviewRecorded{Verdict: Approve, Findings: blocking}), EInvalid},
		"changes without a finding": {reviewing, reviewer(&ReviewRecorded{Verdict: RequestChanges}), EInvalid},
		"a finding without a line": {reviewing,
			reviewer(
				&ReviewRecorded{Verdict: RequestChanges, Findings: []Finding{{Severity: Blocking, File: "a.go", What: "x"}}}),
			EInvalid},
		"a finding without words": {reviewing,
			reviewer(&ReviewRecorded{Verdict: Approve, Findings: []Finding{{Severity: Minor}}}), EInvalid},
		"an unknown severity": {reviewing,
			reviewer(&ReviewRecorded{Verdict: Approve, Findings: []Finding{{Severity: "high", What: "x"}}}), EInvalid},

		"merge another tree": {merging, func(s *story) Command { c := s.tested(1); c.Tree = s.oid(); return c }, EInvalid},
		"merge untested": {merging, func(s *story) Command {
			c := s.tested(1)
			c.Result = GateResult{Tree: c.Tree, GateHash: "g", Untested: true}
			return c
		}, EInvalid},
		"merge when stopped": {stopped, func(s *story) Command { return s.tested(1) }, EStopped},
		"a merge of nothing": {merging,
			func(s *story) Command { s.must(Company, s.tested(1)); return RecordMerge{Task: s.id, Commit: "x"} }, EInvalid},
		"merged unknown":    {merging, is(RecordMerge{Task: "t9"}), ENotFound},
		"deliver too early": {reviewing, is(RecordDelivery{Task: "t1", Head: "x"}), EConflict},
		"refuse too early":  {reviewing, is(RefuseCompletion{Task: "t1", Head: "x", Missing: []string{"x"}}), EConflict},
		"undo no run":       {planned, is(RollBack{Run: "t1-01.9"}), ENotFound},
		"undo a reviewer":   {reviewing, is(RollBack{Run: "t1-01-review.1"}), EInvalid},
		"settle no PR":      {reviewing, is(SettlePR{Task: "t1", State: PRMerged}), ENotFound},

		"answer no question":  {planned, is(Answer{Approval: "a9", Option: OptApprove}), ENotFound},
		"raise by nothing":    {planned, is(RaiseBudget{Task: "t1"}), EInvalid},
		"raise by less":       {planned, is(RaiseBudget{Task: "t1", By: Amount{MicroUSD: -5}}), EInvalid},
		"raise what is free":  {planned, is(RaiseBudget{Task: "t1", By: Amount{Tokens: 5}}), EInvalid},
		"raise after the end": {cancelled, is(RaiseBudget{Task: "t1", By: Amount{MicroUSD: 5}}), EConflict},
		"pause after the end": {cancelled, is(Pause{Task: "t1"}), EConflict},
		"pause nothing":       {planned, is(Pause{Task: "t9"}), ENotFound},
		"cancel nothing":      {planned, is(Cancel{Task: "t9"}), ENotFound},
		"fail without a key":  {planned, is(ReportEffectFailure{Task: "t1"}), EInvalid},
		"ask when stopped":    {stopped, is(OpenApproval{PendingQuestion{Task: "t1"}}), EStopped},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := tt.at(t)
			s.mustRefuse(tt.code, tt.c(s))
		})
	}
}

// An answer is one that its question offers.
func TestInvalidAnswersAreRefused(t *testing.T) {
	t.Parallel()
	s := newStory(t, Settings{Plan: Ask})
	s.end(NewRunID(s.id, "", Manager, 1), EndRun{Question: "which?"})
	s.mustRefuse(EInvalid, Answer{Approval: "a1", Option: OptApprove})
	s.mustRefuse(EInvalid, Answer{Approval: "a1", Option: OptAnswer, Text: "  "})
	s.mustRefuse(EInvalid, Answer{Approval: "a1", Option: OptAnswer, Text: strings.Repeat("x", 65<<10)})
	s.must(President, Answer{Approval: "a1", Option: OptAnswer, Text: "the first"})
	s.plan(1)
	q := s.ask(AskPlan)
	s.mustRefuse(EInvalid, Answer{Approval: q.ID, Option: OptAnswer, Text: "yes"})
	s.mustRefuse(EInvalid, Answer{Approval: q.ID, Option: OptApprove, Raise: Amount{Tokens: -1}})
	for kind, options := range StandardOptions {
		seen := map[string]bool{}
		for _, o := range options {
			if o.Name == "" || o.Means == "" || seen[o.Name] {
				t.Errorf("%s offers %+v", kind, options)
			}
			seen[o.Name] = true
		}
		names := []string{OptApprove, OptReject}
		switch kind {
		case AskClarification:
			names = []string{OptAnswer}
		case AskAfter:
			names = []string{OptApprove, OptWait, OptReject}
		}
		if !slices.EqualFunc(options, names, func(o Option, name string) bool { return o.Name == name }) {
			t.Errorf("%s offers %+v", kind, options)
		}
	}
}

// Before an office is opened, nothing can be decided; an answered question and
// a repeated submission are no errors.
func TestRepeatsAreHarmless(t *testing.T) {
	t.Parallel()
	if _, err := Decide(NewState(), Meta{ID: "x"}, Stop{}); CodeOf(err) != EInvalid {
		t.Errorf("a closed office decides: %v", err)
	}
	b := newBench(t)
	c := Submit{Instruction: "add a limit", Project: Project{ID: "p", Path: "/p"}}
	for range 2 {
		if _, err := b.doID("same", President, c); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.s.Tasks) != 1 {
		t.Errorf("one submission makes %d tasks", len(b.s.Tasks))
	}
	s := &story{bench: b, id: "t1"}
	s.must(Company, s.preparation())
	s.mustIgnore(s.preparation())
	s.must(President, Cancel{Task: "t1"})
	s.mustIgnore(Cancel{Task: "t1"})
	s.mustIgnore(Resume{})
	s.mustIgnore(RecordMerge{Task: "t1", Commit: s.oid()})
}

// What nobody in particular does, the company does.
func TestEventWithoutActor(t *testing.T) {
	t.Parallel()
	for actor, want := range map[string]string{"": Company, President: President, "t1-01-w1": "t1-01-w1"} {
		if got := (Meta{Actor: actor}).NewEvent("t1", "", "", &TaskCompleted{}).Actor; got != want {
			t.Errorf("%q acts as %q, want %q", actor, got, want)
		}
	}
}

// Why a run was begun is handed on as a whole, or not at all where it is long.
func TestReasonsAreJoined(t *testing.T) {
	t.Parallel()
	most := strings.Repeat("a", 64<<10-1)
	for _, c := range []struct{ input, more, want string }{
		{"", "b", "b"}, {"a", "b", "a\n\nb"}, {most, "b", most + "\n\nb"}, {most, "bc", "bc"},
	} {
		if got := AppendInput(c.input, c.more); got != c.want {
			t.Errorf("%d and %d bytes make %d, want %d", len(c.input), len(c.more), len(got), len(c.want))
		}
	}
}
