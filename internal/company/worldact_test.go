package company_test

import (
	"fmt"
	"slices"
	"strings"

	. "company/internal/company"
)

// act does a piece of what is due.
func (w *world) act(e Effect) {
	t := w.s.Tasks[e.Task]
	if e.Fail != "" && w.chance(w.k.Fails) {
		w.send(Company,
			ReportEffectFailure{Task: e.Task, Key: e.Fail,
				EffectFailed: EffectFailed{Code: EDocker, Error: "it does not answer", Human: w.chance(10)}})
		return
	}
	if r := t.Runs[e.Run]; e.Drain && r != nil && w.chance(70) {
		w.send(string(r.ID), Release{Run: r.ID, Fence: r.Fence, Why: "the task is paused"})
		return
	}
	switch e.Kind {
	case EffectCommand:
		w.send(Company, e.Command)
	case EffectPrepare:
		w.send(Company, w.based(t))
	case EffectImage:
		p := *t.Prepared
		p.Image = "img"
		w.send(Company, RecordPreparation{Task: t.ID, TaskPrepared: p})
	case EffectBaseline:
		if w.k.Services > 0 && w.chance(w.k.Services) {
			w.send(Company,
				AddNeeds{Task: t.ID,
					NeedsAdded: NeedsAdded{Needs: Needs{Services: []string{"redis"}, Packages: []string{"jq"}}, Check: "test"}})
			return
		}
		w.send(Company, w.baseline(t))
	case EffectEnqueue:
		if !w.chance(w.k.Drop) && !slices.Contains(w.queue, e.Offer) {
			w.queue = append(w.queue, e.Offer)
		}
	case EffectManage, EffectReview, EffectResolve:
		if r := t.Runs[e.Run]; r == nil || !r.Held {
			w.send(string(e.Run), Claim{Run: e.Run, Epoch: w.s.Office.Epoch, Worker: "host", From: t.Head})
			return
		}
		w.carry(t, t.Runs[e.Run])
	case EffectWork:
		w.carry(t, t.Runs[e.Run])
	case EffectGate:
		w.gate(t, t.Subtask(e.Subtask))
	case EffectTestMerge:
		if (w.gather || w.k.Crowd > 0 && w.chance(w.k.Crowd)) && othersComeToQueue(t) {
			return
		}
		w.testMerge(t, t.Subtask(e.Subtask))
	case EffectMerge:
		w.merge(t)
	case EffectDeliver:
		w.deliver(t)
	default:
		w.t.Fatalf("nobody knows how to do %s", e.Kind)
	}
}

// based is where a task starts from: where it did before, or a new commit.
func (w *world) based(t *Task) RecordBase {
	p := w.prepared(t)
	b := TaskBased{Base: p.Base, Gates: p.Gates, GateHash: p.GateHash, Integration: p.Integration,
		BesideChecks: BesideChecks{MoreServices: true, MorePackages: true}}
	if t.Prepared != nil && w.rng.IntN(2) == 0 {
		b.Base.OID = t.Prepared.Base.OID
	}
	return RecordBase{Task: t.ID, TaskBased: b}
}

func (w *world) prepared(t *Task) RecordPreparation {
	p := TaskPrepared{Base: Base{Branch: "main", OID: w.oid(), PRBranch: "main"}, GateHash: "g", Image: "img",
		Integration: "develop-" + string(t.ID) + "-k3fq"}
	if lead := w.s.LeadOf(t); lead != t {
		p.Base.OID, p.Integration = w.refs[lead.ID], lead.Prepared.Integration
	}
	for _, name := range []string{"lint", "test"}[:w.k.Gates] {
		p.Gates = append(p.Gates, GateCommand{Name: name, Command: "go " + name})
	}
	if w.chance(w.k.Hostile) {
		p.Integration = []string{"main", "refs/heads/master", "Main", ""}[w.rng.IntN(4)]
	}
	return RecordPreparation{Task: t.ID, TaskPrepared: p}
}

