package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/lib/retry"
)

// nullParts stand in for git, images, gates and the forge of a nullOffice: they find
// what the real ones would find if all went well, by names alone. The same question
// has the same answer.
type nullParts struct {
	options nullOptions
	view    company.Decider
	ahead   aheadVerdicts
}

// nullOID is the object that is made of others.
func nullOID(of ...string) company.OID {
	sum := sha256.Sum256([]byte(strings.Join(of, " ")))
	return company.OID(hex.EncodeToString(sum[:20]))
}

// mergeTree is the tree of a head merged onto a commit, or onto a tree.
func mergeTree(onto, head company.OID) company.OID {
	return nullOID("tree", string(onto), string(head))
}

// mergeCommit is the merge commit with a tree.
func mergeCommit(tree company.OID) company.OID { return nullOID("merge", string(tree)) }

// findersByEffect are the parts by the effects that they carry out.
func (p *nullParts) findersByEffect() map[company.EffectKind]company.OutcomeFinder {
	return map[company.EffectKind]company.OutcomeFinder{
		company.EffectPrepare: p.prepareTask, company.EffectBaseline: p.judgeBase, company.EffectGate: p.judgeHead,
		company.EffectTestMerge: p.testMerge, company.EffectMerge: p.recordMerge, company.EffectDeliver: p.recordDelivery,
	}
}

func (p *nullParts) prepareTask(_ context.Context, e company.Effect) (company.Command, error) {
	return company.RecordPreparation{Task: e.Task, TaskPrepared: company.TaskPrepared{
		Base:     company.Base{Branch: "main", OID: nullOID("base"), PRBranch: "main"},
		Gates:    []company.GateCommand{{Name: "test", Command: "go test ./..."}},
		GateHash: company.Hash(strings.Repeat("a", 64)),
		Image:    "sha256:" + strings.Repeat("5", 64), Integration: "develop-" + string(e.Task) + "-bench",
	}}, nil
}

// judgeTree has the gates look at a tree, for as long as they take, or not again at one
// whose verdict is known.
func (p *nullParts) judgeTree(ctx context.Context, t *company.Task, tree company.OID) (company.GateResult, error) {
	s := p.view.View()
	if known, ok := s.GateResults[company.GateKey(tree, t.Prepared.GateHash, t.Prepared.Image)]; ok {
		if known, ok = s.Reuse(t, known, t.Baseline); ok {
			return known, nil
		}
	}
	if err := retry.Sleep(ctx, p.options.gate); err != nil {
		return company.GateResult{}, err
	}
	r := company.GateResult{Tree: tree, GateHash: t.Prepared.GateHash, Image: t.Prepared.Image}
	for _, g := range t.Prepared.Gates {
		r.Checks = append(
			r.Checks,
			company.GateCheck{Name: g.Name, Command: g.Command, Passed: true, Output: "ok  \texample.org/api\t0.312s\n",
				Took: p.options.gate})
	}
	return r.Settle(t.Baseline, nil), nil
}

// judgeBase looks at the base, whose gates take no time: no task waits for those of a
// base that is known.
func (p *nullParts) judgeBase(ctx context.Context, e company.Effect) (company.Command, error) {
	t, err := p.view.View().Task(e.Task)
	if err != nil {
		return nil, err
	}
	atOnce := &nullParts{view: p.view}
	r, err := atOnce.judgeTree(ctx, t, nullOID("tree", "base"))
	return company.RecordBaseline{Task: t.ID, Result: r}, err
}

func (p *nullParts) judgeHead(ctx context.Context, e company.Effect) (company.Command, error) {
	t, err := p.view.View().Task(e.Task)
	if err != nil {
		return nil, err
	}
	c := company.RecordGateResult{Task: t.ID, Subtask: e.Subtask,
		GateFinished: company.GateFinished{Head: t.Head, Onto: t.Head}}
	tree := t.Tree
	if sub := t.Subtask(e.Subtask); sub != nil {
		c.Head, tree = sub.Head, mergeTree(t.Head, sub.Head)
	}
	c.Result, err = p.judgeTree(ctx, t, tree)
	return c, err
}

