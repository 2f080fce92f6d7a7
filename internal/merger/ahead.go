package merger

import (
	"context"
	"errors"
	"slices"
	"sync"

	"company/internal/company"
	"company/internal/gitops"
)

// foresight is what the tests ahead under way find out. It is in memory alone: what is
// lost with the process is judged again.
type foresight struct {
	mu      sync.Mutex
	visions []*vision
}

// vision is what one test ahead finds out.
type vision struct {
	effect company.Effect
	drop   context.CancelFunc // ends its gates
	ready  chan struct{}      // closed when the tree is known, or none will be judged
	tree   company.OID        // empty: none is judged
	done   chan struct{}      // closed when there is a verdict, or none will be
	result *company.GateResult
}

// keepVision adds a vision. The function that it gives takes it away again.
func (f *foresight) keepVision(v *vision) (forget func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.visions = append(f.visions, v)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.visions = slices.DeleteFunc(f.visions, func(o *vision) bool { return o == v })
	}
}

// listOf lists the visions of a test: they begin with the same subtask, as it is now.
func (f *foresight) listOf(test company.Effect) (out []*vision) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range f.visions {
		if v.effect.Confirms(test) {
			out = append(out, v)
		}
	}
	return out
}

// findVerdict waits for the verdict on a tree that is tested ahead; nil where none is. A
// test ahead of the same subtasks on another tree is ended: nothing will ask for it.
func (f *foresight) findVerdict(ctx context.Context, test company.Effect, tree company.OID) *company.GateResult {
	var found *company.GateResult
	for _, v := range f.listOf(test) {
		select {
		case <-v.ready:
		case <-ctx.Done():
			return nil
		}
		if v.tree != tree {
			v.drop()
		}
		select { // also one that was dropped: its containers have names like those of this test
		case <-v.done:
		case <-ctx.Done():
			return nil
		}
		if v.tree == tree && v.result != nil {
			found = v.result
		}
	}
	return found
}

// LookAhead judges the tree that subtasks of the queue would make once those before them
// are merged, while these are tested. The verdict is kept until ctx ends, beyond the
// return, for the test of a merge that is to judge just this tree. An error means that
// there is none. Nothing is decided.
func (g *Merger) LookAhead(ctx context.Context, e company.Effect) error {
	testing, drop := context.WithCancel(ctx)
	defer drop()
	v := &vision{effect: e, drop: drop, ready: make(chan struct{}), done: make(chan struct{})}
	forget := g.foresight.keepVision(v)
	err := g.judgeAhead(testing, v)
	if err == nil && v.result == nil {
		err = errNothingToJudge
	}
	if err != nil {
		forget()
		return err
	}
	context.AfterFunc(ctx, forget)
	return nil
}

// errNothingToJudge ends a test ahead whose subtasks do not merge, or have moved.
var errNothingToJudge = errors.New("merger: there is no tree to judge ahead")

// judgeAhead finds out the tree and the verdict of a vision, and closes its channels.
func (g *Merger) judgeAhead(ctx context.Context, v *vision) error {
	ready := sync.OnceFunc(func() { close(v.ready) })
	defer close(v.done)
	defer ready() // also where this breaks: a test may wait for it
	t, m, tree, err := g.treeAhead(ctx, v.effect)
	v.tree = tree
	ready()
	if err != nil || tree == "" {
		return err
	}
	result, err := g.Runner.Evaluate(ctx, g.Decider.View(), t, m, tree, string(v.effect.Subtask), func(check string) {
		g.Watcher.WatchCheck(t.ID, v.effect.Subtask, check+" ahead of the merges under test")
	})
	if err == nil {
		v.result = &result
	}
	return err
}

// treeAhead merges what a test ahead assumes, and then what it tests; no tree where that
// does not merge, or need not be judged any more.
func (g *Merger) treeAhead(ctx context.Context, e company.Effect) (t *company.Task, m *gitops.Mirror, tree company.OID, err error) {
	t, err = g.Decider.View().Task(e.Task)
	if err != nil || t.Head != e.Onto { // the test that goes on with this one may be under way already
		return t, nil, "", err
	}
	before, after := subtasksAt(t, e.Assumes), subtasksAt(t, e.Stack)
	if before == nil || after == nil {
		return t, nil, "", nil
	}
	if m, err = g.Mirrors.MirrorOf(ctx, t); err != nil {
		return t, nil, "", err
	}
	first, err := g.pileUp(ctx, t, m, e.Onto, before)
	if err != nil || !first.isTestable() {
		return t, m, "", err
	}
	at := e.Onto
	for _, member := range first.members {
		if at, err = passingMerge(ctx, m, t, at, member); err != nil {
			return t, m, "", err
		}
	}
	second, err := g.pileUp(ctx, t, m, at, after)
	if err != nil || !second.isTestable() {
		return t, m, "", err
	}
	return t, m, second.lastTree(), nil
}

// subtasksAt are the subtasks with these heads; nil where one has another by now.
func subtasksAt(t *company.Task, heads []company.QueuedHead) []*company.Subtask {
	var out []*company.Subtask
	for _, h := range heads {
		sub := t.Subtask(h.Subtask)
		if sub == nil || sub.Head != h.Head {
			return nil
		}
		out = append(out, sub)
	}
	return out
}