// carry goes on with a held run: it needs money first, and ends in some way.
func (w *world) carry(t *Task, r *Run) {
	if !w.kind && w.lost[fmt.Sprint(r.ID, r.Fence)] {
		return // its holder is gone, and nobody knows yet
	}
	if w.chance(w.k.Lost) {
		w.lost[fmt.Sprint(r.ID, r.Fence)] = true
		return
	}
	fence := r.Fence
	if w.chance(w.k.Hostile) {
		fence -= min(fence, uint64(w.rng.IntN(3)))
	}
	if r.Reserved == (Amount{}) || r.Waiting || w.chance(w.k.Greedy) {
		one := Amount{MicroUSD: 20 + int64(w.rng.IntN(40))}
		used := Amount{MicroUSD: r.Reserved.MicroUSD / 2}
		w.send(string(r.ID),
			Reserve{Run: r.ID, Fence: fence, One: one, Many: Amount{MicroUSD: 3 * one.MicroUSD}, Used: used,
				Briefing: &Briefing{Prompt: Hash(strings.Repeat("b", 64)), Model: BriefModel{Profile: "p", Adapter: "scripted"}}})
		return
	}
	if (r.Role == Worker || r.Role == Merger) && w.chance(w.k.Deps) {
		w.dependency(t, r, fence)
		return
	}
	if w.k.Refused > 0 && w.chance(w.k.Refused) {
		w.refuse(r)
	}
	if w.chance(3) {
		w.send(string(r.ID), Release{Run: r.ID, Fence: fence, Why: "the lease was lost"})
		return
	}
	end := EndRun{Run: r.ID, Fence: fence, Outcome: RunEnded{Status: RunSuccess, Summary: "done", Turns: 3}}
	if r.Reserved.MicroUSD > 0 {
		end.Outcome.Spent.MicroUSD = w.rng.Int64N(r.Reserved.MicroUSD + 1)
	}
	if len(r.Words) > 0 {
		end.Outcome.Heard = w.rng.IntN(len(r.Words) + 1)
	}
	switch {
	case w.chance(w.k.Broken):
		end.Outcome.Status, end.Outcome.Error, end.Outcome.Code = RunError, "the model is gone", EModel
		end.Outcome.Human, end.Outcome.Escalate = w.chance(10), w.chance(w.k.Escalate)
		end.Outcome.TimedOut = w.chance(10)
	case w.chance(w.k.Partial):
		end.Outcome.Status, end.Outcome.Progress = RunPartial, w.chance(70)
	}
	switch r.Role {
	case Worker, Merger:
		w.work(t, &end, t.Subtask(r.Subtask))
	case Manager:
		w.manage(t, &end)
	case Reviewer:
		w.review(t, &end, t.Subtask(r.Subtask))
	}
	w.send(string(r.ID), end)
}

// refuse has a run reach for what it may not have, perhaps many times.
func (w *world) refuse(r *Run) {
	kinds := []string{"push", "path", "outside", "header"}
	for range 1 + w.rng.IntN(4) {
		w.send(Company, RecordRefusedAccess{
			Run: r.ID, Kind: kinds[w.rng.IntN(len(kinds))], Times: 1 + w.rng.IntN(3),
			What: strings.Repeat([]string{"a\x1b[2J", "é", "\u202e", "\xff", "x y"}[w.rng.IntN(5)], 1+w.rng.IntN(200)),
		})
	}
}

// writeFile has a file written, or not.
func (w *world) writeFile() {
	c := RecordFileWrite{File: fmt.Sprint("f", w.rng.IntN(40)), Why: []string{"", "full", "a folder\n"}[w.rng.IntN(3)]}
	if w.rng.IntN(4) > 0 && w.s.LastTask > 0 {
		t := w.task(NewTaskID(1 + w.rng.IntN(w.s.LastTask)))
		c.Task = t.ID
		if runs := t.SortedRuns(); len(runs) > 0 && w.rng.IntN(2) == 0 {
			c.Run = runs[w.rng.IntN(len(runs))].ID
		}
	}
	w.send(Company, c)
}

