package main

import (
	"context"
	"sync"

	"company/internal/company"
)

// aheadVerdicts are the tests ahead of a nullOffice that are under way, by the tree that
// each judges.
type aheadVerdicts struct {
	mu    sync.Mutex
	trees map[company.OID]*aheadVerdict
}

type aheadVerdict struct {
	done   chan struct{}       // closed at the end of its gates
	result *company.GateResult // nil: they were broken off
}

// lookAhead judges the tree that subtasks would make once those before them are merged,
// and keeps the verdict until ctx ends, as merger.LookAhead does.
func (p *nullParts) lookAhead(ctx context.Context, e company.Effect) error {
	t, err := p.view.View().Task(e.Task)
	if err != nil {
		return err
	}
	at := e.Onto
	for _, before := range e.Assumes {
		at = mergeTree(at, before.Head)
	}
	at = mergeCommit(at)
	for _, tested := range e.Stack {
		at = mergeTree(at, tested.Head)
	}
	v := &aheadVerdict{done: make(chan struct{})}
	p.ahead.keepVerdict(at, v)
	context.AfterFunc(ctx, func() { p.ahead.forgetVerdict(at, v) })
	r, err := p.judgeTree(ctx, t, at)
	if err == nil {
		v.result = &r
	}
	close(v.done)
	return err
}

// judgeAhead is judgeTree, or the verdict of the test ahead that judges this tree.
func (p *nullParts) judgeAhead(ctx context.Context, t *company.Task, tree company.OID) (company.GateResult, error) {
	if v := p.ahead.findVerdict(tree); v != nil {
		select {
		case <-v.done:
		case <-ctx.Done():
			return company.GateResult{}, context.Cause(ctx)
		}
		if v.result != nil {
			return *v.result, nil
		}
	}
	return p.judgeTree(ctx, t, tree)
}

func (a *aheadVerdicts) keepVerdict(tree company.OID, v *aheadVerdict) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.trees == nil {
		a.trees = map[company.OID]*aheadVerdict{}
	}
	a.trees[tree] = v
}

func (a *aheadVerdicts) forgetVerdict(tree company.OID, v *aheadVerdict) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.trees[tree] == v {
		delete(a.trees, tree)
	}
}

func (a *aheadVerdicts) findVerdict(tree company.OID) *aheadVerdict {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.trees[tree]
}