// testMerge judges what waits to be merged, as a stack where that is more than one.
func (p *nullParts) testMerge(ctx context.Context, e company.Effect) (company.Command, error) {
	s := p.view.View()
	t, err := s.Task(e.Task)
	if err != nil {
		return nil, err
	}
	stack := s.ListTakenUp(t, e)
	if len(stack) == 0 || stack[0].ID != e.Subtask {
		return nil, company.E(company.EStale, string(e.Subtask)+" is not the next to be merged any more")
	}
	var members []company.StackMember
	at := t.Head
	for _, sub := range stack {
		at = mergeTree(at, sub.Head)
		members = append(
			members, company.StackMember{Subtask: sub.ID, Head: sub.Head, Tree: at, Message: "Merge: " + sub.Planned.Title})
	}
	r, err := p.judgeAhead(ctx, t, at)
	if len(members) > 1 {
		return company.RecordStackGate{Task: t.ID, Onto: t.Head, Members: members, Result: r}, err
	}
	one := members[0]
	return company.RecordMergeGate{
		Task: t.ID, Subtask: one.Subtask, Head: one.Head, Onto: t.Head, Tree: one.Tree,
		HeadTree: nullOID("tree", string(one.Head)), Message: one.Message, Result: r,
	}, err
}

func (p *nullParts) recordMerge(_ context.Context, e company.Effect) (company.Command, error) {
	t, err := p.view.View().Task(e.Task)
	if err != nil {
		return nil, err
	}
	switch one, stack := t.MergeIntent, t.StackIntent; {
	case one != nil:
		return company.RecordMerge{Task: t.ID, Commit: mergeCommit(one.Tree)}, nil
	case stack != nil:
		c := company.RecordStackMerge{Task: t.ID}
		for _, m := range stack.Members {
			c.Commits = append(c.Commits, mergeCommit(m.Tree))
		}
		return c, nil
	}
	return nil, nil
}

func (p *nullParts) recordDelivery(_ context.Context, e company.Effect) (company.Command, error) {
	t, err := p.view.View().Task(e.Task)
	if err != nil {
		return nil, err
	}
	return company.RecordDelivery{Task: t.ID, Head: t.Head, Number: t.Delivery.Number,
		URL: "/office/pulls/" + string(t.ID) + ".md"}, nil
}

// endPlanning is a plan of one wave.
func (p *nullParts) endPlanning(company.Assignment) company.EndRun {
	var wave company.Wave
	for n := range p.options.subtasks {
		wave.Subtasks = append(wave.Subtasks, company.PlannedSubtask{
			Title:              fmt.Sprintf("Limit part %d of the API", n),
			Description:        "Write the code for it, with its tests, as the package beside it does.",
			AcceptanceCriteria: []string{"go test ./... passes", "a client that asks too often gets 429"},
			WriteSet:           []string{fmt.Sprintf("pkg/p%d/**", n)}, Effort: company.EffortSmall,
		})
	}
	return company.EndRun{Plan: &company.Plan{Why: "the parts do not know each other", Waves: []company.Wave{wave}}}
}

// endWork is a commit that changes a file.
func (p *nullParts) endWork(a company.Assignment) company.EndRun {
	return company.EndRun{Outcome: company.RunEnded{
		Head: nullOID("work", string(a.Claimed.ID)), Branch: "agent/" + string(a.Subtask.ID),
		Changes: []company.Change{{Path: strings.Replace(a.Subtask.Planned.WriteSet[0], "**", "limit.go", 1),
			Action: "created"}},
	}}
}

// endReview is an approval.
func (p *nullParts) endReview(a company.Assignment) company.EndRun {
	r := &company.ReviewRecorded{Head: a.Task.Head, Onto: a.Claimed.From, Verdict: company.Approve, PatchID: "p",
		Evidence: []string{"the diff", "its test"}}
	if a.Subtask != nil {
		r.Head, r.Whole = a.Subtask.Head, a.Task.JudgesWhole()
	}
	return company.EndRun{Review: r}
}