// dependency asks for a package, or adds one whatever was answered.
func (w *world) dependency(t *Task, r *Run, fence uint64) {
	d := Dependency{Ecosystem: "npm", Name: fmt.Sprint("p", w.rng.IntN(8))}
	if w.chance(50) {
		d.Version = fmt.Sprint(w.rng.IntN(2))
	}
	if w.chance(40) {
		w.send(string(r.ID), AskDependency{Run: r.ID, Fence: fence, Dependency: d})
		return
	}
	if w.chance(80) {
		w.send(string(r.ID), LookUpDependency{Run: r.ID, Fence: fence, Dependency: d})
	}
	v := d.Version
	if v == "" {
		v = "1"
	}
	w.send(string(r.ID), AddDependency{Run: r.ID, Fence: fence, Wanted: d, Version: v})
}

func (w *world) work(t *Task, end *EndRun, sub *Subtask) {
	if end.Outcome.Status == RunError && w.chance(50) {
		return
	}
	if end.Outcome.Status == RunSuccess && (sub.MayAsk() || w.chance(w.k.Hostile)) && w.chance(w.k.Question) {
		end.Question = "which thing?"
		return
	}
	end.Outcome.Head, end.Outcome.Branch = w.oid(), "agent/"+string(sub.ID)+"-x"
	end.Outcome.Changes = []Change{{Path: "pkg/" + string(sub.ID) + ".go", Action: "modified"}}
	if w.chance(w.k.Protected) {
		end.Outcome.Changes = append(end.Outcome.Changes, Change{Path: ".github/workflows/ci.yml", Action: "created"})
	}
	if w.chance(w.k.Protected) {
		// One of two subtasks may create it, the next one changes it.
		action := []string{"created", "modified", "deleted"}[w.rng.IntN(3)]
		end.Outcome.Changes = append(end.Outcome.Changes,
			Change{Path: []string{"pkg/a_test.go", "pkg/b_test.go"}[w.rng.IntN(2)], Action: action})
	}
	if w.chance(w.k.Hostile) {
		end.Outcome.Head = "HEAD"
	}
}

func (w *world) manage(t *Task, end *EndRun) {
	if stuck := t.Stuck(); stuck != nil && !w.chance(w.k.Question) {
		end.Guide = &Guide{Subtask: stuck.ID, Text: "use the other package", GiveUp: w.chance(w.k.GiveUp)}
		if !end.Guide.GiveUp && w.chance(w.k.Replan) {
			end.Guide.Parts = w.parts(t, stuck)
		}
		if models := t.Settings.EscalateTo; len(models) > 0 && w.chance(40) {
			if end.Guide.Model = models[w.rng.IntN(len(models))]; end.Guide.Model == stuck.Model {
				end.Guide.Model = ""
			}
			if w.chance(w.k.Hostile) {
				end.Guide.Model = "unheard of"
			}
		}
		return
	}
	if w.chance(w.k.Question) {
		end.Question = "which one?"
		return
	}
	p := w.plan()
	if w.chance(w.k.BadPlan) {
		p = Plan{Waves: []Wave{{Subtasks: []PlannedSubtask{okSubtask("a", "x/**"), okSubtask("b", "x/y.go")}}}}
		w.send(string(end.Run), ProposePlan{Run: end.Run, Fence: end.Fence, Plan: p})
	}
	end.Plan = &p
}

// parts are what a stuck subtask is split into: they write what no other subtask does, and come
// after each other or, rarely, after one that may come after them.
func (w *world) parts(t *Task, stuck *Subtask) []PlannedSubtask {
	var parts []PlannedSubtask
	for i := range 1 + w.rng.IntN(3) {
		n := w.rng.IntN(1 << 30)
		sub := okSubtask(fmt.Sprintf("cut %d", n), fmt.Sprintf("cut/%d/**", n))
		switch w.rng.IntN(4) {
		case 0:
			sub.After = []string{fmt.Sprint(1 + w.rng.IntN(i+1))}
		case 1:
			sub.After = []string{string(t.Subtasks[w.rng.IntN(len(t.Subtasks))].ID)}
		}
		parts = append(parts, sub)
	}
	if _, problems := t.Replan(stuck.ID, parts, "it is too large"); len(problems) > 0 && !w.chance(w.k.Hostile) {
		for i := range parts {
			parts[i].After = nil
		}
	}
	return parts
}

func (w *world) plan() Plan {
	p := Plan{Why: "they do not know each other"}
	for i := range 1 + w.rng.IntN(2) {
		var wave Wave
		for j := range 1 + w.rng.IntN(3+w.k.Wide) {
			sub := okSubtask(fmt.Sprintf("part %d %d", i, j), fmt.Sprintf("w%d/p%d/**", i, j))
			if j > 0 && w.rng.IntN(3) == 0 {
				sub.After = []string{fmt.Sprintf("Part %d %d", i, w.rng.IntN(j))}
			}
			wave.Subtasks = append(wave.Subtasks, sub)
		}
		p.Waves = append(p.Waves, wave)
	}
	return p
}

func (w *world) review(t *Task, end *EndRun, sub *Subtask) {
	if sub != nil && t.AwaitsConflictSummary(sub) {
		end.Conflict = "both sides set the same default"
		return
	}
	r := &ReviewRecorded{Head: t.Head, Onto: t.Head, Verdict: Approve, PatchID: "p", Evidence: []string{"the test"}}
	if sub != nil {
		r.Head, r.Whole = sub.Head, t.JudgesWhole()
	}
	if w.chance(w.k.Finding) {
		r.Verdict, r.Findings = RequestChanges, []Finding{{Severity: Blocking, File: "a.go", Line: 3, What: "off by one"}}
	}
	if w.chance(w.k.Finding) {
		r.Findings = append(r.Findings, Finding{Severity: Minor, What: "a word"})
	}
	if t.AwaitsSecondReview(sub) {
		w.judge(r, *lastReview(t, sub))
	}
	if w.chance(w.k.Hostile) {
		switch w.rng.IntN(5) {
		case 3:
			r.Whole = !r.Whole
		case 4:
			r.Onto = w.oid()
		case 0:
			r.Head = w.oid() // of some other head
		case 1:
			r.Verdict, r.Findings = Approve, []Finding{{Severity: Blocking, File: "a.go", Line: 3, What: "off by one"}}
		case 2:
			r = nil
		}
	}
	end.Review = r
}

// judge has a second reviewer confirm a finding of the first, reject it, or, at times, leave it out.
func (w *world) judge(r *ReviewRecorded, before ReviewRecorded) {
	for i := range before.Findings {
		switch w.rng.IntN(8) {
		case 0:
		case 1, 2, 3:
			if before.Findings[i].Severity == Blocking {
				r.Verdict = RequestChanges
			}
			r.Judged = append(r.Judged, Judgement{Number: i + 1, Status: FindingConfirmed})
		default:
			r.Judged = append(r.Judged, Judgement{Number: i + 1, Status: FindingRejected, Why: "it is not"})
		}
	}
}

func lastReview(t *Task, sub *Subtask) *ReviewRecorded {
	if sub != nil {
		return sub.Review.Last
	}
	return t.Review.Last
}

// baseline is what the gates say of the base: green, red with names, red
// without them, or a linter that nobody has.
func (w *world) baseline(t *Task) RecordBaseline {
	r := GateResult{Tree: w.oid(), GateHash: t.Prepared.GateHash, Image: t.Prepared.Image}
	for _, g := range t.Prepared.Gates {
		c := GateCheck{Name: g.Name, Command: g.Command, Passed: true}
		switch {
		case !g.IsTest() && w.chance(w.k.Absent):
			c.Passed, c.Absent = false, true
		case w.chance(w.k.RedBase) && w.rng.IntN(2) == 0:
			c.Passed, c.ExitCode = false, 1
		case w.chance(w.k.RedBase):
			failCheck(&c, "old", "older")
			c.Tests[0].Unrun = w.rng.IntN(3) == 0
		}
		r.Checks = append(r.Checks, c)
	}
	r = r.Settle(nil, nil)
	if w.chance(w.k.Hostile) {
		switch c := &r.Checks[0]; w.rng.IntN(4) {
		case 0:
			c.Skipped = true
		case 1:
			c.Absent, c.Name = true, "test"
		case 2:
			r.Checks = r.Checks[1:]
		case 3:
			r.Untested, r.Passed = true, true
		}
	}
	return RecordBaseline{Task: t.ID, Result: r}
}

// failCheck makes a check fail with these names.
func failCheck(c *GateCheck, names ...string) {
	c.Passed, c.ExitCode, c.Counts, c.Tests = false, 1, &TestCounts{Failed: len(names)}, nil
	for _, n := range names {
		c.Tests = append(c.Tests, TestResult{Name: n, Status: "failed"})
	}
}

// verdict is what the gates say: green is nothing that the base has not.
func (w *world) verdict(t *Task, tree OID, green bool) GateResult {
	r := GateResult{Tree: tree, GateHash: t.Prepared.GateHash, Image: t.Prepared.Image}
	red := false
	for i, g := range t.Prepared.Gates {
		b := t.Baseline.Checks[i]
		c := GateCheck{Name: g.Name, Command: g.Command, Passed: true}
		switch {
		case b.Absent:
			c.Passed, c.Absent = false, true
		case red:
			c.Passed, c.Skipped = false, true
		case green && b.NamesFailures() && w.rng.IntN(2) == 0:
			failCheck(&c, "older")
		case green && !b.Passed && w.rng.IntN(2) == 0:
			c.Passed, c.ExitCode = false, 1
			if b.NamesFailures() {
				failCheck(&c, "older", "old")
				c.Tests[1].Unrun = b.Tests[0].Unrun
			}
			c.Beside = []string{"", "more", "else"}[w.rng.IntN(3)]
		case green && w.rng.IntN(4) == 0:
			c.Attempts, c.Flaky = []int{1}, []string{"now and then"}
		case green:
		case b.NamesFailures() && w.rng.IntN(2) == 0:
			failCheck(&c, "old", "new")
			red = true
		case b.ExitCode == 0 && w.rng.IntN(2) == 0:
			failCheck(&c, "new")
			red = true
		default:
			c.Passed, c.ExitCode, c.Output = false, 137, "red"
			red = true
		}
		r.Checks = append(r.Checks, c)
	}
	r = r.Settle(t.Baseline, w.s.WaivedChecks(t))
	if w.chance(w.k.Hostile) && len(r.Checks) > 0 {
		r.Passed, r.Untested = true, w.rng.IntN(9) == 0
		switch c := &r.Checks[0]; w.rng.IntN(8) {
		case 7:
			c.Part = &TestPart{Ran: 1, Of: 3}
		case 0:
			c.ExitCode, c.Passed = 1, true
		case 1:
			r.Checks = r.Checks[1:]
		case 2:
			r.GateHash = "of other gates"
		case 3:
			c.Command = "true"
		case 4:
			c.Flaky, c.Attempts = []string{"so they say"}, nil
		case 5:
			failCheck(c, "new")
			c.Excused = ComparedKnown
		case 6:
			c.Absent, c.Passed, c.Excused = true, false, ComparedAbsent
		}
	}
	return r
}

func (w *world) gate(t *Task, sub *Subtask) {
	g := RecordGateResult{Task: t.ID, GateFinished: GateFinished{Head: t.Head, Onto: t.Head}}
	tree, green := t.Tree, !w.chance(w.k.Red)
	if sub != nil {
		g.Subtask, g.Head = sub.ID, sub.Head
		tree = w.tree(t.Head, sub.Head)
		green = !w.red[tree]
	} else if w.chance(w.k.Hostile) {
		tree = w.oid()
	}
	g.Result = w.verdict(t, tree, green)
	if n := len(g.Result.Checks); sub != nil && n > 0 && w.rng.IntN(4) == 0 {
		g.Result.Checks[n-1].Part = &TestPart{Ran: 1, Of: 3}
	}
	if t.Settings.RedGreen == RedGreenRequire && !w.chance(w.k.Hostile) {
		g.Result.RedGreen = w.redGreen()
	}
	w.send(Company, g)
}

// redGreen is what the tests of a ticket show, mostly something.
func (w *world) redGreen() *RedGreen {
	r := &RedGreen{Source: true, Files: 1, Fresh: 1, Shown: 1}
	switch {
	case w.chance(w.k.Red):
		r.Shown, r.Idle = 0, []string{"TestIdle"}
	case w.chance(w.k.Fails):
		r.Shown, r.Reason = 0, "it could not be run"
	case w.chance(w.k.Overlap):
		r = &RedGreen{}
	}
	return r
}

func (w *world) deliver(t *Task) {
	d := t.Delivery
	lead := w.s.LeadOf(t).ID
	if by, ok := w.forge[d.Number]; ok && by != lead {
		w.t.Fatalf("pull request %d is of %s and of %s", d.Number, by, t.ID)
	}
	for n, by := range w.forge {
		if by == lead && n != d.Number {
			w.t.Fatalf("%s has two pull requests, %d and %d", t.ID, n, d.Number)
		}
	}
	if w.refs[w.s.LeadOf(t).ID] != d.Head {
		w.t.Fatalf("%s delivers %s, its branch is at %s", t.ID, d.Head.Short(), w.refs[w.s.LeadOf(t).ID].Short())
	}
	if doubt := fmt.Sprint("doubt ", w.rng.IntN(3)); w.rng.IntN(4) == 0 && !t.Allows(doubt) {
		w.send(Company,
			HoldDelivery{Task: t.ID, Head: d.Head, Doubts: []Doubt{{Key: doubt, Says: "something stands against it"}}})
		return
	}
	if lead != t.ID && (w.pushes > 0 || w.k.Pushed > 0 && w.chance(w.k.Pushed)) {
		w.pushes = max(0, w.pushes-1)
		w.pushByOthers(t)
		return
	}
	w.forge[d.Number] = lead
	if w.chance(w.k.Hostile) {
		w.send(Company, RefuseCompletion{Task: t.ID, Head: d.Head, Missing: []string{"the result of a run is not there"}})
		return
	}
	c := RecordDelivery{Task: t.ID, Head: d.Head, Number: d.Number, URL: "local:1", Evidence: shownBy(t)}
	if w.chance(10) {
		c.Branch = &BranchChange{Kind: BranchAhead, Delivered: d.Head, Now: w.oid(), Commits: 1,
			By: []string{"ann"}, People: 1}
	}
	w.send(Company, c)
}

// pushByOthers has others push to the branch before the task does.
func (w *world) pushByOthers(t *Task) {
	if !t.MayTakeIn() && !w.chance(w.k.Hostile) {
		w.send(Company,
			ReportEffectFailure{Task: t.ID, Key: "deliver",
				EffectFailed: EffectFailed{Code: EConflict, Error: "others pushed again", Human: true}})
		return
	}
	c := TakeInPush{
		Task: t.ID, Head: t.Head, Changes: []Change{{Path: "typo.go", Action: "modified"}},
		Pushed: BranchChange{Kind: BranchAhead, Delivered: t.RemoteHead(), Now: w.oid(), Commits: 1 + w.rng.IntN(200),
			By: []string{"ann"}, People: 1},
	}
	if w.chance(w.k.Protected) {
		c.Changes = append(c.Changes, Change{Path: ".github/workflows/ci.yml", Action: "created"})
	}
	if w.chance(w.k.Hostile) {
		switch w.rng.IntN(4) {
		case 0:
			c.Head = w.oid()
		case 1:
			c.Pushed.Kind = BranchRewritten
		case 2:
			c.Pushed.Delivered = w.oid()
		case 3:
			c.Pushed.Now = "HEAD"
		}
	}
	w.send(Company, c)
}
